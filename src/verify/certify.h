// Certifying one step among the others of its trace.
#pragma once
#include <string>

#include "verify/certificate.h"

namespace cairn {

class NumericMemo;   // numeric_memo.h

struct TraceContext {
  NumericMemo* memo = nullptr;   // shared by the steps; may be null
  std::string skipped;           // where options switch numeric or identity off: why, for the certificate
};
// As certify() of certificate.h, which has no context.
CertificateSet certify_in_trace(const Program& before, const Program& after, Exactness claim, const ActionEvidence* action,
                                const CertifyOptions& options, const TraceContext& context);

}  // namespace cairn
