#include <algorithm>
#include <unordered_map>

#include "analysis/dependence.h"
#include "analysis/dependence_pairs.h"
#include "base/hash.h"

namespace cairn {

namespace {
std::vector<Dependence> compute(const Program& program, const StmtPath& loop) {
  const std::vector<Access> accesses = collect_accesses(program, loop);
  std::vector<Dependence> out;
  if (accesses.empty()) return out;
  const std::size_t depth = enclosing_loops(program, loop);
  PairFinder finder(accesses);
  for (const PairFinder::Pair& pair : finder.pairs()) {
    const Access& a = accesses[pair.first];
    const Access& b = accesses[pair.second];
    if (a.loops.size() <= depth || b.loops.size() <= depth) continue;
    std::vector<PairRelation> relations = equal_prefix(a, b, depth);
    relations.push_back({a.loops[depth]->var, b.loops[depth]->var, Order::less});
    const Answer answer = finder.touch(pair, relations);
    if (answer == Answer::no) continue;
    Dependence d;
    d.kind = !a.is_write ? DependenceKind::anti : b.is_write ? DependenceKind::output : DependenceKind::flow;
    d.source = a;
    d.sink = b;
    d.reduction = finder.is_reduction(pair);
    d.certain = answer == Answer::yes;
    out.push_back(std::move(d));
  }
  return out;
}

// What a nest's dependences depend on is the nest alone, unless integer l temporaries may be bindings.
bool may_have_bindings(const Program& program) {
  return std::any_of(program.tensors().begin(), program.tensors().end(), [](const Tensor& t) {
    return t.role == Role::tmp && t.scope == Scope::l && is_integer(t.dtype);
  });
}

std::uint32_t count_equations(const Stmt& stmt) {
  if (stmt.is_equation()) return 1;
  std::uint32_t n = 0;
  for (const StmtPtr& child : stmt.body) n += count_equations(*child);
  return n;
}

struct Entry {
  StmtPtr nest;   // keeps the statements alive that the accesses point to
  StmtPath below;
  std::uint32_t first_equation = 0;
  std::vector<Dependence> found;
};

class Memo {
 public:
  const Entry* find(std::uint64_t key, const StmtPtr& nest, const StmtPath& loop) const {
    const auto it = entries_.find(key);
    if (it == entries_.end() || it->second.nest != nest) return nullptr;
    return std::equal(it->second.below.begin(), it->second.below.end(), loop.begin() + 1, loop.end()) ? &it->second
                                                                                                     : nullptr;
  }
  void store(std::uint64_t key, Entry entry) {
    constexpr std::size_t kEntries = 512;
    if (entries_.size() >= kEntries) entries_.clear();
    entries_.insert_or_assign(key, std::move(entry));
  }

 private:
  std::unordered_map<std::uint64_t, Entry> entries_;
};

void move_to(Access& access, std::uint32_t nest, std::uint32_t from, std::uint32_t to) {
  access.path[0] = nest;
  access.equation = access.equation - from + to;
}
}  // namespace

std::vector<Dependence> carried_dependences(const Program& program, const StmtPath& loop) {
  if (loop.empty() || loop[0] >= program.body().size()) return {};
  if (dependence_mode() != DependenceMode::automatic || may_have_bindings(program)) return compute(program, loop);
  thread_local Memo memo;
  const StmtPtr& nest = program.body()[loop[0]];
  std::uint64_t key = reinterpret_cast<std::uintptr_t>(nest.get());
  for (std::size_t i = 1; i < loop.size(); ++i) key = combine64(key, loop[i]);
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < loop[0]; ++i) first += count_equations(*program.body()[i]);
  if (const Entry* entry = memo.find(key, nest, loop)) {
    std::vector<Dependence> out = entry->found;
    for (Dependence& d : out) {
      move_to(d.source, loop[0], entry->first_equation, first);
      move_to(d.sink, loop[0], entry->first_equation, first);
    }
    return out;
  }
  std::vector<Dependence> out = compute(program, loop);
  memo.store(key, {nest, StmtPath(loop.begin() + 1, loop.end()), first, out});
  return out;
}

}  // namespace cairn
