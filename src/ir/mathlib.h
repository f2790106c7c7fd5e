// Cairn's own exp, log, erf, tanh, sin, cos in f32 and f64: one source for the interpreter and for generated
// C, scalar and vector, so that "exact" means the same bits everywhere (verification.md, exactness classes).
#pragma once
#include <string_view>

namespace cairn {

// The C source text of the functions, for emitted programs; also compiled into this library, so that bits agree
// when both are built with -ffp-contract=off. Valid as C11 and C++; needs GCC's or Clang's vector extensions.
// Scalar names: cairn_expf cairn_exp, and log tanh erf sin cos; cairn_powf cairn_pow (two arguments);
// cairn_maxf cairn_max, min (carry NaN); cairn_floor_divf cairn_floor_div, cairn_modf cairn_mod;
// cairn_signf cairn_sign; cairn_selectf (lane mask, a, b). Vectors, by suffix: cairn_expf_v4 _v8 _v16 over
// cairn_f32_v4 ..., cairn_exp_v2 _v4 _v8 over cairn_f64_v2 ...; all of the above but floor_div, mod, sign.
// Within 2 units in the last place of the exact value; pow f32 within 0.51.
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
