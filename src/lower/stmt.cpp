// Statements in C: loops, tests and equations outside vector loops.
#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"
#include "ir/text.h"
#include "lower/emitter.h"

namespace cairn {

void CEmitter::line(const std::string& text) {
  out_.append(static_cast<std::size_t>(indent_) * 2, ' ');
  out_ += text;
  out_ += '\n';
}
void CEmitter::open(const std::string& text) {
  line(text);
  ++indent_;
}
void CEmitter::close(const std::string& text) {
  --indent_;
  line(text);
}

const TypedExpr* CEmitter::typed(const Stmt& stmt) {
  auto it = typed_.find(&stmt);
  if (it == typed_.end()) {
    auto made = stmt.is_test() ? elaborate_condition(program_, stmt.cond) : elaborate_rhs(program_, stmt);
    CAIRN_CHECK_MSG(made.ok(), made.error().message);
    it = typed_.emplace(&stmt, *std::move(made)).first;
  }
  return it->second.get();
}

TypedPtr CEmitter::typed_index(const Expr& expr) {
  auto it = typed_indices_.find(&expr);
  if (it == typed_indices_.end()) {
    const ExprPtr alias(std::shared_ptr<void>(), &expr);  // owned by the program
    auto made = elaborate_index(program_, alias);
    CAIRN_CHECK_MSG(made.ok(), made.error().message);
    it = typed_indices_.emplace(&expr, *std::move(made)).first;
  }
  return it->second;
}

void CEmitter::bind(const std::string& var, std::string text, std::int64_t offset, bool lane, Interval range) {
  if (!text.empty()) atom_ranges_[text] = {range.lo - offset, range.hi - offset};
  bindings_.push_back({var, std::move(text), offset, lane, range});
  ranges_[var] = range;
}
void CEmitter::unbind() {
  ranges_.erase(bindings_.back().var);
  bindings_.pop_back();
}

void CEmitter::emit_body(const Body& body) {
  for (std::uint32_t i = 0; i < body.size(); ++i) {
    path_.push_back(i);
    emit_starts(path_);
    emit_stmt(*body[i]);
    path_.pop_back();
  }
}

void CEmitter::emit_starts(const StmtPath& path) {
  const auto it = plan_.starts.find(path);
  if (it == plan_.starts.end()) return;
  path_.push_back(UINT32_MAX);  // no plan belongs to a start
  for (const StmtPtr& s : it->second) emit_stmt(*s);
  path_.pop_back();
}

void CEmitter::emit_stmt(const Stmt& stmt) {
  switch (stmt.type) {
    case Stmt::Type::loop: emit_loop(stmt); break;
    case Stmt::Type::test: emit_test(stmt); break;
    case Stmt::Type::equation: emit_equation(stmt); break;
  }
}

void CEmitter::emit_loop(const Stmt& loop) {
  if (loop.extent <= 0) return;
  const auto plan = plan_.parallel.find(path_);
  if (plan != plan_.parallel.end() && plan->second.parallel && !in_parallel_) {
    emit_parallel(loop, plan->second);
    return;
  }
  if (loop.kind == LoopKind::U) {
    emit_unrolled(loop);
  } else if (loop.kind == LoopKind::V && mode_ == LaneMode::scalar && emit_vector_loop(loop)) {
    return;
  } else {
    emit_serial(loop);
  }
}

void CEmitter::emit_serial(const Stmt& loop) {
  if (loop.extent == 1) {
    bind(loop.var, "", 0, false, {0, 0});
    emit_body(loop.body);
    unbind();
    return;
  }
  const std::string var = c_name(loop.var);
  const LoopBounds bounds = loop_bounds(loop);
  const std::vector<RegisterTile> tiles = open_tiles(loop, bounds.partial);
  if (!bounds.first.empty()) {
    open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0}) {{", var, bounds.first, bounds.last));
  } else {
    open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", var, loop.extent));
  }
  bind(loop.var, var, 0, false, {0, loop.extent - 1});
  if (bounds.whole_test) {
    path_.push_back(0);
    emit_body(loop.body[0]->body);
    path_.pop_back();
  } else {
    emit_body(loop.body);
  }
  unbind();
  close();
  close_tiles(tiles);
}

void CEmitter::emit_unrolled(const Stmt& loop) {
  if (is_unrolled_whole(loop, plan_.max_unroll)) {
    for (std::int64_t i = 0; i < loop.extent; ++i) {
      bind(loop.var, "", i, false, {i, i});
      emit_body(loop.body);
      unbind();
    }
    return;
  }
  const std::int64_t asked = loop.mark.type == LoopMark::Type::count ? loop.mark.count : 8;
  const std::int64_t factor = std::clamp<std::int64_t>(asked, 1, plan_.max_unroll);
  const std::int64_t whole = loop.extent / factor * factor;
  const std::string var = c_name(loop.var);
  if (whole > 0) {
    open(fmt::format("for (int64_t {0} = 0; {0} < {1}; {0} += {2}) {{", var, whole, factor));
    for (std::int64_t i = 0; i < factor; ++i) {
      bind(loop.var, var, i, false, {i, whole - factor + i});
      emit_body(loop.body);
      unbind();
    }
    close();
  }
  for (std::int64_t i = whole; i < loop.extent; ++i) {
    bind(loop.var, "", i, false, {i, i});
    emit_body(loop.body);
    unbind();
  }
}

// The value of a condition on loop variables where their ranges decide it.
std::optional<bool> CEmitter::known_condition(const Expr& cond) {
  switch (cond.op) {
    case Op::logical_and:
    case Op::logical_or: {
      const auto a = known_condition(*cond.args[0]);
      const auto b = known_condition(*cond.args[1]);
      const bool decides = cond.op == Op::logical_or;
      if ((a && *a == decides) || (b && *b == decides)) return decides;
      return a && b ? std::optional<bool>(!decides) : std::nullopt;
    }
    case Op::logical_not: {
      const auto a = known_condition(*cond.args[0]);
      return a ? std::optional<bool>(!*a) : std::nullopt;
    }
    case Op::lt: case Op::le: case Op::gt: case Op::ge: case Op::eq: case Op::ne: break;
    default: return std::nullopt;
  }
  if (!range_of(*cond.args[0]) || !range_of(*cond.args[1])) return std::nullopt;
  const auto a = index_form(*cond.args[0]);
  const auto b = index_form(*cond.args[1]);
  if (!a || !b) return std::nullopt;
  IndexForm diff = *a;
  diff.add(*b, -1);
  const auto r = form_range(diff);
  if (!r) return std::nullopt;
  switch (cond.op) {
    case Op::lt: return r->hi < 0 ? std::optional(true) : r->lo >= 0 ? std::optional(false) : std::nullopt;
    case Op::le: return r->hi <= 0 ? std::optional(true) : r->lo > 0 ? std::optional(false) : std::nullopt;
    case Op::gt: return r->lo > 0 ? std::optional(true) : r->hi <= 0 ? std::optional(false) : std::nullopt;
    case Op::ge: return r->lo >= 0 ? std::optional(true) : r->hi < 0 ? std::optional(false) : std::nullopt;
    case Op::eq:
    case Op::ne: {
      if (r->lo == 0 && r->hi == 0) return cond.op == Op::eq;
      if (r->lo > 0 || r->hi < 0) return cond.op == Op::ne;
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

void CEmitter::emit_test(const Stmt& test) {
  const auto known = known_condition(*test.cond);
  if (known && !*known) return;
  if (known) {
    emit_body(test.body);
    return;
  }
  if (mode_ == LaneMode::vector) {
    emit_vector_test(test);
    return;
  }
  open(fmt::format("if ({}) {{", emit_value(*typed(test)).text));
  emit_body(test.body);
  close();
}

void CEmitter::emit_equation(const Stmt& equation) {
  if (mode_ == LaneMode::vector) {
    emit_vector_equation(equation);
    return;
  }
  const Dtype dtype = program_.find(equation.tensor)->dtype;
  const CValue value = emit_value(*typed(equation));
  const auto ref = element_ref(equation.tensor, equation.subscripts, true);
  CAIRN_CHECK(ref.has_value());
  line(fmt::format("{} = {};", ref->lvalue, store_value(value, compute_type(dtype), dtype, false)));
}

// A test that is all of a loop's body and affine in its variable becomes the loop's bounds.
CEmitter::LoopBounds CEmitter::loop_bounds(const Stmt& loop) {
  LoopBounds out;
  if (loop.body.size() != 1 || !loop.body[0]->is_test()) return out;
  out.partial = true;
  const Expr& cond = *loop.body[0]->cond;
  if (cond.op != Op::lt && cond.op != Op::le && cond.op != Op::gt && cond.op != Op::ge) return out;
  const std::string var = c_name(loop.var);
  bind(loop.var, var, 0, false, {0, loop.extent - 1});
  std::optional<IndexForm> a, b;
  if (range_of(*cond.args[0]) && range_of(*cond.args[1])) {
    a = index_form(*cond.args[0]);
    b = index_form(*cond.args[1]);
  }
  unbind();
  if (!a || !b) return out;
  const bool less = cond.op == Op::lt || cond.op == Op::le;
  IndexForm diff;  // diff < 0
  diff.add(*a, less ? 1 : -1);
  diff.add(*b, less ? -1 : 1);
  if (cond.op == Op::le || cond.op == Op::ge) diff.constant -= 1;
  const auto term = std::find_if(diff.terms.begin(), diff.terms.end(), [&var](const auto& t) { return t.first == var; });
  if (term == diff.terms.end() || (term->second != 1 && term->second != -1)) return out;
  for (const auto& [atom, coef] : diff.terms) {
    if (atom != var && atom.find(var) != std::string::npos && atom.find('(') != std::string::npos) return out;
  }
  const std::int64_t sign = term->second;
  diff.terms.erase(term);
  IndexForm bound;
  bound.add(diff, -sign);
  // sign 1: var < -rest; sign -1: var > rest, that is var >= rest + 1.
  const CValue text = print_index(bound);
  if (sign == 1) {
    need("imin");
    out.first = std::string("0");
    out.last = fresh_name(var + "_end");
    line(fmt::format("const int64_t {} = cairn_imin({}, {});", out.last, loop.extent, text.text));
  } else {
    bound.constant += 1;
    need("imax");
    out.first = fmt::format("cairn_imax(0, {})", print_index(bound).text);
    out.last = fmt::format("{}", loop.extent);
  }
  out.whole_test = true;
  return out;
}

std::string CEmitter::fresh_name(const std::string& stem) { return fmt::format("{}{}", stem, ++counter_); }

}  // namespace cairn
