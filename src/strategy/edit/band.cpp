#include "strategy/edit/band.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ir/subscripts.h"
#include "ir/walk.h"

namespace cairn {
namespace {

void gather_loops(const Body& body, StmtPath* path, std::vector<StmtPath>* out) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i]->is_equation()) continue;
    path->push_back(static_cast<std::uint32_t>(i));
    if (body[i]->is_loop()) out->push_back(*path);
    gather_loops(body[i]->body, path, out);
    path->pop_back();
  }
}

// Depth (number of loops around) at which all variables of a test are bound.
std::size_t depth_of(const Expr& test, const std::vector<StmtPtr>& loops) {
  for (std::size_t d = loops.size(); d > 0; --d) {
    if (uses_var(test, loops[d - 1]->var)) return d;
  }
  return 0;
}

}  // namespace

std::vector<const Stmt*> loops_above(const Body& body, const StmtPath& path) {
  std::vector<const Stmt*> out;
  const Body* level = &body;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const Stmt* stmt = (*level)[path[i]].get();
    if (stmt->is_loop()) out.push_back(stmt);
    level = &stmt->body;
  }
  return out;
}

std::vector<LoopRange> ranges_above(const Body& body, const StmtPath& path) {
  std::vector<LoopRange> out;
  for (const Stmt* loop : loops_above(body, path)) out.push_back({loop->var, loop->extent});
  return out;
}

StmtPtr shared_at(const Body& body, const StmtPath& path) {
  CAIRN_CHECK(!path.empty());
  const Body* level = &body;
  StmtPtr stmt;
  for (const std::uint32_t i : path) {
    CAIRN_CHECK(i < level->size());
    stmt = (*level)[i];
    level = &stmt->body;
  }
  return stmt;
}

Band band_at(const Body& body, const StmtPath& path, std::size_t limit) {
  Band band;
  band.path = path;
  StmtPtr stmt = shared_at(body, path);
  CAIRN_CHECK(stmt->is_loop());
  Body level;
  while (true) {
    if (stmt->is_loop()) {
      if (band.loops.size() == limit) break;
      band.loops.push_back(stmt);
    } else if (stmt->is_test() && is_index_condition(*stmt->cond)) {
      for (ExprPtr& part : split_conjunction(stmt->cond)) band.tests.push_back(std::move(part));
    } else {
      break;
    }
    level = stmt->body;
    if (level.size() != 1) break;
    stmt = level[0];
  }
  band.body = std::move(level);
  return band;
}

Body build_band(const std::vector<StmtPtr>& loops, const std::vector<ExprPtr>& tests, Body body) {
  std::vector<std::vector<ExprPtr>> at(loops.size() + 1);
  for (const ExprPtr& test : tests) {
    std::vector<ExprPtr>& here = at[depth_of(*test, loops)];
    const bool known = std::any_of(here.begin(), here.end(), [&](const ExprPtr& t) { return same_expr(t, test); });
    if (!known) here.push_back(test);
  }
  for (std::size_t d = loops.size() + 1; d-- > 0;) {
    if (d < loops.size()) body = Body{with_body(*loops[d], std::move(body))};
    if (!at[d].empty()) body = Body{make_test(join_conjunction(at[d]), std::move(body))};
  }
  return body;
}

Body build_sunk(const std::vector<StmtPtr>& loops, const std::vector<ExprPtr>& tests, Body body) {
  if (!tests.empty()) body = Body{make_test(join_conjunction(tests), std::move(body))};
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) body = Body{with_body(**it, std::move(body))};
  return body;
}

StmtPtr loop_like(const Stmt& like, LoopKind kind, std::int64_t extent, std::string var, LoopMark mark) {
  return make_loop(kind, extent, std::move(var), {}, mark, like.pos);
}

Program with_replaced(const Program& program, const StmtPath& path, const Body& replacement) {
  // A loop or test around nothing, which a simplified tail may leave, goes.
  const Body kept = rewrite_stmts(replacement, [](const StmtPtr& stmt) -> std::optional<Body> {
    if (stmt->is_equation() || !stmt->body.empty()) return std::nullopt;
    return Body{};
  });
  Program out = program;
  out.set_body(replace_at(program.body(), path, kept));
  return out;
}

std::vector<StmtPath> collect_loops(const Body& body) {
  std::vector<StmtPath> out;
  StmtPath path;
  gather_loops(body, &path, &out);
  return out;
}

std::size_t count_equations(const Body& body) {
  std::size_t count = 0;
  for (const StmtPtr& stmt : body) count += stmt->is_equation() ? 1 : count_equations(stmt->body);
  return count;
}

bool writes_below(const Stmt& stmt, std::string_view tensor) {
  if (stmt.is_equation()) return stmt.tensor == tensor;
  return std::any_of(stmt.body.begin(), stmt.body.end(), [&](const StmtPtr& s) { return writes_below(*s, tensor); });
}

bool reads_below(const Stmt& stmt, std::string_view tensor) {
  if (stmt.is_equation()) {
    if (reads_tensor(*stmt.rhs, tensor)) return true;
    return std::any_of(stmt.subscripts.begin(), stmt.subscripts.end(),
                       [&](const ExprPtr& s) { return reads_tensor(*s, tensor); });
  }
  if (stmt.is_test() && reads_tensor(*stmt.cond, tensor)) return true;
  return std::any_of(stmt.body.begin(), stmt.body.end(), [&](const StmtPtr& s) { return reads_below(*s, tensor); });
}

bool mentions_below(const Stmt& stmt, std::string_view tensor) {
  return writes_below(stmt, tensor) || reads_below(stmt, tensor);
}

bool all_mentions_use(const Body& body, const std::string& tensor, const std::string& var) {
  bool all = true;
  const auto check = [&](const std::vector<ExprPtr>& subscripts) {
    all &= subscripts_use(subscripts, var);
  };
  const auto check_reads = [&](const Expr& root) {
    visit_expr(root, [&](const Expr& e) {
      if (e.op == Op::read && e.name == tensor) check(e.args);
      return true;
    });
  };
  visit_stmts(body, [&](const Stmt& stmt, const StmtContext&) {
    if (stmt.is_test()) check_reads(*stmt.cond);
    if (!stmt.is_equation()) return;
    if (stmt.tensor == tensor) check(stmt.subscripts);
    for (const ExprPtr& s : stmt.subscripts) check_reads(*s);
    check_reads(*stmt.rhs);
  });
  return all;
}

std::size_t count_mentions(const Body& body, std::string_view tensor) {
  std::size_t count = 0;
  for (const StmtPtr& stmt : body) {
    if (stmt->is_equation()) count += mentions_below(*stmt, tensor) ? 1 : 0;
    if (stmt->is_test()) count += reads_tensor(*stmt->cond, tensor) ? 1 : 0;
    count += count_mentions(stmt->body, tensor);
  }
  return count;
}

StmtPath parent_of(const StmtPath& path) { return StmtPath(path.begin(), path.end() - 1); }

bool is_prefix(const StmtPath& prefix, const StmtPath& path) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

std::string kind_name(LoopKind kind) {
  switch (kind) {
    case LoopKind::L: return "L";
    case LoopKind::P: return "P";
    case LoopKind::V: return "V";
    case LoopKind::U: return "U";
    case LoopKind::B: return "B";
    case LoopKind::M: return "M";
  }
  return "L";
}

}  // namespace cairn
