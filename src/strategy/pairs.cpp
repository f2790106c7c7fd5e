#include "strategy/pairs.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace cairn {

namespace {

constexpr const char* kShipped =
#include "strategy/pairs.inc"
    ;
constexpr std::string_view kLetters = "-x~=";   // in the order of Commutes

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

Error bad_line(std::size_t number, std::string_view line, std::string_view expected) {
  return Error{Code::parse, fmt::format("line {} of the pair table: found '{}', expected {}", number, line, expected), {}, {}};
}

// "8/12": two whole numbers.
bool parse_share(const std::string& word, int* part, int* whole) {
  const std::size_t slash = word.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == word.size()) return false;
  if (word.find_first_not_of("0123456789/") != std::string::npos || word.size() > 12) return false;
  *part = std::stoi(word.substr(0, slash));
  *whole = std::stoi(word.substr(slash + 1));
  return true;
}

}  // namespace

const PairTable& PairTable::shipped() {
  static const PairTable kTable = [] {
    Result<PairTable> table = parse(kShipped);
    CAIRN_CHECK_MSG(table.ok(), table.ok() ? "" : table.error().message);
    return *std::move(table);
  }();
  return kTable;
}

Result<PairTable> PairTable::parse(std::string_view text) {
  PairTable table;
  std::vector<std::string> rows;
  for (const auto& [line, number, behind, whole] : split_lines(text)) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || words[0][0] == '#') continue;
    if (words[0] == "undo") {
      Undo undo;
      if (words.size() != 4 || !parse_share(words[3], &undo.undone, &undo.steps)) return bad_line(number, line, "'undo FIRST SECOND UNDONE/STEPS'");
      undo.first = words[1];
      undo.second = words[2];
      table.undo_.push_back(undo);
      continue;
    }
    if (words.size() != 2 || words[1].find_first_not_of(kLetters) != std::string::npos) {
      return bad_line(number, line, "a strategy and one of '=~x-' for each strategy");
    }
    table.names_.push_back(words[0]);
    rows.push_back(words[1]);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != rows.size()) {
      return Error{Code::parse, fmt::format("the row of {} in the pair table has {} letters, expected {}", table.names_[i], rows[i].size(), rows.size()), {}, {}};
    }
    std::vector<Commutes> row;
    for (const char letter : rows[i]) row.push_back(static_cast<Commutes>(kLetters.find(letter)));
    table.commutes_.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (table.commutes_[i][j] == table.commutes_[j][i]) continue;
      return Error{Code::parse, fmt::format("the pair table says two things of {} and {}", table.names_[i], table.names_[j]), {}, {}};
    }
  }
  return table;
}

std::string PairTable::print() const {
  std::size_t width = 0;
  for (const std::string& name : names_) width = std::max(width, name.size());
  std::string text =
      "# Which moves commute: '=' always, '~' sometimes, 'x' never, '-' fewer than 4 trials; columns in the order of the rows.\n";
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::string letters;
    for (const Commutes c : commutes_[i]) letters += kLetters[static_cast<std::size_t>(c)];
    text += fmt::format("{:<{}} {}\n", names_[i], width, letters);
  }
  text += "# Steps of the first strategy that one step of the second took back.\n";
  for (const Undo& undo : undo_) text += fmt::format("undo {} {} {}/{}\n", undo.first, undo.second, undo.undone, undo.steps);
  return text;
}

std::size_t PairTable::index_of(std::string_view name) const {
  return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
}

Commutes PairTable::commutes(std::string_view a, std::string_view b) const {
  const std::size_t i = index_of(a), j = index_of(b);
  return i < names_.size() && j < names_.size() ? commutes_[i][j] : Commutes::untested;
}

bool PairTable::undoes(std::string_view first, std::string_view second) const {
  return std::any_of(undo_.begin(), undo_.end(), [&](const Undo& undo) {
    return undo.first == first && undo.second == second && 2 * undo.undone >= undo.steps;
  });
}

}  // namespace cairn
