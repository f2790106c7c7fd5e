// What can be done at a state, sorted by local strategy: single moves of every strategy and the composites of templates.h,
// each with the cost model's prediction of its arguments. The memory chooses among these (search-and-memory.md "The policy" 4).
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/proposer.h"
#include "search/templates.h"

namespace cairn {

// One way to carry out a local strategy.
struct MoveCandidate {
  std::vector<Action> actions;   // from the state's program, not verified yet
  Digest hash;                   // of what they lead to
  double seconds = 0;            // predicted
  std::string arguments;         // a single move's action, a composite's choices
  std::string argument_class;    // state_summary.h; a composite's choices
};

// A local strategy that is legal at a state.
struct LocalMoves {
  std::string local;             // a strategy's name, or a composite: "restructure/fuse", "schedule", "tile", "sweep"
  std::string direction;         // direction_name() it stands under
  std::vector<MoveCandidate> candidates;   // best predicted first, one for each resulting program
};

// Most sites of one strategy that are applied and predicted at a state; the first in the strategy's order.
inline constexpr std::size_t kMovesPerStrategy = 12;

// All locals of a program, composites first, then strategies in catalogue order; those without a candidate are left out.
std::vector<LocalMoves> list_local_moves(const Program& program, const Target& target);

// Lists of states that were listed before, by canonical hash; the oldest go first. One target a cache; not for several threads.
class MoveLists {
 public:
  explicit MoveLists(Target target, std::size_t capacity = 64) : target_(std::move(target)), capacity_(capacity) {}
  // The locals of the state's program, and its own predicted seconds.
  struct Entry {
    std::vector<LocalMoves> locals;
    double seconds = 0;
  };
  std::shared_ptr<const Entry> at(const SearchState& state);
  const Target& target() const { return target_; }

 private:
  Target target_;
  std::size_t capacity_;
  std::unordered_map<Digest, std::shared_ptr<const Entry>> entries_;
  std::deque<Digest> order_;
};

// The candidate replayed from the state with every check; the error of a step that is refused.
Result<Proposal> propose_candidate(const SearchState& state, const Target& target, const LocalMoves& local, const MoveCandidate& candidate,
                                   std::string origin);

// Direction of a composite, "" for a name that is none. Every template that a proposer names a proposal after is one, but
// "recall": a recalled trace is what another run did, no way of doing it (memory/guide.cpp says where its rows stand).
std::string_view composite_direction(std::string_view local);
// Names of all composites.
const std::vector<std::string>& composite_names();

}  // namespace cairn
