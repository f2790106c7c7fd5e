#include "strategy/keep_failure.h"

#include <fmt/core.h>

#include "base/file.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/compare.h"
#include "verify/shrink.h"
#include "verify/verify.h"

namespace cairn::test {

std::string keep_failure(const Program& program, const Target& target, const Action& action, std::uint64_t seed) {
  Exactness claim = Exactness::exact;
  std::string difference;
  const auto fails = [&](const ShrinkCase& c) {
    if (!check_program(c.programs[0], target)) return false;
    const Result<Step> step = apply_action(c.programs[0], target, action);
    if (!step) return false;
    const std::string found = compare_runs(c.programs[0], step->after, step->exactness, seed, step->recorded);
    if (found.empty()) return false;
    claim = step->exactness;
    difference = found;
    return true;
  };
  ShrinkCase start{{program}, {}};
  if (!fails(start)) return "the failure does not come again";
  ShrinkOptions options;
  options.seconds = 30;
  const Shrunk shrunk = shrink_case(std::move(start), fails, options);
  if (!fails(shrunk.smallest)) return "the failure does not come again";
  RegressPair pair;
  pair.remarks = {fmt::format("seed {}: {}", seed, difference)};
  pair.claim = claim;
  pair.holds = true;
  pair.action = print_action(action);
  pair.before = print_program(shrunk.smallest.programs[0]);
  const std::string text = print_regress_pair(pair);
  const std::string path = fmt::format("{}/tests/regress/{}-{}.leir-pair", CAIRN_SOURCE_DIR, action.strategy,
                                       canonical_hash(shrunk.smallest.programs[0]).hex().substr(0, 12));
  const Result<void> written = write_file_atomic(path, text);
  return fmt::format("{}\n{}", written ? path : render(written.error()), text);
}

}  // namespace cairn::test
