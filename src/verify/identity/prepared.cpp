#include "verify/identity/prepared.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "ir/interp.h"
#include "ir/interval.h"
#include "ir/numbers.h"
#include "ir/walk.h"
#include "verify/identity/writes.h"

namespace cairn::identity {

namespace {
Error refuse(std::string message) { return Error{Code::timeout, std::move(message), {}, {}}; }

class Preparer {
 public:
  explicit Preparer(const Program& program) { code_.program = &program; }

  Result<Prepared> run() {
    CAIRN_TRY(const auto shapes, infer_shapes(*code_.program));
    for (const Tensor& t : code_.program->tensors()) {
      const auto shape = shapes.find(t.name);
      if (shape == shapes.end()) continue;
      TensorInfo info;
      info.tensor = &t;
      info.shape = shape->second;
      const std::optional<std::int64_t> size = element_count(info.shape);
      if (!size || info.shape.size() > kMaxRank) return refuse(fmt::format("tensor {} is too large", t.name));
      info.size = *size;
      info.given = t.role == Role::in || t.role == Role::param || t.role == Role::constant || t.role == Role::io;
      code_.tensor_of.emplace(t.name, static_cast<std::int32_t>(code_.tensors.size()));
      code_.tensors.push_back(std::move(info));
    }
    writer_loops_ = loops_around_writes(*code_.program);
    CAIRN_CHECKED(body(code_.program->body()));
    for (Equation& e : code_.equations) {
      find_run(&e);
      number(&e);
    }
    return std::move(code_);
  }

 private:
  Result<void> body(const Body& statements) {
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const Stmt& s = *statements[i];
      here_.path.push_back(static_cast<std::uint32_t>(i));
      here_.depth_of.push_back(static_cast<std::uint32_t>(here_.loops.size()));
      switch (s.type) {
        case Stmt::Type::loop: CAIRN_CHECKED(loop(s)); break;
        case Stmt::Type::test: CAIRN_CHECKED(test(s)); break;
        case Stmt::Type::equation: CAIRN_CHECKED(equation(s)); break;
      }
      here_.path.pop_back();
      here_.depth_of.pop_back();
    }
    return {};
  }

  Result<void> loop(const Stmt& s) {
    if (here_.loops.size() >= kMaxLoops) return refuse("more loops around each other than the rung takes");
    vars_.push_back(s.var);
    here_.loops.push_back(loop_count_++);
    here_.extents.push_back(s.extent);
    CAIRN_CHECKED(body(s.body));
    vars_.pop_back();
    here_.loops.pop_back();
    here_.extents.pop_back();
    return {};
  }

  Result<void> test(const Stmt& s) {
    CAIRN_TRY(TypedPtr cond, elaborate_condition(*code_.program, s.cond));
    Guard g;
    g.site = static_cast<std::uint32_t>(code_.tests.size());
    CAIRN_TRY(g.node, expression(*cond));
    code_.keep.push_back(std::move(cond));
    g.loops = static_cast<std::uint32_t>(here_.loops.size());
    g.used = used_loops(g.node);
    Site site = here_;
    site.test = true;
    code_.tests.push_back(std::move(site));
    here_.guards.push_back(g);
    CAIRN_CHECKED(body(s.body));
    here_.guards.pop_back();
    return {};
  }

  Result<void> equation(const Stmt& s) {
    const auto found = code_.tensor_of.find(s.tensor);
    if (found == code_.tensor_of.end()) return refuse(fmt::format("tensor {} has no shape", s.tensor));
    Equation e;
    e.site = here_;
    e.id = static_cast<std::uint32_t>(code_.equations.size());
    e.stmt = &s;
    e.tensor = found->second;
    TensorInfo& info = code_.tensors[static_cast<std::size_t>(e.tensor)];
    const Dtype d = info.tensor->dtype;
    if (info.shape.size() != s.subscripts.size()) return refuse(fmt::format("tensor {} has two ranks", s.tensor));
    std::vector<TypedPtr> subscripts;
    for (const ExprPtr& x : s.subscripts) {
      CAIRN_TRY(TypedPtr t, elaborate_index(*code_.program, x));
      subscripts.push_back(std::move(t));
    }
    CAIRN_TRY(e.linear, subscript_list(subscripts, info.shape));
    const std::optional<SelfUpdate> update = match_self_update(s);
    e.update = update.has_value() && (is_float(d) || is_integer(d));
    if (e.update) e.op = update->op;
    e.narrow = is_float(d) && d != Dtype::f32 && d != Dtype::f64;
    e.joins_partial = e.narrow && e.update && std::all_of(update->others.begin(), update->others.end(), [&](const auto& other) {
      return !other.inverse && sums_partials(*code_.program, *other.expr, d, e.op);
    });
    self_ = e.update ? update->self : nullptr;
    CAIRN_TRY(TypedPtr rhs, elaborate_rhs(*code_.program, s));
    CAIRN_TRY(e.rhs, expression(*rhs));
    self_ = nullptr;
    code_.keep.push_back(std::move(rhs));
    for (TypedPtr& t : subscripts) code_.keep.push_back(std::move(t));
    invert(&e, info.shape.size());
    info.writers.push_back(e.id);
    if (info.writing_nests.empty() || info.writing_nests.back() != e.site.nest()) info.writing_nests.push_back(e.site.nest());
    code_.equations.push_back(std::move(e));
    return {};
  }

  Result<std::uint32_t> subscript_list(const std::vector<TypedPtr>& subscripts, const Shape& shape) {
    std::vector<Linear> list;
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      Linear l;
      CAIRN_TRY(l.node, expression(*subscripts[d]));
      l.affine = affine(*subscripts[d], 1, &l);
      l.extent = shape[d];
      if (!l.affine) l.terms.clear();
      list.push_back(std::move(l));
    }
    const auto first = static_cast<std::uint32_t>(code_.linear.size());
    for (Linear& l : list) code_.linear.push_back(std::move(l));
    return first;
  }

  bool affine(const TypedExpr& t, std::int64_t scale, Linear* l) const {
    constexpr std::int64_t kLargest = std::int64_t{1} << 40;
    if (t.form != TypedExpr::Form::node || scale > kLargest || scale < -kLargest) return false;
    std::int64_t product = 0;
    switch (t.op) {
      case Op::int_literal:
        return !__builtin_mul_overflow(t.integer, scale, &product) && !__builtin_add_overflow(l->constant, product, &l->constant);
      case Op::loop_var: {
        const std::int32_t depth = depth_of(t.expr->name);
        if (depth < 0) return false;
        for (auto& [loop, coefficient] : l->terms) {
          if (loop == static_cast<std::uint32_t>(depth)) return coefficient += scale, true;
        }
        l->terms.emplace_back(static_cast<std::uint32_t>(depth), scale);
        return true;
      }
      case Op::add: return affine(*t.args[0], scale, l) && affine(*t.args[1], scale, l);
      case Op::sub: return affine(*t.args[0], scale, l) && affine(*t.args[1], -scale, l);
      case Op::neg: return affine(*t.args[0], -scale, l);
      case Op::mul:
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
          if (t.args[i]->form != TypedExpr::Form::node || t.args[i]->op != Op::int_literal) continue;
          return !__builtin_mul_overflow(t.args[i]->integer, scale, &product) && affine(*t.args[1 - i], product, l);
        }
        return false;
      default: return false;
    }
  }

  std::int32_t depth_of(const std::string& var) const {
    for (std::size_t i = vars_.size(); i-- > 0;) {
      if (vars_[i] == var) return static_cast<std::int32_t>(i);
    }
    return -1;
  }

  Result<std::uint32_t> expression(const TypedExpr& t) {
    Node n;
    n.form = t.form;
    n.op = t.op;
    n.type = t.type;
    n.storage = t.storage;
    n.integer = t.integer;
    n.number = t.number;
    n.expr = t.expr;
    n.plain = t.type == ComputeType::i64 || t.type == ComputeType::boolean;
    if (t.form == TypedExpr::Form::node) {
      switch (t.op) {
        case Op::float_literal:
          n.decimal = t.expr->op == Op::float_literal ? t.expr->float_value : static_cast<double>(t.expr->int_value);
          break;
        case Op::loop_var:
          n.var = depth_of(t.expr->name);
          if (n.var < 0) return refuse(fmt::format("{} is no loop variable here", t.expr->name));
          break;
        case Op::read: {
          const auto found = code_.tensor_of.find(t.expr->name);
          if (found == code_.tensor_of.end()) return refuse(fmt::format("tensor {} has no shape", t.expr->name));
          n.tensor = found->second;
          n.self = t.expr == self_;
          n.plain = false;
          const Shape& shape = code_.tensors[static_cast<std::size_t>(n.tensor)].shape;
          if (shape.size() != t.args.size()) return refuse(fmt::format("tensor {} has two ranks", t.expr->name));
          CAIRN_TRY(n.linear, subscript_list(t.args, shape));
          n.count = static_cast<std::uint32_t>(t.args.size());
          break;
        }
        default: break;
      }
    }
    if (!(t.form == TypedExpr::Form::node && t.op == Op::read)) {
      std::vector<std::uint32_t> args;
      for (std::size_t i = 0; i < t.args.size(); ++i) {
        if (i > 0 && t.args[i] == t.args[0]) {  // x**2 shares its operand
          args.push_back(args[0]);
          continue;
        }
        CAIRN_TRY(const std::uint32_t arg, expression(*t.args[i]));
        args.push_back(arg);
        n.plain = n.plain && code_.nodes[arg].plain;
      }
      n.first = static_cast<std::uint32_t>(code_.operands.size());
      n.count = static_cast<std::uint32_t>(args.size());
      code_.operands.insert(code_.operands.end(), args.begin(), args.end());
    }
    code_.nodes.push_back(n);
    return static_cast<std::uint32_t>(code_.nodes.size() - 1);
  }

  std::uint32_t used_loops(std::uint32_t node) const {
    const Node& n = code_.nodes[node];
    std::uint32_t used = n.var >= 0 ? 1u << n.var : 0;
    if (n.tensor >= 0) {
      for (std::uint32_t i = 0; i < n.count; ++i) used |= used_loops(code_.linear[n.linear + i].node);
      // What is written inside a loop may have another value in each iteration.
      const auto written = writer_loops_.find(code_.tensors[static_cast<std::size_t>(n.tensor)].tensor->name);
      for (std::size_t i = 0; written != writer_loops_.end() && i < here_.loops.size(); ++i) used |= written->second.contains(here_.loops[i]) ? 1u << i : 0u;
      return used;
    }
    for (std::uint32_t i = 0; i < n.count; ++i) used |= used_loops(code_.operands[n.first + i]);
    return used;
  }

  // Whether the subscripts, each a mixed-radix number, determine their loops.
  void invert(Equation* e, std::size_t rank) const {
    e->by_digits = true;
    for (std::size_t d = 0; d < rank; ++d) {
      const Linear& l = code_.linear[e->linear + d];
      if (!l.affine) {
        e->determined |= used_loops(l.node);
        e->by_digits = false;
        continue;
      }
      auto terms = l.terms;
      std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
      std::int64_t rest = 0;  // the largest value of the digits after
      std::vector<Digit> digits;
      bool seen = false;
      for (std::size_t i = terms.size(); i-- > 0;) {
        const auto [loop, coefficient] = terms[i];
        if (coefficient == 0) continue;
        if (e->determined & (1u << loop)) seen = true;
        if (std::abs(coefficient) <= rest) e->by_digits = false;
        rest += std::abs(coefficient) * (e->site.extents[loop] - 1);
        digits.insert(digits.begin(), {static_cast<std::uint32_t>(d), loop, std::abs(coefficient), coefficient < 0});
      }
      if (seen) {  // a diagonal: its other dimensions determine these loops, if all of them
        const bool all = std::all_of(digits.begin(), digits.end(), [&](const Digit& x) { return e->determined & (1u << x.loop); });
        e->by_digits = e->by_digits && all;
        e->repeated.push_back(static_cast<std::uint32_t>(d));
      } else {
        e->digits.insert(e->digits.end(), digits.begin(), digits.end());
      }
      for (const Digit& x : digits) e->determined |= 1u << x.loop;
    }
  }

  void find_run(Equation* e) const {
    if (!e->update || !e->by_digits) return;
    const auto shares = [&](const Site& other, std::size_t depth) {
      return other.loops.size() > depth && other.loops[depth] == e->site.loops[depth];
    };
    std::size_t level = e->site.loops.size();
    while (level > 0) {
      const bool alone = std::none_of(code_.tensors[static_cast<std::size_t>(e->tensor)].writers.begin(),
                                      code_.tensors[static_cast<std::size_t>(e->tensor)].writers.end(), [&](std::uint32_t w) {
                                        return w != e->id && shares(code_.equations[w].site, level - 1);
                                      });
      if (!alone) break;
      --level;
    }
    if (level >= e->site.loops.size()) return;
    e->run_from = static_cast<std::uint32_t>(level);
    for (const Equation& other : code_.equations) {
      if (shares(other.site, level) && other.id != e->id && reads(other.rhs, e->tensor)) e->read_in_run = true;
    }
  }

  bool reads(std::uint32_t node, std::int32_t tensor) const {
    const Node& n = code_.nodes[node];
    if (n.tensor == tensor) return true;
    for (std::uint32_t i = 0; i < n.count; ++i) {
      if (reads(n.tensor >= 0 ? code_.linear[n.linear + i].node : code_.operands[n.first + i], tensor)) return true;
    }
    return false;
  }

  static void number(Equation* e) {
    std::int64_t total = 1;
    e->keyed = true;
    for (const std::int64_t extent : e->site.extents) {
      if (__builtin_mul_overflow(total, std::max<std::int64_t>(1, extent), &total) || total > (std::int64_t{1} << 48)) e->keyed = false;
    }
  }

  Prepared code_;
  Site here_;
  std::vector<std::string> vars_;
  std::uint32_t loop_count_ = 0;
  std::map<std::string, std::set<std::uint32_t>, std::less<>> writer_loops_;
  const Expr* self_ = nullptr;
};
}  // namespace

Result<Prepared> prepare(const Program& program) { return Preparer(program).run(); }

bool plain_value(const Prepared& code, std::uint32_t node, const std::int64_t* v, std::int64_t* out) {
  const Node& n = code.nodes[node];
  std::int64_t a = 0, b = 0;
  const auto arg = [&](std::uint32_t i) { return code.operands[n.first + i]; };
  if (n.form == TypedExpr::Form::convert) {
    if (!plain_value(code, arg(0), v, &a)) return false;
    *out = n.type == ComputeType::boolean ? a != 0 : a;
    return true;
  }
  if (n.form == TypedExpr::Form::round) {
    if (!plain_value(code, arg(0), v, &a)) return false;
    *out = wrap_integer(n.storage, a);
    return true;
  }
  switch (n.op) {
    case Op::int_literal: *out = n.integer; return true;
    case Op::loop_var: *out = v[n.var]; return true;
    case Op::logical_and: case Op::logical_or:
      if (!plain_value(code, arg(0), v, &a)) return false;
      if ((a != 0) == (n.op == Op::logical_or)) return *out = a != 0, true;
      if (!plain_value(code, arg(1), v, &b)) return false;
      *out = b != 0;
      return true;
    case Op::select:
      if (!plain_value(code, arg(0), v, &a)) return false;
      return plain_value(code, arg(a != 0 ? 1 : 2), v, out);
    default: break;
  }
  if (!plain_value(code, arg(0), v, &a)) return false;
  if (n.count > 1 && !plain_value(code, arg(1), v, &b)) return false;
  switch (n.op) {
    case Op::neg: *out = wrap_sub(0, a); return true;
    case Op::add: *out = wrap_add(a, b); return true;
    case Op::sub: *out = wrap_sub(a, b); return true;
    case Op::mul: *out = wrap_mul(a, b); return true;
    case Op::floor_div: if (b == 0) return false; *out = floor_div_int(a, b); return true;
    case Op::mod: if (b == 0) return false; *out = mod_int(a, b); return true;
    case Op::pow: if (b < 0) return false; *out = pow_int(a, b); return true;
    case Op::abs: *out = a < 0 ? wrap_sub(0, a) : a; return true;
    case Op::sign: *out = (a > 0) - (a < 0); return true;
    case Op::max: *out = std::max(a, b); return true;
    case Op::min: *out = std::min(a, b); return true;
    case Op::bit_xor: *out = a ^ b; return true;
    case Op::lt: *out = a < b; return true;
    case Op::le: *out = a <= b; return true;
    case Op::gt: *out = a > b; return true;
    case Op::ge: *out = a >= b; return true;
    case Op::eq: *out = a == b; return true;
    case Op::ne: *out = a != b; return true;
    case Op::logical_not: *out = a == 0; return true;
    default: return false;
  }
}

}  // namespace cairn::identity
