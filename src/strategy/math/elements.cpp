#include "strategy/math/elements.h"

#include <algorithm>
#include <optional>

#include "ir/interval.h"

namespace cairn {
namespace {

void collect_reads(const ExprPtr& e, bool guarded, std::vector<ElementRead>* out) {
  if (e->op == Op::read) {
    out->push_back({e, guarded});
    return;
  }
  const bool lazy = e->op == Op::select || e->op == Op::logical_and || e->op == Op::logical_or;
  for (std::size_t k = 0; k < e->args.size(); ++k) collect_reads(e->args[k], guarded || (lazy && k > 0), out);
}

bool in_bounds(const Expr& read, const Tensor& tensor, const std::vector<LoopRange>& loops) {
  if (!tensor.shape || tensor.shape->size() != read.args.size()) return false;
  VarRanges ranges;
  for (const LoopRange& loop : loops) ranges[loop.var] = {0, loop.extent - 1};
  for (std::size_t d = 0; d < read.args.size(); ++d) {
    const std::optional<Interval> range = interval_of(*read.args[d], ranges);
    if (!range || range->lo < 0 || range->hi >= (*tensor.shape)[d]) return false;
  }
  return true;
}

const LoopRange* find_range(const std::vector<LoopRange>& loops, const std::string& var) {
  const auto found = std::find_if(loops.begin(), loops.end(), [&](const LoopRange& l) { return l.var == var; });
  return found == loops.end() ? nullptr : &*found;
}

}  // namespace

std::vector<ElementRead> element_reads(const ExprPtr& value) {
  std::vector<ElementRead> out;
  collect_reads(value, false, &out);
  return out;
}

bool is_always_there(const Tensor& tensor, const Expr& read, const std::vector<LoopRange>& loops) {
  const bool given = tensor.role == Role::in || tensor.role == Role::param || tensor.role == Role::constant || tensor.role == Role::io;
  return given && in_bounds(read, tensor, loops);
}

Elements::Elements(const Program& program) : program_(program), equations_(collect_equations(program.body())), offers_(equations_.size()) {}

const Elements::Offer& Elements::offer(std::size_t equation) {
  Offer& offer = offers_[equation];
  if (!offer.place.equation) offer = {algebra::place_of(program_, equations_[equation].path), element_reads(equations_[equation].equation->rhs)};
  return offer;
}

const algebra::Place& Elements::place(std::size_t equation) { return offer(equation).place; }

std::vector<ExprPtr> Elements::at(std::size_t equation, std::size_t limit) {
  std::vector<ExprPtr> out;
  const std::string& written = equations_[equation].equation->tensor;
  const Tensor* target = program_.find(written);
  if (!target) return out;
  const algebra::Place& here = offer(equation).place;
  const auto take = [&](std::size_t from) {
    const Offer& there = offer(from);
    for (const auto& [read, guarded] : there.reads) {
      const Tensor* tensor = read->name == written ? nullptr : program_.find(read->name);
      if (!tensor || !is_float(tensor->dtype) || compute_type(tensor->dtype) != compute_type(target->dtype)) continue;
      if (std::any_of(out.begin(), out.end(), [&](const ExprPtr& e) { return algebra::same_value(e, read); })) continue;
      const bool always = is_always_there(*tensor, *read, here.loops);
      bool fits = always || (!guarded && (from == equation || (there.place.known.empty() && from < equation)));
      if (!always && from != equation) {
        visit_expr(*read, [&](const Expr& e) {
          if (e.op != Op::loop_var) return fits;
          const LoopRange* bound = find_range(there.place.loops, e.name);
          const LoopRange* range = find_range(here.loops, e.name);
          fits = fits && bound && range && range->extent <= bound->extent;
          return true;
        });
      }
      if (fits && out.size() < limit) out.push_back(read);
    }
  };
  take(equation);
  for (std::size_t from = 0; from < equations_.size() && out.size() < limit; ++from) {
    if (from != equation) take(from);
  }
  return out;
}

}  // namespace cairn
