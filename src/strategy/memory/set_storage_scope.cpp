// set_storage_scope: a temporary moves to another scope; its subscripts stay as they are.
//
//   D^{f32,g}_{i}  =>  D^{f32,l}_{i}      (every mention)
//
// Legal when
// (1) the tensor is a temporary that some equation writes, and its scope changes,
// (2) the storage rule holds after the change: every read of an s or l element sees a write of the same
//     kernel and owner (leir.md "Promises").
// Values do not change: exact.
#include <fmt/core.h>

#include "analysis/promise.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

std::optional<Scope> parse_scope(std::string_view text) {
  for (const Scope scope : {Scope::g, Scope::s, Scope::l}) {
    if (scope_name(scope) == text) return scope;
  }
  return std::nullopt;
}

Args args_for(const std::string& tensor, Scope scope) {
  return Args{{"tensor", tensor}, {"scope", std::string(scope_name(scope))}};
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role != Role::tmp) continue;
    for (const Scope scope : {Scope::g, Scope::s, Scope::l}) {
      if (scope == tensor.scope || !check_storage(program, tensor.name, scope, target)) continue;
      out.push_back(args_for(tensor.name, scope));
    }
  }
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  const std::string& name = args.get("tensor");
  const Tensor* tensor = program.find(name);
  const Scope scope = *parse_scope(args.get("scope"));
  if (!tensor) return no_site(program, kNoPos, fmt::format("the program has no tensor {}", name));
  if (tensor->role != Role::tmp) {
    return refuse(program, tensor->pos, 1, fmt::format("{} is {}, not a temporary; only temporaries have a scope to choose", name,
                                                       role_name(tensor->role)));
  }
  if (tensor->scope == scope) {
    return refuse(program, tensor->pos, 1, fmt::format("{} has scope {} already", name, scope_name(scope)));
  }
  if (Result<void> storage = check_storage(program, name, scope, target); !storage) {
    return refuse_because(std::move(storage.error()), 2);
  }
  Step step;
  step.after = program;
  Tensor changed = *tensor;
  changed.scope = scope;
  step.after.set_tensor(std::move(changed));
  step.proved = conditions_up_to(2);
  step.inverse = Action{"set_storage_scope", args_for(name, tensor->scope)};
  return step;
}

}  // namespace

extern const Strategy strategy_set_storage_scope{
    "set_storage_scope", Level::memory, Direction::data_reuse, Exactness::exact,
    "a temporary moves to another scope (g, s or l)",
    {{"tensor", ArgType::tensor, "the temporary", {}, ""},
     {"scope", ArgType::choice, "the scope it gets", {"g", "s", "l"}, ""}},
    list_sites, apply};

}  // namespace cairn
