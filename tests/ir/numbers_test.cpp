#include "ir/interp.h"

#include <cmath>
#include <gtest/gtest.h>

namespace cairn {
namespace {

// 1/x tells the zeros apart, so rounding keeps the sign.
TEST(RoundTo, KeepsTheSignOfZero) {
  for (Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::tf32, Dtype::f16, Dtype::bf16}) {
    EXPECT_TRUE(std::signbit(round_to(dtype, -0.0))) << dtype_name(dtype);
    EXPECT_FALSE(std::signbit(round_to(dtype, 0.0))) << dtype_name(dtype);
    if (dtype == Dtype::f64) continue;
    EXPECT_TRUE(std::signbit(round_to(dtype, -1e-300))) << dtype_name(dtype);
  }
}

}  // namespace
}  // namespace cairn
