// Two ends of loop_tiling: a tail that is padded, and tiles that are joined again.
#pragma once
#include "strategy/edit/band.h"
#include "strategy/strategy.h"

namespace cairn {

// tail=pad after the tiling with guards: the result and the operands of the band's one update are staged in the loop at
// `place`, filled with 0 outside their tensors, and the tests of the update go. Refusals carry condition (4).
Result<Step> pad_tail(Step tiled, const Target& target, const StmtPath& place);

// tail=join: `loops` names tile and point loops of one band in pairs, `sizes` what each pair joins to. A pair takes the
// place of its point loop. Refusals carry conditions (3) and (5).
Result<Step> join_tiles(const Program& program, const Target& target, const Args& args);

}  // namespace cairn
