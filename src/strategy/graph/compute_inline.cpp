// compute_inline: a producer's expression replaces every use.
//
//   L_i [D_{i}=f(i)]  L_j [E_{j}=g(D_{j+1})]  =>  L_j [E_{j}=g(f(j+1))]
//
// The producer's subscripts are distinct loop variables or literals. A value stored in another type than the use
// computes in stays as a conversion; a guard of the producer becomes if_then_else(guard,f,0) at the use.
//
// Legal when
// (1) the tensor is a temporary with one defining equation, which is no self-update and stands under tests on loop
//     variables only, and is read after it,
// (2) the producer's subscripts are distinct loop variables or literals, every other loop around it is around each
//     use too, and so is every test on such a loop,
// (3) the operands are not rewritten between the producer and a use,
// (4) types stay: no operand is wider than the stored type, a use in a subscript needs no conversion, and a use in
//     a self-update does not bring that tensor in.
// The same operations on the same values: exact.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/flow_memo.h"
#include "analysis/dependence.h"
#include "ir/interval.h"
#include "ir/self_update.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

struct Producer {
  StmtPath path;
  const Stmt* equation = nullptr;
  const Tensor* tensor = nullptr;
  std::vector<const Stmt*> loops;      // around it
  std::vector<ExprPtr> tests;          // conjuncts around it
  std::vector<StmtPath> moving_tests;  // those on loops that no subscript tells
};

bool in_list(const std::vector<const Stmt*>& loops, const Stmt* loop) { return std::find(loops.begin(), loops.end(), loop) != loops.end(); }

// Conditions (1) and (2).
Result<Producer> find_producer(const Program& program, const std::string& name) {
  Producer producer;
  producer.tensor = program.find(name);
  if (!producer.tensor) return no_site(program, kNoPos, fmt::format("the program has no tensor {}", name));
  if (producer.tensor->role != Role::tmp) {
    return refuse(program, producer.tensor->pos, 1, fmt::format("{} is {}, not a temporary", name, role_name(producer.tensor->role)));
  }
  std::size_t definitions = 0;
  for (const EquationRef& ref : collect_equations(program.body())) {
    if (ref.equation->tensor != name) continue;
    producer.equation = ref.equation;
    producer.path = ref.path;
    ++definitions;
  }
  if (definitions != 1 || reads_tensor(*producer.equation->rhs, name)) {
    return refuse(program, producer.tensor->pos, 1, fmt::format("{} has {} defining equations{}; inlining needs one that does not read {}", name, definitions,
                                                                definitions == 1 ? ", a self-update" : "", name));
  }
  producer.loops = loops_above(program.body(), producer.path);
  std::vector<std::string> seen;
  for (const ExprPtr& s : producer.equation->subscripts) {
    const bool is_var = s->op == Op::loop_var && std::find(seen.begin(), seen.end(), s->name) == seen.end();
    if (!is_var && s->op != Op::int_literal) {
      return refuse(program, producer.equation->pos, 2, fmt::format("a subscript of {} on the left is neither a loop variable of its own nor a literal", name));
    }
    if (is_var) seen.push_back(s->name);
  }
  for (std::size_t depth = 1; depth < producer.path.size(); ++depth) {
    const Stmt& stmt = *stmt_at(program.body(), StmtPath(producer.path.begin(), producer.path.begin() + static_cast<std::ptrdiff_t>(depth)));
    if (!stmt.is_test()) continue;
    if (!is_index_condition(*stmt.cond)) {
      return refuse(program, stmt.pos, 1, fmt::format("{} is computed under a test that reads a tensor", name));
    }
    const bool moving = std::any_of(producer.loops.begin(), producer.loops.end(), [&](const Stmt* loop) {
      return uses_var(*stmt.cond, loop->var) && std::find(seen.begin(), seen.end(), loop->var) == seen.end();
    });
    if (moving) producer.moving_tests.emplace_back(producer.path.begin(), producer.path.begin() + static_cast<std::ptrdiff_t>(depth));
    for (ExprPtr& part : split_conjunction(stmt.cond)) producer.tests.push_back(std::move(part));
  }
  return producer;
}

// Some instance of `first` may come before an instance of `then` that touches the same element.
bool may_follow(const Program& program, const Access& first, const Access& then) {
  if (first.tensor != then.tensor) return false;
  std::vector<PairRelation> equal;
  for (std::size_t k = 0; k < first.loops.size() && k < then.loops.size() && first.loops[k] == then.loops[k]; ++k) {
    std::vector<PairRelation> relations = equal;
    relations.push_back({first.loops[k]->var, then.loops[k]->var, Order::less});
    if (may_touch(program, first, then, relations) != Answer::no) return true;
    equal.push_back({first.loops[k]->var, then.loops[k]->var, Order::equal});
  }
  return first.path <= then.path && may_touch(program, first, then, equal) != Answer::no;
}

// Conditions (1) and (2) for a use, (3) for all operands: no write of an operand may come after the producer read
// it, unless the write is after every use.
Result<void> check_uses(const Program& program, const Producer& producer, const std::vector<Access>& all) {
  const std::string& name = producer.tensor->name;
  StmtPath last_use;
  std::vector<const Stmt*> common = producer.loops, use_loops;
  for (const Access& use : all) {
    if (use.tensor != name || use.is_write) continue;
    if (use.path <= producer.path) {
      return refuse(program, use.pos, 1, fmt::format("{} is read before the equation that defines it", name));
    }
    last_use = std::max(last_use, use.path);
    use_loops.insert(use_loops.end(), use.loops.begin(), use.loops.end());
    for (const Stmt* loop : producer.loops) {
      const bool spatial = subscripts_name(producer.equation->subscripts, loop->var);
      if (!spatial && !in_list(use.loops, loop)) {
        return refuse(program, use.pos, 2, fmt::format("loop {} is around the definition of {} but neither its subscript nor around the use", loop->var, name));
      }
    }
    for (const StmtPath& test : producer.moving_tests) {
      if (is_prefix(test, use.path)) continue;
      return refuse(program, use.pos, 2, fmt::format("{} is computed only where a test on a loop that its subscripts do not tell holds; elsewhere the use "
                                                     "sees an earlier iteration's value", name));
    }
    std::erase_if(common, [&](const Stmt* loop) { return !in_list(use.loops, loop); });
  }
  if (last_use.empty()) return refuse(program, producer.equation->pos, 1, fmt::format("{} is read nowhere; it is dead code", name));
  for (const Access& read : all) {
    if (read.is_write || read.path != producer.path) continue;
    for (const Access& write : all) {
      if (!write.is_write || write.tensor != read.tensor) continue;
      // After the last use, unless a loop around both comes back to a use.
      const bool returns = std::any_of(write.loops.begin(), write.loops.end(), [&](const Stmt* loop) { return in_list(use_loops, loop); });
      if (common.empty() && write.path > last_use && !returns) continue;
      if (!may_follow(program, read, write)) continue;
      return refuse(program, write.pos, 3, fmt::format("{}, an operand of {}, may be rewritten before {} is used", read.tensor, name, name));
    }
  }
  return {};
}

// The widest compute type among the leaves of a value.
bool has_wider_leaf(const Program& program, const Expr& value, Dtype stored) {
  bool wider = false;
  visit_expr(value, [&](const Expr& e) {
    if (e.op == Op::read) {
      const Tensor* tensor = program.find(e.name);
      wider |= tensor && tensor->dtype == Dtype::f64 && stored != Dtype::f64;
      return false;
    }
    wider |= e.op == Op::cast && e.dtype == Dtype::f64 && stored != Dtype::f64;
    return true;
  });
  return wider;
}

// Stored without rounding: the dtype is its own compute type.
bool is_stored_exactly(Dtype dtype) { return dtype == Dtype::f32 || dtype == Dtype::f64 || dtype == Dtype::i64 || dtype == Dtype::boolean; }

// Replaces the uses in one equation.
class Inliner {
 public:
  Inliner(const Program& program, const Producer& producer) : program_(program), producer_(producer) {}

  ExprPtr value(const ExprPtr& e, const std::vector<LoopRange>& loops, Dtype target) { return walk(e, loops, target, false, false); }
  ExprPtr subscript(const ExprPtr& e, const std::vector<LoopRange>& loops) { return walk(e, loops, Dtype::i64, true, false); }
  ExprPtr condition(const ExprPtr& e, const std::vector<LoopRange>& loops) { return walk(e, loops, Dtype::f32, false, true); }
  bool failed() const { return failed_; }

 private:
  ExprPtr walk(const ExprPtr& e, const std::vector<LoopRange>& loops, Dtype target, bool in_subscript, bool in_condition) {
    if (!reads_tensor(*e, producer_.tensor->name)) return e;
    std::vector<ExprPtr> args;
    const bool is_use = e->op == Op::read && e->name == producer_.tensor->name;
    for (std::size_t k = 0; k < e->args.size(); ++k) {
      const bool subscript = in_subscript || e->op == Op::read;
      const bool condition = in_condition || is_comparison(e->op) || (e->op == Op::select && k == 0) || e->op == Op::cast ||
                             e->op == Op::logical_and || e->op == Op::logical_or || e->op == Op::logical_not || e->op == Op::isnan;
      args.push_back(walk(e->args[k], loops, target, subscript, condition));
    }
    if (is_use) return expand(args, loops, target, in_subscript, in_condition);
    switch (e->op) {
      case Op::read: return make_read(e->name, std::move(args), e->pos);
      case Op::cast: return make_cast(e->dtype, std::move(args[0]), e->pos);
      default: return make_expr(e->op, std::move(args), e->pos);
    }
  }

  ExprPtr expand(const std::vector<ExprPtr>& args, const std::vector<LoopRange>& loops, Dtype target, bool in_subscript, bool in_condition) {
    Substitution map;
    for (std::size_t d = 0; d < args.size(); ++d) {
      const ExprPtr& left = producer_.equation->subscripts[d];
      if (left->op == Op::loop_var) map.emplace_back(left->name, args[d]);
    }
    const auto place = [&](const ExprPtr& e) { return simplify_value(substitute_vars(e, map), loops, {}); };
    ExprPtr result = place(producer_.equation->rhs);
    std::vector<ExprPtr> tests;
    for (const ExprPtr& test : producer_.tests) {
      ExprPtr now = place(test);
      if (!is_true(*now)) tests.push_back(std::move(now));
    }
    const Dtype dtype = producer_.tensor->dtype;
    const bool same = compute_type(dtype) == compute_type(target) && is_stored_exactly(dtype) && !in_condition;
    const bool small_index = is_index_expr(*result) && fits(*result, loops, dtype);
    if (!tests.empty()) result = make_expr(Op::select, {join_conjunction(tests), result, make_int(0)});
    if (same || (small_index && is_integer(dtype))) return result;
    if (in_subscript || dtype == Dtype::boolean) failed_ = failed_ || dtype != Dtype::boolean || in_subscript;
    return dtype == Dtype::boolean ? result : make_cast(dtype, result);
  }

  static bool fits(const Expr& index, const std::vector<LoopRange>& loops, Dtype dtype) {
    VarRanges ranges;
    for (const LoopRange& loop : loops) ranges[loop.var] = {0, loop.extent - 1};
    const std::optional<Interval> range = interval_of(index, ranges);
    if (!range) return false;
    const std::int64_t bytes = dtype_bytes(dtype);
    const std::int64_t limit = bytes >= 8 ? INT64_MAX : (std::int64_t{1} << (8 * bytes - 1)) - 1;
    return range->lo >= 0 && range->hi <= limit;
  }

  const Program& program_;
  const Producer& producer_;
  bool failed_ = false;
};

Body inline_in(const Program& program, const Body& body, std::vector<LoopRange> loops, Inliner* inliner) {
  Body out;
  for (const StmtPtr& stmt : body) {
    if (stmt->is_equation()) {
      const Tensor* target = program.find(stmt->tensor);
      std::vector<ExprPtr> subscripts;
      for (const ExprPtr& s : stmt->subscripts) subscripts.push_back(inliner->subscript(s, loops));
      const ExprPtr rhs = inliner->value(stmt->rhs, loops, target->dtype);
      const bool same = rhs == stmt->rhs && subscripts == stmt->subscripts;
      out.push_back(same ? stmt : make_equation(stmt->tensor, std::move(subscripts), rhs, stmt->pos));
      continue;
    }
    std::vector<LoopRange> below = loops;
    if (stmt->is_loop()) below.push_back({stmt->var, stmt->extent});
    Body inner = inline_in(program, stmt->body, std::move(below), inliner);
    if (stmt->is_test()) {
      out.push_back(make_test(inliner->condition(stmt->cond, loops), std::move(inner), stmt->pos));
    } else {
      out.push_back(inner == stmt->body ? stmt : with_body(*stmt, std::move(inner)));
    }
  }
  return out;
}

Result<Step> inline_producer(const Program& program, const std::string& name) {
  CAIRN_TRY(const Producer producer, find_producer(program, name));
  const std::shared_ptr<const std::vector<Access>> shared = accesses_of(program);
  const std::vector<Access>& all = *shared;
  CAIRN_CHECKED(check_uses(program, producer, all));
  const Expr& value = *producer.equation->rhs;
  if (has_wider_leaf(program, value, producer.tensor->dtype)) {
    return refuse(program, producer.equation->pos, 4, fmt::format("{} narrows a wider operand; inlined it would be computed in the wider type", name));
  }
  const Program without = with_replaced(program, producer.path, {});
  Inliner inliner(program, producer);
  Step step;
  step.after = without;
  step.after.set_body(inline_in(program, without.body(), {}, &inliner));
  if (inliner.failed()) {
    return refuse(program, producer.equation->pos, 4, fmt::format("a use of {} in a subscript would need a conversion to {}", name, dtype_name(producer.tensor->dtype)));
  }
  // A self-update that gains a read of its own tensor would no longer be one.
  const std::vector<EquationRef> before = collect_equations(without.body()), after = collect_equations(step.after.body());
  for (std::size_t k = 0; k < before.size() && k < after.size(); ++k) {
    if (match_self_update(*before[k].equation).has_value() != match_self_update(*after[k].equation).has_value()) {
      return refuse(program, before[k].equation->pos, 4, fmt::format("inlining {} would change whether an update of {} is a self-update", name, before[k].equation->tensor));
    }
  }
  step.after.remove_tensor(name);
  step.same_instances = false;
  step.proved = conditions_up_to(4);
  return step;
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role != Role::tmp || !find_producer(program, tensor.name)) continue;
    if (inline_producer(program, tensor.name)) out.push_back(Args{{"tensor", tensor.name}});
  }
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) { return inline_producer(program, args.get("tensor")); }

}  // namespace

extern const Strategy strategy_compute_inline{
    "compute_inline", Level::graph, Direction::fusion, Exactness::exact,
    "a producer's expression replaces every use",
    {{"tensor", ArgType::tensor, "the temporary to inline", {}, ""}},
    list_sites, apply};

}  // namespace cairn
