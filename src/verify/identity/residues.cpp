#include "verify/identity/residues.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace cairn::identity {

std::uint64_t exponential(std::uint64_t e) {
  // By bytes of the exponent: 8 tables of 256 powers.
  static const std::vector<std::array<std::uint64_t, 256>> tables = [] {
    std::vector<std::array<std::uint64_t, 256>> t(8);
    std::uint64_t step = 4;
    for (auto& table : t) {
      table[0] = 1;
      for (std::size_t i = 1; i < 256; ++i) table[i] = P::multiply(table[i - 1], step);
      step = P::multiply(table[255], step);
    }
    return t;
  }();
  std::uint64_t result = 1;
  for (std::size_t i = 0; e != 0; ++i, e >>= 8) result = P::multiply(result, tables[i][e & 255]);
  return result;
}

RationalResidue decimal_residue(double value) {
  const std::string text = fmt::format("{}", std::fabs(value));  // shortest digits that read back: d.dddde-dd
  RationalResidue r;
  std::int64_t exponent = 0;
  bool fraction = false;
  std::size_t i = 0;
  for (; i < text.size() && text[i] != 'e'; ++i) {
    if (text[i] == '.') {
      fraction = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    r.p = P::add(P::multiply(r.p, 10), digit);
    r.q = Q::add(Q::multiply(r.q, 10), digit);
    exponent -= fraction;
  }
  if (i < text.size()) exponent += std::strtoll(text.c_str() + i + 1, nullptr, 10);
  const auto size = static_cast<std::uint64_t>(std::llabs(exponent));
  std::uint64_t p = P::power(10, size), q = Q::power(10, size);
  if (exponent < 0) p = P::invert(p), q = Q::invert(q);
  r.p = P::multiply(r.p, p);
  r.q = Q::multiply(r.q, q);
  if (std::signbit(value)) r.p = P::negate(r.p), r.q = Q::negate(r.q);
  return r;
}

}  // namespace cairn::identity
