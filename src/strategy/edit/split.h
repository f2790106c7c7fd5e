// The rewrite behind loop_split, loop_tiling and reduction_factorization.
#pragma once
#include <string>

#include "strategy/edit/band.h"

namespace cairn {

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Kind L, P, U or a block axis.
bool can_split(const Stmt& loop);
// Kind of the inner loop of a split: L, or U below U.
LoopKind inner_kind(const Stmt& loop);
// The statements that replace `loop`: outer (name, kind and mark kept) and inner loop; with `peel` the whole
// blocks, then the rest as a loop named `inner`. An uneven factor without peel gives a test under the inner
// loop. `above` are the ranges of the loops around.
Body split_loop(const StmtPtr& loop, std::int64_t factor, const std::string& inner, bool peel,
                const std::vector<LoopRange>& above);

}  // namespace cairn
