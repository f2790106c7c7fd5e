// Certifying every step of a trace: what `optimize` and `trace --certify` share.
#pragma once
#include <memory>
#include <vector>

#include "base/clock.h"
#include "strategy/trace.h"

namespace cairn {

class NumericMemo;   // verify/numeric_memo.h

// Certifies the steps of one replay in order. Neighbouring steps share a program, so what the numeric rung ran on it is
// kept. Once `seconds` are spent, a step keeps what needs no time (wellformed, legal, rule), and `numeric` and `identity`
// are absent with the reason "time limit".
class TraceCertifier {
 public:
  // `replay` and `actions` must outlive it; `seconds` from now on, infinite for no limit.
  TraceCertifier(const Replay& replay, const std::vector<Action>& actions, CertifyOptions options, double seconds, Clock& clock);
  ~TraceCertifier();
  CertificateSet certify_step(std::size_t i);
  // Is the time spent?
  bool late() const { return clock_.now() - start_ >= seconds_; }
  // Steps that the limit left without numeric and identity.
  std::size_t limited() const { return limited_; }

 private:
  const Replay& replay_;
  const std::vector<Action>& actions_;
  CertifyOptions options_;
  double seconds_;
  Clock& clock_;
  double start_;
  std::size_t limited_ = 0;
  std::unique_ptr<NumericMemo> memo_;
};

}  // namespace cairn
