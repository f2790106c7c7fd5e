// The rules' checks, one a file, and what they share.
#pragma once
#include <map>
#include <string>

#include "analysis/flow_memo.h"
#include "analysis/kernels.h"
#include "verify/verify.h"

namespace cairn {

// What several rules ask of one program, computed once.
class VerifyFacts {
 public:
  VerifyFacts(const Program& program, const Target& target) : program_(program), target_(target) {}
  const Program& program() const { return program_; }
  const Target& target() const { return target_; }
  FlowAnalysis& flow() {
    if (!flow_) flow_ = flow_of(program_);
    return *flow_;
  }

 private:
  const Program& program_;
  const Target& target_;
  std::shared_ptr<FlowAnalysis> flow_;
};

// Appends a refusal of `rule`.
void refuse(VerifyReport& report, int rule, Error error);
void refuse(VerifyFacts& facts, VerifyReport& report, int rule, SourcePos pos, std::string message,
            std::string note = {});

void check_names(VerifyFacts& facts, VerifyReport& report);        // 1
void check_variables(VerifyFacts& facts, VerifyReport& report);    // 2
void check_roles(VerifyFacts& facts, VerifyReport& report);        // 3
void check_arity(VerifyFacts& facts, VerifyReport& report);        // 4
void check_dtypes(VerifyFacts& facts, VerifyReport& report);       // 5
void check_sizes(VerifyFacts& facts, VerifyReport& report);        // 6
void check_bounds(VerifyFacts& facts, VerifyReport& report);       // 7
void check_outputs(VerifyFacts& facts, VerifyReport& report);      // 8
void check_reads(VerifyFacts& facts, VerifyReport& report);        // 9
void check_starts(VerifyFacts& facts, VerifyReport& report);       // 10
void check_scatter(VerifyFacts& facts, VerifyReport& report);      // 11
void check_parallel(VerifyFacts& facts, VerifyReport& report);     // 12
void check_vector(VerifyFacts& facts, VerifyReport& report);       // 13
void check_lanes(VerifyFacts& facts, VerifyReport& report);        // 14
void check_axes(VerifyFacts& facts, VerifyReport& report);         // 15
void check_threads(VerifyFacts& facts, VerifyReport& report);      // 16
void check_storage_rule(VerifyFacts& facts, VerifyReport& report); // 17
void check_owners(VerifyFacts& facts, VerifyReport& report);       // 18
void check_barriers(VerifyFacts& facts, VerifyReport& report);     // 19
void check_matrix(VerifyFacts& facts, VerifyReport& report);       // 20
void check_pipeline(VerifyFacts& facts, VerifyReport& report);     // 21
void check_kernels(VerifyFacts& facts, VerifyReport& report);      // 22
void check_resident(VerifyFacts& facts, VerifyReport& report);     // 23
void check_marks(VerifyFacts& facts, VerifyReport& report);        // 24
void check_limits(VerifyFacts& facts, VerifyReport& report);       // 25

}  // namespace cairn
