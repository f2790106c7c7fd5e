// Cairn's own exp, log, erf, tanh, sin, cos in f32 and f64: one source for the interpreter and for generated
// C, scalar and vector, so that "exact" means the same bits everywhere (verification.md, exactness classes).
#pragma once
#include <string_view>

namespace cairn {

// The C source text of the functions (names cairn_expf, cairn_exp, ...), included by emitted programs; only
// operations that g++ maps to the same IEEE results for scalars and vector extension types when built with
// -ffp-contract=off.
std::string_view mathlib_c_source();

float math_exp(float x);
double math_exp(double x);
float math_log(float x);
double math_log(double x);
float math_erf(float x);
double math_erf(double x);
float math_tanh(float x);
double math_tanh(double x);
float math_sin(float x);
double math_sin(double x);
float math_cos(float x);
double math_cos(double x);
// pow for exponents other than 2 (which is x*x).
float math_pow(float x, float y);
double math_pow(double x, double y);

}  // namespace cairn
