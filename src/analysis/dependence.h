// Dependences between iterations: exact fast tests, isl where these do not decide (verification.md).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/access.h"
#include "base/result.h"
#include "ir/self_update.h"

namespace cairn {

enum class Answer : std::uint8_t { no, yes, unknown };
enum class Order : std::uint8_t { less, equal, greater, any };

// Asks for iterations x of access a and y of access b (each in its own domain, conditions included) that
// touch the same element with x[va] REL y[vb] for each relation. Accesses of different tensors never touch.
struct PairRelation { std::string var_a, var_b; Order order; };
Answer may_touch(const Program& program, const Access& a, const Access& b,
                 const std::vector<PairRelation>& relations);

// What decided: counts of queries by the fast tests and by isl, per process (reported by doctor and bench).
struct DependenceCounters { std::uint64_t fast = 0, isl = 0, unknown = 0; };
DependenceCounters dependence_counters();
// Forces isl for every query (differential tests), or forbids it.
enum class DependenceMode : std::uint8_t { automatic, isl_only, fast_only };
void set_dependence_mode(DependenceMode mode);

enum class DependenceKind : std::uint8_t { flow, anti, output };
struct Dependence {
  DependenceKind kind = DependenceKind::flow;
  Access source, sink;               // source executes first
  bool reduction = false;            // both are self-updates of the element by one operator
  bool certain = true;               // false: could not be excluded
};

// All dependences carried by the loop at `path` (equal outer iterations, earlier to later iteration of it),
// memory-based; storage in `l` and `s` counts like any other.
std::vector<Dependence> carried_dependences(const Program& program, const StmtPath& loop);

// Verdicts on reorderings, for strategies. ok: every dependence keeps its order, those between instances of
// one reduction excepted; these set `reorders_reduction`. Otherwise `reason` names tensor, equations, place.
struct Legality {
  bool ok = true;
  bool reorders_reduction = false;
  Error reason;
};
// Permutes the perfect band starting at `band` (path of its outermost loop): order[k] is the old position of
// the loop that comes k-th.
Legality check_permutation(const Program& program, const StmtPath& band, const std::vector<std::size_t>& order);
// The k outermost loops of adjacent sibling statements (paths with equal parent) become shared: loop i of
// the second is identified with loop match[i] of the first.
Legality check_fusion(const Program& program, const StmtPath& first, const StmtPath& second,
                      const std::vector<std::pair<std::string, std::string>>& matching);
// The body of the loop nest at `loop` is cut before child `cut` of its innermost shared body, distributing
// the `depth` loops from `loop` down.
Legality check_fission(const Program& program, const StmtPath& loop, std::size_t depth, std::size_t cut);
// Two sibling statements swap.
Legality check_swap(const Program& program, const StmtPath& first, const StmtPath& second);

}  // namespace cairn
