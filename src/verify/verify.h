// The verifier: numbered rules over one program (leir.md "The verifier"; numbers in docs/leir.md).
#pragma once
#include <string>
#include <vector>

#include "analysis/target.h"
#include "ir/program.h"

namespace cairn {

// What a rule found.
struct Finding {
  enum class Kind : std::uint8_t { refused, runtime_check, note };
  Kind kind = Kind::refused;
  int rule = 0;
  Error error;
};
// A bound that only the running program can decide (a data-dependent gather).
struct RuntimeCheck {
  std::uint32_t equation = 0;
  std::string tensor;
  std::size_t dimension = 0;
  SourcePos pos = kNoPos;                // of the mention
};
struct VerifyReport {
  std::vector<Finding> findings;
  std::vector<RuntimeCheck> runtime_checks;
  bool ok() const;                      // nothing refused
  const Finding* first_refusal() const;
};
class VerifyFacts;
// A rule: number, short name, one sentence, and the check that appends findings.
struct Rule {
  int number;
  const char* name;
  const char* sentence;
  void (*check)(VerifyFacts&, VerifyReport&);
  // A refusal by this rule ends the verification: later rules rely on it.
  bool gate = false;
};
// All rules in order of their numbers, which never change; a gate that refuses stops later ones.
const std::vector<Rule>& verifier_rules();
VerifyReport verify_program(const Program& program, const Target& target);
// The same as a Result: the first refusal, its message led by "rule N (name): ".
Result<void> check_program(const Program& program, const Target& target);

}  // namespace cairn
