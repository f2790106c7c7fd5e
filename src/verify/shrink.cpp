#include "verify/shrink.h"

#include <algorithm>
#include <cmath>

#include "ir/walk.h"

namespace cairn {

namespace {
std::uint64_t expr_size(const Expr& root) {
  std::uint64_t n = 0;
  visit_expr(root, [&n](const Expr& e) {
    // A leaf is worth less than a node, a literal least, so that every replacement by a part counts.
    n += e.op == Op::int_literal || e.op == Op::float_literal ? 1 : e.op == Op::loop_var ? 2 : 3;
    return true;
  });
  return n;
}

std::uint64_t program_size(const Program& program) {
  std::uint64_t n = 0;
  visit_stmts(program.body(), [&n](const Stmt& s, const StmtContext&) {
    n += 40;
    if (s.is_loop()) {
      n += static_cast<std::uint64_t>(std::max<std::int64_t>(0, s.extent)) * 8;
      n += (s.kind == LoopKind::L ? 0 : 1) + (s.mark.type == LoopMark::Type::none ? 0 : 1);
    }
    if (s.is_test()) n += expr_size(*s.cond);
    if (s.is_equation()) {
      n += expr_size(*s.rhs);
      for (const ExprPtr& e : s.subscripts) n += expr_size(*e);
    }
  });
  for (const Tensor& t : program.tensors()) {
    n += t.role == Role::out ? 80 : 20;
    if (t.scope != Scope::g) n += 1;
    for (const std::int64_t extent : t.shape.value_or(Shape{})) n += 4 * static_cast<std::uint64_t>(std::max<std::int64_t>(0, extent));
  }
  return n;
}

// Zero weighs nothing, a small integer little, anything else more.
std::uint64_t value_size(double x) {
  if (x == 0) return 0;
  const bool small = std::isfinite(x) && x == std::nearbyint(x) && std::fabs(x) <= 4;
  return small ? 1 + static_cast<std::uint64_t>(std::fabs(x) > 1) : 4;
}
}  // namespace

std::uint64_t case_size(const ShrinkCase& c) {
  std::uint64_t n = 0;
  for (const Program& p : c.programs) n += program_size(p) * 64;
  for (const auto& [name, v] : c.inputs) {
    for (const double x : v.floats) n += value_size(x);
    for (const std::int64_t x : v.ints) n += value_size(static_cast<double>(x));
  }
  return n;
}

Shrunk shrink_case(ShrinkCase start, const StillFails& fails, const ShrinkOptions& options) {
  Clock& clock = options.clock ? *options.clock : system_clock();
  const double end = clock.now() + options.seconds;
  Shrunk result;
  result.smallest = std::move(start);
  for (;;) {
    const std::uint64_t size = case_size(result.smallest);
    bool late = false;
    std::optional<ShrinkCase> next;
    offer_smaller(result.smallest, [&](ShrinkCase candidate) {
      if (clock.now() >= end) return late = true;
      if (case_size(candidate) >= size) return false;
      ++result.tried;
      if (!fails(candidate)) return false;
      next = std::move(candidate);
      return true;
    });
    if (!next) {
      result.finished = !late;
      return result;
    }
    ++result.taken;
    result.smallest = *std::move(next);
  }
}

}  // namespace cairn
