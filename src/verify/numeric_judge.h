// The numeric rung's state; numeric.cpp plans and runs the families, numeric_identity.cpp judges algebraic claims.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "verify/budget.h"
#include "verify/explain.h"
#include "verify/families.h"
#include "verify/numeric.h"
#include "verify/numeric_memo.h"

namespace cairn {

inline constexpr std::size_t kMaxHotTensors = 3;   // of scaled_rows, and scaled up to overflow
inline constexpr std::size_t kMaxConditions = 16;  // named

struct JudgedSide {
  const Program* program = nullptr;
  std::optional<Digest> text;   // of the printed program
  Slice slice;
  std::map<std::string, Box, std::less<>> boxes;
  InterpOptions options;
};

class NumericJudge {
 public:
  NumericJudge(const Program& before, const Program& after, const NumericOptions& options) : options_(options) {
    before_.program = &before;
    after_.program = &after;
    conditional_ = options.claim >= Exactness::algebraic &&
                   std::any_of(options.conditions.begin(), options.conditions.end(), [](const auto& c) { return !c.proved; });
    memo_ = options.memo != nullptr ? options.memo : &own_memo_;
    certificate_.rung = Rung::numeric;
    certificate_.held = true;
  }
  std::optional<Certificate> run(std::string* absent);

 private:
  bool plan(std::string* absent);
  bool slice(JudgedSide* side, std::uint64_t cap, int sample);
  NumericMemo::Values run_plain(JudgedSide& side, const NumericMemo::Inputs& inputs);
  NumericMemo::Inputs inputs_of(Family f, std::uint64_t seed);
  // False when the family could not be run (not a verdict).
  bool family(Family f, std::uint64_t seed);
  void judge_output(const std::string& on, const std::string& name, const Comparison& c);
  void allow_own_roundings(Family f, const ValueMap& inputs, std::uint64_t seed, const ValueMap& got, Budget* budget);
  void judge_identity(Family f, const std::string& on, const ValueMap& inputs, Budget* budget, const ValueMap& got);
  void scale_to_overflow();
  void add_conditions(bool withhold, const std::string& on, const std::set<std::string>& conditions);
  void finish(std::uint64_t rounds);
  bool excused(Family f, const OutputBudget& budget, const Value& got, std::int64_t* count) const;
  void fail(std::string reason) {
    if (certificate_.held) certificate_.reason = std::move(reason);
    certificate_.held = false;
  }

  NumericOptions options_;
  NumericMemo own_memo_{std::size_t{16} << 20};
  NumericMemo* memo_ = nullptr;
  JudgedSide before_, after_;
  Slice both_;   // what either needs of the inputs
  bool conditional_ = false;
  bool sampled_ = false;
  std::string before_refusal_;
  std::uint64_t family_cost_ = 1;
  std::uint64_t spent_ = 0;
  std::vector<std::string> hot_;          // float inputs, for scaled_rows
  std::optional<Explainer> explainer_;
  std::vector<std::string> withheld_, conditions_;   // false on ordinary values, on others
  std::string withheld_on_;
  bool keeps_precision_ = false;
  Certificate certificate_;
  std::string families_;
  std::int64_t compared_ = 0, skipped_ = 0, excused_ = 0, ill_conditioned_ = 0;
  double max_ulp_ = 0, relative_l2_ = 0;
};

}  // namespace cairn
