// Damage: named, enumerable ways to break a well-formed program. Mutation tests ask whether the ladder notices;
// wrong programs for judging and training come from here too.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace cairn {

// What is damaged. value: the function computed, as a rule (some sites change nothing: a swap of independent
// statements). precision: what is stored is rounded more. promise: kinds and scopes, never a sequential value.
// form: a promise or a name that no program may have, whatever the loops hold.
enum class DamageKind : std::uint8_t { value, precision, promise, form };
std::string_view damage_kind_name(DamageKind kind);

// One damaged program.
struct Damage {
  std::string_view name;   // of the operator
  std::string site;        // where and how, for people: "s2: a+b -> a-b"
  Program program;
};
using Damages = std::vector<Damage>;

// A way to break programs. `enumerate` appends one damage for every site, in text order, without `name`.
struct DamageOperator {
  std::string_view name;
  DamageKind kind;
  std::string_view sentence;
  void (*enumerate)(const Program&, Damages&);
};
// All operators, in a fixed order.
const std::vector<DamageOperator>& damage_operators();
const DamageOperator* find_damage_operator(std::string_view name);

// Every damage of one operator: printed and parsed again, without those that have the program's canonical hash or
// that of an earlier one.
Damages enumerate_damage(const Program& program, const DamageOperator& op);
// At most `count` of them, chosen by the seed; the same for the same program and seed.
Damages sample_damage(const Program& program, const DamageOperator& op, std::uint64_t seed, std::size_t count);

}  // namespace cairn
