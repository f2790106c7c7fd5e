#include "ir/stmt.h"

#include <utility>

namespace cairn {

StmtPtr make_loop(LoopKind kind, std::int64_t extent, std::string var, Body body, LoopMark mark, SourcePos pos) {
  auto s = std::make_shared<Stmt>();
  s->type = Stmt::Type::loop;
  s->kind = kind;
  s->extent = extent;
  s->var = std::move(var);
  s->body = std::move(body);
  s->mark = mark;
  s->pos = pos;
  return s;
}

StmtPtr make_test(ExprPtr cond, Body body, SourcePos pos) {
  auto s = std::make_shared<Stmt>();
  s->type = Stmt::Type::test;
  s->cond = std::move(cond);
  s->body = std::move(body);
  s->pos = pos;
  return s;
}

StmtPtr make_equation(std::string tensor, std::vector<ExprPtr> subscripts, ExprPtr rhs, SourcePos pos) {
  auto s = std::make_shared<Stmt>();
  s->type = Stmt::Type::equation;
  s->tensor = std::move(tensor);
  s->subscripts = std::move(subscripts);
  s->rhs = std::move(rhs);
  s->pos = pos;
  return s;
}

StmtPtr with_body(const Stmt& stmt, Body body) {
  auto s = std::make_shared<Stmt>(stmt);
  s->body = std::move(body);
  return s;
}

Body wrap_loops(const std::vector<LoopHeader>& loops, Body body) {
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    body = Body{make_loop(it->kind, it->extent, it->var, std::move(body), it->mark)};
  }
  return body;
}

bool same_stmt(const Stmt& a, const Stmt& b) {
  if (&a == &b) return true;
  if (a.type != b.type || a.body.size() != b.body.size()) return false;
  switch (a.type) {
    case Stmt::Type::loop:
      if (a.kind != b.kind || a.extent != b.extent || a.var != b.var || !(a.mark == b.mark)) return false;
      break;
    case Stmt::Type::test:
      if (!same_expr(a.cond, b.cond)) return false;
      break;
    case Stmt::Type::equation:
      if (a.tensor != b.tensor || a.subscripts.size() != b.subscripts.size() || !same_expr(a.rhs, b.rhs)) return false;
      for (std::size_t i = 0; i < a.subscripts.size(); ++i) {
        if (!same_expr(a.subscripts[i], b.subscripts[i])) return false;
      }
      break;
  }
  for (std::size_t i = 0; i < a.body.size(); ++i) {
    if (!same_stmt(*a.body[i], *b.body[i])) return false;
  }
  return true;
}

}  // namespace cairn
