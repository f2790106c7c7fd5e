// Arithmetic modulo the two primes of the algebraic class, p = 2q+1 (leir-worked section 6.3); internal.
#pragma once
#include <cstdint>

namespace cairn::identity {

// 2^bits - gap, both primes; products are reduced by folding the high part.
struct PrimeP {
  static constexpr int kBits = 61;
  static constexpr std::uint64_t kGap = 2373;
};
struct PrimeQ {
  static constexpr int kBits = 60;
  static constexpr std::uint64_t kGap = 1187;
};

template <class Prime>
struct Residues {
  static constexpr std::uint64_t kModulus = (std::uint64_t{1} << Prime::kBits) - Prime::kGap;
  static std::uint64_t reduce(std::uint64_t x) {
    x = (x & ((std::uint64_t{1} << Prime::kBits) - 1)) + (x >> Prime::kBits) * Prime::kGap;
    return x >= kModulus ? x - kModulus : x;
  }
  static std::uint64_t add(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t s = a + b;
    return s >= kModulus ? s - kModulus : s;
  }
  static std::uint64_t negate(std::uint64_t a) { return a == 0 ? 0 : kModulus - a; }
  static std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    constexpr std::uint64_t kMask = (std::uint64_t{1} << Prime::kBits) - 1;
    const Wide x = Wide{a} * b;
    const Wide y = Wide{static_cast<std::uint64_t>(x) & kMask} + Wide{static_cast<std::uint64_t>(x >> Prime::kBits)} * Prime::kGap;
    const std::uint64_t z = (static_cast<std::uint64_t>(y) & kMask) + static_cast<std::uint64_t>(y >> Prime::kBits) * Prime::kGap;
    return reduce(z);
  }
  static std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
    std::uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1) {
      if (exponent & 1) result = multiply(result, base);
      base = multiply(base, base);
    }
    return result;
  }
  static std::uint64_t invert(std::uint64_t a) { return power(a, kModulus - 2); }
  static std::uint64_t of_integer(std::int64_t v) {
    const std::uint64_t size = v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
    const std::uint64_t r = reduce(size);
    return v < 0 ? negate(r) : r;
  }
};
using P = Residues<PrimeP>;
using Q = Residues<PrimeQ>;
static_assert(P::kModulus == 2305843009213691579ULL && Q::kModulus == 1152921504606845789ULL && P::kModulus == 2 * Q::kModulus + 1);

// g^e mod p for e < q, where g = 4 has order q.
std::uint64_t exponential(std::uint64_t e);
// The decimal of a finite number as written (its shortest form), as a residue of each.
struct RationalResidue {
  std::uint64_t p = 0, q = 0;
};
RationalResidue decimal_residue(double value);

}  // namespace cairn::identity
