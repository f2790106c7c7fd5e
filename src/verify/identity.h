// The identity rung: both programs evaluated in the algebra of the claimed class (verification.md "Three algebras,
// one evaluator"; docs/decisions/0002). The sequential meaning of the sampled elements is recorded once as shared
// terms over backward slices at full shape; each algebra is one pass over the terms that differ.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verify/certificate.h"

namespace cairn {

struct IdentityOptions {
  Exactness claim = Exactness::exact;
  std::uint64_t seed = 1;
  std::uint64_t max_nodes = 2'000'000;   // terms recorded plus terms evaluated, both programs and all trials
  std::uint64_t enough = 500'000;        // nodes after which no more elements are taken than each class needs
  std::int64_t whole = 4096;             // tensors of at most this many elements are compared whole
  int per_piece = 8;                     // elements in each piece of a larger one
  int per_trial = 32;                    // elements at least where the algebraic class judges
  int trials = 3;                        // with new keys
};

struct IdentityResult {
  enum class Verdict : std::uint8_t { held, failed, absent };
  Verdict verdict = Verdict::absent;
  Exactness claim = Exactness::exact;    // held: the class that was shown
  std::string reason;                    // failed: the tensor, its element and both origins; absent: why
  std::vector<std::string> conditions;   // held in the algebraic class: "E[..] != 0", where divisors were introduced
  std::vector<std::string> compared;     // tensors: outputs, or what a changed nest feeds to unchanged ones
  std::int64_t elements = 0, pieces = 0;
  int trials = 0;
  std::uint64_t nodes = 0;
  bool sampled = false;                  // not whole and not every piece covered
  bool incomplete = false;               // failed, but over max, min, comparisons or opaque functions: may still be equal
  bool voided = false;                   // failed: an element has no value after (a divisor is 0) that it had before
  double error_probability = 0;          // of accepting elements that differ; sampled ones: also miss_probability
  double miss_probability = 0;           // that the samples miss a fault in one element of twenty

  bool held() const { return verdict == Verdict::held; }
};

// Judges one class. changes_precision has no algebra: absent. Both programs must have passed the verifier.
IdentityResult check_identity(const Program& before, const Program& after, const IdentityOptions& options);
// The strongest class that holds (exact, then reassociates, then algebraic) over one recording; absent or failed
// (with the reason of the weakest) when none does.
IdentityResult find_identity(const Program& before, const Program& after, const IdentityOptions& options);
// As a certificate of Rung::identity; nullopt with `absent` set where nothing could be computed. A pair that is
// equal only under conditions which the claim does not state is not held, and the reason names them.
std::optional<Certificate> identity_certificate(const IdentityResult& result, bool conditions_stated, std::string* absent);

}  // namespace cairn
