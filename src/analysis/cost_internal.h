// Parts of the CPU cost model: instruction counts of equations and traffic of loop trees.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "analysis/target.h"
#include "ir/interval.h"
#include "ir/program.h"

namespace cairn::cost {

using Shapes = std::map<std::string, Shape, std::less<>>;

// Cycles of one core that all instances of an equation take if every operand is in L1, and its operations.
struct EquationCost {
  double cycles = 0;
  double flops = 0;
  bool latency_bound = false;
};
EquationCost cost_of_equation(const Program& program, const Stmt& equation, const std::vector<const Stmt*>& enclosing,
                              const Target& target);

// Arithmetic of a right side: weighted vector instructions and plain floating-point operations.
struct Arithmetic {
  double issue = 0;   // instruction slots
  double flops = 0;
};
Arithmetic count_arithmetic(const Program& program, const Expr& rhs, ComputeType type);

// Bytes that cross into a cache of `capacity` while a nest runs once, every cache cold at its start.
double traffic_of_nest(const Program& program, const Shapes& shapes, const Stmt& nest, std::int64_t capacity,
                       std::int64_t line_bytes);

// Change of a linear subscript list when var steps by one, in elements of a row-major tensor; nullopt if not
// linear or of unknown shape.
std::optional<std::int64_t> stride_of(const std::vector<ExprPtr>& subscripts, const Shape& shape,
                                      const std::string& var);

}  // namespace cairn::cost
