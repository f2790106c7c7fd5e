#include "analysis/access.h"

#include <algorithm>

#include "analysis/access_bindings.h"
#include "ir/self_update.h"

namespace cairn {

namespace {
class Collector {
 public:
  explicit Collector(const Program& program) : program_(program), bindings_(program) {}

  void walk_path(const Body& body, const StmtPath& under, std::size_t depth) {
    if (depth == under.size()) {
      for (std::uint32_t i = 0; i < body.size(); ++i) walk(*body[i], i);
      return;
    }
    for (std::uint32_t i = 0; i < under[depth] && i < body.size(); ++i) ordinal_ += count_equations(*body[i]);
    if (under[depth] >= body.size()) return;
    const Stmt& stmt = *body[under[depth]];
    if (depth + 1 == under.size()) {
      walk(stmt, under[depth]);
      return;
    }
    path_.push_back(under[depth]);
    if (stmt.is_loop()) {
      loops_.push_back(&stmt);
    } else if (stmt.is_test()) {
      conditions_.push_back({bindings_.expand(stmt.cond), true});
    }
    walk_path(stmt.body, under, depth + 1);
  }

  std::vector<Access> take() { return std::move(out_); }

 private:
  static std::uint32_t count_equations(const Stmt& stmt) {
    if (stmt.is_equation()) return 1;
    std::uint32_t n = 0;
    for (const StmtPtr& child : stmt.body) n += count_equations(*child);
    return n;
  }

  void walk(const Stmt& stmt, std::uint32_t index) {
    path_.push_back(index);
    switch (stmt.type) {
      case Stmt::Type::equation: equation(stmt); break;
      case Stmt::Type::loop:
        loops_.push_back(&stmt);
        for (std::uint32_t i = 0; i < stmt.body.size(); ++i) walk(*stmt.body[i], i);
        loops_.pop_back();
        break;
      case Stmt::Type::test: {
        const ExprPtr cond = bindings_.expand(stmt.cond);
        stmt_ = &stmt;
        reads(*stmt.cond, true, nullptr);
        conditions_.push_back({cond, true});
        for (std::uint32_t i = 0; i < stmt.body.size(); ++i) walk(*stmt.body[i], i);
        conditions_.pop_back();
        break;
      }
    }
    path_.pop_back();
  }

  void equation(const Stmt& stmt) {
    stmt_ = &stmt;
    const std::optional<SelfUpdate> update =
        reads_tensor(*stmt.rhs, stmt.tensor) ? match_self_update(stmt) : std::nullopt;
    std::vector<ExprPtr> subscripts;
    subscripts.reserve(stmt.subscripts.size());
    for (const ExprPtr& s : stmt.subscripts) {
      subscripts.push_back(bindings_.expand(s));
      reads(*s, false, nullptr);
    }
    reads(*stmt.rhs, false, update ? update->self : nullptr);
    Access write = make(stmt.tensor, std::move(subscripts), stmt.pos);
    write.is_write = true;
    out_.push_back(std::move(write));
    ++ordinal_;
  }

  Access make(const std::string& tensor, std::vector<ExprPtr> subscripts, SourcePos pos) const {
    Access a;
    a.equation = ordinal_;
    a.path = path_;
    a.stmt = stmt_;
    a.tensor = tensor;
    a.subscripts = std::move(subscripts);
    a.loops = loops_;
    a.conditions = conditions_;
    a.pos = pos;
    return a;
  }

  // Reads in the order of evaluation; lazily evaluated parts carry the conditions that lead to them. Reads of
  // bindings count: their statements may not pass the definition.
  void reads(const Expr& e, bool in_condition, const Expr* self) {
    switch (e.op) {
      case Op::read: {
        std::vector<ExprPtr> subscripts;
        subscripts.reserve(e.args.size());
        for (const ExprPtr& s : e.args) {
          subscripts.push_back(bindings_.expand(s));
          reads(*s, in_condition, self);
        }
        Access a = make(e.name, std::move(subscripts), e.pos);
        a.is_self = &e == self;
        a.in_condition = in_condition;
        out_.push_back(std::move(a));
        return;
      }
      case Op::select: {
        const ExprPtr cond = bindings_.expand(e.args[0]);
        reads(*e.args[0], true, self);
        under(cond, true, *e.args[1], in_condition, self);
        under(cond, false, *e.args[2], in_condition, self);
        return;
      }
      case Op::logical_and:
      case Op::logical_or: {
        const ExprPtr left = bindings_.expand(e.args[0]);
        reads(*e.args[0], in_condition, self);
        under(left, e.op == Op::logical_and, *e.args[1], in_condition, self);
        return;
      }
      default:
        for (const ExprPtr& arg : e.args) reads(*arg, in_condition, self);
        return;
    }
  }

  void under(const ExprPtr& cond, bool holds, const Expr& e, bool in_condition, const Expr* self) {
    conditions_.push_back({cond, holds});
    reads(e, in_condition, self);
    conditions_.pop_back();
  }

  const Program& program_;
  BindingTable bindings_;
  std::uint32_t ordinal_ = 0;
  StmtPath path_;
  const Stmt* stmt_ = nullptr;
  std::vector<const Stmt*> loops_;
  std::vector<Condition> conditions_;
  std::vector<Access> out_;
};
}  // namespace

std::vector<Access> collect_accesses(const Program& program) { return collect_accesses(program, {}); }

std::vector<Access> collect_accesses(const Program& program, const StmtPath& under) {
  Collector collector(program);
  collector.walk_path(program.body(), under, 0);
  return collector.take();
}

ExprPtr expand_bindings(const Program& program, const ExprPtr& expr) { return BindingTable(program).expand(expr); }

}  // namespace cairn
