#include "search/budget.h"

#include <charconv>
#include <cmath>

#include <fmt/core.h>

namespace cairn {

namespace {
Error bad_budget(std::string_view found) {
  return Error{Code::usage,
               fmt::format("budget '{}' is not understood", found),
               {},
               {"expected a list such as 200evals,10min,2usd; units: evals, proposals, s, min, h, usd"}};
}
}  // namespace

Result<Budget> parse_budget(std::string_view text) {
  Budget budget;
  budget.evaluations = 0;
  const std::string_view whole = text;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    double value = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (code != std::errc{} || !(value > 0) || !std::isfinite(value)) return bad_budget(part.empty() ? whole : part);
    const std::string_view unit(end, static_cast<std::size_t>(part.data() + part.size() - end));
    const bool whole_number = value == std::floor(value) && value < 1e15;
    if ((unit == "evals" || unit == "eval") && whole_number) budget.evaluations = static_cast<std::uint64_t>(value);
    else if ((unit == "proposals" || unit == "proposal") && whole_number) budget.proposals = static_cast<std::uint64_t>(value);
    else if (unit == "s" || unit == "sec") budget.seconds = value;
    else if (unit == "min") budget.seconds = value * 60;
    else if (unit == "h") budget.seconds = value * 3600;
    else if (unit == "usd") budget.dollars = value;
    else return bad_budget(part);
  }
  if (budget.evaluations == 0 && budget.proposals == 0 && budget.seconds == 0 && budget.dollars == 0) {
    return bad_budget(whole);
  }
  return budget;
}

std::string print_budget(const Budget& budget) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  if (budget.evaluations > 0) add(fmt::format("{}evals", budget.evaluations));
  if (budget.proposals > 0) add(fmt::format("{}proposals", budget.proposals));
  if (budget.seconds > 0) add(fmt::format("{}s", budget.seconds));
  if (budget.dollars > 0) add(fmt::format("{}usd", budget.dollars));
  return text;
}

std::string exhausted_limit(const Budget& budget, const Ledger& ledger) {
  if (budget.evaluations > 0 && ledger.evaluations >= budget.evaluations) return "evaluations";
  if (budget.proposals > 0 && ledger.proposals >= budget.proposals) return "proposals";
  if (budget.seconds > 0 && ledger.wall_seconds >= budget.seconds) return "seconds";
  if (budget.dollars > 0 && ledger.dollars >= budget.dollars) return "dollars";
  return {};
}

}  // namespace cairn
