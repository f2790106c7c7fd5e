// Rules 17 storage, 18 owners, 19 barriers: where s and l tensors live.
#include <set>

#include "ir/walk.h"
#include "verify/rules/rules.h"

namespace cairn {

void check_storage_rule(VerifyFacts& facts, VerifyReport& report) {
  std::set<std::string> refused;
  for (const Tensor& t : facts.program().tensors()) {
    if (t.role == Role::tmp || t.scope == Scope::g) continue;
    refused.insert(t.name);   // superscripts of declared tensors are ignored
  }
  for (const Access& a : facts.flow().accesses()) {
    if (a.is_write || refused.count(a.tensor) > 0) continue;
    const Tensor* t = facts.program().find(a.tensor);
    if (t == nullptr || t->scope == Scope::g) continue;
    FlowVerdict v = facts.flow().stays_inside(a);
    if (v.holds == Answer::yes) continue;
    refused.insert(a.tensor);
    refuse(report, 17, std::move(v.reason));
  }
}

void check_owners(VerifyFacts& facts, VerifyReport& report) {
  for (const Tensor& t : facts.program().tensors()) {
    if (Result<void> owner = check_owner(facts.flow(), facts.program(), t); !owner) refuse(report, 18, std::move(owner.error()));
  }
}

void check_barriers(VerifyFacts& facts, VerifyReport& report) {
  visit_stmts(facts.program().body(), [&](const Stmt& s, const StmtContext& context) {
    if (!s.is_test()) return;
    Result<void> barrier = check_barrier(facts.flow(), facts.program(), context.path, context.enclosing);
    if (!barrier) refuse(report, 19, std::move(barrier.error()));
  });
}

}  // namespace cairn
