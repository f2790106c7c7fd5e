#include "search/local_moves.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "analysis/cost.h"
#include "ir/canon.h"
#include "search/state_summary.h"

namespace cairn {

namespace {

// Candidates a composite keeps; a search rarely tries more before it moves on.
constexpr std::size_t kComposites = 24;

struct Composite {
  std::string_view name, direction;
};
constexpr std::array<Composite, 9> kAllComposites{{{"restructure/inline-fuse", "fusion"},
                                                    {"restructure/fuse", "fusion"},
                                                    {"restructure/inline", "fusion"},
                                                    {"schedule", "throughput"},
                                                    {"tile", "data_reuse"},
                                                    {"sweep", "parallelism"},
                                                    // The cost model's plans (cost_proposer.cpp): a restructuring and the schedule after it, in one proposal.
                                                    {"inline-fuse", "fusion"},
                                                    {"fuse", "fusion"},
                                                    {"inline", "fusion"}}};

// Collects candidates of one local, one for each program that differs from the state and from the others.
class Collector {
 public:
  Collector(std::string local, std::string direction, const Digest& from) : known_{from} {
    moves_.local = std::move(local);
    moves_.direction = std::move(direction);
  }
  void add(std::vector<Action> actions, const Digest& hash, double seconds, std::string arguments, std::string argument_class) {
    if (actions.empty()) return;
    if (!known_.insert(hash).second) return;
    moves_.candidates.push_back({std::move(actions), hash, seconds, std::move(arguments), std::move(argument_class)});
  }
  void finish(std::size_t most, std::vector<LocalMoves>* out) {
    if (moves_.candidates.empty()) return;
    std::stable_sort(moves_.candidates.begin(), moves_.candidates.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    if (moves_.candidates.size() > most) moves_.candidates.resize(most);
    out->push_back(std::move(moves_));
  }

 private:
  LocalMoves moves_;
  std::set<Digest> known_;
};

void list_restructures(const Program& program, const Target& target, const Digest& from, std::vector<LocalMoves>* out) {
  std::set<Digest> known;
  for (const Restructure how : {Restructure::inline_and_fuse, Restructure::fuse_only, Restructure::inline_only}) {
    Schedule schedule(program, target);
    apply_restructure(schedule, how);
    const Digest hash = canonical_hash(schedule.program());
    if (schedule.actions().empty() || !known.insert(hash).second) continue;
    const std::string name = fmt::format("restructure/{}", restructure_name(how));
    Collector collector(name, std::string(composite_direction(name)), from);
    collector.add(schedule.actions(), hash, predict_cost(schedule.program(), target).seconds, std::string(restructure_name(how)), "");
    collector.finish(1, out);
  }
}

// Choices for a nest that change the program, best predicted first; each is a candidate of its template.
std::vector<RankedChoice> collect_choices(const Program& program, const Target& target, std::size_t nest, const Digest& from, Collector* tiles,
                                          Collector* sweeps) {
  std::vector<RankedChoice> ranked = rank_choices(program, nest, target);
  std::erase_if(ranked, [&](const RankedChoice& r) { return r.hash == from; });
  for (const RankedChoice& r : ranked) {
    Collector* collector = r.choice.kind == NestChoice::Kind::tile ? tiles : sweeps;
    collector->add(r.actions, r.hash, r.seconds, fmt::format("nest {} {}", nest, r.choice.text()), r.choice.text());
  }
  return ranked;
}

// Which ranked choice each nest takes; `npos`: the nest is kept.
using Picks = std::vector<std::size_t>;

void add_schedule(const Program& program, const Target& target, const std::vector<std::vector<RankedChoice>>& ranked, const Picks& picks,
                  ApplyMemo* memo, Collector* collector) {
  Schedule schedule(program, target, memo);
  std::string text;
  for (std::size_t nest = picks.size(); nest-- > 0;) {  // from the last: earlier indices stay
    if (picks[nest] >= ranked[nest].size()) continue;
    const NestChoice& choice = ranked[nest][picks[nest]].choice;
    if (!apply_choice(schedule, nest, choice)) return;
    text = choice.text() + (text.empty() ? "" : "; ") + text;
  }
  collector->add(schedule.actions(), canonical_hash(schedule.program()), predict_cost(schedule.program(), target).seconds, text, text);
}

// Tiles and sweeps of single nests, and schedules of all nests: the best of each, then its neighbours in one nest.
void list_schedules(const Program& program, const Target& target, const Digest& from, std::vector<LocalMoves>* out) {
  const auto make = [&](const char* name) { return Collector(name, std::string(composite_direction(name)), from); };
  Collector tiles = make("tile"), sweeps = make("sweep"), schedules = make("schedule");
  std::vector<std::vector<RankedChoice>> ranked;
  for (std::size_t nest = 0; nest < program.body().size(); ++nest) ranked.push_back(collect_choices(program, target, nest, from, &tiles, &sweeps));
  if (ranked.size() > 1) {
    const Picks best(ranked.size(), 0);
    ApplyMemo memo;   // neighbours begin as the best does
    add_schedule(program, target, ranked, best, &memo, &schedules);
    // Neighbours, nearest in prediction first.
    struct Change { double loss; std::size_t nest, pick; };
    std::vector<Change> changes;
    for (std::size_t nest = 0; nest < ranked.size(); ++nest) {
      for (std::size_t pick = 1; pick < ranked[nest].size(); ++pick) changes.push_back({ranked[nest][pick].seconds - ranked[nest][0].seconds, nest, pick});
    }
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.loss < b.loss; });
    if (changes.size() > kComposites) changes.resize(kComposites);
    for (const Change& change : changes) {
      Picks picks = best;
      picks[change.nest] = change.pick;
      add_schedule(program, target, ranked, picks, &memo, &schedules);
    }
  }
  schedules.finish(kComposites, out);
  tiles.finish(kComposites, out);
  sweeps.finish(kComposites, out);
}

}  // namespace

std::vector<LocalMoves> list_local_moves(const Program& program, const Target& target) {
  std::vector<LocalMoves> moves;
  const Digest from = canonical_hash(program);
  list_restructures(program, target, from, &moves);
  list_schedules(program, target, from, &moves);
  for (const Strategy* strategy : all_strategies()) {
    Collector collector(std::string(strategy->name), std::string(direction_name(strategy->direction)), from);
    std::size_t applied = 0;
    for (const Args& args : strategy->sites(program, target)) {
      if (applied++ == kMovesPerStrategy) break;
      const Result<Step> step = strategy->apply(program, target, args);
      if (!step.ok()) continue;
      const Action action{std::string(strategy->name), args};
      collector.add({action}, canonical_hash(step->after), predict_cost(step->after, target).seconds, print_action(action), argument_class(program, action));
    }
    collector.finish(kMovesPerStrategy, &moves);
  }
  return moves;
}

std::shared_ptr<const MoveLists::Entry> MoveLists::at(const SearchState& state) {
  const auto it = entries_.find(state.hash);
  if (it != entries_.end()) return it->second;
  if (order_.size() >= capacity_) {
    entries_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(state.hash);
  auto entry = std::make_shared<Entry>(Entry{list_local_moves(state.program, target_), predict_cost(state.program, target_).seconds});
  entries_.emplace(state.hash, entry);
  return entry;
}

Result<Proposal> propose_candidate(const SearchState& state, const Target& target, const LocalMoves& local, const MoveCandidate& candidate,
                                   std::string origin) {
  CAIRN_TRY(Replay replay, replay_trace(state.program, target, candidate.actions));
  Proposal p;
  p.actions = candidate.actions;
  p.after = replay.programs.back();
  p.steps = std::move(replay.steps);
  p.predicted_seconds = candidate.seconds;
  p.origin = std::move(origin);
  if (!composite_direction(local.local).empty()) p.template_name = local.local;
  p.base = state.id;
  return p;
}

std::string_view composite_direction(std::string_view local) {
  for (const Composite& c : kAllComposites) {
    if (c.name == local) return c.direction;
  }
  return {};
}

const std::vector<std::string>& composite_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Composite& c : kAllComposites) names.emplace_back(c.name);
    return names;
  }();
  return kNames;
}

}  // namespace cairn
