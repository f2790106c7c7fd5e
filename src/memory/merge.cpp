#include "memory/merge.h"

#include <map>
#include <tuple>

#include "memory/cards.h"

namespace cairn {

namespace {

auto key_of(const Evidence& e) { return e.id; }
auto key_of(const DirectionCard& c) { return c.name; }
auto key_of(const LocalCard& c) { return std::make_tuple(c.name, c.direction); }
auto key_of(const EdgeCard& c) { return std::make_tuple(c.origin, c.node); }
auto key_of(const RunRecord& r) { return r.id; }
auto key_of(const DecisionRecord& d) { return std::make_tuple(d.run, d.number); }

bool is_outranked(const DirectionCard& a, const DirectionCard& b) {
  const auto rank = [](const DirectionCard& c) { return std::tie(c.trusted, c.intent, c.objective, c.risks, c.triggers); };
  return rank(a) < rank(b);
}
bool is_outranked(const LocalCard& a, const LocalCard& b) {
  const auto rank = [](const LocalCard& c) { return std::tie(c.trusted, c.when, c.how, c.checks); };
  return rank(a) < rank(b);
}
bool is_outranked(const EdgeCard& a, const EdgeCard& b) {
  const auto rank = [](const EdgeCard& c) { return std::tie(c.trusted, c.rationale, c.risk, c.applies); };
  return rank(a) < rank(b);
}
bool is_outranked(const RunRecord& a, const RunRecord& b) {
  const auto rank = [](const RunRecord& r) { return std::tie(r.trusted, r.finished, r.started, r.seed, r.task, r.family, r.mode, r.device, r.target); };
  return rank(a) < rank(b);
}
bool is_outranked(const DecisionRecord& a, const DecisionRecord& b) { return std::tie(a.trusted, a.document) < std::tie(b.trusted, b.document); }

bool is_fixed(const DirectionCard& c) { return is_built_in(c); }
bool is_fixed(const LocalCard& c) { return is_built_in(c); }
bool is_fixed(const EdgeCard& c) { return is_built_in(c); }
template <class T>
bool is_fixed(const T&) { return false; }

template <class T>
std::vector<T> select(const std::vector<T>& into, const std::vector<T>& from, MergeCounts::Part* counts) {
  using Key = decltype(key_of(from.front()));
  std::map<Key, const T*> known, winners;
  for (const T& entry : into) known[key_of(entry)] = &entry;
  for (const T& entry : from) {
    if (is_fixed(entry)) continue;
    const Key key = key_of(entry);
    const auto held = known.find(key);
    if (held != known.end() && !is_outranked(*held->second, entry)) continue;
    const auto [winner, first] = winners.try_emplace(key, &entry);
    if (!first && is_outranked(*winner->second, entry)) winner->second = &entry;
  }
  std::vector<T> list;
  for (const auto& [key, entry] : winners) {
    ++(known.count(key) == 0 ? counts->added : counts->replaced);
    list.push_back(*entry);
  }
  return list;
}

}  // namespace

bool is_outranked(const Evidence& a, const Evidence& b) {
  const auto rank = [](const Evidence& e) {
    return std::tie(e.trusted, e.date, e.credit, e.gain, e.kind, e.run, e.number, e.parent, e.task.name, e.task.family, e.task.features, e.bottleneck,
                    e.direction, e.local, e.directions, e.locals, e.arguments, e.argument_class, e.outcome, e.certificate, e.device.fingerprint,
                    e.device.architecture, e.device.kind, e.implementer, e.program, e.trace);
  };
  return rank(a) < rank(b);
}

void distrust(MemoryContent* content) {
  for (DirectionCard& card : content->directions) card.trusted = false;
  for (LocalCard& card : content->locals) card.trusted = false;
  for (EdgeCard& card : content->edges) card.trusted = false;
  for (Evidence& row : content->evidence) row.trusted = false;
  for (RunRecord& run : content->runs) run.trusted = false;
  for (DecisionRecord& decision : content->decisions) decision.trusted = false;
}

MemoryContent select_winners(const MemoryContent& into, const MemoryContent& from, MergeCounts* counts) {
  MemoryContent winners;
  winners.directions = select(into.directions, from.directions, &counts->cards);
  winners.locals = select(into.locals, from.locals, &counts->cards);
  winners.edges = select(into.edges, from.edges, &counts->cards);
  winners.runs = select(into.runs, from.runs, &counts->runs);
  winners.evidence = select(into.evidence, from.evidence, &counts->evidence);
  winners.decisions = select(into.decisions, from.decisions, &counts->decisions);
  return winners;
}

}  // namespace cairn
