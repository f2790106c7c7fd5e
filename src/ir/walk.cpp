#include "ir/walk.h"

#include <utility>

#include "base/check.h"

namespace cairn {

namespace {
void visit_body(const Body& body, StmtContext& context, const std::function<void(const Stmt&, const StmtContext&)>& fn) {
  context.path.push_back(0);
  for (const StmtPtr& stmt : body) {
    fn(*stmt, context);
    if (!stmt->is_equation()) {
      context.enclosing.push_back(stmt.get());
      visit_body(stmt->body, context, fn);
      context.enclosing.pop_back();
    }
    ++context.path.back();
  }
  context.path.pop_back();
}

Body replace_below(const Body& body, const StmtPath& path, std::size_t depth, const Body& replacement) {
  CAIRN_CHECK(depth < path.size() && path[depth] < body.size());
  const std::size_t index = path[depth];
  Body out(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(index));
  if (depth + 1 == path.size()) {
    out.insert(out.end(), replacement.begin(), replacement.end());
  } else {
    Body inner = replace_below(body[index]->body, path, depth + 1, replacement);
    if (!inner.empty()) out.push_back(with_body(*body[index], std::move(inner)));
  }
  out.insert(out.end(), body.begin() + static_cast<std::ptrdiff_t>(index) + 1, body.end());
  return out;
}

std::size_t count_equations_below(const Body& body) {
  std::size_t count = 0;
  for (const StmtPtr& stmt : body) count += stmt->is_equation() ? 1 : count_equations_below(stmt->body);
  return count;
}

void gather_equations(const Body& body, StmtPath& path, std::vector<EquationRef>& out) {
  path.push_back(0);
  for (const StmtPtr& stmt : body) {
    if (stmt->is_equation()) {
      out.push_back({stmt.get(), path});
    } else {
      gather_equations(stmt->body, path, out);
    }
    ++path.back();
  }
  path.pop_back();
}

bool same_pointers(const Body& a, const Body& b) { return a == b; }

StmtPtr rewrite_stmt_exprs(const StmtPtr& stmt, const std::function<ExprPtr(const ExprPtr&)>& fn) {
  switch (stmt->type) {
    case Stmt::Type::loop: {
      Body body = rewrite_exprs(stmt->body, fn);
      return same_pointers(body, stmt->body) ? stmt : with_body(*stmt, std::move(body));
    }
    case Stmt::Type::test: {
      ExprPtr cond = rewrite_expr(stmt->cond, fn);
      Body body = rewrite_exprs(stmt->body, fn);
      if (cond == stmt->cond && same_pointers(body, stmt->body)) return stmt;
      return make_test(std::move(cond), std::move(body), stmt->pos);
    }
    case Stmt::Type::equation: {
      std::vector<ExprPtr> subscripts;
      subscripts.reserve(stmt->subscripts.size());
      for (const ExprPtr& subscript : stmt->subscripts) subscripts.push_back(rewrite_expr(subscript, fn));
      ExprPtr rhs = rewrite_expr(stmt->rhs, fn);
      if (rhs == stmt->rhs && subscripts == stmt->subscripts) return stmt;
      return make_equation(stmt->tensor, std::move(subscripts), std::move(rhs), stmt->pos);
    }
  }
  return stmt;
}
}  // namespace

void visit_stmts(const Body& body, const std::function<void(const Stmt&, const StmtContext&)>& fn) {
  StmtContext context;
  visit_body(body, context, fn);
}

const Stmt* stmt_at(const Body& body, const StmtPath& path) {
  const Body* level = &body;
  const Stmt* stmt = nullptr;
  for (const std::uint32_t index : path) {
    if (index >= level->size()) return nullptr;
    stmt = (*level)[index].get();
    level = &stmt->body;
  }
  return stmt;
}

Body replace_at(const Body& body, const StmtPath& path, const Body& replacement) {
  return replace_below(body, path, 0, replacement);
}

Body rewrite_stmts(const Body& body, const std::function<std::optional<Body>(const StmtPtr&)>& fn) {
  Body out;
  out.reserve(body.size());
  for (const StmtPtr& stmt : body) {
    StmtPtr node = stmt;
    if (!stmt->is_equation()) {
      Body inner = rewrite_stmts(stmt->body, fn);
      if (!same_pointers(inner, stmt->body)) {
        if (inner.empty()) continue;
        node = with_body(*stmt, std::move(inner));
      }
    }
    std::optional<Body> replaced = fn(node);
    if (!replaced) {
      out.push_back(std::move(node));
    } else {
      out.insert(out.end(), replaced->begin(), replaced->end());
    }
  }
  return out;
}

Body rewrite_exprs(const Body& body, const std::function<ExprPtr(const ExprPtr&)>& fn) {
  Body out;
  out.reserve(body.size());
  for (const StmtPtr& stmt : body) out.push_back(rewrite_stmt_exprs(stmt, fn));
  return out;
}

Body substitute_vars(const Body& body, const std::vector<std::pair<std::string, ExprPtr>>& map) {
  return rewrite_exprs(body, [&map](const ExprPtr& e) -> ExprPtr {
    if (e->op != Op::loop_var) return nullptr;
    for (const auto& [name, value] : map) {
      if (name == e->name) return value;
    }
    return nullptr;
  });
}

StmtPtr rename_loop_var(const StmtPtr& loop, const std::string& to) {
  CAIRN_CHECK(loop->is_loop());
  auto renamed = std::make_shared<Stmt>(*loop);
  renamed->var = to;
  renamed->body = substitute_vars(loop->body, {{loop->var, make_var(to)}});
  return renamed;
}

std::vector<EquationRef> collect_equations(const Body& body) {
  std::vector<EquationRef> out;
  out.reserve(count_equations_below(body));
  StmtPath path;
  gather_equations(body, path, out);
  return out;
}

}  // namespace cairn
