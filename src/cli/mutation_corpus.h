// Correct pairs for mutation tests: programs of files and pages, and results of random strategy applications.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "verify/mutate/campaign.h"

namespace cairn {

struct MutationCorpusOptions {
  Target target;
  std::uint64_t seed = 1;
  std::size_t steps = 1;                    // pairs (program, program after 1 to 3 random steps) a program
  std::size_t every = 1;                    // every n-th program only, which ones by seed
  std::int64_t max_instances = 100'000;     // programs with more equation instances are left out
};
// Every well-formed program of the .leir files and of the `leir before` blocks of the .md pages below `paths` (files
// or directories, searched in order of names), once by canonical hash: as a pair with itself, and `steps` pairs with
// what random strategies made of it.
Result<std::vector<MutationPair>> make_mutation_corpus(const std::vector<std::string>& paths, const MutationCorpusOptions& options);

}  // namespace cairn
