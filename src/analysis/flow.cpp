#include "analysis/flow.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/flow_memo.h"
#include "analysis/flow_state.h"
#include "analysis/index_code.h"
#include "analysis/flow_system.h"
#include "ir/interval.h"

namespace cairn {

std::string describe_iteration(const Access& access, const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < access.loops.size() && i < values.size(); ++i) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", access.loops[i]->var, values[i]);
  }
  return text.empty() ? "" : " (first at " + text + ")";
}

std::string describe_element(const std::string& tensor, const std::vector<std::int64_t>& element) {
  std::string text;
  for (const std::int64_t v : element) text += fmt::format("{}{}", text.empty() ? "" : ",", v);
  return text.empty() ? tensor : fmt::format("{}_{{{}}}", tensor, text);
}

FlowAnalysis::FlowAnalysis(const Program& program, FlowMode mode, ConcreteOptions options)
    : state_(std::make_unique<State>(program, mode, options)) {}
FlowAnalysis::~FlowAnalysis() = default;

const std::vector<Access>& FlowAnalysis::accesses() { return state_->accesses(); }
const std::map<std::string, Shape, std::less<>>& FlowAnalysis::shapes() { return state_->shapes(); }

const std::vector<Access>& FlowAnalysis::State::accesses() {
  if (!accesses_) {
    accesses_ = collect_accesses(program);
    for (const Access& a : *accesses_) {
      if (a.is_write) writes_[a.tensor].push_back(&a);
    }
  }
  return *accesses_;
}

const std::vector<const Access*>& FlowAnalysis::State::writes(const std::string& tensor) {
  accesses();
  return writes_[tensor];
}

const std::map<std::string, Shape, std::less<>>& FlowAnalysis::State::shapes() {
  if (!shapes_) {
    auto inferred = infer_shapes(program);
    shapes_ = inferred ? *std::move(inferred) : std::map<std::string, Shape, std::less<>>{};
  }
  return *shapes_;
}

const ConcreteFlow& FlowAnalysis::State::concrete() {
  if (!concrete_) concrete_ = run_concrete(program, options);
  return *concrete_;
}

Answer FlowAnalysis::State::covered(const CoverQuestion& question, std::vector<std::int64_t>* example) {
  Answer answer = Answer::unknown;
  if (boxes()) answer = covered_by_regions(program, question);
  if (boxes() && answer == Answer::unknown) answer = covered_by_split_regions(program, question);
  if (answer == Answer::unknown && isl()) answer = covered_by_isl(program, question, example);
  return answer;
}

bool depends_on_data(const Expr& e) {
  if (e.op == Op::read) return true;
  return std::any_of(e.args.begin(), e.args.end(), [](const ExprPtr& a) { return depends_on_data(*a); });
}

// A read whose gathered subscripts run over their whole dimension.
Access FlowAnalysis::State::widened(const Access& read) {
  Access wide = read;
  const auto it = shapes().find(read.tensor);
  for (std::size_t d = 0; d < wide.subscripts.size(); ++d) {
    if (!depends_on_data(*wide.subscripts[d]) || it == shapes().end()) continue;
    const std::string var = fmt::format("gather{}", d);
    const StmtPtr loop = make_loop(LoopKind::L, it->second[d], var, {});
    kept_.push_back(loop);
    wide.loops.push_back(loop.get());
    wide.subscripts[d] = make_var(var);
  }
  return wide;
}

FlowVerdict FlowAnalysis::bounds(const Access& access, std::size_t dimension) {
  State& s = *state_;
  const auto shape = s.shapes().find(access.tensor);
  if (shape == s.shapes().end()) return {};
  const std::int64_t extent = shape->second[dimension];
  const Expr& sub = *access.subscripts[dimension];
  if (depends_on_data(sub)) return {};
  VarRanges ranges;
  for (const Stmt* loop : access.loops) ranges[loop->var] = {0, loop->extent - 1};
  const auto interval = interval_of(sub, ranges);
  if (interval && interval->lo >= 0 && interval->hi < extent && s.mode != FlowMode::concrete_only) return {Answer::yes, {}};
  std::vector<std::int64_t> point;
  bool exact = false;
  if (s.boxes() || s.isl()) {
    AccessSystem iterations(access);
    const auto row = iterations.subscript(dimension);
    if (row) {
      bool proved = true;
      for (const bool low : {true, false}) {
        // row <= -1, or row >= extent
        const auto outside = low ? combine_rows(*row, -1, constant_row(-1), 1) : combine_rows(*row, 1, constant_row(-extent), 1);
        if (!outside) {
          proved = false;
          continue;
        }
        IntegerSystem system = iterations.system();
        system.add_at_least(*outside);
        if (proved_empty(system)) continue;
        proved = false;
        if (point.empty() && decide_fast(system, &point) != Feasible::yes) point.clear();
      }
      if (proved) return {Answer::yes, {}};
      exact = iterations.exact() && !point.empty();
    }
  }
  const auto message = [&](const std::string& detail) {
    return error_at(s.program, sub.pos == kNoPos ? access.pos : sub.pos, Code::verify,
                    fmt::format("subscript {} of {} {}, expected 0 to {}", dimension + 1, access.tensor, detail, extent - 1));
  };
  if (exact) {
    std::string at;
    for (std::size_t i = 0; i < access.loops.size(); ++i) at += fmt::format("{}{}={}", i == 0 ? " at " : ", ", access.loops[i]->var, point[i]);
    const auto code = IndexCode::compile(sub, [&](const std::string& name) {
      for (std::size_t i = access.loops.size(); i-- > 0;) {
        if (access.loops[i]->var == name) return static_cast<int>(i);
      }
      return -1;
    });
    bool fault = false;
    if (code) return {Answer::no, message(fmt::format("is {}{}", code->eval(point.data(), &fault), at))};
  }
  if (s.concretes() && s.concrete().decided) {
    for (const ConcreteProblem& p : s.concrete().problems) {
      if (p.kind != ConcreteProblem::Kind::bounds || p.equation != access.equation || p.tensor != access.tensor) continue;
      if (p.dimension != dimension || (p.pos != access.pos && access.pos != kNoPos)) continue;
      return {Answer::no, message(fmt::format("is {} at {}", p.value, p.iteration.empty() ? "its only instance" : p.iteration))};
    }
    return {Answer::yes, {}};
  }
  if (!point.empty()) {
    const std::string at = describe_iteration(access, point);
    return {Answer::no, message("leaves its dimension" + at)};
  }
  if (interval) return {Answer::unknown, message(fmt::format("may run from {} to {} as far as can be proved", interval->lo, interval->hi))};
  return {Answer::unknown, message("has no bound that can be proved")};
}

FlowVerdict FlowAnalysis::written_before(const Access& read) {
  State& s = *state_;
  const Tensor* t = s.program.find(read.tensor);
  if (t == nullptr || (t->role != Role::out && t->role != Role::tmp)) return {Answer::yes, {}};
  const Access wide = s.widened(read);
  CoverQuestion question{&wide, s.writes(read.tensor), 0, nullptr, true};
  std::vector<std::int64_t> example;
  const Answer answer = s.covered(question, &example);
  if (answer == Answer::yes) return {answer, {}};
  const auto message = [&](std::string text) {
    Error e = error_at(s.program, read.pos == kNoPos ? read.stmt->pos : read.pos, Code::verify, std::move(text));
    e.notes.push_back(fmt::format("write {} before this read on every path, or guard the read by a condition on loop variables", read.tensor));
    return e;
  };
  if (answer == Answer::no) {
    return {answer, message(fmt::format("{} is read before it is written{}", read.tensor, describe_iteration(wide, example)))};
  }
  if (s.concretes() && s.concrete().decided) {
    for (const ConcreteProblem& p : s.concrete().problems) {
      if (p.kind != ConcreteProblem::Kind::unwritten || p.equation != read.equation || p.tensor != read.tensor) continue;
      const std::string at = p.iteration.empty() ? "" : " (first at " + p.iteration + ")";
      return {Answer::no, message(fmt::format("{} is {} before it is written{}", describe_element(p.tensor, p.element),
                                              p.maybe ? "perhaps read" : "read", at))};
    }
    return {Answer::yes, {}};
  }
  return {Answer::unknown, message(fmt::format("cannot prove that {} is written before this read{}", read.tensor, describe_iteration(wide, example)))};
}

FlowVerdict FlowAnalysis::covered(const std::string& tensor) {
  State& s = *state_;
  const auto shape = s.shapes().find(tensor);
  const Tensor* t = s.program.find(tensor);
  if (shape == s.shapes().end() || t == nullptr) return {};
  const auto message = [&](std::string text) {
    Error e = error_at(s.program, t->pos, Code::verify, std::move(text));
    e.notes.push_back("extend the loops or add a nest that writes the rest");
    return e;
  };
  const std::vector<const Access*>& writes = s.writes(tensor);
  if (writes.empty()) return {Answer::no, message(fmt::format("out tensor {} is never written, expected every element written", tensor))};
  const Access whole = s.whole_tensor(tensor, shape->second);
  CoverQuestion question{&whole, writes, 0, nullptr, true};
  std::vector<std::int64_t> example;
  const Answer answer = s.covered(question, &example);
  if (answer == Answer::yes) return {answer, {}};
  if (answer == Answer::no) {
    return {answer, message(fmt::format("{} of out tensor {} is never written, expected every element written",
                                        describe_element(tensor, example), tensor))};
  }
  if (s.concretes() && s.concrete().decided) {
    for (const ConcreteMissing& m : s.concrete().missing) {
      if (m.tensor != tensor) continue;
      return {Answer::no, message(fmt::format("{} of out tensor {} is not surely written, expected every element written",
                                              describe_element(tensor, m.element), tensor))};
    }
    return {Answer::yes, {}};
  }
  return {Answer::unknown, message(fmt::format("cannot prove that every element of out tensor {} is written", tensor))};
}

// A read of every element after the whole program.
Access FlowAnalysis::State::whole_tensor(const std::string& tensor, const Shape& shape) {
  Access whole;
  whole.tensor = tensor;
  whole.path = {static_cast<std::uint32_t>(program.body().size())};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const StmtPtr loop = make_loop(LoopKind::L, shape[d], fmt::format("element{}", d), {});
    kept_.push_back(loop);
    whole.loops.push_back(loop.get());
    whole.subscripts.push_back(make_var(loop->var));
  }
  return whole;
}

Result<void> check_written_before_read(const Program& program, const std::string& tensor) {
  const std::shared_ptr<FlowAnalysis> flow = flow_of(program);
  for (const Access& a : flow->accesses()) {
    if (a.is_write || a.is_self || a.tensor != tensor) continue;
    FlowVerdict v = flow->written_before(a);
    if (v.holds != Answer::yes) return std::move(v.reason);
  }
  return {};
}

Result<void> check_covered(const Program& program, const std::string& tensor) {
  FlowVerdict v = flow_of(program)->covered(tensor);
  if (v.holds != Answer::yes) return std::move(v.reason);
  return {};
}

StartVerdict start_of(const Program& program, std::uint32_t equation) { return flow_of(program)->start(equation); }

}  // namespace cairn
