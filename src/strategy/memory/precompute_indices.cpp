// precompute_indices: an index expression is computed once into an integer tensor.
//
//   L_i L_a [D_{i*4+a}=A_{i*4+a,(i*4+a)//8}]  =>  L_i L_a [Q^{i64,l}=(i*4+a)//8; D_{i*4+a}=A_{i*4+a,Q}]      place=body
//                                             =>  L_i L_a [Q^{i64,g}_{i,a}=(i*4+a)//8]  L_i L_a [.. A_{i*4+a,Q_{i,a}}]   place=nest
//
// `loop` is the innermost loop that binds a variable of the part. Every subscript below it, on either side, that is or
// contains the part reads the tensor instead. With place=body that is a scalar of scope l, set first in the loop's body
// (one a lane below V loops); with place=nest a table of scope g, filled by its own nest before the top-level statement.
// Either way the tensor is a binding: every analysis sees the expression behind it.
//
// Legal when
// (1) the part is an operation on loop variables and literals with a variable in it, and stands in a subscript below
//     the loop,
// (2) the loop is the innermost around that binds one of its variables, and no matrix-unit loop is around or below,
// (3) it has a value in every iteration: no divisor may be 0 and nothing may leave 64 bits,
// (4) dtype i32 only where every value is proved to fit.
// The same integers: exact.
#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "ir/interval.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"
#include "verify/verify.h"

namespace cairn {
namespace {

bool is_part(const Expr& e) {
  if (!is_index_expr(e) || e.args.empty()) return false;
  bool variable = false;
  visit_expr(e, [&](const Expr& node) {
    variable |= node.op == Op::loop_var;
    return !variable;
  });
  return variable;
}

// Calls fn with every subscript of an expression (those of nested reads too).
void visit_subscripts(const Expr& root, const std::function<void(const ExprPtr&)>& fn) {
  visit_expr(root, [&](const Expr& e) {
    if (e.op == Op::read) std::for_each(e.args.begin(), e.args.end(), fn);
    return true;
  });
}
void visit_subscripts(const Stmt& stmt, const std::function<void(const ExprPtr&)>& fn) {
  if (stmt.is_test()) visit_subscripts(*stmt.cond, fn);
  if (!stmt.is_equation()) return;
  for (const ExprPtr& s : stmt.subscripts) {
    fn(s);
    visit_subscripts(*s, fn);
  }
  visit_subscripts(*stmt.rhs, fn);
}

bool contains_part(const Expr& e, const Expr& part) {
  bool found = false;
  visit_expr(e, [&](const Expr& node) {
    found |= same_expr(node, part);
    return !found && node.op != Op::read;
  });
  return found;
}

// Replaces the part in subscripts.
class Replacer {
 public:
  Replacer(const Expr& part, ExprPtr read) : part_(part), read_(std::move(read)) {}
  Body body(const Body& body) const {
    Body out;
    for (const StmtPtr& stmt : body) out.push_back(statement(stmt));
    return out;
  }

 private:
  StmtPtr statement(const StmtPtr& stmt) const {
    if (stmt->is_equation()) {
      std::vector<ExprPtr> subscripts;
      for (const ExprPtr& s : stmt->subscripts) subscripts.push_back(walk(s, true));
      ExprPtr rhs = walk(stmt->rhs, false);
      const bool same = rhs == stmt->rhs && subscripts == stmt->subscripts;
      return same ? stmt : make_equation(stmt->tensor, std::move(subscripts), std::move(rhs), stmt->pos);
    }
    Body inner = body(stmt->body);
    if (stmt->is_loop()) return inner == stmt->body ? stmt : with_body(*stmt, std::move(inner));
    ExprPtr cond = walk(stmt->cond, false);
    return cond == stmt->cond && inner == stmt->body ? stmt : make_test(std::move(cond), std::move(inner), stmt->pos);
  }
  ExprPtr walk(const ExprPtr& e, bool in_subscript) const {
    if (in_subscript && same_expr(*e, part_)) return read_;
    if (e->args.empty()) return e;
    std::vector<ExprPtr> args;
    for (const ExprPtr& arg : e->args) args.push_back(walk(arg, in_subscript || e->op == Op::read));
    if (args == e->args) return e;
    switch (e->op) {
      case Op::read: return make_read(e->name, std::move(args), e->pos);
      case Op::cast: return make_cast(e->dtype, std::move(args[0]), e->pos);
      default: return make_expr(e->op, std::move(args), e->pos);
    }
  }

  const Expr& part_;
  ExprPtr read_;
};

bool holds_kind(const Stmt& stmt, LoopKind kind) {
  if (stmt.is_loop() && stmt.kind == kind) return true;
  return std::any_of(stmt.body.begin(), stmt.body.end(), [kind](const StmtPtr& s) { return holds_kind(*s, kind); });
}

// Condition (3): divisors are never 0.
bool divides_safely(const Expr& e, const VarRanges& ranges) {
  if (e.op == Op::floor_div || e.op == Op::mod) {
    const std::optional<Interval> divisor = interval_of(*e.args[1], ranges);
    if (!divisor || (divisor->lo <= 0 && divisor->hi >= 0)) return false;
  }
  return std::all_of(e.args.begin(), e.args.end(), [&](const ExprPtr& a) { return divides_safely(*a, ranges); });
}

// A part below its loop, with conditions (1) to (3).
struct Found {
  StmtPath path;                       // of the loop
  ExprPtr part;
  std::vector<const Stmt*> around;     // the loops down to it
  std::vector<const Stmt*> bound;      // those whose variables occur
  Interval range;
};

Result<Found> find_part(const Program& program, const StmtPath& path, const ExprPtr& part) {
  Found found{path, part, loops_above(program.body(), path), {}, {}};
  const Stmt& loop = *stmt_at(program.body(), path);
  found.around.push_back(&loop);
  const std::string text = print_expr(*part);
  bool stands = is_part(*part);
  if (stands) {
    stands = false;
    visit_stmts(loop.body, [&](const Stmt& stmt, const StmtContext&) {
      visit_subscripts(stmt, [&](const ExprPtr& s) { stands |= contains_part(*s, *part); });
    });
  }
  if (!stands) {
    return refuse(program, loop.pos, 1, fmt::format("{} is no operation on loop variables and literals in a subscript below loop {}", text, loop.var));
  }
  VarRanges ranges;
  for (const Stmt* around : found.around) {
    ranges[around->var] = {0, around->extent - 1};
    if (uses_var(*part, around->var)) found.bound.push_back(around);
  }
  bool all = true;
  visit_expr(*part, [&](const Expr& e) {
    all &= e.op != Op::loop_var || ranges.find(e.name) != ranges.end();
    return all;
  });
  if (!all || found.bound.empty() || found.bound.back() != &loop) {
    return refuse(program, loop.pos, 2, fmt::format("loop {} is not the innermost that binds a variable of {}", loop.var, text));
  }
  const bool unit = holds_kind(loop, LoopKind::M) || std::any_of(found.around.begin(), found.around.end(), [](const Stmt* l) { return l->kind == LoopKind::M; });
  if (unit) return refuse(program, loop.pos, 2, fmt::format("{} addresses operands of the matrix unit", text));
  const std::optional<Interval> range = interval_of(*part, ranges);
  if (!range || !divides_safely(*part, ranges)) {
    return refuse(program, loop.pos, 3, fmt::format("{} has no value in some iteration: a divisor may be 0, or a value may leave 64 bits", text));
  }
  found.range = *range;
  return found;
}

Result<Step> precompute(const Program& program, const Found& found, bool in_body, Dtype dtype) {
  const Stmt& loop = *found.around.back();
  if (dtype == Dtype::i32 && (found.range.lo < INT32_MIN || found.range.hi > INT32_MAX)) {
    return refuse(program, loop.pos, 4,
                  fmt::format("{} takes values from {} to {}, which i32 does not hold", print_expr(*found.part), found.range.lo, found.range.hi));
  }
  const Tensor tensor{fresh_tensor(program), Role::tmp, dtype, in_body ? Scope::l : Scope::g, std::nullopt, false, kNoPos, {}};
  std::vector<ExprPtr> subscripts;
  std::vector<LoopHeader> headers;
  for (const Stmt* around : found.around) {
    const bool bound = std::find(found.bound.begin(), found.bound.end(), around) != found.bound.end();
    if (in_body ? around->kind == LoopKind::V : bound) subscripts.push_back(make_var(around->var));
    if (bound) headers.push_back({LoopKind::L, around->extent, around->var, {}});
  }
  const StmtPtr definition = make_equation(tensor.name, subscripts, found.part, loop.pos);
  Body inner = Replacer(*found.part, make_read(tensor.name, subscripts)).body(loop.body);
  if (in_body) inner.insert(inner.begin(), definition);
  Body body = replace_at(program.body(), found.path, {with_body(loop, std::move(inner))});
  if (!in_body) {
    const Body nest = wrap_loops(headers, {definition});
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(found.path[0]), nest.begin(), nest.end());
  }
  Step step;
  step.after = program;
  step.after.set_tensor(tensor);
  step.after.set_body(std::move(body));
  step.same_instances = false;
  step.proved = conditions_up_to(4);
  step.created = {tensor.name};
  std::vector<LoopRange> ranges;
  for (const Stmt* around : found.around) ranges.push_back({around->var, around->extent});
  // Inlining simplifies, converts what may be negative, and takes tests around the definition along.
  bool tested = false;
  for (std::size_t d = 1; d < found.path.size(); ++d) {
    tested |= stmt_at(program.body(), StmtPath(found.path.begin(), found.path.begin() + static_cast<std::ptrdiff_t>(d)))->is_test();
  }
  if (!(in_body && tested) && found.range.lo >= 0 && same_expr(simplify_index(found.part, ranges), found.part)) {
    step.inverse = Action{"compute_inline", Args{{"tensor", tensor.name}}};
  }
  return step;
}

// Whole subscripts, and quotients and remainders inside them, in text order.
void gather_parts(const Stmt& loop, std::vector<ExprPtr>* out) {
  const auto add = [out](const ExprPtr& e) {
    if (is_part(*e) && std::none_of(out->begin(), out->end(), [&](const ExprPtr& o) { return same_expr(o, e); })) out->push_back(e);
  };
  const std::function<void(const ExprPtr&)> look = [&](const ExprPtr& e) {
    if (e->op == Op::read) return;
    if (e->op == Op::floor_div || e->op == Op::mod) add(e);
    std::for_each(e->args.begin(), e->args.end(), look);
  };
  visit_stmts(loop.body, [&](const Stmt& stmt, const StmtContext&) {
    visit_subscripts(stmt, [&](const ExprPtr& s) {
      add(s);
      look(s);
    });
  });
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  for (const StmtPath& path : collect_loops(program.body())) {
    const Stmt& loop = *stmt_at(program.body(), path);
    std::vector<ExprPtr> parts;
    gather_parts(loop, &parts);
    std::string address;
    // Owners and lanes of the tensor are the verifier's business; serial and P loops keep it.
    const Stmt& top = *program.body()[path[0]];
    std::optional<bool> kept;   // asked once a loop: it does not depend on the part
    const bool promises = holds_kind(top, LoopKind::B) || holds_kind(top, LoopKind::V);
    for (const ExprPtr& part : parts) {
      if (!uses_var(*part, loop.var)) continue;
      const Result<Found> found = find_part(program, path, part);
      if (!found) continue;
      if (address.empty()) address = loop_address(program.body(), path);
      for (const char* place : {"body", "nest"}) {
        for (const Dtype dtype : {Dtype::i32, Dtype::i64}) {
          const Result<Step> step = precompute(program, *found, place[0] == 'b', dtype);
          if (!step) continue;
          if (promises && place[0] == 'b') {
            if (!kept) kept = check_program(step->after, target).ok();
            if (!*kept) continue;
          }
          out.push_back(Args{{"loop", address}, {"part", print_expr(*part)}, {"place", place}, {"dtype", std::string(dtype_name(dtype))}});
        }
      }
    }
  }
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_loop(program.body(), args.get("loop")));
  CAIRN_TRY(const ExprPtr part, parse_expr(args.get("part")));
  CAIRN_TRY(const Found found, find_part(program, path, part));
  return precompute(program, found, args.get("place") == "body", *parse_dtype(args.get("dtype")));
}

}  // namespace

extern const Strategy strategy_precompute_indices{
    "precompute_indices", Level::memory, Direction::throughput, Exactness::exact,
    "an index expression is computed once into an integer tensor",
    {{"loop", ArgType::loop, "innermost loop that binds a variable of the part", {}, ""},
     {"part", ArgType::text, "the index expression", {}, ""},
     {"place", ArgType::choice, "a scalar first in the loop's body, or a table filled by its own nest", {"body", "nest"}, "body"},
     {"dtype", ArgType::choice, "of the tensor; i32 only where every value fits", {"i32", "i64"}, "i64"}},
    list_sites, apply};

}  // namespace cairn
