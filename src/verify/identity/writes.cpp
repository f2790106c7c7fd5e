#include "verify/identity/writes.h"

#include <vector>

#include "ir/walk.h"

namespace cairn::identity {

namespace {
class LoopCollector {
 public:
  void walk(const Body& body) {
    for (const StmtPtr& s : body) {
      if (s->is_equation()) {
        found[s->tensor].insert(around_.begin(), around_.end());
        continue;
      }
      if (s->is_loop()) around_.push_back(count_++);
      walk(s->body);
      if (s->is_loop()) around_.pop_back();
    }
  }
  std::map<std::string, std::set<std::uint32_t>, std::less<>> found;

 private:
  std::vector<std::uint32_t> around_;
  std::uint32_t count_ = 0;
};
}  // namespace

std::map<std::string, std::set<std::uint32_t>, std::less<>> loops_around_writes(const Program& program) {
  LoopCollector collector;
  collector.walk(program.body());
  return std::move(collector.found);
}

bool sums_partials(const Program& program, const Expr& operand, Dtype dtype, UpdateOp op) {
  if (operand.op == (op == UpdateOp::add ? Op::add : Op::mul)) {
    return sums_partials(program, *operand.args[0], dtype, op) && sums_partials(program, *operand.args[1], dtype, op);
  }
  if (operand.op != Op::read) return false;
  const Tensor* tensor = program.find(operand.name);
  if (!tensor || tensor->role != Role::tmp || tensor->dtype != dtype) return false;
  bool sums = false, other = false;
  for (const EquationRef& ref : collect_equations(program.body())) {
    if (ref.equation->tensor != operand.name) continue;
    const std::optional<SelfUpdate> update = match_self_update(*ref.equation);
    const bool start = ref.equation->rhs->op == Op::int_literal || ref.equation->rhs->op == Op::float_literal;
    sums |= update && update->op == op;
    other |= !start && !(update && update->op == op);
  }
  return sums && !other;
}

}  // namespace cairn::identity
