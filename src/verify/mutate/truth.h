// What is true of a damaged program, found by running it: the measure of a mutation test, independent of the ladder.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/interp.h"
#include "verify/certificate.h"
#include "verify/families.h"

namespace cairn {

// How a program differs from the one it should equal.
struct Difference {
  bool bits = false;        // in f64 some element differs, or in the working dtypes
  bool real = false;        // by more than the noise of f64 on benign inputs, or a new NaN or infinity
  bool defined = false;     // the same where the original has a value: its NaN, from 0/0 or inf-inf, is none over the reals
  bool precision = false;   // its errors in the working dtypes are several times what rounding does to the original, as quantiles tell
  bool fails = false;       // the interpreter refuses to run it
  std::string witness;      // "normal seed 3: D[5] is 1.5, was 2"

  // Whether the two are no pair of this class: exact asks for the bits, reassociates for the values and their precision,
  // algebraic for the values where there are some.
  bool at(Exactness claim) const {
    if (precision) return true;
    return claim == Exactness::exact ? bits : claim == Exactness::reassociates ? real : defined;
  }
};

struct TruthOptions {
  int inputs = 64;
  std::uint64_t seed = 1;
  std::uint64_t max_instances = 40'000'000;   // of one run
};

// Holds the reference's results on all inputs.
class Truth {
 public:
  // Refuses a reference that does not run on any input.
  static Result<Truth> make(const Program& reference, const TruthOptions& options);
  Difference compare(const Program& other) const;

 private:
  struct Input {
    Family family = Family::normal;
    std::uint64_t seed = 0;
    ValueMap values, in_f64, working;   // inputs, and what the reference gives
    std::map<std::string, std::vector<double>, std::less<>> noise;   // normal family: the largest error of some roundings
    bool runs = false;
  };
  void compare_values(const Input& in, const ValueMap& mine, bool in_f64, Difference* d) const;
  Result<void> add_noise(const Program& reference, Input* in) const;

  std::vector<Input> inputs_;
  TruthOptions options_;
};

// Is a promise of the program broken, as runs in other orders tell: loops P, V and B run backwards and statement by
// statement must give the same values, s and l tensors must be enough when every block and iteration (thread) has its
// own. Nothing where runs cannot tell (scans, replicated tensors).
std::optional<bool> breaks_promise(const Program& program, std::uint64_t seed);

}  // namespace cairn
