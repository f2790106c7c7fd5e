#include "cli/certify_trace.h"

#include <fmt/core.h>

#include "verify/certify.h"
#include "verify/numeric_memo.h"

namespace cairn {

TraceCertifier::TraceCertifier(const Replay& replay, const std::vector<Action>& actions, CertifyOptions options, double seconds, Clock& clock)
    : replay_(replay), actions_(actions), options_(std::move(options)), seconds_(seconds), clock_(clock), start_(clock.now()),
      memo_(std::make_unique<NumericMemo>()) {}
TraceCertifier::~TraceCertifier() = default;

CertificateSet TraceCertifier::certify_step(std::size_t i) {
  const Step& step = replay_.steps[i];
  const ActionEvidence evidence = evidence_of(replay_.programs[i], options_.target, actions_[i], step);
  CertifyOptions options = options_;
  TraceContext context{memo_.get(), {}};
  if (late()) {
    options.numeric = options.identity = false;
    context.skipped = fmt::format("time limit: {:g} s for all steps", seconds_);
    ++limited_;
  }
  return certify_in_trace(replay_.programs[i], step.after, step.exactness, &evidence, options, context);
}

}  // namespace cairn
