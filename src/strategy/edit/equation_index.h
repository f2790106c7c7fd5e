// Who writes and who reads each tensor, what a temporary's element stands for, and one loop nest named in another's
// variables: what strategies over several nests ask of a program.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace cairn {

// An equation with what stands around it, outermost first.
struct EquationPlace {
  const Stmt* stmt = nullptr;
  StmtPath path;
  std::vector<const Stmt*> loops;
  std::vector<const Stmt*> tests;
};

// The equations of a program by what they write and read. Keeps a reference to the program.
class EquationIndex {
 public:
  explicit EquationIndex(const Program& program);
  const Program& program() const { return program_; }
  const std::vector<EquationPlace>& equations() const { return equations_; }
  // The equation at a path, or null.
  const EquationPlace* at(const StmtPath& path) const;
  std::vector<const EquationPlace*> writers(std::string_view tensor) const;
  // Paths of the equations (subscripts on the left included) and tests that read the tensor, in text order.
  std::vector<StmtPath> readers(std::string_view tensor) const;
  // False if a write of the tensor may come between an execution of the equation at `from`, which reads it or is
  // the definition of what is asked about, and the execution of the one at `to` that follows in the same
  // iteration of the loops around both. Decided by text, and by dependence analysis for writes beside `from`.
  bool keeps(std::string_view tensor, const StmtPath& from, const StmtPath& to) const;
  // The same for every tensor that an expression reads.
  bool keeps_all(const Expr& value, const StmtPath& from, const StmtPath& to) const;

  // What the read of a temporary, made by the equation at `use`, stands for: the right side of its one definition
  // in the read's subscripts; null if it has more than one, reads itself, stands under a test, has subscripts
  // other than distinct variables of all its loops, or is not in front of the use with unchanged operands.
  ExprPtr value_of(const Expr& read, const StmtPath& use) const;

 private:
  const Program& program_;
  std::vector<EquationPlace> equations_;
  std::multimap<std::string, std::size_t, std::less<>> writers_;
};

// Renames loop variables of one nest to another's: a bijection between loops of equal extent.
class VarMatch {
 public:
  VarMatch(std::vector<const Stmt*> from, std::vector<const Stmt*> to);  // common outer loops map to themselves
  // Extends the map so that `from` becomes `to`; false (map unchanged in meaning, but maybe extended) if none does.
  bool unify(const Expr& from, const Expr& to);
  bool unify(const std::vector<ExprPtr>& from, const std::vector<ExprPtr>& to);
  bool join(const Stmt& from, const Stmt& to);
  // The loop that a loop of `from` became, or null.
  const Stmt* image(const Stmt& from) const;
  bool covers_to() const;     // every loop of `to` has an origin
  bool covers_from() const;   // every loop of `from` has an image
  ExprPtr apply(const ExprPtr& expr) const;
  std::vector<ExprPtr> apply(const std::vector<ExprPtr>& exprs) const;
  std::vector<std::pair<std::string, ExprPtr>> substitution() const;

 private:
  std::vector<const Stmt*> from_, to_;
  std::vector<std::pair<const Stmt*, const Stmt*>> pairs_;
};

// Number of leading loops that two chains share (the same statements).
std::size_t common_loops(const std::vector<const Stmt*>& a, const std::vector<const Stmt*>& b);
// The path of the common body of two statements: the longest common prefix of their parents.
StmtPath common_body(const StmtPath& a, const StmtPath& b);
// The path of the loop among `loops` above `path` (its address as a path).
StmtPath path_of_loop(const Body& body, const StmtPath& path, const Stmt& loop);
// Stored as it is computed: the dtype is its own compute type.
bool is_stored_exactly(Dtype dtype);

}  // namespace cairn
