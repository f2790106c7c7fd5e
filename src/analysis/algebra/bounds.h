// Interval arithmetic over the extended reals with open ends (internal to the prover).
#pragma once
#include "analysis/algebra/prove.h"

namespace cairn::algebra {

double largest_finite(ComputeType type);
double smallest_normal(ComputeType type);

Bounds point(double value);
Bounds closed(double lo, double hi);
Bounds add(const Bounds& a, const Bounds& b);
Bounds negate(const Bounds& a);
Bounds multiply(const Bounds& a, const Bounds& b);
Bounds invert(const Bounds& a);
Bounds hull(const Bounds& a, const Bounds& b);
Bounds meet(const Bounds& a, const Bounds& b);
// x*x of one x.
Bounds square(const Bounds& a);
// fn of an increasing function, NaN where the argument may be.
Bounds apply_increasing(const Bounds& a, double (*fn)(double));
bool is_positive(const Bounds& a);

}  // namespace cairn::algebra
