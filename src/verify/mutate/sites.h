// Walking every expression node of a program and putting another in its place (internal to damage).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ir/self_update.h"
#include "ir/walk.h"
#include "verify/mutate/damage.h"

namespace cairn::mutate {

// Where a node stands: in a value, in a subscript (of the written element or of a read), or in a condition (a test or
// the first argument of if_then_else) outside subscripts.
enum class Place : std::uint8_t { value, subscript, condition };

struct ExprSite {
  const Program* program = nullptr;
  const Stmt* stmt = nullptr;          // the equation or test
  const StmtContext* context = nullptr;
  Place place = Place::value;
  bool written = false;                // in the subscripts of the written element
  bool self = false;                   // the self-update's read of its own element, or inside it
  bool root = false;                   // the whole right side, subscript or condition
};
// What to put in a node's place.
using Propose = std::function<void(const ExprSite&, const ExprPtr& node, std::vector<ExprPtr>& out)>;
// Calls `propose` for every node of every right side, subscript and condition, and adds one damage a proposal.
void damage_exprs(const Program& program, Damages& out, const Propose& propose);

// A copy of the node with another argument.
ExprPtr with_arg(const ExprPtr& node, std::size_t index, ExprPtr arg);
ExprPtr with_op(const ExprPtr& node, Op op);

// Calls for every statement; `out` gets what shall stand in its place.
using ProposeStmt = std::function<void(const StmtPtr&, const StmtContext&, std::vector<Body>& out)>;
void damage_stmts(const Program& program, Damages& out, std::string_view what, const ProposeStmt& propose);

// Adds the program with another body.
void add_damage(const Program& program, Damages& out, std::string site, Body body);
// The statement's address for `site`: "s3", "0.i", "test".
std::string place_text(const Program& program, const Stmt& stmt, const StmtPath& path);
// Loops of a context, outermost first.
std::vector<const Stmt*> loops_of(const StmtContext& context);
// The body that holds the statement at a path; null for the program's.
const Body& siblings_of(const Program& program, const StmtPath& path);
StmtPtr pointer_at(const Program& program, const StmtPath& path);
// True if a temporary.
bool is_temporary(const Program& program, std::string_view tensor);

// The tables, one a file.
void append_arithmetic_damage(std::vector<DamageOperator>& table);
void append_constant_damage(std::vector<DamageOperator>& table);
void append_index_damage(std::vector<DamageOperator>& table);
void append_guard_damage(std::vector<DamageOperator>& table);
void append_order_damage(std::vector<DamageOperator>& table);
void append_update_damage(std::vector<DamageOperator>& table);
void append_tensor_damage(std::vector<DamageOperator>& table);
void append_promise_damage(std::vector<DamageOperator>& table);

}  // namespace cairn::mutate
