// What the numeric rung runs: interfaces, sizes, samples.
#include <fmt/core.h>

#include <algorithm>

#include "base/rng.h"
#include "verify/numeric.h"

namespace cairn {

namespace {
std::string describe(const Tensor& t) {
  std::string shape;
  for (const std::int64_t extent : t.shape.value_or(Shape{})) shape += fmt::format("{}{}", shape.empty() ? "" : ",", extent);
  return fmt::format("{} {}^{{{}}}_{{{}}}", role_name(t.role), t.name, dtype_name(t.dtype), shape);
}
bool is_result(Role role) { return role == Role::out || role == Role::io; }
}  // namespace

Result<void> check_interfaces(const Program& before, const Program& after) {
  for (const Tensor& t : after.tensors()) {
    if (t.role == Role::tmp) continue;
    const Tensor* original = before.find(t.name);
    if (original == nullptr || original->role == Role::tmp) {
      return Error{Code::mismatch, fmt::format("{} is not in the program before", describe(t)), {}, {}};
    }
    if (original->role != t.role || original->dtype != t.dtype || original->shape != t.shape || !(original->data == t.data)) {
      return Error{Code::mismatch, fmt::format("the programs differ in their tensors: {} before, {} after", describe(*original), describe(t)), {}, {}};
    }
  }
  for (const Tensor& t : before.tensors()) {
    if (!is_result(t.role)) continue;
    const Tensor* other = after.find(t.name);
    if (other == nullptr || other->role != t.role) {
      return Error{Code::mismatch, fmt::format("{} is missing after", describe(t)), {}, {}};
    }
  }
  return {};
}

std::map<std::string, Box, std::less<>> sample_boxes(const Program& program, std::uint64_t seed, int sample) {
  std::map<std::string, Box, std::less<>> boxes;
  for (const Tensor& t : program.tensors()) {
    if (!is_result(t.role) || !t.shape) continue;
    Rng rng = Rng(seed).split(t.name);
    Box box;
    for (std::size_t d = 0; d < t.shape->size(); ++d) {
      const std::int64_t extent = (*t.shape)[d];
      // A few neighbours along the innermost dimension, single indices along the others.
      const std::int64_t width = d + 1 == t.shape->size() ? 3 : 1;
      const auto at = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, extent))));
      if (sample > 0) {
        box.push_back({{at, at}});
        continue;
      }
      IndexSet set{{0, std::min(width, extent) - 1}};
      set = unite(set, {{at, std::min(at + width, extent) - 1}});
      set = unite(set, {{std::max<std::int64_t>(0, extent - width), extent - 1}});
      box.push_back(std::move(set));
    }
    boxes.emplace(t.name, std::move(box));
  }
  return boxes;
}

}  // namespace cairn
