#include "search/engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/core.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "ir/canon.h"
#include "ir/text.h"

namespace cairn {

namespace {
// An upper bound of what one proposer call may be asked for while looking for unseen programs.
constexpr std::uint64_t kMaxRestarts = 3;
constexpr std::uint64_t kMaxStaleProposals = 1000;
}  // namespace

SearchEngine::SearchEngine(Program root, Evaluator& evaluator, Proposer& proposer, Guide* guide, Journal journal,
                           Clock& clock, SearchOptions options)
    : evaluator_(evaluator), proposer_(proposer), guide_(guide), journal_(std::move(journal)), clock_(clock),
      options_(std::move(options)), rng_(options_.seed), started_(clock.now()) {
  SearchState state;
  state.hash = canonical_hash(root);
  state.program = std::move(root);
  seen_.emplace(state.hash, 0);
  by_id_.emplace(0, 0);
  states_.push_back(std::move(state));
}

void SearchEngine::refresh_wall() { ledger_.wall_seconds = replayed_wall_ + charged_wall_ + clock_.now() - started_; }

EvalResult SearchEngine::evaluate_charged(const Program& program) {
  const double begun = clock_.now();
  EvalResult result = evaluator_.evaluate(program);
  if (result.from_cache) {
    ++cached_;
    charged_wall_ += std::max(0.0, result.run_seconds - (clock_.now() - begun));
  }
  return result;
}

void SearchEngine::count_reason(std::string_view outcome, const std::string& reason) {
  ReasonRow& row = reasons_[std::string(outcome)];
  if (row.count++ != 0) return;
  row.outcome = outcome;
  row.reason = reason;
}

Result<void> SearchEngine::start() {
  SearchState& naive = states_.front();
  JournalRecord record;
  record.hash = naive.hash;
  record.origin = "naive";
  // A journalled failure of the naive program is not believed: it ended that run, and may be mended since.
  const JournalRecord* old = journal_.replayed(0, naive.hash);
  if (old && old->result.passed()) {
    record = *old;
  } else {
    record.result = evaluate_charged(naive.program);
    if (interrupted() != 0) return Error{Code::interrupted, "interrupted while the naive program was measured", {}, {}};
    refresh_wall();
    record.wall_seconds = ledger_.wall_seconds;
    CAIRN_CHECKED(journal_.append(record));
  }
  if (!record.result.passed() || !record.result.time) {
    return Error{Code::run, fmt::format("the naive program fails its own gate: {}: {}",
                                        outcome_name(record.result.outcome), record.result.reason), {}, {}};
  }
  naive.seconds = record.result.time->median;
  best_lo_ = record.result.time->lo;
  ledger_.compiles += 1;
  ledger_.device_seconds += record.result.run_seconds;
  curve_.push_back({0, ledger_.wall_seconds, naive.seconds});
  return {};
}

const SearchState* SearchEngine::state(std::uint64_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &states_[it->second];
}

const SearchState& SearchEngine::best() const { return *state(best_); }

std::string SearchEngine::stop_reason() const {
  if (interrupted() != 0) return "interrupted";
  if (const std::string limit = exhausted_limit(options_.budget, ledger_); !limit.empty()) return limit;
  if (restarts_without_new_ >= kMaxRestarts && stale_proposals_ >= kMaxStaleProposals) return "exhausted";
  return {};
}

bool SearchEngine::open() const { return stop_reason().empty(); }

std::vector<Proposal> SearchEngine::propose(const SearchState& from, std::size_t count) {
  ProposeContext context;
  context.count = count;
  context.rng = rng_.split(++expansions_);
  context.seen = [this](const Digest& hash) { return seen_.count(hash) != 0; };
  context.state_of = [this](std::uint64_t id) { return state(id); };
  context.on_refused = [this](const Error& error) { refuse(error); };
  context.on_left_out = [this](const Error& error) { leave_out(error); };
  return proposer_.propose(from, context);
}

void SearchEngine::refuse(const Error& error) {
  ledger_.proposals += 1;
  ledger_.refused += 1;
  ++stale_proposals_;
  count_reason(outcome_name(Outcome::refused), error.message);
}

void SearchEngine::admit(std::vector<Proposal> proposals, const SearchState* from, std::size_t count, std::vector<Pending>* pending) {
  std::size_t admitted = 0;
  for (Proposal& proposal : proposals) {
    ledger_.proposals += 1;
    const SearchState* base = state(proposal.base);
    CAIRN_CHECK(base != nullptr);
    Pending p;
    p.from = from;
    p.state.hash = canonical_hash(proposal.after);
    if (!seen_.emplace(p.state.hash, next_number_).second) {
      ledger_.duplicates += 1;
      ++stale_proposals_;
      continue;
    }
    p.state.id = next_number_++;
    p.state.parent = proposal.base;
    p.state.program = proposal.after;
    p.state.trace = base->trace;
    p.state.trace.insert(p.state.trace.end(), proposal.actions.begin(), proposal.actions.end());
    p.state.edges = base->edges;
    p.state.edges.push_back(proposal.actions.size());
    p.state.depth = base->depth + 1;
    p.proposal = std::move(proposal);
    pending->push_back(std::move(p));
    restarts_without_new_ = 0;
    stale_proposals_ = 0;
    if (++admitted == count) break;
  }
  if (admitted == 0) stale_proposals_ += std::max<std::uint64_t>(proposals.size(), kMaxStaleProposals / 16);
}

Result<std::vector<const SearchState*>> SearchEngine::expand(const SearchState& from, std::size_t count) {
  CAIRN_TRY(const std::vector<Child> children, expand_all({{&from, count}}));
  std::vector<const SearchState*> passed;
  for (const Child& child : children) {
    if (child.state) passed.push_back(child.state);
  }
  return passed;
}

Result<std::vector<Child>> SearchEngine::expand_all(const std::vector<Request>& requests) {
  refresh_wall();
  std::vector<Pending> pending;
  for (const Request& request : requests) {
    if (!open()) break;
    admit(propose(*request.state, request.count), request.state, request.count, &pending);
  }
  return run(std::move(pending));
}

Result<std::vector<Child>> SearchEngine::evaluate(std::vector<Proposal> proposals) {
  refresh_wall();
  std::vector<Pending> pending;
  const std::size_t count = proposals.size();
  if (open()) admit(std::move(proposals), nullptr, count, &pending);
  return run(std::move(pending));
}

Result<std::vector<Child>> SearchEngine::run(std::vector<Pending> pending) {
  std::vector<Child> children;
  const auto width = static_cast<std::size_t>(std::max(1, options_.lookahead));
  for (std::size_t begin = 0; begin < pending.size() && open(); begin += width) {
    const std::size_t end = std::min(pending.size(), begin + width);
    {
      // Compiles run side by side; nothing is measured until the pool is idle again.
      ThreadPool pool(std::max(1u, options_.jobs));
      for (std::size_t i = begin; i < end; ++i) {
        if (journal_.replayed(pending[i].state.id, pending[i].state.hash)) continue;
        pool.submit([this, &pending, i] { evaluator_.prepare(pending[i].state.program); });
      }
      pool.wait();
    }
    for (std::size_t i = begin; i < end; ++i) {
      refresh_wall();
      if (!open()) break;
      Child child;
      child.number = pending[i].state.id;
      child.from = pending[i].from;
      CAIRN_TRY(child.state, commit(std::move(pending[i])));
      if (interrupted() == 0) children.push_back(child);
    }
  }
  return children;
}

Result<const SearchState*> SearchEngine::commit(Pending pending) {
  SearchState& s = pending.state;
  JournalRecord record;
  const JournalRecord* old = journal_.replayed(s.id, s.hash);
  if (old) {
    record = *old;
    replayed_wall_ = std::max(replayed_wall_, old->wall_seconds - charged_wall_ - (clock_.now() - started_));
  } else {
    record.number = s.id;
    record.parent = s.parent;
    record.origin = pending.proposal.origin;
    record.template_name = pending.proposal.template_name;
    for (const Action& action : pending.proposal.actions) record.actions.push_back(print_action(action));
    record.hash = s.hash;
    record.predicted_seconds = pending.proposal.predicted_seconds;
    record.result = evaluate_charged(s.program);
    if (interrupted() != 0) return static_cast<const SearchState*>(nullptr);  // not committed: resumes here
    if (record.result.passed() && record.result.time) {
      record.score = std::log(root().seconds / record.result.time->median);
    }
    refresh_wall();
    record.wall_seconds = ledger_.wall_seconds;
    CAIRN_CHECKED(journal_.append(record));
  }
  refresh_wall();
  ledger_.evaluations += 1;
  ledger_.compiles += 1;
  ledger_.device_seconds += record.result.run_seconds;
  const bool passed = record.result.passed() && record.result.time.has_value();
  count_reason(outcome_name(record.result.outcome), record.result.reason);
  candidates_.push_back({s.id, s.parent, record.template_name.empty() ? record.origin : record.template_name,
                         std::string(outcome_name(record.result.outcome)), record.result.reason, passed ? record.result.time->median : 0});
  const SearchState* committed = nullptr;
  if (passed) {
    s.seconds = record.result.time->median;
    s.score = record.score;
    predictions_.emplace_back(record.predicted_seconds, s.seconds);
    by_id_.emplace(s.id, states_.size());
    states_.push_back(std::move(s));
    committed = &states_.back();
    // A child replaces the best only if the intervals are disjoint; near ties are settled at the end.
    if (record.result.time->hi < best_lo_) {
      best_ = committed->id;
      best_lo_ = record.result.time->lo;
      curve_.push_back({ledger_.evaluations, ledger_.wall_seconds, committed->seconds});
      is_best_saved_ = false;
    }
  }
  // What is replayed may be far from the run's best: the file keeps that until the replay has caught up.
  if (!old && !is_best_saved_) CAIRN_CHECKED(save_best());
  if (guide_) {
    StepOutcome outcome;
    outcome.proposal = record.number;
    outcome.parent = record.parent;
    outcome.made = &pending.proposal;
    outcome.from = state(record.parent);
    outcome.result = &record.result;
    outcome.program = record.hash;
    outcome.gain = committed ? committed->score - outcome.from->score : 0;
    CAIRN_CHECKED(guide_->observe(outcome));
  }
  if (options_.on_progress) {
    SearchSummary summary;
    summary.ledger = ledger_;
    summary.best = best_;
    summary.naive_seconds = root().seconds;
    summary.best_seconds = best().seconds;
    options_.on_progress(summary);
  }
  return committed;
}

Result<void> SearchEngine::save_best() {
  is_best_saved_ = true;
  if (options_.directory.empty()) return {};
  const SearchState& state = best();
  CAIRN_CHECKED(write_file_atomic(join_path(options_.directory, "best.leir"), print_program(state.program)));
  Trace trace;
  trace.from = root().hash;
  trace.actions = state.trace;
  return write_file_atomic(join_path(options_.directory, "best.trace"), print_trace(trace));
}

std::vector<const SearchState*> SearchEngine::top(std::size_t count) const {
  std::vector<const SearchState*> all;
  for (const SearchState& s : states_) {
    if (s.id != 0) all.push_back(&s);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->seconds < b->seconds; });
  if (all.size() > count) all.resize(count);
  return all;
}

Result<SearchSummary> SearchEngine::finish() {
  refresh_wall();
  if (!is_best_saved_) CAIRN_CHECKED(save_best());
  SearchSummary summary;
  summary.stop_reason = stop_reason();
  if (summary.stop_reason.empty()) summary.stop_reason = "exhausted";
  if (summary.stop_reason != "interrupted") CAIRN_CHECKED(journal_.append_end(summary.stop_reason, ledger_));
  summary.ledger = ledger_;
  summary.best = best_;
  summary.naive_seconds = root().seconds;
  summary.best_seconds = best().seconds;
  summary.rank_correlation = cairn::rank_correlation(predictions_);
  summary.efficiency = ledger_.proposals == 0
                           ? 0
                           : static_cast<double>(states_.size() - 1) / static_cast<double>(ledger_.proposals);
  for (const auto& [name, row] : reasons_) summary.reasons.push_back(row);
  summary.candidates = candidates_;
  summary.curve = curve_;
  summary.notes = journal_.notes();
  if (cached_ > 0 && charged_wall_ > 0.05) {
    summary.notes.push_back(fmt::format("{} results were in the cache; {:.1f} s of the time are what they had cost", cached_, charged_wall_));
  }
  return summary;
}

double rank_correlation(const std::vector<std::pair<double, double>>& points) {
  const std::size_t n = points.size();
  if (n < 3) return std::numeric_limits<double>::quiet_NaN();
  const auto ranks = [n](const std::vector<double>& values) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> rank(n);
    for (std::size_t i = 0; i < n;) {
      std::size_t j = i;
      while (j < n && values[order[j]] == values[order[i]]) ++j;
      for (std::size_t k = i; k < j; ++k) rank[order[k]] = 0.5 * static_cast<double>(i + j - 1);
      i = j;
    }
    return rank;
  };
  std::vector<double> xs, ys;
  for (const auto& [x, y] : points) xs.push_back(x), ys.push_back(y);
  const std::vector<double> rx = ranks(xs), ry = ranks(ys);
  const double mean = 0.5 * static_cast<double>(n - 1);
  double sxy = 0, sxx = 0, syy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sxy += (rx[i] - mean) * (ry[i] - mean);
    sxx += (rx[i] - mean) * (rx[i] - mean);
    syy += (ry[i] - mean) * (ry[i] - mean);
  }
  return sxx > 0 && syy > 0 ? sxy / std::sqrt(sxx * syy) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace cairn
