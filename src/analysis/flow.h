// Value-based facts: what is written before it is read, which reads start implicitly, what is covered.
#pragma once
#include <string>
#include <vector>

#include "analysis/access.h"
#include "analysis/dependence.h"

namespace cairn {

// Whether an access needs a value that may not have been written yet.
enum class Written : std::uint8_t { always, never, sometimes, unknown };
struct StartFact {
  std::uint32_t equation = 0;
  Written self_written = Written::unknown;   // for self-updates: the state of X when the equation meets it
};

// Does every read of `tensor` see an earlier write (implicit starts counted as writes)? Located refusal if not.
Result<void> check_written_before_read(const Program& program, const std::string& tensor);
// Is every element of an output (or of a box) written? Refusal names a missing element.
Result<void> check_covered(const Program& program, const std::string& tensor);
// For the self-update at `equation` ordinal: does X start there in every, no, or some instances?
// "sometimes" with a provable set is described by `first` (a condition on loop variables), else null.
struct StartVerdict {
  Written written = Written::unknown;
  ExprPtr first;
  Error reason;
};
StartVerdict start_of(const Program& program, std::uint32_t equation);

}  // namespace cairn
