// Rule 1: names. Rule 2: loop variables.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "verify/rules/rules.h"

namespace cairn {

namespace {
// Walks the program with the loop variables in scope.
class Names {
 public:
  Names(VerifyFacts& facts, VerifyReport& report) : facts_(facts), report_(report), program_(facts.program()) {}

  void run() {
    for (const Conflict& c : program_.conflicts()) refuse(facts_, report_, 1, c.pos, c.message);
    collect_written(program_.body());
    walk(program_.body());
  }

 private:
  void collect_written(const Body& body) {
    for (const StmtPtr& s : body) {
      if (s->is_equation()) written_.insert(s->tensor);
      collect_written(s->body);
    }
  }
  void walk(const Body& body) {
    for (const StmtPtr& s : body) {
      if (s->is_loop()) {
        scope_.push_back(s->var);
        walk(s->body);
        scope_.pop_back();
      } else if (s->is_test()) {
        check(*s->cond, s->pos);
        walk(s->body);
      } else {
        if (program_.find(s->tensor) == nullptr) {
          refuse(facts_, report_, 1, s->pos, fmt::format("tensor {} is written but not in the tensor table", s->tensor));
        }
        for (const ExprPtr& sub : s->subscripts) check(*sub, s->pos);
        check(*s->rhs, s->pos);
      }
    }
  }
  void check(const Expr& root, SourcePos fallback) {
    visit_expr(root, [&](const Expr& e) {
      const SourcePos pos = e.pos == kNoPos ? fallback : e.pos;
      if (e.op == Op::loop_var && std::find(scope_.begin(), scope_.end(), e.name) == scope_.end()) {
        if (reported_.insert("var " + e.name).second) {
          refuse(facts_, report_, 1, pos, fmt::format("{} is not a loop variable here, expected one of the loops around: {}", e.name, in_scope()));
        }
      } else if (e.op == Op::read) {
        const Tensor* t = program_.find(e.name);
        const bool known = t != nullptr && (t->role != Role::tmp || written_.count(e.name) > 0);
        if (!known && reported_.insert("tensor " + e.name).second) {
          refuse(facts_, report_, 1, pos, fmt::format("tensor {} is neither declared nor written by any equation", e.name),
                 fmt::format("declare it (`in {}^{{f32}}_{{..}};`) or write it first", e.name));
        }
      }
      return true;
    });
  }
  std::string in_scope() const {
    std::string text;
    for (const std::string& v : scope_) text += (text.empty() ? "" : " ") + v;
    return text.empty() ? "none" : text;
  }

  VerifyFacts& facts_;
  VerifyReport& report_;
  const Program& program_;
  std::set<std::string> written_;
  std::set<std::string> reported_;
  std::vector<std::string> scope_;
};

void walk_variables(VerifyFacts& facts, VerifyReport& report, const Body& body, std::vector<const Stmt*>& path) {
  for (const StmtPtr& s : body) {
    if (s->is_loop()) {
      for (const Stmt* outer : path) {
        if (outer->var == s->var) {
          refuse(facts, report, 2, s->pos, fmt::format("loop variable {} is already bound by a loop around this one", s->var),
                 "give the inner loop another name");
        }
      }
    }
    if (s->is_loop()) path.push_back(s.get());
    walk_variables(facts, report, s->body, path);
    if (s->is_loop()) path.pop_back();
  }
}
}  // namespace

void check_names(VerifyFacts& facts, VerifyReport& report) { Names(facts, report).run(); }

void check_variables(VerifyFacts& facts, VerifyReport& report) {
  std::vector<const Stmt*> path;
  walk_variables(facts, report, facts.program().body(), path);
}

}  // namespace cairn
