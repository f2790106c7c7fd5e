#include "analysis/concrete.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analysis/concrete_code.h"

namespace cairn {

namespace {
using concrete::AccessCode;
using concrete::Node;
using concrete::TensorCode;

// Loop values around an equation, as "i=3, j=0".
class Scopes {
 public:
  explicit Scopes(const std::vector<Node>& nodes) { walk(nodes); }
  std::string describe(std::uint32_t equation, const std::int64_t* env) const {
    std::string text;
    if (equation >= by_equation_.size()) return text;
    for (const Node* loop : by_equation_[equation]) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", loop->stmt->var, env[loop->slot]);
    }
    return text;
  }

 private:
  void walk(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (node.stmt->is_equation()) {
        by_equation_.resize(node.equation + 1);
        by_equation_[node.equation] = loops_;
        continue;
      }
      if (node.stmt->is_loop()) loops_.push_back(&node);
      walk(node.children);
      if (node.stmt->is_loop()) loops_.pop_back();
    }
  }
  std::vector<const Node*> loops_;
  std::vector<std::vector<const Node*>> by_equation_;
};

enum State : std::uint8_t { kUnwritten, kMaybe, kWritten };

// Written states of all elements; starts; kernels of the last writes of s and l elements.
class FlowVisitor {
 public:
  FlowVisitor(const concrete::Code& code, ConcreteFlow& flow) : code_(code), flow_(flow), scopes_(code.roots) {
    flow_.starts.resize(code.equations);
    for (const TensorCode& t : code.tensors) {
      const bool tracked = t.written && !t.from_outside;
      state_.emplace_back(tracked ? static_cast<std::size_t>(t.size) : 0, kUnwritten);
      stamp_.emplace_back(tracked && t.local ? static_cast<std::size_t>(t.size) : 0, 0);
      sure_.push_back(t.from_outside ? t.size : 0);
    }
  }
  bool stopped() const { return flow_.problems.size() > 64; }
  void loop_begin(const Node& node) {
    if (node.bumps_execution) ++kernel_;
  }
  void iteration(const Node& node) {
    if (node.bumps_iteration) ++kernel_;
  }
  void loop_end(const Node& node) {
    if (node.bumps_execution || node.bumps_iteration) ++kernel_;
  }
  void doubt(int change) { doubt_ += change; }
  void fault(std::uint32_t equation, SourcePos pos, const std::int64_t* env) {
    if (!seen_.emplace(static_cast<int>(ConcreteProblem::Kind::division), equation, std::string()).second) return;
    flow_.problems.push_back({ConcreteProblem::Kind::division, equation, pos, {}, 0, 0, {}, scopes_.describe(equation, env), false});
  }
  void out_of_bounds(const AccessCode& a, std::size_t dimension, std::int64_t value, const std::int64_t* env) {
    ConcreteProblem* p = problem(ConcreteProblem::Kind::bounds, a, env);
    if (p == nullptr) return;
    p->dimension = dimension;
    p->value = value;
  }
  void access(const AccessCode& a, std::int64_t offset, bool is_write, const std::int64_t* env) {
    const TensorCode& t = code_.tensors[a.tensor];
    std::vector<std::uint8_t>& state = state_[a.tensor];
    if (is_write) {
      if (state.empty() || offset < 0) {
        if (offset < 0) scattered(a);
        return;
      }
      std::uint8_t& s = state[static_cast<std::size_t>(offset)];
      if (doubt_ == 0) {
        if (s != kWritten) ++sure_[a.tensor];
        s = kWritten;
      } else if (s == kUnwritten) {
        s = kMaybe;
      }
      if (t.local) stamp_[a.tensor][static_cast<std::size_t>(offset)] = kernel_;
      return;
    }
    if (t.from_outside) return;
    if (offset < 0 || state.empty()) {
      if (a.self) {
        ConcreteStart& start = flow_.starts[a.equation];
        ++(sure_[a.tensor] == t.size ? start.continues : start.undecided);
      } else if (sure_[a.tensor] != t.size) {
        problem(ConcreteProblem::Kind::unwritten, a, env);
      }
      return;
    }
    const std::uint8_t s = state[static_cast<std::size_t>(offset)];
    if (a.self) {
      ConcreteStart& start = flow_.starts[a.equation];
      ++(s == kWritten ? start.continues : s == kUnwritten ? start.starts : start.undecided);
    } else if (s != kWritten) {
      ConcreteProblem* p = problem(ConcreteProblem::Kind::unwritten, a, env);
      if (p != nullptr) {
        p->element = concrete::unflatten(t, offset);
        p->maybe = s == kMaybe;
      }
      return;
    }
    if (t.local && s != kUnwritten && stamp_[a.tensor][static_cast<std::size_t>(offset)] != kernel_) {
      ConcreteProblem* p = problem(ConcreteProblem::Kind::crossing, a, env);
      if (p != nullptr) p->element = concrete::unflatten(t, offset);
    }
  }
  void finish() {
    for (std::size_t i = 0; i < code_.tensors.size(); ++i) {
      const TensorCode& t = code_.tensors[i];
      if (!t.is_out || sure_[i] == t.size) continue;
      std::int64_t offset = 0;
      if (!state_[i].empty()) {
        offset = std::find_if(state_[i].begin(), state_[i].end(), [](auto s) { return s != kWritten; }) - state_[i].begin();
      }
      flow_.missing.push_back({t.name, concrete::unflatten(t, offset)});
    }
  }

 private:
  // A write to an unknown element: nothing becomes sure, everything unwritten becomes possible.
  void scattered(const AccessCode& a) {
    for (std::uint8_t& s : state_[a.tensor]) {
      if (s == kUnwritten) s = kMaybe;
    }
  }
  ConcreteProblem* problem(ConcreteProblem::Kind kind, const AccessCode& a, const std::int64_t* env) {
    const TensorCode& t = code_.tensors[a.tensor];
    if (!seen_.emplace(static_cast<int>(kind), a.equation, t.name).second) return nullptr;
    flow_.problems.push_back({kind, a.equation, a.pos, t.name, 0, 0, {}, scopes_.describe(a.equation, env), doubt_ > 0});
    return &flow_.problems.back();
  }

  const concrete::Code& code_;
  ConcreteFlow& flow_;
  Scopes scopes_;
  std::vector<std::vector<std::uint8_t>> state_;
  std::vector<std::vector<std::uint32_t>> stamp_;
  std::vector<std::int64_t> sure_;
  std::set<std::tuple<int, std::uint32_t, std::string>> seen_;
  std::uint32_t kernel_ = 1;
  int doubt_ = 0;
};
}  // namespace

std::int64_t count_instances(const Body& body) {
  std::int64_t total = 0;
  for (const StmtPtr& s : body) {
    std::int64_t n = 1;
    if (!s->is_equation()) n = count_instances(s->body);
    if (s->is_loop() && __builtin_mul_overflow(n, s->extent, &n)) n = INT64_MAX;
    if (__builtin_add_overflow(total, n, &total)) total = INT64_MAX;
  }
  return total;
}

ConcreteFlow run_concrete(const Program& program, const ConcreteOptions& options) {
  ConcreteFlow flow;
  if (count_instances(program.body()) > options.max_instances) {
    flow.reason = fmt::format("more than {} equation instances", options.max_instances);
    return flow;
  }
  auto code = concrete::compile_program(program);
  if (!code) {
    flow.reason = code.error().message;
    return flow;
  }
  if (code->elements > options.max_elements) {
    flow.reason = fmt::format("more than {} elements", options.max_elements);
    return flow;
  }
  FlowVisitor visitor(*code, flow);
  concrete::Machine<FlowVisitor>(*code, visitor).run(code->roots);
  if (!visitor.stopped()) visitor.finish();
  flow.decided = true;
  return flow;
}

}  // namespace cairn
