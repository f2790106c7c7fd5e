#include "ops/registry.h"

#include <algorithm>

#include "ops/families.h"
#include "ops/lower_graph.h"

namespace cairn {
namespace {

// All rows, sorted by name.
const std::vector<OpEntry>& table() {
  static const std::vector<OpEntry> kTable = [] {
    std::vector<OpEntry> all;
    for (const auto& family :
         {pointwise_ops(), activation_ops(), arithmetic_ops(), comparison_ops(), contraction_ops(), einsum_ops(),
          reduction_ops(), arg_reduction_ops(), softmax_ops(), norm_ops(), view_ops(), concat_ops(), constant_ops(),
          scan_ops(), index_ops(), attention_ops(), conversion_ops()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    std::sort(all.begin(), all.end(), [](const OpEntry& a, const OpEntry& b) { return a.name < b.name; });
    return all;
  }();
  return kTable;
}

}  // namespace

const OpEntry* find_op(std::string_view name) {
  const auto& all = table();
  const auto found = std::lower_bound(all.begin(), all.end(), name,
                                      [](const OpEntry& entry, std::string_view key) { return entry.name < key; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

std::vector<std::string> supported_ops() {
  std::vector<std::string> names;
  for (const OpEntry& entry : table()) names.emplace_back(entry.name);
  return names;
}

}  // namespace cairn
