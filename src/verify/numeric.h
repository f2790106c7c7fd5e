// The numeric rung: both programs interpreted on input families and compared under the claim's rule.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/slice.h"
#include "verify/certificate.h"

namespace cairn {

class NumericMemo;   // numeric_memo.h

struct NumericOptions {
  Exactness claim = Exactness::exact;
  std::vector<SideCondition> conditions;      // recorded with the claim; the unproved ones excuse what they say
  std::uint64_t seed = 1;
  std::uint64_t budget = 50'000'000;          // equation instances of all runs together
  std::int64_t max_input_elements = 24 << 20;
  bool confirmed = false;                     // identity holds in full at an exact or reassociates claim: a few families, one seed
  NumericMemo* memo = nullptr;                // of the trace that the two programs belong to, or null
};

// exact: working-dtype runs agree to the bit on every family. reassociates: `after` is within the error budget of `before`
// on every family, or of what rounding does to `after` itself where that is right in f64; an element that then overflows
// on extreme values is skipped and counted. changes_precision: within the precision of the narrowest float dtype that `after` mentions.
// algebraic: within eight times the budget, or what rounding does to `after` itself, wherever the operations of both
// programs keep to real arithmetic (conditions.h); an element where one does not is skipped and counted, and the condition
// that is false there becomes a fact "condition_1" ... Conditions that were not claimed fail the certificate, with the facts
// verdict=conditional and broken_by=ordinary (normal, uniform, constant rows, rows of zeros beside large ones) or extreme
// (only the other families and inputs scaled up until something overflows).
// At full shape if the budget allows, else on sampled output elements through backward slices (which trust the
// storage promises, so `before` and `after` must have passed the verifier). Absent (nullopt) with `absent` set
// when even the slice of one element is too large.
std::optional<Certificate> check_numeric(const Program& before, const Program& after, const NumericOptions& options,
                                         std::string* absent);

// Inputs, outputs and io of the two agree in name, dtype and shape; `after` may leave inputs unused.
Result<void> check_interfaces(const Program& before, const Program& after);
// Elements worth sampling. Sample 0: corners, tails and a random place of every output; 1: one random element of each.
std::map<std::string, Box, std::less<>> sample_boxes(const Program& program, std::uint64_t seed, int sample = 0);

}  // namespace cairn
