#include "support/random_program.h"

#include <string>
#include <vector>

namespace cairn {

namespace {
struct Var {
  std::string name;
  std::int64_t extent;
};
struct Index {
  ExprPtr expr;
  std::int64_t lo = 0, hi = 0;
};

class Maker {
 public:
  Maker(Rng& rng, const RandomProgramOptions& options) : rng_(rng), o_(options) {}

  Program make() {
    declare("A", Role::in, {8});
    declare("C", Role::in, {5, 6});
    declare("D", Role::out, pick(2) ? Shape{8} : Shape{5, 6});
    declare("E", Role::tmp, {8});
    declare("F", Role::tmp, {5, 6});
    declare("G", Role::tmp, {});
    Body body;
    const std::size_t nests = 1 + pick(static_cast<std::uint64_t>(o_.nests));
    for (std::size_t i = 0; i < nests; ++i) body.push_back(statement(0));
    if (chance(0.6)) body.insert(body.begin(), clear(pick(2) ? "E" : "F"));
    if (chance(0.8)) body.push_back(clear("D", chance(0.7)));
    program_.set_body(std::move(body));
    return std::move(program_);
  }

 private:
  std::uint64_t pick(std::uint64_t n) { return rng_.below(n); }
  bool chance(double p) { return rng_.uniform() < p; }

  void declare(const std::string& name, Role role, Shape shape) {
    Tensor t;
    t.name = name;
    t.role = role;
    t.dtype = Dtype::f64;
    t.shape = std::move(shape);
    t.declared = true;
    if (role == Role::tmp && chance(0.2)) t.scope = Scope::l;
    program_.set_tensor(std::move(t));
  }
  const Shape& shape_of(const std::string& name) const { return *program_.find(name)->shape; }

  // Writes the whole tensor, plainly or tiled with a guard.
  StmtPtr clear(const std::string& name, bool from_reads = false) {
    const Shape& shape = shape_of(name);
    std::vector<LoopHeader> loops;
    std::vector<ExprPtr> subs;
    ExprPtr guard;
    for (const std::int64_t n : shape) {
      const std::string v = fresh();
      if (chance(0.4)) {
        const std::string w = fresh();
        const std::int64_t tile = 2 + static_cast<std::int64_t>(pick(3));
        loops.push_back({kind(), (n + tile - 1) / tile, v, {}});
        loops.push_back({LoopKind::L, tile, w, {}});
        subs.push_back(sum(times(make_var(v), tile), make_var(w)));
        const ExprPtr c = make_expr(Op::lt, {subs.back(), make_int(n)});
        if (n % tile != 0) guard = guard ? make_expr(Op::logical_and, {guard, c}) : c;
      } else {
        loops.push_back({kind(), n, v, {}});
        subs.push_back(make_var(v));
      }
    }
    scope_.clear();
    for (const LoopHeader& l : loops) scope_.push_back({l.var, l.extent});
    ExprPtr value = from_reads ? term() : make_int(static_cast<std::int64_t>(pick(3)));
    scope_.clear();
    Body body{make_equation(name, subs, value)};
    if (guard) body = Body{make_test(guard, body)};
    body = wrap_loops(loops, std::move(body));
    return body[0];
  }

  LoopKind kind() {
    if (!chance(o_.parallel)) return LoopKind::L;
    constexpr LoopKind kKinds[] = {LoopKind::P, LoopKind::V, LoopKind::U};
    return kKinds[pick(3)];
  }
  std::string fresh() {
    std::string name;
    for (int k = counter_++;; k = k / 26 - 1) {
      name.insert(name.begin(), static_cast<char>('a' + k % 26));
      if (k < 26) return name;
    }
  }
  static ExprPtr sum(ExprPtr a, ExprPtr b) { return make_expr(Op::add, {std::move(a), std::move(b)}); }
  static ExprPtr times(ExprPtr a, std::int64_t n) { return make_expr(Op::mul, {std::move(a), make_int(n)}); }

  StmtPtr statement(int depth) {
    if (depth < o_.depth && (depth == 0 || chance(0.45))) {
      const std::string v = fresh();
      const std::int64_t extent = 1 + static_cast<std::int64_t>(pick(static_cast<std::uint64_t>(o_.max_extent)));
      scope_.push_back({v, extent});
      Body body;
      const std::size_t n = 1 + (chance(0.4) ? 1 : 0);
      for (std::size_t i = 0; i < n; ++i) body.push_back(statement(depth + 1));
      scope_.pop_back();
      return make_loop(kind(), extent, v, std::move(body));
    }
    if (!scope_.empty() && chance(o_.guard)) return make_test(condition(), Body{equation()});
    return equation();
  }

  const Var& var() { return scope_[pick(scope_.size())]; }

  Index index() {
    if (scope_.empty() || chance(0.1)) {
      const auto v = static_cast<std::int64_t>(pick(5));
      return {make_int(v), v, v};
    }
    const Var a = var();
    const ExprPtr e = make_var(a.name);
    switch (pick(8)) {
      case 0: {
        const auto c = static_cast<std::int64_t>(pick(3)) - 1;
        return {sum(e, make_int(c)), c, a.extent - 1 + c};
      }
      case 1: {
        const Var b = var();
        const std::int64_t tile = pick(2) ? b.extent : 1 + static_cast<std::int64_t>(pick(4));
        return {sum(times(e, tile), make_var(b.name)), 0, (a.extent - 1) * tile + b.extent - 1};
      }
      case 2: {
        const Var b = var();
        return {sum(e, make_var(b.name)), 0, a.extent + b.extent - 2};
      }
      case 3: return {make_expr(Op::sub, {make_int(a.extent - 1), e}), 0, a.extent - 1};
      case 4: {
        const auto m = 2 + static_cast<std::int64_t>(pick(3));
        if (pick(2)) return {make_expr(Op::floor_div, {e, make_int(m)}), 0, (a.extent - 1) / m};
        return {make_expr(Op::mod, {e, make_int(m)}), 0, m - 1};
      }
      default: return {e, 0, a.extent - 1};
    }
  }
  ExprPtr condition() {
    const Index a = index();
    constexpr Op kOps[] = {Op::lt, Op::le, Op::gt, Op::ge, Op::eq, Op::ne};
    const ExprPtr c = make_expr(kOps[pick(6)], {a.expr, make_int(static_cast<std::int64_t>(pick(5)))});
    if (!chance(0.2)) return c;
    const Index b = index();
    return make_expr(pick(2) ? Op::logical_and : Op::logical_or,
                     {c, make_expr(kOps[pick(6)], {b.expr, make_int(static_cast<std::int64_t>(pick(5)))})});
  }

  // Subscripts and the condition that keeps them in bounds (null if they stay there, or a fault is wanted).
  std::vector<ExprPtr> subscripts(const std::string& tensor, ExprPtr* guard) {
    std::vector<ExprPtr> subs;
    for (const std::int64_t n : shape_of(tensor)) {
      const Index i = index();
      subs.push_back(i.expr);
      if ((i.lo >= 0 && i.hi < n) || chance(o_.fault)) continue;
      ExprPtr c;
      if (i.lo < 0) c = make_expr(Op::ge, {i.expr, make_int(0)});
      if (i.hi >= n) {
        const ExprPtr high = make_expr(Op::lt, {i.expr, make_int(n)});
        c = c ? make_expr(Op::logical_and, {c, high}) : high;
      }
      *guard = *guard ? make_expr(Op::logical_and, {*guard, c}) : c;
    }
    return subs;
  }
  ExprPtr term() {
    constexpr const char* kNames[] = {"A", "C", "E", "F", "G", "D"};
    const std::string name = kNames[pick(6)];
    ExprPtr guard;
    std::vector<ExprPtr> subs = subscripts(name, &guard);
    ExprPtr read = make_read(name, std::move(subs));
    if (guard) read = make_expr(Op::select, {guard, read, make_int(0)});
    if (!scope_.empty() && chance(0.15)) read = make_expr(Op::select, {condition(), read, make_int(1)});
    return read;
  }
  StmtPtr equation() {
    constexpr const char* kNames[] = {"E", "F", "G", "D", "D"};
    const std::string name = kNames[pick(5)];
    ExprPtr guard;
    const std::vector<ExprPtr> subs = subscripts(name, &guard);
    ExprPtr value = chance(0.5) ? term() : sum(term(), make_int(static_cast<std::int64_t>(pick(3))));
    if (chance(0.4)) {
      constexpr Op kOps[] = {Op::add, Op::add, Op::max, Op::min};
      value = make_expr(kOps[pick(4)], {make_read(name, subs), value});
    }
    StmtPtr s = make_equation(name, subs, value);
    if (guard) s = make_test(guard, Body{s});
    return s;
  }

  Rng& rng_;
  const RandomProgramOptions& o_;
  Program program_;
  std::vector<Var> scope_;
  int counter_ = 0;
};
}  // namespace

Program random_program(Rng& rng, const RandomProgramOptions& options) { return Maker(rng, options).make(); }

}  // namespace cairn
