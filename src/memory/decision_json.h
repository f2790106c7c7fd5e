// A decision and where it was taken as one JSON document, for `cairn memory why`.
#pragma once
#include <string>

#include "base/result.h"
#include "memory/policy.h"

namespace cairn {

// Version of the document; a newer one is refused.
inline constexpr int kDecisionVersion = 2;

struct StoredDecision {
  Decision decision;
  DecisionState state;
};

std::string print_decision(const Decision& decision, const DecisionState& state);
// Reads what print_decision wrote; refuses (parse) what lacks a key or is newer.
Result<StoredDecision> parse_decision(const std::string& text);

}  // namespace cairn
