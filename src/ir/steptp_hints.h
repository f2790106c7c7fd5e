// Hints in Stmt::axis_hint, beside names of axes, that the Step-TP reading leaves for its writer.
#pragma once

namespace cairn {

inline constexpr char kLanesHint[] = "V";     // a P loop that stood there as V
inline constexpr char kOnceHint[] = "once";   // a test that keeps the first iteration's of equal writes

}  // namespace cairn
