// A program prepared for demand-driven evaluation: sites (equations and tests) with their loops, affine subscripts,
// and what inverts the written subscripts (identity rung, internal).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/self_update.h"
#include "ir/typing.h"
#include "verify/identity/terms.h"

namespace cairn::identity {

inline constexpr std::size_t kMaxLoops = 24;
inline constexpr std::size_t kMaxRank = 12;
using Index = std::int64_t[kMaxRank];
using Frame = std::int64_t[kMaxLoops];   // values of a site's loops, outermost first

// An expression node; `plain` ones are integers of loop variables and literals alone.
struct Node {
  TypedExpr::Form form = TypedExpr::Form::node;
  Op op = Op::int_literal;
  ComputeType type = ComputeType::f32;
  Dtype storage = Dtype::undef;
  bool plain = false;
  bool self = false;              // the self-updated read
  std::int32_t var = -1;          // loop_var: the loop's depth
  std::int32_t tensor = -1;       // read
  std::uint32_t first = 0, count = 0;   // operands in Prepared::operands; of a read: its subscripts
  std::uint32_t linear = 0;       // read: its first subscript in Prepared::linear
  std::int64_t integer = 0;
  double number = 0, decimal = 0;
  const Expr* expr = nullptr;
};

// A subscript: constant + sum coefficient * loop, or any integer expression.
struct Linear {
  bool affine = false;
  std::int64_t constant = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> terms;  // loop depth, coefficient
  std::uint32_t node = 0;
  std::int64_t extent = 0;        // of the tensor's dimension
};

struct Guard {
  std::uint32_t site = 0;         // the test's own site
  std::uint32_t node = 0;
  std::uint32_t loops = 0;        // loops above it
  std::uint32_t used = 0;         // bit per loop depth that it depends on
};

// Where something is computed: a statement under its loops and tests.
struct Site {
  bool test = false;
  std::vector<std::uint32_t> path;      // child indices from the program's body
  std::vector<std::uint32_t> depth_of;  // per path position: loops above it
  std::vector<std::uint32_t> loops;     // ids, outermost first
  std::vector<std::int64_t> extents;
  std::vector<Guard> guards;
  std::uint32_t nest() const { return path[0]; }
};

// How written subscripts determine loops. digits: subscript d - constant is a mixed-radix number of its loops.
struct Digit {
  std::uint32_t dimension = 0, loop = 0;
  std::int64_t divisor = 1;
  bool reversed = false;          // negative coefficient: counts down from extent - 1
};

struct Equation {
  Site site;
  std::uint32_t id = 0;
  const Stmt* stmt = nullptr;
  std::int32_t tensor = -1;
  std::uint32_t linear = 0;       // first written subscript
  std::uint32_t rhs = 0;
  bool update = false, narrow = false;
  bool joins_partial = false;     // its other operand sums accumulators of the same narrow dtype and operator
  UpdateOp op = UpdateOp::add;
  std::vector<Digit> digits;      // by_digits: subscripts invert
  std::vector<std::uint32_t> repeated;   // dimensions to be checked after the digits
  bool by_digits = false;
  std::uint32_t determined = 0;   // bit per loop depth in a subscript
  // The outermost loop from which on this equation alone writes the tensor: one accumulation. kMaxLoops: none.
  std::uint32_t run_from = kMaxLoops;
  bool read_in_run = false;       // others read the tensor inside
  bool keyed = false;             // its instances can be numbered in 48 bits
  // by table: tuples of the determined loops by element offset, in order of execution
  std::vector<std::uint32_t> table_loops;
  std::map<std::int64_t, std::vector<std::int64_t>> table;
  bool table_built = false;
};

struct TensorInfo {
  const Tensor* tensor = nullptr;
  Shape shape;
  std::int64_t size = 0;
  bool given = false;             // in param const io
  std::vector<std::uint32_t> writers;          // equations, text order
  std::vector<std::uint32_t> writing_nests;    // ascending
};

struct Prepared {
  const Program* program = nullptr;
  std::vector<Node> nodes;
  std::vector<std::uint32_t> operands;
  std::vector<Linear> linear;
  std::vector<Equation> equations;
  std::vector<Site> tests;
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::int32_t, std::less<>> tensor_of;
  std::vector<TypedPtr> keep;
};

// Prepares a program whose bindings were expanded. Refuses what has no demand-driven form (too many loops, sizes).
Result<Prepared> prepare(const Program& program);

// The value of a plain expression.
bool plain_value(const Prepared& code, std::uint32_t node, const std::int64_t* v, std::int64_t* out);

}  // namespace cairn::identity
