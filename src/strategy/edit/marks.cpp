#include "strategy/edit/marks.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"

namespace cairn {

bool loop_of_kind_above(const Body& body, const StmtPath& path, std::initializer_list<LoopKind> kinds) {
  for (const Stmt* loop : loops_above(body, path)) {
    if (std::find(kinds.begin(), kinds.end(), loop->kind) != kinds.end()) return true;
  }
  return false;
}

Result<void> check_all_storage(const Program& program, const Target& target, int condition) {
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role != Role::tmp || tensor.scope == Scope::g) continue;
    const Result<void> storage = check_storage(program, tensor.name, tensor.scope, target);
    if (!storage) return refuse_because(storage.error(), condition);
  }
  return {};
}

Result<Step> apply_mark(const Program& program, const Target& target, const StmtPath& path, LoopKind kind,
                        LoopKind promised, const std::string& strategy) {
  const StmtPtr loop = shared_at(program.body(), path);
  const bool back = kind == LoopKind::L;
  if (loop->kind != (back ? promised : LoopKind::L) || loop->mark.type != LoopMark::Type::none) {
    return refuse(program, loop->pos, 1,
                  fmt::format("loop {} has kind {}{}; {}", loop->var, kind_name(loop->kind),
                              loop->mark.type == LoopMark::Type::none ? "" : " and a mark",
                              back ? fmt::format("only a {} loop can be taken back", kind_name(promised))
                                   : "only a plain L loop can get it: take the old kind back first (kind=L)"));
  }
  Step step;
  if (!back) {
    const PromiseVerdict verdict = check_promise(program, path, kind, target);
    if (!verdict.ok) return refuse_because(verdict.reason, 2);
    for (const CarriedChain& chain : verdict.chains) {
      if (!chain.exact) step.exactness = Exactness::reassociates;
    }
  }
  step.after = with_replaced(program, path, Body{with_body(*loop_like(*loop, kind, loop->extent, loop->var), loop->body)});
  // Lanes share s and l with the iteration around them: V changes no owner.
  if (promised == LoopKind::P) CAIRN_CHECKED(check_all_storage(step.after, target, 3));
  step.proved = conditions_up_to(3);
  step.inverse = Action{strategy, Args{{"loop", loop_address(step.after.body(), path)},
                                       {"kind", back ? kind_name(promised) : "L"}}};
  return step;
}

}  // namespace cairn
