#include "cli/catalogue.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/pool.h"
#include "strategy/pairs.h"
#include "strategy/registry.h"

namespace cairn {

namespace {

// How often a strategy fires: sites that apply and verify count; one is enough for a state.
struct Firing {
  std::vector<std::string> workloads;   // in order of the list, each once
  std::size_t states = 0, sites = 0;
};

constexpr std::size_t kTried = 8;   // sites tried until one applies

std::vector<Firing> count_firing(const std::vector<WorkloadState>& states, const Target& target, unsigned jobs) {
  const auto& strategies = all_strategies();
  std::vector<std::vector<std::size_t>> sites(states.size(), std::vector<std::size_t>(strategies.size()));
  ThreadPool pool(std::max(1u, jobs));
  for (std::size_t k = 0; k < states.size(); ++k) {
    pool.submit([&, k] {
      for (std::size_t s = 0; s < strategies.size(); ++s) {
        const std::vector<Args> all = strategies[s]->sites(states[k].program, target);
        bool applies = false;
        for (std::size_t n = 0; n < all.size() && n < kTried && !applies; ++n) {
          applies = apply_action(states[k].program, target, {std::string(strategies[s]->name), all[n]}).ok();
        }
        sites[k][s] = applies ? all.size() : 0;
      }
    });
  }
  pool.wait();
  std::vector<Firing> firing(strategies.size());
  for (std::size_t s = 0; s < strategies.size(); ++s) {
    std::set<std::string> seen;
    for (std::size_t k = 0; k < states.size(); ++k) {
      if (sites[k][s] == 0) continue;
      ++firing[s].states;
      firing[s].sites += sites[k][s];
      if (seen.insert(states[k].workload).second) firing[s].workloads.push_back(states[k].workload);
    }
  }
  return firing;
}

// The strategy's file of that extension in one of the folders; empty if there is none.
std::string file_of(const Strategy& strategy, const std::string& pages, std::string_view extension) {
  for (const char* folder : {"graph", "loop", "memory", "math", "gpu"}) {
    std::string path = fmt::format("{}/{}/{}.{}", pages, folder, strategy.name, extension);
    if (file_exists(path)) return path;
  }
  return {};
}

// The prose of a page: after the title, before the first block, level-2 titles made level 4.
Result<std::string> prose_of(const Strategy& strategy, const std::string& pages) {
  const std::string path = file_of(strategy, pages, "md");
  if (path.empty()) return Error{Code::io, fmt::format("{}: strategy {} has no page there", pages, strategy.name), {}, {}};
  CAIRN_TRY(const std::string text, read_file(path));
  const std::size_t title = text.find('\n');
  const std::size_t block = text.find("```");
  if (title == std::string::npos || block == std::string::npos || block < title) {
    return Error{Code::parse, fmt::format("{}: found no title and no case, expected both", path), {}, {}};
  }
  std::string prose = text.substr(title, block - title);
  // A last paragraph that leads over to the first case stays with it.
  if (const std::size_t end = prose.find_last_not_of("\n "); end != std::string::npos && prose[end] == ':') {
    prose.resize(std::max<std::size_t>(prose.rfind("\n\n", end), 1));
  }
  const std::size_t first = prose.find_first_not_of("\n "), last = prose.find_last_not_of("\n ");
  return first == std::string::npos ? std::string() : prose.substr(first, last - first + 1);
}

// The numbered conditions in the header comment of the strategy's source, as a list; empty if it has none.
Result<std::string> conditions_of(const Strategy& strategy, const std::string& pages) {
  const std::string path = file_of(strategy, pages, "cpp");
  if (path.empty()) return std::string();
  CAIRN_TRY(const std::string text, read_file(path));
  const std::size_t start = text.find("// Legal when");
  if (start == std::string::npos) return Error{Code::parse, fmt::format("{}: found no '// Legal when', expected the numbered conditions", path), {}, {}};
  std::string list;
  for (std::size_t at = text.find('\n', start) + 1; text.compare(at, 3, "// ") == 0;) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at + 3, end - at - 3);
    at = end + 1;
    if (line[0] == '(') {
      list += "- " + line + "\n";
    } else if (line[0] == ' ') {
      list += "  " + line.substr(line.find_first_not_of(' ')) + "\n";
    } else {
      break;
    }
  }
  return list;
}

std::string list_some(const std::vector<std::string>& names, std::size_t limit) {
  std::string text;
  for (std::size_t k = 0; k < names.size() && k < limit; ++k) text += (k ? ", " : "") + names[k];
  if (names.size() > limit) text += fmt::format(" and {} more", names.size() - limit);
  return text;
}

std::string describe_params(const Strategy& strategy) {
  std::string text;
  for (const Param& p : strategy.params) {
    text += fmt::format("- `{}`: {}{}\n", p.name, p.help, p.fallback.empty() ? "" : fmt::format(" (default `{}`)", p.fallback));
  }
  return text;
}

std::string describe_pairs(const Strategy& strategy) {
  const PairTable& table = PairTable::shipped();
  std::vector<std::string> undone, always, never;
  for (const Strategy* other : all_strategies()) {
    if (table.undoes(strategy.name, other->name)) undone.emplace_back(other->name);
    const Commutes c = table.commutes(strategy.name, other->name);
    if (c == Commutes::always) always.emplace_back(other->name);
    if (c == Commutes::never) never.emplace_back(other->name);
  }
  std::string text;
  if (!undone.empty()) text += fmt::format("Taken back by {}. ", list_some(undone, 8));
  if (!always.empty()) text += fmt::format("Commutes with {}. ", list_some(always, 6));
  if (!never.empty()) text += fmt::format("Never with {}. ", list_some(never, 6));
  if (!text.empty()) text.back() = '\n';
  return text;
}

}  // namespace

Result<std::string> print_catalogue(const std::vector<WorkloadState>& states, const std::string& pages, const Target& target,
                                    unsigned jobs) {
  const std::vector<Firing> firing = count_firing(states, target, jobs);
  std::set<std::string> workloads;
  for (const WorkloadState& state : states) workloads.insert(state.workload);
  std::string text = fmt::format(
      "# Strategies\n\n"
      "Every strategy lists its sites and applies at one; each application is verified and carries its class: *exact* (the same\n"
      "bits), *reassociates* (sums in another order), *algebraic* (a real-number identity with its side conditions),\n"
      "*changes_precision*. The class below is the weakest an application may have.\n\n"
      "Counted on {} workloads (`bench/workloads`) in {} states: as imported, with producers inlined, with nests fused, and\n"
      "prepared ones (`states.txt`). *Fires on* counts workloads with at least one site that applies and verifies; *sites* adds\n"
      "up the sites of all states.\n\n"
      "This page is generated: `scripts/catalogue` writes it, and a test compares.\n\n"
      "| strategy | level · direction | class | what | fires on | sites |\n| --- | --- | --- | --- | --- | --- |\n",
      workloads.size(), states.size());
  const auto& strategies = all_strategies();
  for (std::size_t s = 0; s < strategies.size(); ++s) {
    const Strategy& strategy = *strategies[s];
    text += fmt::format("| [{0}](#{0}) | {1} · {2} | {3} | {4} | {5} | {6} |\n", strategy.name, level_name(strategy.level),
                        direction_name(strategy.direction), exactness_name(strategy.weakest), strategy.summary,
                        firing[s].workloads.size(), firing[s].sites);
  }
  for (std::size_t s = 0; s < strategies.size(); ++s) {
    const Strategy& strategy = *strategies[s];
    CAIRN_TRY(const std::string prose, prose_of(strategy, pages));
    CAIRN_TRY(const std::string conditions, conditions_of(strategy, pages));
    text += fmt::format("\n## {}\n\n{}\n\nParameters:\n\n{}\nLegal when\n\n{}\nFires on {}.\n", strategy.name, prose, describe_params(strategy), conditions,
                        firing[s].workloads.empty() ? "none of the workloads" : list_some(firing[s].workloads, 6));
    const std::string pairs = describe_pairs(strategy);
    if (!pairs.empty()) text += "\n" + pairs;
  }
  return text;
}

}  // namespace cairn
