#include "search/budget.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/core.h>

namespace cairn {

namespace {
Error bad_budget(std::string_view found) {
  return Error{Code::usage,
               fmt::format("budget '{}' is not understood", found),
               {},
               {"expected a list such as 200evals,10min,2usd; units: evals, proposals, compiles, s, min, h, device-s, device-min, device-h, tokens, usd"}};
}

// One unit and the limit that it sets.
struct LimitUnit {
  std::string_view name;
  std::uint64_t Budget::*count = nullptr;   // or
  double Budget::*amount = nullptr;
  double scale = 1;
};
constexpr LimitUnit kUnits[] = {
    {"evals", &Budget::evaluations}, {"eval", &Budget::evaluations}, {"proposals", &Budget::proposals}, {"proposal", &Budget::proposals},
    {"compiles", &Budget::compiles}, {"compile", &Budget::compiles}, {"tokens", &Budget::tokens}, {"token", &Budget::tokens},
    {"s", nullptr, &Budget::seconds}, {"sec", nullptr, &Budget::seconds}, {"min", nullptr, &Budget::seconds, 60}, {"h", nullptr, &Budget::seconds, 3600},
    {"device-s", nullptr, &Budget::device_seconds}, {"device-min", nullptr, &Budget::device_seconds, 60}, {"device-h", nullptr, &Budget::device_seconds, 3600},
    {"usd", nullptr, &Budget::dollars}};

Result<void> set_limit(const LimitUnit& unit, double value, std::string_view part, Budget* budget) {
  const Error twice{Code::usage, fmt::format("budget '{}' sets a limit that the same list has set before", part), {}, {}};
  if (unit.amount) {
    if (budget->*unit.amount != 0) return twice;
    budget->*unit.amount = value * unit.scale;
    return {};
  }
  if (value != std::floor(value) || value >= 1e15) return bad_budget(part);
  if (budget->*unit.count != 0) return twice;
  budget->*unit.count = static_cast<std::uint64_t>(value);
  return {};
}

}  // namespace

Result<Budget> parse_budget(std::string_view text) {
  Budget budget;
  budget.evaluations = 0;
  const std::string_view whole = text;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    more = comma != std::string_view::npos;
    text = more ? text.substr(comma + 1) : std::string_view{};
    double value = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (code != std::errc{} || !(value > 0) || !std::isfinite(value)) return bad_budget(part.empty() ? whole : part);
    const std::string_view name(end, static_cast<std::size_t>(part.data() + part.size() - end));
    const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const LimitUnit& u) { return u.name == name; });
    if (unit == std::end(kUnits)) return bad_budget(part);
    CAIRN_CHECKED(set_limit(*unit, value, part, &budget));
  }
  return budget;
}

std::string print_budget(const Budget& budget) {
  std::string text;
  const auto add = [&text](auto value, const char* unit) {
    if (value > 0) text += fmt::format("{}{}{}", text.empty() ? "" : ",", value, unit);
  };
  add(budget.evaluations, "evals");
  add(budget.proposals, "proposals");
  add(budget.compiles, "compiles");
  add(budget.seconds, "s");
  add(budget.device_seconds, "device-s");
  add(budget.tokens, "tokens");
  add(budget.dollars, "usd");
  return text;
}

Result<void> check_free_budget(const Budget& b) {
  if (b.evaluations > 0 || b.proposals > 0 || b.compiles > 0 || b.seconds > 0 || b.device_seconds > 0) return {};
  return Error{Code::usage, fmt::format("budget '{}' limits only what nothing in this run spends, so it would not end", print_budget(b)), {},
               {"add evaluations or time, such as 200evals,10min"}};
}

std::string exhausted_limit(const Budget& budget, const Ledger& ledger) {
  const auto spent = [](auto limit, auto used) { return limit > 0 && used >= limit; };
  if (spent(budget.evaluations, ledger.evaluations)) return "evaluations";
  if (spent(budget.proposals, ledger.proposals)) return "proposals";
  if (spent(budget.compiles, ledger.compiles)) return "compiles";
  if (spent(budget.seconds, ledger.wall_seconds)) return "seconds";
  if (spent(budget.device_seconds, ledger.device_seconds)) return "device seconds";
  if (spent(budget.tokens, ledger.tokens)) return "tokens";
  if (spent(budget.dollars, ledger.dollars)) return "dollars";
  return {};
}

}  // namespace cairn
