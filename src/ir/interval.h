// Intervals of integer expressions over loop ranges, and inferred shapes of temporaries.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "ir/program.h"

namespace cairn {

// Closed integer interval.
struct Interval {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};
using VarRanges = std::map<std::string, Interval, std::less<>>;

// Sound bounds of an integer expression, or nullopt (overflow, unknown variable). `ranges` may also bound the
// elements of integer tensors, by tensor name.
std::optional<Interval> interval_of(const Expr& expr, const VarRanges& ranges);

// Shape of every tensor that is declared or written: declared, or largest written index + 1 in each dimension
// (interval bounds; integer temporaries that one equation defines count with their bounds).
// Refuses a temporary whose written index has no bound, or whose rank differs between mentions.
Result<std::map<std::string, Shape, std::less<>>> infer_shapes(const Program& program);

}  // namespace cairn
