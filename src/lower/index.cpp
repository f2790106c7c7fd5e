// Subscripts in C: affine forms with constants folded, quotients simplified where ranges prove it.
#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"
#include "lower/emitter.h"

namespace cairn {

namespace {
std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
IndexForm constant_form(std::int64_t value) {
  IndexForm f;
  f.constant = value;
  return f;
}
}  // namespace

void IndexForm::add(const IndexForm& other, std::int64_t factor) {
  for (const auto& [atom, coef] : other.terms) {
    const auto it = std::find_if(terms.begin(), terms.end(), [&atom = atom](const auto& t) { return t.first == atom; });
    if (it == terms.end()) {
      terms.emplace_back(atom, coef * factor);
    } else {
      it->second += coef * factor;
    }
  }
  std::erase_if(terms, [](const auto& t) { return t.second == 0; });
  constant += other.constant * factor;
  lane += other.lane * factor;
}

const VarBinding* CEmitter::find_binding(std::string_view var) const {
  for (std::size_t i = bindings_.size(); i-- > 0;) {
    if (bindings_[i].var == var) return &bindings_[i];
  }
  CAIRN_CHECK_MSG(false, "loop variable " + std::string(var) + " is not bound");
  return nullptr;
}

std::optional<Interval> CEmitter::form_range(const IndexForm& form) const {
  Interval out{form.constant, form.constant};
  const auto widen = [&out](std::int64_t coef, const Interval& r) {
    const std::int64_t a = coef * r.lo, b = coef * r.hi;
    out.lo += std::min(a, b);
    out.hi += std::max(a, b);
  };
  for (const auto& [atom, coef] : form.terms) {
    const auto it = atom_ranges_.find(atom);
    if (it == atom_ranges_.end()) return std::nullopt;
    widen(coef, it->second);
  }
  if (form.lane != 0) widen(form.lane, {0, lanes_ - 1});
  return out;
}

std::optional<IndexForm> CEmitter::index_form(const Expr& expr) {
  switch (expr.op) {
    case Op::int_literal: return constant_form(expr.int_value);
    case Op::loop_var: {
      const VarBinding* b = find_binding(expr.name);
      IndexForm f = constant_form(b->offset);
      if (!b->text.empty()) f.terms.emplace_back(b->text, 1);
      if (b->lane) f.lane = 1;
      return f;
    }
    case Op::neg:
    case Op::add:
    case Op::sub: {
      auto a = index_form(*expr.args[0]);
      if (!a) return std::nullopt;
      IndexForm out;
      out.add(*a, expr.op == Op::neg ? -1 : 1);
      if (expr.op == Op::neg) return out;
      auto b = index_form(*expr.args[1]);
      if (!b) return std::nullopt;
      out.add(*b, expr.op == Op::sub ? -1 : 1);
      return out;
    }
    case Op::mul: {
      auto a = index_form(*expr.args[0]);
      auto b = index_form(*expr.args[1]);
      if (!a || !b) return std::nullopt;
      const auto constant = [](const IndexForm& f) { return f.terms.empty() && f.lane == 0; };
      IndexForm out;
      if (constant(*b)) {
        out.add(*a, b->constant);
      } else if (constant(*a)) {
        out.add(*b, a->constant);
      } else {
        return opaque_form(expr);
      }
      return out;
    }
    case Op::floor_div:
    case Op::mod: return quotient_form(expr);
    default: return opaque_form(expr);
  }
}

// f // c and f % c for a positive constant c: with f = c*q + r and 0 <= r < c proved, q and r.
std::optional<IndexForm> CEmitter::quotient_form(const Expr& expr) {
  auto f = index_form(*expr.args[0]);
  auto d = index_form(*expr.args[1]);
  if (!f || !d) return std::nullopt;
  if (!d->terms.empty() || d->lane != 0 || d->constant <= 0) return opaque_form(expr);
  const std::int64_t c = d->constant;
  IndexForm q, r;
  for (const auto& [atom, coef] : f->terms) {
    IndexForm one;
    one.terms.emplace_back(atom, 1);
    if (coef % c == 0) {
      q.add(one, coef / c);
    } else {
      r.add(one, coef);
    }
  }
  if (f->lane % c == 0) {
    q.lane = f->lane / c;
  } else {
    r.lane = f->lane;
  }
  q.constant = floor_quotient(f->constant, c);
  r.constant = f->constant - q.constant * c;
  const auto range = form_range(r);
  if (range && range->lo >= 0 && range->hi < c) return expr.op == Op::floor_div ? q : r;
  return opaque_form(expr);
}

std::optional<IndexForm> CEmitter::opaque_form(const Expr& expr) {
  // Varying over vector lanes in a way that is not affine: the caller takes another path.
  if (mode_ == LaneMode::vector) {
    bool varies = false;
    visit_expr(expr, [&](const Expr& e) {
      if (e.op == Op::loop_var && find_binding(e.name)->lane) varies = true;
      if (e.op == Op::read) {
        if (const RegisterTile* t = find_tile(e.name); t != nullptr && t->lanes > 0) varies = true;
      }
      return !varies;
    });
    if (varies) return std::nullopt;
  }
  IndexForm out;
  const auto range = range_of(expr);
  std::string text;
  const auto part = [&](const ExprPtr& e) {
    const auto f = index_form(*e);
    CAIRN_CHECK(f.has_value());
    return print_index(*f);
  };
  switch (expr.op) {
    case Op::floor_div:
    case Op::mod: {
      const auto a = range_of(*expr.args[0]);
      const auto b = range_of(*expr.args[1]);
      if (a && b && a->lo >= 0 && b->lo > 0) {
        text = fmt::format("({} {} {})", part(expr.args[0]).at(kMul), expr.op == Op::mod ? '%' : '/',
                           part(expr.args[1]).at(kUnary));
        break;
      }
      const std::string divisor =
          b && (b->lo > 0 || b->hi < 0) ? part(expr.args[1]).text : checked_divisor(part(expr.args[1]).text);
      need(expr.op == Op::mod ? "floor_mod" : "floor_div");
      text = fmt::format("{}({}, {})", expr.op == Op::mod ? "cairn_imod" : "cairn_idiv", part(expr.args[0]).text, divisor);
      break;
    }
    case Op::mul: text = fmt::format("({} * {})", part(expr.args[0]).at(kMul), part(expr.args[1]).at(kUnary)); break;
    case Op::max:
    case Op::min:
      need(expr.op == Op::max ? "imax" : "imin");
      text = fmt::format("{}({}, {})", expr.op == Op::max ? "cairn_imax" : "cairn_imin", part(expr.args[0]).text,
                         part(expr.args[1]).text);
      break;
    case Op::bit_xor:
      text = fmt::format("({} ^ {})", part(expr.args[0]).at(kUnary), part(expr.args[1]).at(kUnary));
      break;
    default: {
      // Everything else (gathers, powers, selections) is a typed value in i64.
      const TypedPtr typed = typed_index(expr);
      const LaneMode mode = mode_;
      if (mode_ == LaneMode::vector) mode_ = LaneMode::scalar;
      text = emit_value(*typed).at(kUnary);
      mode_ = mode;
      break;
    }
  }
  out.terms.emplace_back(text, 1);
  if (range) {
    atom_ranges_[text] = *range;
  } else {
    atom_ranges_.erase(text);
  }
  return out;
}

std::string CEmitter::checked_divisor(const std::string& text) {
  if (!options_.checks) return text;
  need("nonzero");
  check_used_ = true;
  return fmt::format("cairn_nonzero({}, {}, &failed)", text, add_check("integer division by zero"));
}

std::size_t CEmitter::add_check(const std::string& text) {
  auto& texts = source_.check_texts;
  const auto it = std::find(texts.begin(), texts.end(), text);
  if (it != texts.end()) return static_cast<std::size_t>(it - texts.begin()) + 1;
  texts.push_back(text);
  return texts.size();
}

std::string CEmitter::checked_index(const std::string& text, std::int64_t extent, const std::string& tensor,
                                    std::size_t dim) {
  need("check_index");
  check_used_ = true;
  return fmt::format("cairn_index({}, {}, {}, &failed)", text, extent,
                     add_check(fmt::format("a subscript of {} in dimension {} is outside [0, {})", tensor, dim, extent)));
}

bool CEmitter::in_bounds(const std::string& tensor, const std::vector<ExprPtr>& subscripts) const {
  const Place& place = plan_.places.at(tensor);
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    const auto range = range_of(*subscripts[d]);
    if (!range || range->lo < 0 || range->hi >= place.full_shape[d]) return false;
  }
  return true;
}

std::optional<IndexForm> CEmitter::flat_form(const std::string& tensor, const std::vector<ExprPtr>& subscripts) {
  const Place& place = plan_.places.at(tensor);
  IndexForm out;
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    auto f = index_form(*subscripts[d]);
    if (!f) return std::nullopt;
    if (options_.checks && is_gather(*subscripts[d])) {
      const auto range = range_of(*subscripts[d]);
      if (!range || range->lo < 0 || range->hi >= place.full_shape[d]) {
        if (f->lane != 0 && mode_ == LaneMode::vector) return std::nullopt;
        const std::string text = checked_index(print_index(*f).text, place.full_shape[d], tensor, d);
        f = IndexForm{};
        f->terms.emplace_back(text, 1);
        atom_ranges_[text] = {0, place.full_shape[d] - 1};
      }
    }
    if (place.strides[d] != 0) out.add(*f, place.strides[d]);
  }
  return out;
}

CValue CEmitter::print_index(const IndexForm& form) const {
  std::string out;
  int count = 0;
  bool product = false;
  const auto append = [&](const std::string& atom, std::int64_t coef) {
    const std::int64_t size = coef < 0 ? -coef : coef;
    if (count > 0) {
      out += coef < 0 ? " - " : " + ";
    } else if (coef < 0) {
      out += "-";
    }
    out += size == 1 ? atom : fmt::format("{} * {}", atom, size);
    product |= size != 1;
    ++count;
  };
  for (const auto& [atom, coef] : form.terms) append(atom, coef);
  if (form.lane != 0) {
    CAIRN_CHECK(mode_ == LaneMode::lane);
    append(lane_var_, form.lane);
  }
  if (count == 0) return {fmt::format("{}", form.constant), form.constant < 0 ? kUnary : kAtom, false, 8};
  if (form.constant != 0) {
    out += fmt::format(" {} {}", form.constant < 0 ? '-' : '+', form.constant < 0 ? -form.constant : form.constant);
    ++count;
  }
  return {out, count > 1 ? kAdd : product || out[0] == '-' ? kMul : kAtom, false, 8};
}

}  // namespace cairn
