#include <algorithm>
#include <optional>

#include "base/pool.h"
#include "base/rng.h"
#include "ir/canon.h"
#include "strategy/pairs.h"
#include "strategy/registry.h"

namespace cairn {

namespace {

constexpr std::size_t kSitesTried = 4;        // random sites tried for a move of a strategy
constexpr std::size_t kUndoSites = 8;         // sites a strategy in the search for a step back
constexpr std::size_t kUndoMaxEquations = 4;  // larger programs have too many sites for that search
constexpr std::size_t kStride = 3;            // of the states, every so-manieth is looked at

struct Move {
  std::size_t strategy = 0;
  Args args;
  Program after;
  std::optional<Action> inverse;
};

// Without the verifier: the pair is compared by hash, and the first steps did verify.
std::optional<Digest> hash_after(const Program& program, const Target& target, std::size_t strategy, const Args& args) {
  const Strategy& s = *all_strategies()[strategy];
  const Result<Args> checked = check_args(s, args);
  if (!checked) return std::nullopt;
  const Result<Step> step = s.apply(program, target, *checked);
  if (!step) return std::nullopt;
  return canonical_hash(step->after);
}

std::size_t count_equations(const Body& body) {
  std::size_t count = 0;
  for (const StmtPtr& stmt : body) count += stmt->is_equation() ? 1 : count_equations(stmt->body);
  return count;
}

// Counts over strategies; one for each state, added up in order.
struct Counts {
  explicit Counts(std::size_t n) : size(n), tried(n * n), equal(n * n), undone(n * n), steps(n) {}
  void add(const Counts& other) {
    for (std::size_t k = 0; k < tried.size(); ++k) {
      tried[k] += other.tried[k];
      equal[k] += other.equal[k];
      undone[k] += other.undone[k];
    }
    for (std::size_t k = 0; k < size; ++k) steps[k] += other.steps[k];
  }
  std::size_t at(std::size_t i, std::size_t j) const { return i * size + j; }
  std::size_t size;
  std::vector<int> tried, equal, undone;   // of pairs
  std::vector<int> steps;
};

std::vector<Move> pick_moves(const WorkloadState& state, const Target& target, std::uint64_t seed) {
  std::vector<Move> moves;
  for (std::size_t s = 0; s < all_strategies().size(); ++s) {
    const Strategy& strategy = *all_strategies()[s];
    Rng rng = Rng(seed).split(state.workload).split(state.state).split(strategy.name);
    std::vector<Args> sites = strategy.sites(state.program, target);
    for (std::size_t k = 0; k < kSitesTried && !sites.empty(); ++k) {
      const std::size_t at = rng.below(sites.size());
      Result<Step> step = apply_action(state.program, target, {std::string(strategy.name), sites[at]});
      if (step) {
        moves.push_back({s, sites[at], std::move(step->after), step->inverse});
        break;
      }
      sites.erase(sites.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return moves;
}

void count_commuting(const std::vector<Move>& moves, const Target& target, Counts* counts) {
  for (std::size_t i = 0; i < moves.size(); ++i) {
    for (std::size_t j = i + 1; j < moves.size(); ++j) {
      const Move &a = moves[i], &b = moves[j];
      const std::optional<Digest> ab = hash_after(a.after, target, b.strategy, b.args);
      if (!ab) continue;
      const std::optional<Digest> ba = hash_after(b.after, target, a.strategy, a.args);
      if (!ba) continue;
      ++counts->tried[counts->at(a.strategy, b.strategy)];
      counts->equal[counts->at(a.strategy, b.strategy)] += *ab == *ba ? 1 : 0;
    }
  }
}

void count_undone(const WorkloadState& state, const std::vector<Move>& moves, const Target& target, Counts* counts) {
  const Digest start = canonical_hash(state.program);
  for (std::size_t k = 0; k < moves.size(); ++k) {
    const Move& move = moves[k];
    if (canonical_hash(move.after) == start) continue;
    ++counts->steps[move.strategy];
    for (std::size_t s = 0; s < all_strategies().size(); ++s) {
      const Strategy& strategy = *all_strategies()[s];
      bool back = false;
      if (move.inverse && move.inverse->strategy == strategy.name) {
        const std::optional<Digest> hash = hash_after(move.after, target, s, move.inverse->args);
        back = hash && *hash == start;
      }
      const std::vector<Args> sites = strategy.sites(move.after, target);
      const std::size_t stride = std::max<std::size_t>(1, (sites.size() + kUndoSites - 1) / kUndoSites);
      for (std::size_t n = 0; n < sites.size() && !back; n += stride) {
        const std::optional<Digest> hash = hash_after(move.after, target, s, sites[n]);
        back = hash && *hash == start;
      }
      counts->undone[counts->at(move.strategy, s)] += back ? 1 : 0;
    }
  }
}

}  // namespace

class PairDeriver {
 public:
  static PairTable make(const Counts& total) {
    PairTable table;
    const std::size_t n = all_strategies().size();
    for (const Strategy* s : all_strategies()) table.names_.emplace_back(s->name);
    table.commutes_.assign(n, std::vector<Commutes>(n, Commutes::untested));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const int tried = total.tried[total.at(i, j)] + (i == j ? 0 : total.tried[total.at(j, i)]);
        const int equal = total.equal[total.at(i, j)] + (i == j ? 0 : total.equal[total.at(j, i)]);
        if (tried < PairTable::kFewestTrials) continue;
        table.commutes_[i][j] = equal == tried ? Commutes::always : equal == 0 ? Commutes::never : Commutes::sometimes;
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (total.undone[total.at(i, j)] == 0) continue;
        table.undo_.push_back({table.names_[i], table.names_[j], total.undone[total.at(i, j)], total.steps[i]});
      }
    }
    return table;
  }
};

std::vector<WorkloadState> sample_states(const std::vector<WorkloadState>& states) {
  const auto is_common = [](const WorkloadState& s) { return s.state == "imported" || s.state == "inlined" || s.state == "fused"; };
  std::vector<WorkloadState> sample;
  for (std::size_t k = 0; k < states.size(); ++k) {
    if (k % kStride == 0 || !is_common(states[k])) sample.push_back(states[k]);
  }
  return sample;
}

PairTable derive_pairs(const std::vector<WorkloadState>& states, const Target& target, std::uint64_t seed, unsigned jobs) {
  const std::size_t n = all_strategies().size();
  std::vector<Counts> counts(states.size(), Counts(n));
  {
    ThreadPool pool(std::max(1u, jobs));
    for (std::size_t k = 0; k < states.size(); ++k) {
      pool.submit([&, k] {
        const std::vector<Move> moves = pick_moves(states[k], target, seed);
        count_commuting(moves, target, &counts[k]);
        if (count_equations(states[k].program.body()) <= kUndoMaxEquations) count_undone(states[k], moves, target, &counts[k]);
      });
    }
    pool.wait();
  }
  Counts total(n);
  for (const Counts& c : counts) total.add(c);
  return PairDeriver::make(total);
}

}  // namespace cairn
