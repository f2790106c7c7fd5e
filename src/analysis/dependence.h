// Dependences between iterations: exact fast tests, isl where these do not decide (verification.md).
#pragma once
#include <cstdint>
#include <optional>
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
Answer may_touch(const Access& a, const Access& b, const std::vector<PairRelation>& relations);

// The same with an example: values of the loop variables of both accesses (their loops, outermost first).
struct Touch {
  Answer answer = Answer::no;
  std::vector<std::int64_t> at_a, at_b;   // only where the answer is yes, or an unknown part was left out
};
Touch find_touch(const Access& a, const Access& b, const std::vector<PairRelation>& relations);
// The access alone: is there an iteration that makes it (its conditions hold)?
Answer may_run(const Access& access);

// What decided: counts of queries by the fast tests and by isl, per process (reported by doctor and bench).
struct DependenceCounters { std::uint64_t fast = 0, isl = 0, unknown = 0; };
DependenceCounters dependence_counters();
// Forces isl for every query (differential tests), or forbids it.
enum class DependenceMode : std::uint8_t { automatic, isl_only, fast_only };
void set_dependence_mode(DependenceMode mode);
DependenceMode dependence_mode();

enum class DependenceKind : std::uint8_t { flow, anti, output };
struct Dependence {
  DependenceKind kind = DependenceKind::flow;
  Access source, sink;               // source executes first
  bool reduction = false;            // both are self-updates of the element by one operator
  bool certain = true;               // false: could not be excluded
};

// The operator by which an access takes part in a self-update of its tensor (its write, or the X on the
// right); nullopt for any other access, and for updates that divide: the promises name + - * max min.
std::optional<UpdateOp> update_of(const Access& access);

// All dependences carried by the loop at `path` (equal outer iterations, earlier to later iteration of it),
// memory-based; storage in `l` and `s` counts like any other. Memoised by nest (a thread keeps the last few
// hundred), so that asking again about an unchanged nest of another program costs a copy.
std::vector<Dependence> carried_dependences(const Program& program, const StmtPath& loop);

// True if every read of the temporary below each statement of `scopes` is covered by an earlier write below the
// same statement, in the same iteration of all loops around both, and no other read of the program may see what
// is written there: iterations of the loops around a scope then never exchange values through it. Sufficient
// only: decided by comparing boxes.
bool is_scratch(const Program& program, const std::string& tensor, const std::vector<StmtPath>& scopes);

// Verdicts on reorderings, for strategies. ok: every dependence keeps its order; excepted are those between
// instances of one reduction, which set `reorders_reduction`, and those on scratch (above) of the bodies that
// move. Otherwise `reason` names tensor, equations and an example.
struct Legality {
  bool ok = true;
  bool reorders_reduction = false;
  Error reason;
};
// Permutes the perfect band starting at `band` (path of its outermost loop): order[k] is the old position of
// the loop that comes k-th.
Legality check_permutation(const Program& program, const StmtPath& band, const std::vector<std::size_t>& order);
// The k outermost loops of two sibling statements (paths with equal parent, first before second) become
// shared: matching[i] = {i-th loop of the first, the second's loop that becomes it}; the second's k loops may
// come in another order (it is permuted then). Statements between stay after the fused nest, so the second
// must be able to pass them.
Legality check_fusion(const Program& program, const StmtPath& first, const StmtPath& second,
                      const std::vector<std::pair<std::string, std::string>>& matching);
// The body of the loop nest at `loop` is cut before child `cut` of its innermost shared body, distributing
// the `depth` loops from `loop` down (each the only child of the one above). Tensors in `expanded` are
// left out: the caller gives them one copy for each iteration of these loops, having proved that every read
// sees a write of its own iteration.
Legality check_fission(const Program& program, const StmtPath& loop, std::size_t depth, std::size_t cut,
                       const std::vector<std::string>& expanded = {});
// Two sibling statements swap, the first passing those between as the second does. Two self-updates of one
// element by one operator set `reorders_reduction` (also where both may start it).
Legality check_swap(const Program& program, const StmtPath& first, const StmtPath& second);

}  // namespace cairn
