#include "verify/mutate/damage.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "verify/mutate/sites.h"

namespace cairn {

std::string_view damage_kind_name(DamageKind kind) {
  constexpr std::string_view kNames[] = {"value", "precision", "promise", "form"};
  return kNames[static_cast<std::size_t>(kind)];
}

const std::vector<DamageOperator>& damage_operators() {
  static const std::vector<DamageOperator> all = [] {
    std::vector<DamageOperator> table;
    mutate::append_arithmetic_damage(table);
    mutate::append_constant_damage(table);
    mutate::append_index_damage(table);
    mutate::append_guard_damage(table);
    mutate::append_order_damage(table);
    mutate::append_update_damage(table);
    mutate::append_tensor_damage(table);
    mutate::append_promise_damage(table);
    return table;
  }();
  return all;
}

const DamageOperator* find_damage_operator(std::string_view name) {
  for (const DamageOperator& op : damage_operators()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

namespace {
// What a reader of the damaged text would get; nullopt where it does not parse.
std::optional<Program> read_again(const Program& program) {
  ParseOptions options;
  options.reading = Reading::leir;
  for (const Tensor& t : program.tensors()) {
    if (t.role == Role::constant) options.const_digests[t.name] = t.data;
  }
  Result<Program> again = parse_program(print_program(program), options);
  if (!again) return std::nullopt;
  return *std::move(again);
}
}  // namespace

Damages sample_damage(const Program& program, const DamageOperator& op, std::uint64_t seed, std::size_t count) {
  Damages all;
  op.enumerate(program, all);
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::uint64_t key = combine64(seed, hash64(op.name));
  std::stable_sort(order.begin(), order.end(), [key](std::size_t a, std::size_t b) {
    return mix64(combine64(key, a)) < mix64(combine64(key, b));
  });
  std::set<Digest> seen{canonical_hash(program)};
  Damages chosen;
  for (const std::size_t i : order) {
    if (chosen.size() >= count) break;
    std::optional<Program> again = read_again(all[i].program);
    if (!again || !seen.insert(canonical_hash(*again)).second) continue;
    chosen.push_back({op.name, std::move(all[i].site), *std::move(again)});
  }
  return chosen;
}

Damages enumerate_damage(const Program& program, const DamageOperator& op) {
  Damages all;
  op.enumerate(program, all);
  std::set<Digest> seen{canonical_hash(program)};
  Damages kept;
  for (Damage& one : all) {
    std::optional<Program> again = read_again(one.program);
    if (!again || !seen.insert(canonical_hash(*again)).second) continue;
    kept.push_back({op.name, std::move(one.site), *std::move(again)});
  }
  return kept;
}

}  // namespace cairn
