#include "analysis/dependence_pairs.h"

#include <algorithm>

namespace cairn {

namespace {
bool same_touch(const Access& a, const Access& b) {
  if (a.stmt != b.stmt || a.tensor != b.tensor || a.path != b.path || a.subscripts.size() != b.subscripts.size() ||
      a.conditions.size() != b.conditions.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.subscripts.size(); ++i) {
    if (!same_expr(a.subscripts[i], b.subscripts[i])) return false;
  }
  for (std::size_t i = 0; i < a.conditions.size(); ++i) {
    if (a.conditions[i].holds != b.conditions[i].holds || !same_expr(a.conditions[i].cond, b.conditions[i].cond)) {
      return false;
    }
  }
  return true;
}
}  // namespace

std::size_t enclosing_loops(const Program& program, const StmtPath& path) {
  std::size_t loops = 0;
  const Body* body = &program.body();
  for (std::size_t i = 0; i + 1 < path.size() && path[i] < body->size(); ++i) {
    const Stmt& stmt = *(*body)[path[i]];
    loops += stmt.is_loop() ? 1 : 0;
    body = &stmt.body;
  }
  return loops;
}

std::vector<PairRelation> equal_prefix(const Access& a, const Access& b, std::size_t depth) {
  std::vector<PairRelation> relations;
  relations.reserve(depth + 2);
  for (std::size_t i = 0; i < depth; ++i) relations.push_back({a.loops[i]->var, b.loops[i]->var, Order::equal});
  return relations;
}

PairFinder::PairFinder(const std::vector<Access>& accesses) : accesses_(accesses) {
  representative_.reserve(accesses.size());
  updates_.reserve(accesses.size());
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    std::size_t found = i;
    for (std::size_t j = i; j-- > 0 && accesses[j].stmt == accesses[i].stmt;) {
      if (same_touch(accesses[j], accesses[i])) {
        found = representative_[j];
        break;
      }
    }
    representative_.push_back(found);
    updates_.push_back(update_of(accesses[i]));
  }
}

std::vector<PairFinder::Pair> PairFinder::pairs() const {
  return pairs_between(0, accesses_.size(), 0, accesses_.size());
}

std::vector<PairFinder::Pair> PairFinder::pairs_between(std::size_t begin_a, std::size_t end_a, std::size_t begin_b,
                                                        std::size_t end_b) const {
  std::vector<Pair> out;
  for (std::size_t i = begin_a; i < end_a; ++i) {
    for (std::size_t j = begin_b; j < end_b; ++j) {
      if ((accesses_[i].is_write || accesses_[j].is_write) && accesses_[i].tensor == accesses_[j].tensor) {
        out.push_back({i, j});
      }
    }
  }
  return out;
}

bool PairFinder::is_reduction(const Pair& pair) const {
  return updates_[pair.first].has_value() && updates_[pair.first] == updates_[pair.second];
}

Answer PairFinder::touch(const Pair& pair, const std::vector<PairRelation>& relations) {
  const std::size_t a = representative_[pair.first];
  const std::size_t b = representative_[pair.second];
  const auto [it, added] = answers_.try_emplace({a, b}, Answer::no);
  if (added) it->second = may_touch(accesses_[a], accesses_[b], relations);
  return it->second;
}

}  // namespace cairn
