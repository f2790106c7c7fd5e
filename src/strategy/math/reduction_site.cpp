#include "strategy/math/reduction_site.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/algebra/chain.h"
#include "analysis/flow.h"
#include "analysis/footprint.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"

namespace cairn {
namespace {

// In all mentions of the tensor below the loop one dimension is the loop's variable: iterations touch other elements.
bool parts_elements(const Stmt& loop, const std::string& tensor) {
  std::optional<std::vector<bool>> plain;
  const auto mention = [&](const std::vector<ExprPtr>& subscripts) {
    if (!plain) plain = std::vector<bool>(subscripts.size(), true);
    for (std::size_t d = 0; d < subscripts.size() && d < plain->size(); ++d) {
      (*plain)[d] = (*plain)[d] && subscripts[d]->op == Op::loop_var && subscripts[d]->name == loop.var;
    }
  };
  const auto mention_in = [&](const Expr& root) {
    visit_expr(root, [&](const Expr& e) {
      if (e.op == Op::read && e.name == tensor) mention(e.args);
      return true;
    });
  };
  visit_stmts(loop.body, [&](const Stmt& stmt, const StmtContext&) {
    if (stmt.is_test()) mention_in(*stmt.cond);
    if (!stmt.is_equation()) return;
    if (stmt.tensor == tensor) mention(stmt.subscripts);
    for (const ExprPtr& s : stmt.subscripts) mention_in(*s);
    mention_in(*stmt.rhs);
  });
  return plain && std::find(plain->begin(), plain->end(), true) != plain->end();
}

// The sibling before the root that starts X with the neutral element, with nothing between that mentions X; or nullopt.
std::optional<std::uint32_t> explicit_start(const Program& program, const Reduction& reduction) {
  StmtPath at = reduction.root;
  const Dtype dtype = program.find(reduction.tensor)->dtype;
  while (at.back() > 0) {
    --at.back();
    const StmtPtr stmt = shared_at(program.body(), at);
    if (!mentions_below(*stmt, reduction.tensor)) continue;
    if (reads_below(*stmt, reduction.tensor)) return std::nullopt;
    for (const EquationRef& ref : collect_equations({stmt})) {
      if (ref.equation->tensor != reduction.tensor) continue;
      const Expr& value = *ref.equation->rhs;
      const Expr& neutral = *neutral_element(reduction.op, dtype);
      const bool starts = same_expr(value, neutral) || (algebra::is_neutral(algebra::ChainKind::sum, value)
                    && algebra::is_neutral(algebra::ChainKind::sum, neutral));
      if (!starts) return std::nullopt;
    }
    return at.back();
  }
  return std::nullopt;
}

// True if no write of X can come before the root's execution: none stands before it, and every loop around it parts
// the elements.
bool starts_implicitly(const Program& program, const Reduction& reduction) {
  if (program.find(reduction.tensor)->role == Role::io) return false;
  for (const EquationRef& ref : collect_equations(program.body())) {
    if (ref.equation->tensor == reduction.tensor && ref.path < reduction.root && !is_prefix(reduction.root, ref.path)) return false;
  }
  for (const Stmt* loop : loops_above(program.body(), reduction.root)) {
    if (!parts_elements(*loop, reduction.tensor)) return false;
  }
  return true;
}

// The statements [first, last] of the body with X renamed to a fresh tensor that has one copy for each iteration of the
// loops around: what is written before it is read there was written in the same iteration.
Program isolate(const Program& program, const StmtPath& first, std::uint32_t last, const std::string& tensor) {
  Program out = program;
  Tensor copy = *program.find(tensor);
  copy.name = fresh_tensor(program);
  copy.role = Role::tmp;
  copy.scope = Scope::g;
  copy.shape.reset();
  copy.declared = false;
  std::vector<ExprPtr> lead;
  for (const Stmt* loop : loops_above(program.body(), first)) lead.push_back(make_var(loop->var));
  const auto widen = [&](const std::vector<ExprPtr>& subscripts) {
    std::vector<ExprPtr> all = lead;
    all.insert(all.end(), subscripts.begin(), subscripts.end());
    return all;
  };
  Body body = program.body();
  for (StmtPath at = first; at.back() <= last; ++at.back()) {
    Body part = rewrite_exprs({shared_at(body, at)}, [&](const ExprPtr& e) -> ExprPtr {
      return e->op == Op::read && e->name == tensor ? make_read(copy.name, widen(e->args), e->pos) : nullptr;
    });
    part = rewrite_stmts(part, [&](const StmtPtr& s) -> std::optional<Body> {
      if (!s->is_equation() || s->tensor != tensor) return std::nullopt;
      return Body{make_equation(copy.name, widen(s->subscripts), s->rhs, s->pos)};
    });
    body = replace_at(body, at, part);
  }
  out.set_tensor(copy);
  out.set_body(std::move(body));
  return out;
}

std::uint32_t ordinal_of(const Program& program, const StmtPath& path) {
  std::uint32_t n = 0;
  for (const EquationRef& ref : collect_equations(program.body())) {
    if (ref.path == path) break;
    ++n;
  }
  return n;
}

}  // namespace

Result<Reduction> find_reduction(const Program& program, const StmtPath& root, const std::string& tensor) {
  Reduction out;
  out.root = root;
  out.tensor = tensor;
  const Stmt& top = *stmt_at(program.body(), root);
  std::optional<Error> error;
  const auto check_reads = [&](const Expr& e, SourcePos pos) {
    if (!error && reads_tensor(e, tensor)) error = refuse(program, pos, kUnread, fmt::format("{} is read before the loops close", tensor));
  };
  visit_stmts({shared_at(program.body(), root)}, [&](const Stmt& stmt, const StmtContext& context) {
    if (error) return;
    if (stmt.is_test()) check_reads(*stmt.cond, stmt.pos);
    if (!stmt.is_equation()) return;
    for (const ExprPtr& s : stmt.subscripts) check_reads(*s, stmt.pos);
    if (stmt.tensor != tensor) return check_reads(*stmt.rhs, stmt.pos);
    const std::optional<SelfUpdate> update = match_self_update(stmt);
    if (!update || update->op == UpdateOp::mul) {
      if (!update && reads_tensor(*stmt.rhs, tensor)) return check_reads(*stmt.rhs, stmt.pos);
      error = refuse(program, stmt.pos, kHasFactor, fmt::format("{} is written here by no update with + - max min", tensor));
      return;
    }
    std::vector<const Stmt*> element, reduced;
    std::vector<ExprPtr> tests, dropped;
    for (const Stmt* around : context.enclosing) {
      if (!around->is_loop()) continue;
      const bool used = subscripts_use(stmt.subscripts, around->var);
      (used ? element : reduced).push_back(around);
    }
    for (const Stmt* around : context.enclosing) {
      if (!around->is_test()) continue;
      for (ExprPtr& part : split_conjunction(around->cond)) {
        const bool varies = std::any_of(reduced.begin(), reduced.end(), [&](const Stmt* loop) { return uses_var(*part, loop->var); });
        if (!varies) tests.push_back(std::move(part));
      }
    }
    StmtPath path = root;
    path.insert(path.end(), context.path.begin() + 1, context.path.end());
    for (const ExprPtr& test : tests) {
      visit_expr(*test, [&](const Expr& e) {
        const bool written = e.op == Op::read && writes_below(top, e.name);
        if (written && !error) error = refuse(program, stmt.pos, kInvariant,
                      fmt::format("{}, which a guard of the update reads, is written inside the loops", e.name));
        return true;
      });
    }
    if (std::any_of(context.enclosing.begin(), context.enclosing.end(), [](const Stmt* s) { return s->is_loop() && s->kind == LoopKind::M; })) {
      error = refuse(program, stmt.pos, kHasFactor, "the update belongs to the matrix unit");
    }
    if (out.updates.empty()) {
      out.op = update->op;
      out.element = element;
      out.reduced = reduced;
      out.tests = tests;
    } else {
      const Stmt& first = *stmt_at(program.body(), out.updates[0]);
      bool same = update->op == out.op && element == out.element && tests.size() == out.tests.size();
      for (std::size_t d = 0; same && d < stmt.subscripts.size(); ++d) same = same_expr(stmt.subscripts[d], first.subscripts[d]);
      for (std::size_t k = 0; same && k < tests.size(); ++k) same = same_expr(tests[k], out.tests[k]);
      if (!same) error = refuse(program, stmt.pos, kHasFactor, fmt::format("the updates of {} differ in operator, element, loops or guards", tensor));
      for (const Stmt* loop : reduced) {
        if (std::find(out.reduced.begin(), out.reduced.end(), loop) == out.reduced.end()) out.reduced.push_back(loop);
      }
    }
    out.updates.push_back(std::move(path));
  });
  if (error) return *std::move(error);
  if (out.updates.empty()) return refuse(program, top.pos, kHasFactor, fmt::format("nothing here updates {}", tensor));
  if (out.reduced.empty()) return refuse(program, top.pos, kHasFactor, fmt::format("no loop from here on reduces {}", tensor));
  return out;
}

Result<void> check_start(const Program& before, const Program& after, const Reduction& reduction, const StmtPath& scaling) {
  const SourcePos pos = stmt_at(before.body(), reduction.updates[0])->pos;
  const bool implicit = starts_implicitly(before, reduction);
  const std::optional<std::uint32_t> start = implicit ? std::nullopt : explicit_start(before, reduction);
  if (!implicit && !start) {
    return refuse(before, pos, kStarts, fmt::format("{} may hold a value before the loops; it has to start with them, or right before them", reduction.tensor));
  }
  StmtPath first = reduction.root;
  if (start) first.back() = *start;
  const Program alone = isolate(after, first, reduction.root.back() + 1, reduction.tensor);
  FlowAnalysis flow(alone);
  if (start) {
    for (const StmtPath& update : reduction.updates) {
      if (flow.start(ordinal_of(alone, update)).by_others == Written::always) continue;
      return refuse(before, pos, kStarts, fmt::format("the start before the loops does not cover every element of {} that they update", reduction.tensor));
    }
  }
  if (flow.start(ordinal_of(alone, scaling)).written != Written::always) {
    return refuse(before, pos, kOnce, fmt::format("an element of {} may not be updated at all; it would be scaled all the same", reduction.tensor));
  }
  return {};
}

Result<void> check_once(const Program& program, const Reduction& reduction) {
  const Stmt& update = *stmt_at(program.body(), reduction.updates[0]);
  std::vector<std::string> inner;
  for (const Stmt* loop : reduction.element) inner.push_back(loop->var);
  bool plain = true;
  for (const std::string& var : inner) {
    const auto is_var = [&](const ExprPtr& s) { return s->op == Op::loop_var && s->name == var; };
    plain &= std::any_of(update.subscripts.begin(), update.subscripts.end(), is_var);
  }
  if (plain) return {};
  for (const Access& access : collect_accesses(program, reduction.root)) {
    if (!access.is_write || access.path != reduction.updates[0]) continue;
    if (touches_apart(access, inner)) return {};
  }
  return refuse(program, update.pos, kOnce, fmt::format("two iterations may update the same element of {}; it would be scaled twice", update.tensor));
}

}  // namespace cairn
