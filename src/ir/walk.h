// Walking and rewriting statements; fresh names; addresses of loops and equations.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ir/program.h"

namespace cairn {

// Visits every statement in text order with its path and the enclosing loops and tests, outermost first.
struct StmtContext {
  StmtPath path;
  std::vector<const Stmt*> enclosing;  // loops and tests
};
void visit_stmts(const Body& body, const std::function<void(const Stmt&, const StmtContext&)>& fn);

// The statement at a path, or null.
const Stmt* stmt_at(const Body& body, const StmtPath& path);
// A body where the statement at path is replaced by zero or more statements; tests and loops that become
// empty are removed.
Body replace_at(const Body& body, const StmtPath& path, const Body& replacement);
// Bottom-up rewrite of all statements: fn returns the replacement sequence, or nullopt to keep the node.
Body rewrite_stmts(const Body& body, const std::function<std::optional<Body>(const StmtPtr&)>& fn);
// Applies an expression rewrite to every right side, subscript and condition.
Body rewrite_exprs(const Body& body, const std::function<ExprPtr(const ExprPtr&)>& fn);
// Substitutes loop variables in all expressions below (not the binders).
Body substitute_vars(const Body& body, const std::vector<std::pair<std::string, ExprPtr>>& map);
// Renames a loop's binder and its uses below.
StmtPtr rename_loop_var(const StmtPtr& loop, const std::string& to);

// Equations in text order with paths.
struct EquationRef {
  const Stmt* equation;
  StmtPath path;
};
std::vector<EquationRef> collect_equations(const Body& body);

// Printable addresses used in actions and traces. A loop is "NEST.VAR" or "NEST.VAR#K" (the K-th loop of
// that name in the nest, 0-based, pre-order; #0 is left out); NEST is the index in the program body.
// An equation is "sK": the K-th equation of the program in text order. A nest is its index.
std::string loop_address(const Body& body, const StmtPath& path);
Result<StmtPath> find_loop(const Body& body, std::string_view address);
std::string equation_address(const Body& body, const StmtPath& path);
Result<StmtPath> find_equation(const Body& body, std::string_view address);

// Names that no tensor (loop variable) of the program has, in Step-TP's alphabets (facts 1.4).
std::string fresh_tensor(const Program& program, const std::vector<std::string>& also_taken = {});
std::string fresh_var(const Program& program, const std::vector<std::string>& also_taken = {});

}  // namespace cairn
