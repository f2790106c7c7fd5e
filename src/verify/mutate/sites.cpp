#include "verify/mutate/sites.h"

#include <fmt/core.h>

#include <set>

#include "ir/text.h"

namespace cairn::mutate {

ExprPtr with_arg(const ExprPtr& node, std::size_t index, ExprPtr arg) {
  std::vector<ExprPtr> args = node->args;
  args[index] = std::move(arg);
  if (node->op == Op::read) return make_read(node->name, std::move(args), node->pos);
  if (node->op == Op::cast) return make_cast(node->dtype, std::move(args[0]), node->pos);
  return make_expr(node->op, std::move(args), node->pos);
}

ExprPtr with_op(const ExprPtr& node, Op op) { return make_expr(op, node->args, node->pos); }

namespace {
// Names that the body mentions.
std::set<std::string, std::less<>> mentioned(const Body& body) {
  std::set<std::string, std::less<>> names;
  const auto note = [&names](const ExprPtr& e) {
    visit_expr(*e, [&names](const Expr& x) {
      if (x.op == Op::read) names.insert(x.name);
      return true;
    });
  };
  visit_stmts(body, [&](const Stmt& s, const StmtContext&) {
    if (s.is_test()) note(s.cond);
    if (!s.is_equation()) return;
    names.insert(s.tensor);
    for (const ExprPtr& e : s.subscripts) note(e);
    note(s.rhs);
  });
  return names;
}

class Walk {
 public:
  Walk(const Program& program, Damages& out, const Propose& propose) : program_(program), out_(out), propose_(propose) {}
  void run() {
    visit_stmts(program_.body(), [this](const Stmt& s, const StmtContext& context) {
      if (s.is_loop()) return;
      site_ = {&program_, &s, &context, Place::value, false, false, false};
      if (s.is_test()) {
        const StmtPtr whole = pointer_at(program_, context.path);
        part(s.cond, Place::condition, [&](ExprPtr e) { return make_test(std::move(e), whole->body, whole->pos); });
        return;
      }
      for (std::size_t d = 0; d < s.subscripts.size(); ++d) {
        site_.written = true;
        part(s.subscripts[d], Place::subscript, [&](ExprPtr e) {
          std::vector<ExprPtr> subscripts = s.subscripts;
          subscripts[d] = std::move(e);
          return make_equation(s.tensor, std::move(subscripts), s.rhs, s.pos);
        });
      }
      site_.written = false;
      const std::optional<SelfUpdate> update = match_self_update(s);
      self_ = update ? update->self : nullptr;
      part(s.rhs, Place::value, [&](ExprPtr e) { return make_equation(s.tensor, s.subscripts, std::move(e), s.pos); });
      self_ = nullptr;
    });
  }

 private:
  using Rebuild = std::function<ExprPtr(ExprPtr)>;
  void part(const ExprPtr& root, Place place, const std::function<StmtPtr(ExprPtr)>& build) {
    build_ = &build;
    site_.place = place;
    site_.self = false;
    node(root, true, [](ExprPtr e) { return e; });
  }
  void node(const ExprPtr& e, bool root, const Rebuild& rebuild) {
    const ExprSite here = site_;
    site_.root = root;
    site_.self = here.self || e.get() == self_;
    std::vector<ExprPtr> proposals;
    propose_(site_, e, proposals);
    for (ExprPtr& p : proposals) {
      if (same_expr(p, e)) continue;
      const StmtPath& path = site_.context->path;
      std::string text = fmt::format("{}: {} -> {}", place_text(program_, *site_.stmt, path), print_expr(*e), print_expr(*p));
      add_damage(program_, out_, std::move(text), replace_at(program_.body(), path, {(*build_)(rebuild(std::move(p)))}));
    }
    for (std::size_t i = 0; i < e->args.size(); ++i) {
      const ExprSite mine = site_;
      if (e->op == Op::read) site_.place = Place::subscript;
      else if (e->op == Op::select && i == 0 && site_.place == Place::value) site_.place = Place::condition;
      node(e->args[i], false, [&](ExprPtr arg) { return rebuild(with_arg(e, i, std::move(arg))); });
      site_ = mine;
    }
    site_ = here;
  }

  const Program& program_;
  Damages& out_;
  const Propose& propose_;
  ExprSite site_;
  const Expr* self_ = nullptr;
  const std::function<StmtPtr(ExprPtr)>* build_ = nullptr;
};
}  // namespace

void damage_exprs(const Program& program, Damages& out, const Propose& propose) { Walk(program, out, propose).run(); }

void damage_stmts(const Program& program, Damages& out, std::string_view what, const ProposeStmt& propose) {
  visit_stmts(program.body(), [&](const Stmt& s, const StmtContext& context) {
    std::vector<Body> proposals;
    propose(pointer_at(program, context.path), context, proposals);
    for (const Body& p : proposals) {
      add_damage(program, out, fmt::format("{}: {}", place_text(program, s, context.path), what), replace_at(program.body(), context.path, p));
    }
  });
}

void add_damage(const Program& program, Damages& out, std::string site, Body body) {
  Program damaged = program;
  const std::set<std::string, std::less<>> names = mentioned(body);
  damaged.set_body(std::move(body));
  for (const Tensor& t : program.tensors()) {
    if (t.role == Role::tmp && !names.contains(t.name)) damaged.remove_tensor(t.name);
  }
  out.push_back({{}, std::move(site), std::move(damaged)});
}

std::string place_text(const Program& program, const Stmt& stmt, const StmtPath& path) {
  if (stmt.is_equation()) return equation_address(program.body(), path);
  if (stmt.is_loop()) return loop_address(program.body(), path);
  return fmt::format("test {}", print_expr(*stmt.cond));
}

std::vector<const Stmt*> loops_of(const StmtContext& context) {
  std::vector<const Stmt*> loops;
  for (const Stmt* s : context.enclosing) {
    if (s->is_loop()) loops.push_back(s);
  }
  return loops;
}

const Body& siblings_of(const Program& program, const StmtPath& path) {
  const Body* body = &program.body();
  for (std::size_t d = 0; d + 1 < path.size(); ++d) body = &(*body)[path[d]]->body;
  return *body;
}

StmtPtr pointer_at(const Program& program, const StmtPath& path) { return siblings_of(program, path)[path.back()]; }

bool is_temporary(const Program& program, std::string_view tensor) {
  const Tensor* t = program.find(tensor);
  return t != nullptr && t->role == Role::tmp;
}

}  // namespace cairn::mutate
