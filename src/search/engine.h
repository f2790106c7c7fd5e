// The engine that all searches share: proposals in, verified and timed states out; ledger, transposition
// table, journal, anytime best. Algorithms (algorithms.h) only decide which state to expand next.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/pool.h"
#include "search/guide.h"
#include "search/journal.h"

namespace cairn {

struct SearchOptions {
  std::string task = "program";
  std::string algorithm = "beam";
  Budget budget;
  std::uint64_t seed = 1;
  int lookahead = 4;          // uncommitted proposals; part of the seed line, not of the machine
  unsigned jobs = 2;          // compile workers
  std::string directory;      // journal and best program go here; empty: memory only
  // Called after each committed proposal and improvement; may be empty.
  std::function<void(const struct SearchSummary&)> on_progress;
};

// One row of the per-candidate reason table.
struct ReasonRow {
  std::string outcome;        // outcome_name() of a candidate, or "left_out": a step that was refused while its proposal went on
  std::string reason;         // of the first such candidate
  std::uint64_t count = 0;
};

// What became of one committed proposal.
struct CandidateRow {
  std::uint64_t number = 0, parent = 0;
  std::string origin;         // its template's name, else its proposer's
  std::string outcome, reason;
  double seconds = 0;         // 0 unless it passed
};

// One proposal that was committed.
struct Child {
  std::uint64_t number = 0;            // of the proposal
  const SearchState* from = nullptr;   // the state that was expanded; null for a proposal that no state asked for
  const SearchState* state = nullptr;  // what it led to; null if it failed
};

struct CurvePoint { std::uint64_t evaluation; double wall_seconds; double seconds; };

// What a run reports.
struct SearchSummary {
  std::string stop_reason;
  Ledger ledger;
  std::uint64_t best = 0;                 // id of the best state
  double naive_seconds = 0, best_seconds = 0;
  double rank_correlation = 0;            // Spearman, predicted against measured; NaN below 3 points
  double efficiency = 0;                  // accepted over proposed
  std::vector<ReasonRow> reasons;         // by outcome
  std::vector<CandidateRow> candidates;   // in the order of their numbers
  std::vector<CurvePoint> curve;          // each improvement
  std::vector<std::string> notes;
};

class SearchEngine {
 public:
  SearchEngine(Program root, Evaluator& evaluator, Proposer& proposer, Guide* guide, Journal journal, Clock& clock,
               SearchOptions options);

  // Times the naive program; refuses if it fails its own gate.
  Result<void> start();
  const SearchState& root() const { return states_.front(); }
  // Proposes up to `count` unseen programs at the state, evaluates them and commits in order. Returns the
  // states that passed, in proposal order. Empty when nothing new came or the budget ended.
  Result<std::vector<const SearchState*>> expand(const SearchState& state, std::size_t count);
  // The same for several states at once, failures included: all proposals in the order of the requests.
  struct Request { const SearchState* state; std::size_t count; };
  Result<std::vector<Child>> expand_all(const std::vector<Request>& requests);
  // Evaluates proposals that an algorithm made itself; programs seen before are dropped as duplicates.
  Result<std::vector<Child>> evaluate(std::vector<Proposal> proposals);
  // The proposer's next unseen proposals at a state, not evaluated.
  std::vector<Proposal> propose(const SearchState& state, std::size_t count);
  // False when the budget is spent, Ctrl-C came, or nothing new can be proposed any more.
  bool open() const;
  const SearchState* state(std::uint64_t id) const;
  const SearchState& best() const;
  // The best states, best first, the root not included.
  std::vector<const SearchState*> top(std::size_t count) const;
  const std::deque<SearchState>& states() const { return states_; }
  // A proposal of the algorithm's own that is refused: it costs a proposal and is counted by its reason.
  void refuse(const Error& error);
  // A step that is refused and left out of a proposal made of the others: only counted by its reason.
  void leave_out(const Error& error) { count_reason("left_out", error.message); }
  // A restart of the algorithm; 3 of them and 1,000 proposals without a new hash end the run as "exhausted".
  void note_restart() { ++restarts_without_new_; }
  Rng rng() const { return rng_; }
  const SearchOptions& options() const { return options_; }
  const Target& target() const { return evaluator_.target(); }
  // True if this run has numbered a proposal of that program.
  bool is_seen(const Digest& hash) const { return seen_.count(hash) != 0; }
  // Ends the run: journals the reason and fills the summary.
  Result<SearchSummary> finish();

 private:
  struct Pending { Proposal proposal; SearchState state; const SearchState* from = nullptr; };
  // Numbers the proposals that are new, at most `count`.
  void admit(std::vector<Proposal> proposals, const SearchState* from, std::size_t count, std::vector<Pending>* pending);
  Result<std::vector<Child>> run(std::vector<Pending> pending);
  Result<const SearchState*> commit(Pending pending);
  Result<void> save_best();
  // Evaluates at the cost that the result's cache recorded: what is cheaper by now is charged the difference in wall time.
  EvalResult evaluate_charged(const Program& program);
  void count_reason(std::string_view outcome, const std::string& reason);
  void refresh_wall();
  std::string stop_reason() const;

  Evaluator& evaluator_;
  Proposer& proposer_;
  Guide* guide_;
  Journal journal_;
  Clock& clock_;
  SearchOptions options_;
  Rng rng_;
  double started_ = 0;
  double replayed_wall_ = 0;       // wall seconds of the run that is resumed
  double charged_wall_ = 0;        // of results that the cache knew, beyond what finding them took
  std::uint64_t cached_ = 0;       // such results
  bool is_best_saved_ = true;
  std::deque<SearchState> states_; // addresses stay valid
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
  std::unordered_map<Digest, std::uint64_t> seen_;
  std::uint64_t next_number_ = 1;
  std::uint64_t best_ = 0;
  double best_lo_ = 0;
  Ledger ledger_;
  std::uint64_t expansions_ = 0, restarts_without_new_ = 0, stale_proposals_ = 0;
  std::map<std::string, ReasonRow> reasons_;
  std::vector<CandidateRow> candidates_;
  std::vector<CurvePoint> curve_;
  std::vector<std::pair<double, double>> predictions_;  // predicted, measured
};

// Spearman rank correlation with average ranks for ties; NaN below 3 points.
double rank_correlation(const std::vector<std::pair<double, double>>& points);

}  // namespace cairn
