// flashattention_wo_tiling: scores, softmax and the weighted sum of values become one online pass over the keys.
//
//   M_{i}=max(M_{i},x)  S_{i}=S_{i}+exp(x-M_{i})  Y_{i,f}=Y_{i,f}+exp(x-M_{i})/S_{i}*v
//   =>  L_i [m=-inf; s=0; L_f [o_{f}=0];
//            L_k [x; j=m; m=max(m,x); r=exp(j-m); p=exp(x-m); s=s*r; s=s+p; L_f [o_{f}=o_{f}*r; o_{f}=o_{f}+p*v]];
//            L_f [Y_{i,f}=o_{f}/s]]
//
// No history is kept: maximum, sum and weighted sum run in temporaries of scope l, in the compute types. A prefix of
// -inf contributes 0, and a row that is -inf throughout gives what it gave: NaN, or 0 where the weights say so. Stored
// weights and exponentials go; tests on the keys stay around the step. With scores=inside, temporaries that hold the
// scores (element-wise ones and the product of matrices) go as well, computed in the step in their own dtypes.
//
// Legal when
// (1) the equation sums exp(x-m)/s times values, m and s the maximum and the sum of the rows,
// (2) of all three exactly one loop reduces, serial (L or U), and nothing else inside these loops names them,
// (3) all three start there: no prior value, no other writer but the neutral element set for exactly these elements,
// (4) they run over the same rows and keys under the same tests and take the same x,
// (5) nothing that they read is written before the weighted sum is complete, and nobody reads the results before,
// (6) storing the maximum does not round x,
// (7) what goes is read nowhere else: the weights and the exponentials, with scores=inside also scores.
// Algebraic when all that goes is stored in its compute type, else changes_precision.
#include <fmt/core.h>

#include <algorithm>

#include "ir/walk.h"
#include "strategy/edit/fold_scores.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/simplify.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

Dtype run_type(Dtype dtype) { return dtype == Dtype::f64 ? Dtype::f64 : Dtype::f32; }

// Builds the pass of one weighted sum.
class Pass {
 public:
  Pass(const EquationIndex& index, const WeightedRows& found) : index_(index), program_(index.program()), found_(found), maximum_(found.softmax.maximum) {}

  Result<Step> build(bool inside) {
    name_loops();
    const Dtype top = run_type(program_.find(maximum_.tensor())->dtype), sum_type = run_type(program_.find(found_.softmax.sum.tensor())->dtype);
    const Dtype out_type = run_type(program_.find(found_.product.tensor())->dtype);
    const ExprPtr m = scalar(top), s = scalar(sum_type), j = scalar(top), r = scalar(sum_type), p = scalar(sum_type);
    const ExprPtr o = make_read(create(out_type), value_vars_);
    std::vector<StmtPath> removed = found_.removed;
    Body step;
    ExprPtr x = maximum_.operand;
    if (inside) {
      std::vector<std::string> taken;
      for (const Tensor& tensor : created_) taken.push_back(tensor.name);
      const FoldedScores folded = fold_scores(index_, maximum_, found_.product.place->path, removed, std::move(taken), vars_);
      if (folded.removed.empty()) {
        return refuse(program_, maximum_.update().pos, 7, fmt::format("no temporary behind {} is read by this pass alone", maximum_.tensor()));
      }
      x = folded.value;
      step = folded.statements;
      created_.insert(created_.end(), folded.scalars.begin(), folded.scalars.end());
      fresh_.insert(fresh_.end(), folded.vars.begin(), folded.vars.end());
      removed.insert(removed.end(), folded.removed.begin(), folded.removed.end());
    }
    if (x->op != Op::read) {
      const ExprPtr bound = scalar(top == Dtype::f64 || sum_type == Dtype::f64 ? Dtype::f64 : Dtype::f32);
      step.push_back(make_equation(bound->name, {}, x));
      x = bound;
    }
    for (const StmtPath& path : removed) {
      const std::string& gone = index_.at(path)->stmt->tensor;
      for (const WeightedRows::Factor& factor : found_.factors) {
        if (!reads_tensor(*factor.expr, gone)) continue;
        return refuse(program_, found_.product.update().pos, 7, fmt::format("{}, which would go, is among the values as well", gone));
      }
    }
    const Shift shift = found_.term.shift;
    for (StmtPtr equation : {set(j, m), set(m, make_expr(Op::max, {m, x})), set(r, rescale_factor(shift, j, m)), set(p, running_term(shift, x, m)),
                             set(s, operator_mul(s, r)), set(s, operator_add(s, p))}) {
      step.push_back(std::move(equation));
    }
    append(&step, over_values({set(o, operator_mul(o, r)), set(o, operator_add(o, weighted(p)))}));
    Body body{set(m, make_float(-__builtin_inf())), set(s, make_int(0))};
    append(&body, over_values({set(o, make_int(0))}));
    if (!maximum_.step_tests.empty()) step = Body{make_test(join_conjunction(maximum_.step_tests), std::move(step))};
    body.push_back(with_body(*maximum_.axis, std::move(step)));
    if (found_.keep_maximum) body.push_back(make_equation(maximum_.tensor(), maximum_.update().subscripts, m));
    if (found_.keep_sum) body.push_back(make_equation(found_.softmax.sum.tensor(), found_.softmax.sum_subscripts, final_sum(shift, m, s)));
    const ExprPtr scaled = found_.zero_if_void ? make_expr(Op::select, {is_void(m), o, make_expr(Op::div, {o, s})})
                                               : make_expr(Op::div, {o, final_sum(shift, m, s)});
    std::vector<ExprPtr> target;
    for (const ExprPtr& e : found_.product.update().subscripts) target.push_back(substitute_vars(e, map_));
    append(&body, over_values({make_equation(found_.product.tensor(), std::move(target), scaled, found_.product.update().pos)}));
    return finish(over_rows(std::move(body)), removed);
  }

 private:
  // The product's variables in the maximum's names; value loops keep theirs where they are free.
  void name_loops() {
    for (const Stmt* loop : maximum_.place->loops) vars_.push_back(loop->var);
    map_ = found_.to_maximum.substitution();
    for (const Stmt* loop : found_.values) {
      std::string name = loop->var;
      if (std::find(vars_.begin(), vars_.end(), name) != vars_.end()) {
        name = fresh_var(program_, vars_);
        fresh_.push_back(name);
      }
      vars_.push_back(name);
      if (name != loop->var) map_.emplace_back(loop->var, make_var(name));
      value_vars_.push_back(make_var(name));
    }
  }

  std::string create(Dtype dtype) {
    std::vector<std::string> taken;
    for (const Tensor& tensor : created_) taken.push_back(tensor.name);
    created_.push_back(Tensor{fresh_tensor(program_, taken), Role::tmp, dtype, Scope::l, std::nullopt, false, kNoPos, {}});
    return created_.back().name;
  }
  ExprPtr scalar(Dtype dtype) { return make_read(create(dtype), {}); }
  static StmtPtr set(const ExprPtr& to, ExprPtr value) { return make_equation(to->name, to->args, std::move(value)); }
  static void append(Body* to, const Body& more) { to->insert(to->end(), more.begin(), more.end()); }

  ExprPtr weighted(const ExprPtr& p) const {
    ExprPtr value = p;
    for (const WeightedRows::Factor& factor : found_.factors) {
      value = make_expr(factor.inverse ? Op::div : Op::mul, {value, substitute_vars(factor.expr, map_)});
    }
    return value;
  }

  // A parallel loop over values would be a region of its own in every step: it becomes serial.
  Body over_values(Body body) const {
    if (!found_.value_tests.empty()) body = Body{make_test(substitute_vars(join_conjunction(found_.value_tests), map_), std::move(body))};
    for (std::size_t k = found_.values.size(); k-- > 0;) {
      const Stmt& like = *found_.values[k];
      const bool kept = like.kind == LoopKind::L || like.kind == LoopKind::U || like.kind == LoopKind::V;
      const LoopMark mark = kept ? like.mark : LoopMark{};
      body = Body{make_loop(kept ? like.kind : LoopKind::L, like.extent, value_vars_[k]->name, std::move(body), mark, like.pos)};
    }
    return body;
  }

  // The rows of the maximum that the body around does not bind. A vector of rows has no lanes for a serial loop inside.
  Body over_rows(Body body) const {
    std::vector<ExprPtr> tests = maximum_.outer_tests;
    tests.insert(tests.end(), maximum_.row_tests.begin(), maximum_.row_tests.end());
    const std::vector<const Stmt*>& loops = maximum_.place->loops;
    const std::size_t shared = common_loops(loops, found_.product.place->loops);
    std::erase_if(tests, [&](const ExprPtr& test) { return is_around(test); });
    if (!tests.empty()) body = Body{make_test(join_conjunction(tests), std::move(body))};
    for (std::size_t k = loops.size(); k-- > shared;) {
      if (loops[k] == maximum_.axis) continue;
      const Stmt& like = *loops[k];
      const bool vector = like.kind == LoopKind::V;
      body = Body{make_loop(vector ? LoopKind::L : like.kind, like.extent, like.var, std::move(body), vector ? LoopMark{} : like.mark, like.pos)};
    }
    return body;
  }

  // A test that stands around the common body already.
  bool is_around(const ExprPtr& test) const {
    const Body* level = &program_.body();
    for (const std::uint32_t index : found_.body) {
      const Stmt& stmt = *(*level)[index];
      if (stmt.is_test()) {
        for (const ExprPtr& part : split_conjunction(stmt.cond)) {
          if (same_expr(part, test)) return true;
        }
      }
      level = &stmt.body;
    }
    return false;
  }

  Step finish(Body pass, const std::vector<StmtPath>& removed) const {
    Step step;
    PathEdits edits;
    for (const StmtPath& path : removed) edits.remove(path);
    edits.insert(found_.root, std::move(pass));
    step.after = program_;
    for (const Tensor& tensor : created_) step.after.set_tensor(tensor);
    step.after.set_body(edits.apply(program_.body()));
    const EquationIndex now(step.after);
    for (const Tensor& tensor : program_.tensors()) {
      if (tensor.role == Role::tmp && now.writers(tensor.name).empty() && now.readers(tensor.name).empty()) step.after.remove_tensor(tensor.name);
    }
    step.exactness = found_.rounded ? Exactness::changes_precision : Exactness::algebraic;
    step.same_instances = false;
    step.proved = conditions_up_to(7);
    for (const Tensor& tensor : created_) step.created.push_back(tensor.name);
    step.created.insert(step.created.end(), fresh_.begin(), fresh_.end());
    return step;
  }

  const EquationIndex& index_;
  const Program& program_;
  const WeightedRows& found_;
  const RowReduction& maximum_;
  std::vector<Tensor> created_;
  std::vector<std::string> vars_, fresh_;
  std::vector<ExprPtr> value_vars_;
  std::vector<std::pair<std::string, ExprPtr>> map_;
};

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const EquationIndex index(program);
  for (std::size_t k = 0; k < index.equations().size(); ++k) {
    const EquationPlace& place = index.equations()[k];
    if (!may_weigh(place)) continue;
    const Result<WeightedRows> found = find_weighted_rows(index, place.path);
    if (!found) continue;
    for (const bool inside : {true, false}) {
      const Result<Step> step = Pass(index, *found).build(inside);
      if (step && keeps_promises(found->softmax.maximum, found->softmax.sum.tensor(), step->after, target)) {
        out.push_back(Args{{"equation", fmt::format("s{}", k)}, {"scores", inside ? "inside" : "stored"}});
      }
    }
  }
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_equation(program.body(), args.get("equation")));
  const EquationIndex index(program);
  CAIRN_TRY(const WeightedRows found, find_weighted_rows(index, path));
  return Pass(index, found).build(args.get("scores") == "inside");
}

}  // namespace

extern const Strategy strategy_flashattention_wo_tiling{
    "flashattention_wo_tiling", Level::math, Direction::fusion, Exactness::changes_precision,
    "scores, softmax and the weighted sum of values become one online pass",
    {{"equation", ArgType::equation, "the sum of weighted values", {}, ""},
     {"scores", ArgType::choice, "stored scores are read, or computed inside the pass and dropped", {"stored", "inside"}, "stored"}},
    list_sites, apply};

}  // namespace cairn
