#include "memory/cards.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "base/json.h"
#include "memory/texts.h"
#include "strategy/strategy.h"

namespace cairn {

namespace {

// Compiled-in data: what does not read is a bug.
template <class T>
T expect(Result<T> result) {
  CAIRN_CHECK_MSG(result.ok(), render(result.error()));
  return *std::move(result);
}

std::string field(const Json& row, const char* key) { return expect(get_string(row, key)); }

std::vector<std::string> words(const Json& row, const char* key) {
  std::vector<std::string> list;
  for (const Json& word : row.at(key)) list.push_back(word.get<std::string>());
  return list;
}

// Paragraphs of a page, each on one line, without the heading.
std::vector<std::string> split_paragraphs(std::string_view page) {
  std::vector<std::string> paragraphs;
  for (std::size_t at = page.find("\n\n"); at < page.size();) {
    const std::size_t start = at + 2, end = std::min(page.find("\n\n", start), page.size());
    std::string text(page.substr(std::min(start, page.size()), end - std::min(start, end)));
    std::replace(text.begin(), text.end(), '\n', ' ');
    while (!text.empty() && text.back() == ' ') text.pop_back();
    if (!text.empty()) paragraphs.push_back(std::move(text));
    at = end;
  }
  return paragraphs;
}

std::string_view checks_of(Exactness weakest) {
  switch (weakest) {
    case Exactness::exact: return "Equal bit for bit; the rules' certificates and the executed gate.";
    case Exactness::reassociates: return "A sum in another order: the identity and numeric certificates, and the executed gate.";
    case Exactness::algebraic: return "Equal over the reals: recorded side conditions, the identity and numeric certificates, and the executed gate.";
    case Exactness::changes_precision: return "Another precision: the error budget on every family of inputs.";
  }
  return {};
}

LocalCard card_of(const Strategy& strategy, std::string_view page) {
  LocalCard card;
  card.name = strategy.name;
  card.direction = direction_name(strategy.direction);
  card.checks = checks_of(strategy.weakest);
  for (const std::string& paragraph : split_paragraphs(page)) {
    if (card.when.empty() && paragraph.find("pays") != std::string::npos) card.when = paragraph;
    else if (card.how.empty()) card.how = paragraph;
  }
  // A page of one paragraph says both; its summary stands for the edit.
  if (card.how.empty() || card.how.back() == ':') card.how = strategy.summary;
  return card;
}

MemoryContent read_cards() {
  MemoryContent cards;
  const Json directions = expect(parse_json(memory_directions_text(), "directions.json"));
  for (const Json& row : directions.at("directions")) {
    cards.directions.push_back({field(row, "name"), field(row, "intent"), field(row, "objective"), field(row, "risks"), words(row, "triggers"), true});
  }
  for (const Json& row : directions.at("edges")) {
    cards.edges.push_back({field(row, "from"), field(row, "to"), field(row, "rationale"), field(row, "risk"), words(row, "applies"), true});
  }
  const Json locals = expect(parse_json(memory_locals_text(), "locals.json"));
  for (const Json& row : locals.at("locals")) {
    cards.locals.push_back({field(row, "name"), field(row, "direction"), field(row, "when"), field(row, "how"), field(row, "checks"), true});
  }
  for (const PageText& page : strategy_page_texts()) {
    if (const Strategy* strategy = find_strategy(page.name)) cards.locals.push_back(card_of(*strategy, page.text));
  }
  std::sort(cards.directions.begin(), cards.directions.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::sort(cards.locals.begin(), cards.locals.end(),
            [](const auto& a, const auto& b) { return std::tie(a.name, a.direction) < std::tie(b.name, b.direction); });
  std::sort(cards.edges.begin(), cards.edges.end(), [](const auto& a, const auto& b) { return std::tie(a.origin, a.node) < std::tie(b.origin, b.node); });
  return cards;
}

template <class Card, class Same>
bool contains(const std::vector<Card>& cards, Same same) {
  return std::any_of(cards.begin(), cards.end(), same);
}

}  // namespace

const MemoryContent& built_in_cards() {
  static const MemoryContent cards = read_cards();
  return cards;
}

bool is_built_in(const DirectionCard& card) {
  return contains(built_in_cards().directions, [&](const DirectionCard& c) { return c.name == card.name; });
}
bool is_built_in(const LocalCard& card) {
  return contains(built_in_cards().locals, [&](const LocalCard& c) { return c.name == card.name && c.direction == card.direction; });
}
bool is_built_in(const EdgeCard& card) {
  return contains(built_in_cards().edges, [&](const EdgeCard& c) { return c.origin == card.origin && c.node == card.node; });
}

std::map<std::string, std::vector<std::string>> list_triggers(const std::vector<DirectionCard>& directions) {
  std::map<std::string, std::vector<std::string>> triggers;
  for (const DirectionCard& card : directions) triggers[card.name] = card.triggers;
  return triggers;
}

std::set<std::string> list_closed(const std::vector<EdgeCard>& edges, const std::string& origin, const std::string& bottleneck) {
  std::set<std::string> closed;
  for (const EdgeCard& edge : edges) {
    const bool applies = edge.applies.empty() || std::find(edge.applies.begin(), edge.applies.end(), bottleneck) != edge.applies.end();
    if (edge.origin == origin && !applies) closed.insert(edge.node);
  }
  return closed;
}

}  // namespace cairn
