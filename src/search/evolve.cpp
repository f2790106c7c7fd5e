// Evolve: a population of the 8 best traces. A child is a mutation (one step dropped, or a proposal of the proposer
// appended) or a crossover (the head of one trace, the tail of another); traces are replayed and steps that no longer
// apply are left out (search-and-memory.md "Algorithms"). A child of which no step applies is a refused proposal.
#include <algorithm>
#include <set>

#include "ir/canon.h"
#include "search/algorithms.h"
#include "search/replay_memo.h"

namespace cairn {

namespace {
constexpr std::size_t kPopulation = 8;
constexpr std::size_t kChildren = 4;      // a generation
constexpr int kAttempts = 16;             // to find an unseen child

std::vector<const SearchState*> select_parents(const SearchEngine& engine) {
  std::vector<const SearchState*> all;
  for (const SearchState& s : engine.states()) all.push_back(&s);
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->score > b->score; });
  if (all.size() > kPopulation) all.resize(kPopulation);
  return all;
}

// The actions that apply one after another from the root, as one proposal.
std::optional<Proposal> replay(SearchEngine& engine, ReplayMemo& verified, const std::vector<Action>& actions) {
  Proposal proposal;
  proposal.origin = "evolve";
  ReplayMemo::Place place = verified.root();
  std::vector<Error> refusals;
  for (const Action& action : actions) {
    Result<Step> step = verified.apply(&place, action);
    if (!step) {
      refusals.push_back(std::move(step.error()));
      continue;
    }
    proposal.actions.push_back(action);
    proposal.steps.push_back(*std::move(step));
  }
  if (proposal.actions.empty()) {
    if (!refusals.empty()) engine.refuse(refusals.front());
    return std::nullopt;
  }
  for (const Error& error : refusals) engine.leave_out(error);
  proposal.after = std::move(place.program);
  return proposal;
}

std::vector<Action> drop_one(const std::vector<Action>& trace, Rng* rng) {
  std::vector<Action> actions = trace;
  if (!actions.empty()) actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(rng->below(actions.size())));
  return actions;
}

std::vector<Action> cross(const std::vector<Action>& a, const std::vector<Action>& b, Rng* rng) {
  std::vector<Action> actions(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(rng->below(a.size() + 1)));
  actions.insert(actions.end(), b.begin() + static_cast<std::ptrdiff_t>(rng->below(b.size() + 1)), b.end());
  return actions;
}
}  // namespace

Result<void> run_evolve(SearchEngine& engine) {
  Rng rng = engine.rng().split("evolve");
  ReplayMemo verified(engine.root().program, engine.target());
  while (engine.open()) {
    const std::vector<const SearchState*> parents = select_parents(engine);
    const auto pick = [&]() -> const SearchState& { return *parents[std::min(rng.below(parents.size()), rng.below(parents.size()))]; };
    std::vector<Proposal> children;
    std::set<Digest> made;
    for (int attempt = 0; attempt < kAttempts && children.size() < kChildren; ++attempt) {
      std::optional<Proposal> child;
      const std::uint64_t kind = rng.below(4);
      const SearchState& first = pick();
      if (kind == 0 && first.trace.size() > 1) {
        child = replay(engine, verified, drop_one(first.trace, &rng));
      } else if (kind == 1 && parents.size() > 2) {
        child = replay(engine, verified, cross(first.trace, pick().trace, &rng));
      } else if (std::vector<Proposal> grown = engine.propose(first, 1); !grown.empty()) {
        child = std::move(grown[0]);
      }
      if (!child) continue;
      const Digest hash = canonical_hash(child->after);
      if (!engine.is_seen(hash) && made.insert(hash).second) children.push_back(*std::move(child));
    }
    if (children.empty()) engine.note_restart();
    CAIRN_CHECKED(engine.evaluate(std::move(children)));
  }
  return {};
}

}  // namespace cairn
