#include "ir/mathlib.h"

// The same text that emitted programs carry (mathlib_text.cpp holds it as a string).
// clang-format off
#include "ir/mathlib_base.inc"
#include "ir/mathlib_f32.inc"
#include "ir/mathlib_f64.inc"
#include "ir/mathlib_tail.inc"
// clang-format on

namespace cairn {

float math_exp(float x) { return cairn_expf(x); }
double math_exp(double x) { return cairn_exp(x); }
float math_log(float x) { return cairn_logf(x); }
double math_log(double x) { return cairn_log(x); }
float math_erf(float x) { return cairn_erff(x); }
double math_erf(double x) { return cairn_erf(x); }
float math_tanh(float x) { return cairn_tanhf(x); }
double math_tanh(double x) { return cairn_tanh(x); }
float math_sin(float x) { return cairn_sinf(x); }
double math_sin(double x) { return cairn_sin(x); }
float math_cos(float x) { return cairn_cosf(x); }
double math_cos(double x) { return cairn_cos(x); }
float math_pow(float x, float y) { return cairn_powf(x, y); }
double math_pow(double x, double y) { return cairn_pow(x, y); }

}  // namespace cairn
