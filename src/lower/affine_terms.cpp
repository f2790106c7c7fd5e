#include "lower/affine_terms.h"

#include <algorithm>

namespace cairn {

namespace {
bool add_scaled(AffineTerms& into, const AffineTerms& from, std::int64_t factor) {
  std::int64_t product = 0;
  for (const auto& [var, coef] : from.terms) {
    std::int64_t& slot = into.terms[var];
    if (__builtin_mul_overflow(coef, factor, &product) || __builtin_add_overflow(slot, product, &slot)) return false;
    if (slot == 0) into.terms.erase(var);
  }
  return !__builtin_mul_overflow(from.constant, factor, &product) &&
         !__builtin_add_overflow(into.constant, product, &into.constant);
}
}  // namespace

std::int64_t AffineTerms::coefficient(std::string_view var) const {
  const auto it = terms.find(var);
  return it == terms.end() ? 0 : it->second;
}

std::optional<AffineTerms> affine_terms(const Expr& expr) {
  AffineTerms out;
  switch (expr.op) {
    case Op::int_literal: out.constant = expr.int_value; return out;
    case Op::loop_var: out.terms[expr.name] = 1; return out;
    case Op::neg:
    case Op::add:
    case Op::sub: {
      const auto a = affine_terms(*expr.args[0]);
      if (!a) return std::nullopt;
      if (!add_scaled(out, *a, expr.op == Op::neg ? -1 : 1)) return std::nullopt;
      if (expr.op == Op::neg) return out;
      const auto b = affine_terms(*expr.args[1]);
      if (!b || !add_scaled(out, *b, expr.op == Op::sub ? -1 : 1)) return std::nullopt;
      return out;
    }
    case Op::mul: {
      const auto a = affine_terms(*expr.args[0]);
      const auto b = affine_terms(*expr.args[1]);
      if (!a || !b || (!a->terms.empty() && !b->terms.empty())) return std::nullopt;
      const bool constant_left = a->terms.empty();
      if (!add_scaled(out, constant_left ? *b : *a, constant_left ? a->constant : b->constant)) return std::nullopt;
      return out;
    }
    default: return std::nullopt;
  }
}

namespace {
void place(const Body& body, StmtPath& path, std::vector<const Stmt*>& enclosing, std::vector<PlacedEquation>& out) {
  for (std::uint32_t i = 0; i < body.size(); ++i) {
    path.push_back(i);
    if (body[i]->is_equation()) {
      out.push_back({body[i].get(), path, enclosing});
    } else {
      enclosing.push_back(body[i].get());
      place(body[i]->body, path, enclosing, out);
      enclosing.pop_back();
    }
    path.pop_back();
  }
}

// Largest minus smallest value of a term; extents of at least 1.
std::int64_t span_of(std::int64_t coef, std::int64_t extent) { return (coef < 0 ? -coef : coef) * (extent - 1); }
}  // namespace

std::vector<PlacedEquation> place_equations(const Body& body) {
  std::vector<PlacedEquation> out;
  StmtPath path;
  std::vector<const Stmt*> enclosing;
  place(body, path, enclosing, out);
  return out;
}

bool is_injective(const std::vector<ExprPtr>& subscripts, const std::map<std::string, std::int64_t>& extents) {
  std::map<std::string, int> uses;
  for (const ExprPtr& subscript : subscripts) {
    const auto form = affine_terms(*subscript);
    if (!form) {
      // A quotient or gather that mentions none of the variables is fixed.
      for (const auto& [var, extent] : extents) {
        if (uses_var(*subscript, var)) return false;
      }
      continue;
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> radix;  // |coef|, span
    for (const auto& [var, coef] : form->terms) {
      const auto extent = extents.find(var);
      if (extent == extents.end()) continue;
      ++uses[var];
      radix.emplace_back(coef < 0 ? -coef : coef, span_of(coef, extent->second));
    }
    std::sort(radix.begin(), radix.end());
    std::int64_t below = 0;
    for (const auto& [coef, span] : radix) {
      if (coef <= below) return false;
      below += span;
    }
  }
  return std::all_of(extents.begin(), extents.end(),
                     [&uses](const auto& entry) { return entry.second <= 1 || uses[entry.first] == 1; });
}

bool is_covered(const PlacedEquation& earlier, const PlacedEquation& later) {
  if (earlier.equation->subscripts.size() != later.equation->subscripts.size()) return false;
  std::size_t common = 0;
  while (common < earlier.path.size() && common < later.path.size() && earlier.path[common] == later.path[common]) {
    ++common;
  }
  if (common >= earlier.path.size() || common >= later.path.size() || earlier.path[common] > later.path[common]) {
    return false;
  }
  std::map<std::string, std::int64_t> inner_earlier, inner_later;
  for (std::size_t i = common; i < earlier.enclosing.size(); ++i) {
    if (!earlier.enclosing[i]->is_loop()) return false;
    inner_earlier[earlier.enclosing[i]->var] = earlier.enclosing[i]->extent;
  }
  for (std::size_t i = common; i < later.enclosing.size(); ++i) {
    if (later.enclosing[i]->is_loop()) inner_later[later.enclosing[i]->var] = later.enclosing[i]->extent;
  }
  std::map<std::string, int> dims_of;
  for (std::size_t d = 0; d < later.equation->subscripts.size(); ++d) {
    const auto w = affine_terms(*earlier.equation->subscripts[d]);
    const auto u = affine_terms(*later.equation->subscripts[d]);
    if (!w || !u) return false;
    AffineTerms outer_w, outer_u;  // parts in the common loops
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    std::int64_t w_lo = w->constant, w_hi = w->constant, u_lo = u->constant, u_hi = u->constant;
    for (const auto& [var, coef] : w->terms) {
      const auto inner = inner_earlier.find(var);
      if (inner == inner_earlier.end()) {
        outer_w.terms[var] = coef;
        continue;
      }
      if (++dims_of[var] > 1) return false;
      const std::int64_t span = span_of(coef, inner->second);
      (coef < 0 ? w_lo : w_hi) += coef < 0 ? -span : span;
      steps.emplace_back(coef < 0 ? -coef : coef, span);
    }
    for (const auto& [var, coef] : u->terms) {
      const auto inner = inner_later.find(var);
      if (inner == inner_later.end()) {
        outer_u.terms[var] = coef;
        continue;
      }
      const std::int64_t span = span_of(coef, inner->second);
      (coef < 0 ? u_lo : u_hi) += coef < 0 ? -span : span;
    }
    if (!(outer_w == outer_u) || u_lo < w_lo || u_hi > w_hi) return false;
    std::sort(steps.begin(), steps.end());
    std::int64_t dense = 0;
    for (const auto& [step, span] : steps) {
      if (span == 0) continue;
      if (step > dense + 1) return false;
      dense += span;
    }
  }
  return true;
}

}  // namespace cairn
