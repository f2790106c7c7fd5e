// Who owns l tensors, and where barriers would stand.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analysis/access.h"
#include "analysis/kernels.h"
#include "ir/self_update.h"
#include "ir/walk.h"

namespace cairn {

namespace {
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

Result<void> check_owner(FlowAnalysis& flow, const Program& program, const Tensor& tensor) {
  if (tensor.role != Role::tmp || tensor.scope != Scope::l) return {};
  std::vector<const Access*> mentions;
  bool threads = false;
  for (const Access& a : flow.accesses()) {
    if (a.tensor != tensor.name) continue;
    mentions.push_back(&a);
    threads |= std::any_of(a.loops.begin(), a.loops.end(), [](const Stmt* l) { return is_thread_axis(*l); });
  }
  if (!threads) return {};
  const std::set<std::string> owners = owners_of(mentions);
  // Written inside loops of axes that do not own it, and not by a reduction over them: scratch.
  const auto scratch = std::find_if(mentions.begin(), mentions.end(), [&](const Access* a) {
    return a->is_write && missing_axis(*a, owners) != nullptr && !match_self_update(*a->stmt);
  });
  if (scratch == mentions.end()) return {};
  for (const Access* a : mentions) {
    if (a->is_write) continue;
    const Stmt* axis = missing_axis(*a, owners);
    if (axis != nullptr && flow.private_to(tensor.name, *axis).holds == Answer::yes) continue;
    const Stmt* write_axis = missing_axis(**scratch, owners);
    Error e = error_at(program, a->pos, Code::verify,
                       fmt::format("l tensor {} is written by every thread of {} and read outside that iteration, "
                                   "expected {} as a plain subscript in every mention",
                                   tensor.name, write_axis->var, write_axis->var));
    e.notes.push_back("subscript it by the axis, give it scope s, or make the write a reduction");
    return e;
  }
  return {};
}

Result<void> check_barrier(FlowAnalysis& flow, const Program& program, const StmtPath& test, const std::vector<const Stmt*>& enclosing) {
  const Stmt& s = *stmt_at(program.body(), test);
  if (!s.is_test() || !mentions_axis(*s.cond)) return {};
  const auto below = [&](const Access& a) { return a.path.size() > test.size() && std::equal(test.begin(), test.end(), a.path.begin()); };
  const auto crosses = [&](const Access& a) {   // a thread axis inside the test
    return std::any_of(a.loops.begin(), a.loops.end(),
                       [&](const Stmt* l) { return is_thread_axis(*l) && std::find(enclosing.begin(), enclosing.end(), l) == enclosing.end(); });
  };
  // A barrier is needed inside where one statement below writes an s or g tensor and another mentions it.
  for (const Access& w : flow.accesses()) {
    if (!w.is_write || !below(w)) continue;
    const Tensor* t = program.find(w.tensor);
    if (t == nullptr || t->scope == Scope::l) continue;
    for (const Access& r : flow.accesses()) {
      if (r.tensor != w.tensor || r.stmt == w.stmt || !below(r)) continue;
      if (!crosses(w) && !crosses(r)) continue;
      Error e = error_at(program, s.pos, Code::verify, fmt::format("a barrier for {} would stand under a test that varies between threads", w.tensor));
      e.notes.push_back("move the test inside the thread loops, or make it the same for a whole block");
      return e;
    }
  }
  return {};
}

}  // namespace cairn
