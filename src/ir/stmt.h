// Statements: loops, tests and equations; immutable and shared.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace cairn {

// Loop kinds: serial, parallel, vectorised, unrolled, bound to a grid or thread axis, matrix unit.
enum class LoopKind : std::uint8_t { L, P, V, U, B, M };

// The optional second mark of a loop's superscript: U^{64,8}, L^{64,3}, L^{512,g}, B^{n,a}.
struct LoopMark {
  enum class Type : std::uint8_t { none, count, grid, atomics };
  Type type = Type::none;
  std::int64_t count = 0;
  friend bool operator==(const LoopMark&, const LoopMark&) = default;
};

struct Stmt;
using StmtPtr = std::shared_ptr<const Stmt>;
using Body = std::vector<StmtPtr>;

// One statement. A loop binds var over [0, extent); a test guards its body once on entry; an equation
// stores rhs into tensor_{subscripts}. Build it with the make_ functions.
struct Stmt {
  enum class Type : std::uint8_t { loop, test, equation };
  Type type = Type::equation;
  SourcePos pos = kNoPos;
  // loop
  LoopKind kind = LoopKind::L;
  LoopMark mark;
  std::int64_t extent = 0;
  std::string var;
  std::string axis_hint;          // Step-TP axis name kept on reading ("tx"), restored by --profile steptp
  // test
  ExprPtr cond;
  // loop, test
  Body body;
  // equation
  std::string tensor;
  std::vector<ExprPtr> subscripts;
  ExprPtr rhs;

  bool is_loop() const { return type == Type::loop; }
  bool is_test() const { return type == Type::test; }
  bool is_equation() const { return type == Type::equation; }
};

StmtPtr make_loop(LoopKind kind, std::int64_t extent, std::string var, Body body, LoopMark mark = {},
                  SourcePos pos = kNoPos);
StmtPtr make_test(ExprPtr cond, Body body, SourcePos pos = kNoPos);
StmtPtr make_equation(std::string tensor, std::vector<ExprPtr> subscripts, ExprPtr rhs, SourcePos pos = kNoPos);
// A copy of a loop or test with another body.
StmtPtr with_body(const Stmt& stmt, Body body);
// Wraps a body in loops given outermost first.
struct LoopHeader {
  LoopKind kind = LoopKind::L;
  std::int64_t extent = 0;
  std::string var;
  LoopMark mark;
};
Body wrap_loops(const std::vector<LoopHeader>& loops, Body body);

// Structural equality of statements (names count; positions and axis hints do not).
bool same_stmt(const Stmt& a, const Stmt& b);

// Where a statement stands: child indices from the program body down.
using StmtPath = std::vector<std::uint32_t>;

}  // namespace cairn
