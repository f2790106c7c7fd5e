// Rules 17 storage, 18 owners, 19 barriers: where s and l tensors live.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "ir/self_update.h"
#include "ir/walk.h"
#include "verify/rules/rules.h"

namespace cairn {

namespace {
bool is_thread_axis(const Stmt& loop) { return loop.kind == LoopKind::B && !is_block_axis(loop); }

// Thread axes that stand as the same plain subscript in every mention of the tensor.
std::set<std::string> owners_of(const std::vector<const Access*>& mentions) {
  std::set<std::string> owners;
  bool first = true;
  for (const Access* a : mentions) {
    std::set<std::string> here;
    for (std::size_t d = 0; d < a->subscripts.size(); ++d) {
      const Expr& e = *a->subscripts[d];
      if (e.op != Op::loop_var) continue;
      const auto loop = std::find_if(a->loops.begin(), a->loops.end(), [&](const Stmt* l) { return l->var == e.name; });
      if (loop != a->loops.end() && is_thread_axis(**loop)) here.insert(fmt::format("{}@{}", e.name, d));
    }
    if (first) {
      owners = here;
    } else {
      std::erase_if(owners, [&](const std::string& o) { return here.count(o) == 0; });
    }
    first = false;
  }
  std::set<std::string> names;
  for (const std::string& o : owners) names.insert(o.substr(0, o.find('@')));
  return names;
}

// The innermost thread loop around that does not own; null if there is none.
const Stmt* missing_axis(const Access& a, const std::set<std::string>& owners) {
  const Stmt* missing = nullptr;
  for (const Stmt* loop : a.loops) {
    if (is_thread_axis(*loop) && loop->extent > 1 && owners.count(loop->var) == 0) missing = loop;
  }
  return missing;
}

bool mentions_axis(const Expr& e) {
  bool found = false;
  visit_expr(e, [&](const Expr& x) {
    found |= x.op == Op::loop_var && x.name.size() == 2 && (x.name[0] == 't' || x.name[0] == 'w' || x.name[0] == 'g') && x.name[1] >= 'x' && x.name[1] <= 'z';
    return !found;
  });
  return found;
}
}  // namespace

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
    if (t.role != Role::tmp || t.scope != Scope::l) continue;
    std::vector<const Access*> mentions;
    for (const Access& a : facts.flow().accesses()) {
      if (a.tensor == t.name) mentions.push_back(&a);
    }
    const std::set<std::string> owners = owners_of(mentions);
    // Written inside loops of axes that do not own it, and not by a reduction over them: scratch.
    const auto scratch = std::find_if(mentions.begin(), mentions.end(), [&](const Access* a) {
      return a->is_write && missing_axis(*a, owners) != nullptr && !match_self_update(*a->stmt);
    });
    if (scratch == mentions.end()) continue;
    for (const Access* a : mentions) {
      if (a->is_write) continue;
      const Stmt* axis = missing_axis(*a, owners);
      const bool same_nest = axis != nullptr && facts.flow().private_to(t.name, *axis).holds == Answer::yes;
      if (same_nest) continue;
      const Stmt* write_axis = missing_axis(**scratch, owners);
      refuse(facts, report, 18, a->pos, fmt::format("l tensor {} is written by every thread of {} and read outside that iteration, expected {} as a plain subscript in every mention", t.name, write_axis->var, write_axis->var),
             "subscript it by the axis, give it scope s, or make the write a reduction");
      break;
    }
  }
}

void check_barriers(VerifyFacts& facts, VerifyReport& report) {
  visit_stmts(facts.program().body(), [&](const Stmt& s, const StmtContext& context) {
    if (!s.is_test() || !mentions_axis(*s.cond)) return;
    // A barrier is needed inside where one statement below writes an s or g tensor and another mentions it.
    for (const Access& w : facts.flow().accesses()) {
      if (!w.is_write || w.path.size() <= context.path.size() || !std::equal(context.path.begin(), context.path.end(), w.path.begin())) continue;
      const Tensor* t = facts.program().find(w.tensor);
      if (t == nullptr || t->scope == Scope::l) continue;
      for (const Access& r : facts.flow().accesses()) {
        if (r.tensor != w.tensor || r.stmt == w.stmt || r.path.size() <= context.path.size()) continue;
        if (!std::equal(context.path.begin(), context.path.end(), r.path.begin())) continue;
        const auto crosses = [&](const Access& a) {   // a thread axis inside the test
          return std::any_of(a.loops.begin(), a.loops.end(), [&](const Stmt* l) {
            return is_thread_axis(*l) && std::find(context.enclosing.begin(), context.enclosing.end(), l) == context.enclosing.end();
          });
        };
        if (!crosses(w) && !crosses(r)) continue;
        refuse(facts, report, 19, s.pos, fmt::format("a barrier for {} would stand under a test that varies between threads", w.tensor),
               "move the test inside the thread loops, or make it the same for a whole block");
        return;
      }
    }
  });
}

}  // namespace cairn
