// Rules 7 bounds, 8 outputs, 9 reads, 10 starts: decided by the flow analysis.
#include <fmt/core.h>

#include <set>

#include "ir/self_update.h"
#include "verify/rules/rules.h"

namespace cairn {

namespace {
bool reads_any_tensor(const Expr& e) {
  bool found = false;
  visit_expr(e, [&](const Expr& x) {
    found |= x.op == Op::read;
    return !found;
  });
  return found;
}

// Integer division by a literal zero, anywhere.
void check_divisors(VerifyFacts& facts, VerifyReport& report, const Expr& root, SourcePos fallback) {
  visit_expr(root, [&](const Expr& e) {
    const bool divides = e.op == Op::floor_div || e.op == Op::mod;
    if (divides && e.args[1]->op == Op::int_literal && e.args[1]->int_value == 0) {
      refuse(facts, report, 7, e.pos == kNoPos ? fallback : e.pos, fmt::format("{} divides by zero", op_name(e.op)));
    }
    return true;
  });
}
}  // namespace

void check_bounds(VerifyFacts& facts, VerifyReport& report) {
  std::set<const Stmt*> seen;
  for (const Access& a : facts.flow().accesses()) {
    if (a.stmt != nullptr && seen.insert(a.stmt).second) {
      if (a.stmt->is_test()) {
        check_divisors(facts, report, *a.stmt->cond, a.stmt->pos);
      } else {
        check_divisors(facts, report, *a.stmt->rhs, a.stmt->pos);
        for (const ExprPtr& sub : a.stmt->subscripts) check_divisors(facts, report, *sub, a.stmt->pos);
      }
    }
    for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
      if (reads_any_tensor(*a.subscripts[d])) {
        report.runtime_checks.push_back({a.equation, a.tensor, d, a.pos});
        continue;
      }
      FlowVerdict v = facts.flow().bounds(a, d);
      if (v.holds != Answer::yes) refuse(report, 7, std::move(v.reason));
    }
  }
}

void check_outputs(VerifyFacts& facts, VerifyReport& report) {
  for (const Tensor& t : facts.program().tensors()) {
    if (t.role != Role::out) continue;
    FlowVerdict v = facts.flow().covered(t.name);
    if (v.holds != Answer::yes) refuse(report, 8, std::move(v.reason));
  }
}

void check_reads(VerifyFacts& facts, VerifyReport& report) {
  std::set<std::pair<std::uint32_t, std::string>> refused;
  for (const Access& a : facts.flow().accesses()) {
    if (a.is_write || a.is_self || refused.count({a.equation, a.tensor}) > 0) continue;
    FlowVerdict v = facts.flow().written_before(a);
    if (v.holds == Answer::yes) continue;
    refused.emplace(a.equation, a.tensor);
    refuse(report, 9, std::move(v.reason));
  }
}

void check_starts(VerifyFacts& facts, VerifyReport& report) {
  for (const Access& a : facts.flow().accesses()) {
    if (!a.is_self) continue;
    StartVerdict v = facts.flow().start(a.equation, true);
    if (!v.provable) refuse(report, 10, std::move(v.reason));
  }
}

}  // namespace cairn
