#include <fmt/core.h>

#include <algorithm>

#include "analysis/concrete.h"
#include "analysis/concrete_code.h"

namespace cairn {

namespace {
using concrete::AccessCode;
using concrete::Node;
using concrete::TensorCode;

// What an element met in the current execution of the loop; iterations are counted over all executions.
struct Shadow {
  std::uint32_t write = 0, read = 0, earlier_read = 0;   // iteration stamps, 0: never
  std::uint32_t write_eq = 0, read_eq = 0, earlier_eq = 0;
};

class CarriedVisitor {
 public:
  CarriedVisitor(const concrete::Code& code, const Node* loop, ConcreteCarried& result)
      : code_(code), loop_(loop), result_(result), shadow_(code.tensors.size()), found_(code.tensors.size(), -1),
        scattered_(code.tensors.size(), 0), gathered_(code.tensors.size(), 0) {}
  bool stopped() const { return false; }
  void loop_begin(const Node& node) {
    if (&node != loop_) return;
    inside_ = true;
    first_ = now_ + 1;
  }
  void iteration(const Node& node) {
    if (&node == loop_) ++now_;
  }
  void loop_end(const Node& node) {
    if (&node == loop_) inside_ = false;
  }
  void doubt(int change) { doubt_ += change; }
  void fault(std::uint32_t, SourcePos, const std::int64_t*) {}
  void out_of_bounds(const AccessCode&, std::size_t, std::int64_t, const std::int64_t*) {}
  void access(const AccessCode& a, std::int64_t offset, bool is_write, const std::int64_t*) {
    if (!inside_) return;
    const TensorCode& t = code_.tensors[a.tensor];
    if (!t.written) return;
    std::vector<Shadow>& all = shadow_[a.tensor];
    if (offset < 0) {  // any element: meets every write (and, if it writes, every read) of the loop
      std::uint8_t& flags = is_write ? scattered_[a.tensor] : gathered_[a.tensor];
      flags = 1;
      example_eq_ = a.equation;
      return;
    }
    if (all.empty()) all.resize(static_cast<std::size_t>(t.size));
    Shadow& s = all[static_cast<std::size_t>(offset)];
    if (is_write) {
      if (s.write >= first_ && s.write < now_) note(a, offset, &CarriedTensor::output, s.write, s.write_eq);
      if (s.read >= first_ && s.read < now_) {
        note(a, offset, &CarriedTensor::anti, s.read, s.read_eq);
      } else if (s.read == now_ && s.earlier_read >= first_) {
        note(a, offset, &CarriedTensor::anti, s.earlier_read, s.earlier_eq);
      }
      s.write = now_;
      s.write_eq = a.equation;
      return;
    }
    if (s.write >= first_ && s.write < now_) note(a, offset, &CarriedTensor::flow, s.write, s.write_eq);
    if (s.read != now_) {
      s.earlier_read = s.read >= first_ ? s.read : 0;
      s.earlier_eq = s.read_eq;
      s.read = now_;
    }
    s.read_eq = a.equation;
  }
  // Data-dependent subscripts: a scatter may meet any other access, a gather any write.
  void finish(const std::vector<std::uint8_t>& written_in_loop) {
    for (std::size_t i = 0; i < code_.tensors.size(); ++i) {
      const bool any = scattered_[i] != 0 || (gathered_[i] != 0 && written_in_loop[i] != 0);
      if (!any) continue;
      CarriedTensor& c = entry(i);
      c.maybe = true;
      if (scattered_[i] != 0) c.output = true;
      if (gathered_[i] != 0) c.flow = true;
      if (c.element.empty()) c.source = c.sink = example_eq_;
    }
    std::sort(result_.carried.begin(), result_.carried.end(), [](const auto& a, const auto& b) { return a.tensor < b.tensor; });
  }

 private:
  CarriedTensor& entry(std::size_t tensor) {
    if (found_[tensor] < 0) {
      found_[tensor] = static_cast<int>(result_.carried.size());
      result_.carried.emplace_back();
      result_.carried.back().tensor = code_.tensors[tensor].name;
    }
    return result_.carried[static_cast<std::size_t>(found_[tensor])];
  }
  void note(const AccessCode& a, std::int64_t offset, bool CarriedTensor::*kind, std::uint32_t iteration, std::uint32_t source) {
    const bool first = found_[a.tensor] < 0;
    CarriedTensor& c = entry(a.tensor);
    // A flow is the most telling example, then the first met.
    if (first || (kind == &CarriedTensor::flow && !c.flow)) {
      c.source = source;
      c.sink = a.equation;
      c.element = concrete::unflatten(code_.tensors[a.tensor], offset);
      c.source_iteration = iteration - first_;
      c.sink_iteration = now_ - first_;
      c.maybe = doubt_ > 0;
    }
    c.*kind = true;
  }

  const concrete::Code& code_;
  const Node* loop_;
  ConcreteCarried& result_;
  std::vector<std::vector<Shadow>> shadow_;
  std::vector<int> found_;
  std::vector<std::uint8_t> scattered_, gathered_;
  std::uint32_t now_ = 0, first_ = 1, example_eq_ = 0;
  bool inside_ = false;
  int doubt_ = 0;
};

void mark_written(const concrete::Code& code, const std::vector<Node>& nodes, bool inside, const Node* loop,
                  std::vector<std::uint8_t>* written) {
  for (const Node& node : nodes) {
    if (node.write >= 0 && inside) (*written)[code.accesses[static_cast<std::size_t>(node.write)].tensor] = 1;
    mark_written(code, node.children, inside || &node == loop, loop, written);
  }
}
}  // namespace

ConcreteCarried run_carried(const Program& program, const StmtPath& path, const ConcreteOptions& options) {
  ConcreteCarried result;
  const Stmt* loop = nullptr;
  const Body* body = &program.body();
  for (const std::uint32_t child : path) {
    if (child >= body->size()) {
      result.reason = "no statement at this path";
      return result;
    }
    loop = (*body)[child].get();
    body = &loop->body;
  }
  if (loop == nullptr || !loop->is_loop()) {
    result.reason = "no loop at this path";
    return result;
  }
  const StmtPtr nest = program.body()[path[0]];
  if (count_instances({nest}) > options.max_instances) {
    result.reason = fmt::format("more than {} equation instances", options.max_instances);
    return result;
  }
  auto code = concrete::compile_program(program);
  if (!code) {
    result.reason = code.error().message;
    return result;
  }
  if (code->elements > options.max_elements) {
    result.reason = fmt::format("more than {} elements", options.max_elements);
    return result;
  }
  const std::vector<Node> one{code->roots[path[0]]};
  const Node* node = one.data();
  for (std::size_t k = 1; k < path.size(); ++k) node = &node->children[path[k]];
  CarriedVisitor visitor(*code, node, result);
  concrete::Machine<CarriedVisitor>(*code, visitor).run(one);
  std::vector<std::uint8_t> written(code->tensors.size(), 0);
  mark_written(*code, one, false, node, &written);
  visitor.finish(written);
  result.decided = true;
  return result;
}

}  // namespace cairn
