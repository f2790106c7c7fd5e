// Layout maps: how a tensor's elements move when it is re-indexed (set_storage_layout, layout_transformation).
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strategy/edit/simplify.h"

namespace cairn {

// One step of a map, applied to a list of dimensions. Each is injective:
//   transpose:1x0   dimension k of the result is dimension order[k]
//   split:D:F       dimension D becomes two, index//F and index%F (the last block may be short: holes)
//   merge:D         dimensions D and D+1 become one, row-major
//   pad:D:E         E more elements at the end of dimension D; negative: they go, and must be in no mention
//   xor:D:O:W       index D becomes index D xor (index O mod W); W a power of two that divides the extent of D
//   flatten         merge:0 until one dimension is left
struct LayoutOp {
  enum class Kind : std::uint8_t { transpose, split, merge, pad, swizzle, flatten };
  Kind kind = Kind::transpose;
  std::size_t dim = 0, other = 0;
  std::int64_t value = 0;            // F, E or W
  std::vector<std::size_t> order;    // transpose
};
using LayoutMap = std::vector<LayoutOp>;

// Steps joined by `+`, as printed above. Code::usage for any other text.
Result<LayoutMap> parse_layout(std::string_view text);
std::string print_layout(const LayoutMap& map);
// The shape after the map; a refusal without a place where a step does not fit, the shape is beyond 2^62 elements, or
// nothing changes.
Result<Shape> map_shape(const LayoutMap& map, const Shape& shape);
// The map with `flatten` spelled out, and the map that takes it back.
LayoutMap expand_layout(const LayoutMap& map, const Shape& shape);
LayoutMap inverse_layout(const LayoutMap& map, const Shape& shape);
// Subscripts of an element after the map, simplified over the loops around.
std::vector<ExprPtr> map_subscripts(const LayoutMap& map, const Shape& shape, std::vector<ExprPtr> subscripts,
                                    const std::vector<LoopRange>& loops);
// Dimensions of the original that the map does more with than move (and extend at the end).
std::vector<bool> reshaped_dims(const LayoutMap& map, std::size_t rank);

// Rewrites mentions of a tensor, nested ones included: `name` and subscripts from `fn`.
using Resubscript = std::function<std::vector<ExprPtr>(const std::vector<ExprPtr>&, const std::vector<LoopRange>&)>;
struct MentionRewrite {
  std::string from, to;
  bool reads = true, writes = true;
  Resubscript subscripts;
};
Body rewrite_mentions(const Body& body, std::vector<LoopRange>& loops, const MentionRewrite& rewrite);

// Maps worth a try for a tensor of the shape, widths from the element size: transposes, splits, merges, panels, pads.
std::vector<std::string> layout_candidates(const Shape& shape, std::int64_t lanes, bool in_place, bool shared);

}  // namespace cairn
