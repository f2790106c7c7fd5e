// Input families (verification.md): seeded tensors for numeric and executed certificates.
#pragma once
#include <string>
#include <vector>

#include "ir/interp.h"

namespace cairn {

enum class Family : std::uint8_t {
  uniform, normal, magnitude, cancellation, one_hot, constant_rows, outliers, small_integers, zeros, denormals,
  nonfinite, scaled_rows,   // scaled_rows: one tensor forty times as large, with rows of zeros; the others normal
};
std::string_view family_name(Family family);
const std::vector<Family>& all_families();
// One input tensor; integer tensors stay within [0, bound) where bound is what subscripts of the program
// allow for this tensor (gather indices), else small integers. Elements that a slice does not want stay 0.
Value make_input(const Program& program, const Tensor& tensor, const Shape& shape, Family family,
                 std::uint64_t seed, const Slice* slice = nullptr);
ValueMap make_inputs(const Program& program, Family family, std::uint64_t seed);
ValueMap make_sliced_inputs(const Program& program, Family family, std::uint64_t seed, const Slice* slice);

}  // namespace cairn
