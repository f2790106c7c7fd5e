#include <memory>

#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include "analysis/system.h"

namespace cairn {

namespace {
constexpr unsigned long kMaxOperations = 20'000'000;
constexpr int kMaxLeaves = 256;

struct CtxFree {
  void operator()(isl_ctx* ctx) const { isl_ctx_free(ctx); }
};

// One context a thread: isl contexts are not shared between threads.
isl_ctx* thread_ctx() {
  thread_local std::unique_ptr<isl_ctx, CtxFree> ctx = [] {
    isl_ctx* made = isl_ctx_alloc();
    isl_options_set_on_error(made, ISL_ON_ERROR_CONTINUE);
    return std::unique_ptr<isl_ctx, CtxFree>(made);
  }();
  return ctx.get();
}

isl_val* value_of(isl_ctx* ctx, std::int64_t value) { return isl_val_int_from_si(ctx, static_cast<long>(value)); }

isl_basic_set* add_row(isl_basic_set* set, isl_ctx* ctx, const Constraint& constraint) {
  isl_local_space* space = isl_local_space_from_space(isl_basic_set_get_space(set));
  isl_constraint* c = constraint.equal ? isl_constraint_alloc_equality(space) : isl_constraint_alloc_inequality(space);
  for (const auto& [variable, coef] : constraint.row.terms) {
    c = isl_constraint_set_coefficient_val(c, isl_dim_set, variable, value_of(ctx, coef));
  }
  c = isl_constraint_set_constant_val(c, value_of(ctx, constraint.row.constant));
  return isl_basic_set_add_constraint(set, c);
}

Feasible sample(isl_basic_set* set, int size, std::vector<std::int64_t>* point) {
  isl_ctx* ctx = isl_basic_set_get_ctx(set);
  const isl_bool empty = isl_basic_set_is_empty(set);
  Feasible answer = empty == isl_bool_error ? Feasible::unknown : empty == isl_bool_true ? Feasible::no : Feasible::yes;
  if (answer == Feasible::yes && point != nullptr) {
    isl_point* found = isl_basic_set_sample_point(isl_basic_set_copy(set));
    point->assign(static_cast<std::size_t>(size), 0);
    for (int v = 0; found != nullptr && v < size; ++v) {
      isl_val* value = isl_point_get_coordinate_val(found, isl_dim_set, v);
      (*point)[static_cast<std::size_t>(v)] = isl_val_get_num_si(value);
      isl_val_free(value);
    }
    if (found == nullptr) answer = Feasible::unknown;
    isl_point_free(found);
  }
  isl_ctx_reset_error(ctx);
  return answer;
}

// The cases from disjunction `next` on, as isl sets.
Feasible search(const IntegerSystem& system, isl_basic_set* set, std::size_t next, int* leaves,
                std::vector<std::int64_t>* point) {
  if (next == system.disjunctions().size()) {
    if (--*leaves < 0) return Feasible::unknown;
    return sample(set, system.size(), point);
  }
  Feasible answer = Feasible::no;
  for (const Conjunction& alternative : system.disjunctions()[next]) {
    isl_basic_set* narrowed = isl_basic_set_copy(set);
    for (const Constraint& c : alternative) narrowed = add_row(narrowed, isl_basic_set_get_ctx(set), c);
    const Feasible below = search(system, narrowed, next + 1, leaves, point);
    isl_basic_set_free(narrowed);
    if (below == Feasible::yes) return below;
    if (below == Feasible::unknown) answer = below;
  }
  return answer;
}
}  // namespace

Feasible decide_isl(const IntegerSystem& system, std::vector<std::int64_t>* point) {
  isl_ctx* ctx = thread_ctx();
  isl_ctx_reset_operations(ctx);
  isl_ctx_set_max_operations(ctx, kMaxOperations);
  isl_basic_set* set = isl_basic_set_universe(isl_space_set_alloc(ctx, 0, static_cast<unsigned>(system.size())));
  for (int v = 0; v < system.size(); ++v) {
    const Interval range = system.ranges()[static_cast<std::size_t>(v)];
    Constraint low{variable_row(v), false};
    low.row.constant = -range.lo;
    Constraint high{variable_row(v), false};
    high.row.terms[0].second = -1;
    high.row.constant = range.hi;
    set = add_row(add_row(set, ctx, low), ctx, high);
  }
  for (const Constraint& c : system.constraints()) set = add_row(set, ctx, c);
  int leaves = kMaxLeaves;
  const Feasible answer = search(system, set, 0, &leaves, point);
  isl_basic_set_free(set);
  return answer;
}

}  // namespace cairn
