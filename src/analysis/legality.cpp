#include <algorithm>

#include <fmt/core.h>

#include "analysis/dependence.h"
#include "analysis/dependence_pairs.h"
#include "analysis/legality_report.h"

namespace cairn {

namespace {
const Stmt* find_stmt(const Program& program, const StmtPath& path) {
  const Body* body = &program.body();
  const Stmt* stmt = nullptr;
  for (const std::uint32_t index : path) {
    if (index >= body->size()) return nullptr;
    stmt = (*body)[index].get();
    body = &stmt->body;
  }
  return stmt;
}

// The loops of a perfect band; fewer than `count` if it ends earlier.
std::vector<const Stmt*> band_of(const Stmt* stmt, std::size_t count) {
  std::vector<const Stmt*> band;
  while (stmt != nullptr && stmt->is_loop() && band.size() < count) {
    band.push_back(stmt);
    stmt = stmt->body.size() == 1 ? stmt->body[0].get() : nullptr;
  }
  return band;
}

bool starts_with(const StmtPath& path, const StmtPath& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

std::string names_of(const std::vector<const Stmt*>& band) {
  std::string text;
  for (const Stmt* loop : band) text += (text.empty() ? "" : " ") + loop->var;
  return text;
}

// The accesses of several sibling statements, one after the other, with the ends of each one's range.
struct Group {
  std::vector<Access> accesses;
  std::vector<std::size_t> ends;
};
Group collect_group(const Program& program, StmtPath path, std::uint32_t first, std::uint32_t last) {
  Group group;
  for (std::uint32_t i = first; i <= last; ++i) {
    path.back() = i;
    std::vector<Access> more = collect_accesses(program, path);
    group.accesses.insert(group.accesses.end(), std::make_move_iterator(more.begin()),
                          std::make_move_iterator(more.end()));
    group.ends.push_back(group.accesses.size());
  }
  return group;
}

bool siblings(const StmtPath& first, const StmtPath& second) {
  return !first.empty() && first.size() == second.size() && first.back() < second.back() &&
         std::equal(first.begin(), first.end() - 1, second.begin());
}

// No conflict, at equal outer iterations, between ranges [a0,a1) and [b0,b1) of the finder's accesses.
bool independent(const std::string& what, Judge& judge, std::size_t depth, std::size_t a0, std::size_t a1,
                 std::size_t b0, std::size_t b1) {
  for (const PairFinder::Pair& pair : judge.finder.pairs_between(a0, a1, b0, b1)) {
    const auto relations = equal_prefix(judge.finder.at(pair.first), judge.finder.at(pair.second), depth);
    if (judge.refuses(what, pair, relations)) return false;
  }
  return true;
}

// The body `depth` loops below a statement.
StmtPath inner_body(StmtPath path, std::size_t depth) {
  path.insert(path.end(), depth - 1, 0U);
  return path;
}

}  // namespace

Legality check_permutation(const Program& program, const StmtPath& band, const std::vector<std::size_t>& order) {
  const std::vector<const Stmt*> loops = band_of(find_stmt(program, band), order.size());
  std::vector<std::size_t> place(order.size(), order.size());   // new position of each old loop
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (order[k] < order.size()) place[order[k]] = k;
  }
  if (std::find(place.begin(), place.end(), order.size()) != place.end()) {
    return refuse(program, kNoPos, "the new order of the loops is not a permutation of their positions");
  }
  if (loops.size() < order.size()) {
    return refuse(program, loops.empty() ? kNoPos : loops.back()->pos,
                  fmt::format("a perfect band of {} loops is needed, {} found: {}", order.size(), loops.size(),
                              loops.empty() ? "no loop stands here" : names_of(loops)));
  }
  const std::vector<Access> accesses = collect_accesses(program, band);
  const std::size_t outer = enclosing_loops(program, band);
  PairFinder finder(accesses);
  const std::vector<PairFinder::Pair> pairs = finder.pairs();
  if (order.empty()) return {};
  ScratchTensors scratch(program, {inner_body(band, order.size())});
  Judge judge{program, finder, scratch, {}};
  // A dependence is reversed if its first differing loop in the old order rises and in the new order falls.
  for (std::size_t up = 0; up < order.size() && !pairs.empty(); ++up) {
    for (std::size_t down = up + 1; down < order.size(); ++down) {
      if (place[down] > place[up]) continue;
      finder.forget();
      const std::string what = fmt::format("moving loop {} outside loop {}", loops[down]->var, loops[up]->var);
      for (const PairFinder::Pair& pair : pairs) {
        const Access& a = finder.at(pair.first);
        const Access& b = finder.at(pair.second);
        if (a.loops.size() < outer + order.size() || b.loops.size() < outer + order.size()) continue;
        std::vector<PairRelation> relations = equal_prefix(a, b, outer);
        for (std::size_t i = 0; i < order.size(); ++i) {
          Order rel = i < up || place[i] < place[down] ? Order::equal : Order::any;
          if (i == up) rel = Order::less;
          if (i == down) rel = Order::greater;
          if (rel != Order::any) relations.push_back({a.loops[outer + i]->var, b.loops[outer + i]->var, rel});
        }
        if (judge.refuses(what, pair, relations)) return judge.verdict;
      }
    }
  }
  return judge.verdict;
}

Legality check_fusion(const Program& program, const StmtPath& first, const StmtPath& second,
                      const std::vector<std::pair<std::string, std::string>>& matching) {
  const std::size_t depth = matching.size();
  const std::vector<const Stmt*> a_loops = band_of(find_stmt(program, first), depth);
  const std::vector<const Stmt*> b_loops = band_of(find_stmt(program, second), depth);
  if (!siblings(first, second)) return refuse(program, kNoPos, "fusion needs two statements of one body, in order");
  if (depth == 0 || a_loops.size() < depth || b_loops.size() < depth) {
    return refuse(program, a_loops.empty() ? kNoPos : a_loops[0]->pos,
                  fmt::format("fusion of {} loops needs that many directly nested loops on both sides, found {} and {}",
                              depth, a_loops.size(), b_loops.size()));
  }
  std::vector<std::size_t> permuted(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    if (matching[i].first != a_loops[i]->var) {
      return refuse(program, a_loops[i]->pos, fmt::format("loop {} of the first nest is {}, the matching says {}", i,
                                                          a_loops[i]->var, matching[i].first));
    }
    const auto at = std::find_if(b_loops.begin(), b_loops.end(),
                                 [&](const Stmt* loop) { return loop->var == matching[i].second; });
    if (at == b_loops.end()) {
      return refuse(program, b_loops[0]->pos, fmt::format("the outermost {} loops of the second nest ({}) have no {}",
                                                          depth, names_of(b_loops), matching[i].second));
    }
    permuted[i] = static_cast<std::size_t>(at - b_loops.begin());
  }
  Legality verdict;
  if (!std::is_sorted(permuted.begin(), permuted.end())) {
    verdict = check_permutation(program, second, permuted);
    if (!verdict.ok) return verdict;
  }
  const Group group = collect_group(program, first, first.back(), second.back());
  const std::size_t outer = enclosing_loops(program, first);
  PairFinder finder(group.accesses);
  const std::size_t first_end = group.ends.front();
  const std::size_t second_begin = group.ends[group.ends.size() - 2];
  const std::size_t second_end = group.ends.back();
  ScratchTensors scratch(program, {inner_body(first, depth), inner_body(second, depth)});
  Judge judge{program, finder, scratch, std::move(verdict)};
  if (!independent("moving the second nest up to the first", judge, outer, first_end, second_begin, second_begin,
                   second_end)) {
    return judge.verdict;
  }
  // The second's iteration t now runs before the first's iterations after t.
  const auto pairs = finder.pairs_between(0, first_end, second_begin, second_end);
  for (std::size_t level = 0; level < depth; ++level) {
    finder.forget();
    const std::string what = fmt::format("fusing at loop {}", matching[level].first);
    for (const PairFinder::Pair& pair : pairs) {
      const Access& a = finder.at(pair.first);
      const Access& b = finder.at(pair.second);
      std::vector<PairRelation> relations = equal_prefix(a, b, outer);
      for (std::size_t i = 0; i < level; ++i) {
        relations.push_back({matching[i].first, matching[i].second, Order::equal});
      }
      relations.push_back({matching[level].first, matching[level].second, Order::greater});
      if (judge.refuses(what, pair, relations)) return judge.verdict;
    }
  }
  return judge.verdict;
}

Legality check_fission(const Program& program, const StmtPath& loop, std::size_t depth, std::size_t cut,
                       const std::vector<std::string>& expanded) {
  const std::vector<const Stmt*> loops = band_of(find_stmt(program, loop), depth);
  if (depth == 0 || loops.size() < depth) {
    return refuse(program, loops.empty() ? kNoPos : loops[0]->pos,
                  fmt::format("fission needs {} directly nested loops, found {}", depth, loops.size()));
  }
  if (cut == 0 || cut >= loops.back()->body.size()) {
    return refuse(program, loops.back()->pos,
                  fmt::format("the cut must leave statements on both sides: the body of {} has {}, the cut is at {}",
                              loops.back()->var, loops.back()->body.size(), cut));
  }
  const StmtPath inner = inner_body(loop, depth);
  const std::vector<Access> accesses = collect_accesses(program, loop);
  const auto is_before = [&](const Access& a) { return starts_with(a.path, inner) && a.path[inner.size()] < cut; };
  const std::size_t middle = static_cast<std::size_t>(
      std::find_if_not(accesses.begin(), accesses.end(), is_before) - accesses.begin());
  const std::size_t outer = enclosing_loops(program, loop);
  PairFinder finder(accesses);
  // What one statement of the body keeps to itself may be cut apart from others' use of the same storage.
  std::vector<StmtPath> scopes;
  for (std::uint32_t i = 0; i < loops.back()->body.size(); ++i) {
    scopes.push_back(inner);
    scopes.back().push_back(i);
  }
  ScratchTensors scratch(program, std::move(scopes));
  Judge judge{program, finder, scratch, {}};
  const auto is_expanded = [&](const Access& a) {
    return std::find(expanded.begin(), expanded.end(), a.tensor) != expanded.end();
  };
  // The second part's iteration t used to run before the first part's iterations after t.
  const auto pairs = finder.pairs_between(middle, accesses.size(), 0, middle);
  for (std::size_t level = 0; level < depth; ++level) {
    finder.forget();
    const std::string what = fmt::format("cutting loop {}", loops[level]->var);
    for (const PairFinder::Pair& pair : pairs) {
      const Access& b = finder.at(pair.first);    // second part, earlier iteration
      const Access& a = finder.at(pair.second);   // first part, later iteration
      if (is_expanded(a)) continue;
      std::vector<PairRelation> relations = equal_prefix(b, a, outer);
      for (std::size_t i = 0; i <= level; ++i) {
        relations.push_back(
            {loops[i]->var, loops[i]->var, i < level ? Order::equal : Order::less});
      }
      if (judge.refuses(what, pair, relations)) return judge.verdict;
    }
  }
  return judge.verdict;
}

Legality check_swap(const Program& program, const StmtPath& first, const StmtPath& second) {
  if (!siblings(first, second)) return refuse(program, kNoPos, "a swap needs two statements of one body, in order");
  const Group group = collect_group(program, first, first.back(), second.back());
  const std::size_t outer = enclosing_loops(program, first);
  PairFinder finder(group.accesses);
  const std::size_t a1 = group.ends.front();
  const std::size_t b0 = group.ends[group.ends.size() - 2];
  const std::size_t b1 = group.ends.back();
  std::vector<StmtPath> scopes;
  for (StmtPath at = first; at.back() <= second.back(); ++at.back()) scopes.push_back(at);
  ScratchTensors scratch(program, std::move(scopes));
  Judge judge{program, finder, scratch, {}};
  if (independent("swapping the statements", judge, outer, 0, a1, b0, b1) &&
      independent("moving the first statement down", judge, outer, 0, a1, a1, b0)) {
    independent("moving the second statement up", judge, outer, a1, b0, b0, b1);
  }
  return judge.verdict;
}

}  // namespace cairn
