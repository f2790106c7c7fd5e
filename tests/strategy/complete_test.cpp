// Sites are complete: whatever places an application accepts, one of the listed sites is at these places or gives the same
// program. Places are loops, equations, nests and tensors, and choices where no sizes or texts go with them: which of those
// are tried at a place is the strategy's own table.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/rng.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/registry.h"
#include "strategy/workloads.h"

namespace cairn::test {
namespace {

// Tuples tried a program; CAIRN_STEPS raises it (nightly).
std::size_t wanted_tuples() {
  const char* value = std::getenv("CAIRN_STEPS");
  return value ? static_cast<std::size_t>(std::max(60, std::atoi(value))) : 60;
}

const std::vector<WorkloadState>& all_states() {
  static const std::vector<WorkloadState> kStates = [] {
    Result<std::vector<WorkloadState>> states = load_workloads(std::string(CAIRN_SOURCE_DIR) + "/bench/workloads", described_target());
    EXPECT_TRUE(states.ok()) << (states.ok() ? "" : render(states.error()));
    return states.ok() ? *std::move(states) : std::vector<WorkloadState>();
  }();
  return kStates;
}

bool is_place(ArgType type) {
  return type == ArgType::loop || type == ArgType::equation || type == ArgType::nest || type == ArgType::tensor;
}
bool has_table(const Strategy& strategy) {
  return std::any_of(strategy.params.begin(), strategy.params.end(), [](const Param& p) { return !is_place(p.type) && p.type != ArgType::choice; });
}

// Every value a place parameter can have in the program.
std::vector<std::string> places_of(const Program& program, const Param& param) {
  std::vector<std::string> values;
  switch (param.type) {
    case ArgType::loop:
      for (const StmtPath& path : collect_loops(program.body())) values.push_back(loop_address(program.body(), path));
      break;
    case ArgType::equation:
      for (std::size_t k = 0; k < collect_equations(program.body()).size(); ++k) values.push_back(fmt::format("s{}", k));
      break;
    case ArgType::nest:
      for (std::size_t k = 0; k < program.body().size(); ++k) values.push_back(fmt::format("{}", k));
      break;
    case ArgType::tensor:
      for (const Tensor& tensor : program.tensors()) values.push_back(tensor.name);
      break;
    default:
      for (const std::string_view choice : param.choices) values.emplace_back(choice);
  }
  if (param.type == ArgType::choice) return values;
  if (!param.fallback.empty() && values.empty() && std::find(values.begin(), values.end(), param.fallback) == values.end()) values.emplace_back(param.fallback);
  return values;
}

// Instances of equations below that touch the tensor.
std::int64_t count_touches(const Body& body, const std::string& tensor) {
  std::int64_t total = 0;
  for (const StmtPtr& stmt : body) {
    const std::int64_t inner = stmt->is_equation() ? static_cast<std::int64_t>(count_mentions({stmt}, tensor)) : count_touches(stmt->body, tensor);
    total += inner * (stmt->is_loop() ? stmt->extent : 1);
  }
  return total;
}

// What a strategy accepts and says on its page that it does not list: staging that saves no touch of the tensor.
bool is_unlisted_by_rule(const Strategy& strategy, const Program& before, const Program& after, const Args& args) {
  if (strategy.name != "cache_read_write") return false;
  const std::string& tensor = args.get("tensor");
  return count_touches(after.body(), tensor) >= count_touches(before.body(), tensor);
}

class Complete : public ::testing::TestWithParam<const Strategy*> {};

TEST_P(Complete, AcceptedPlacesAreListed) {
  const Strategy& strategy = *GetParam();
  const Target target = described_target();
  std::size_t tried = 0, accepted = 0, missing = 0;
  const std::size_t stride = std::max<std::size_t>(1, all_states().size() / 24);
  const Rng base = Rng(11).split(strategy.name);
  for (std::size_t k = base.split("offset").split(std::uint64_t{0}).next() % stride; k < all_states().size(); k += stride) {
    const WorkloadState& state = all_states()[k];
    Rng rng = base.split(k);
    const std::vector<Args> sites = strategy.sites(state.program, target);
    std::set<std::string> listed;          // the places of all sites
    std::vector<std::vector<std::string>> values;
    for (const Param& param : strategy.params) {
      if (is_place(param.type) || param.type == ArgType::choice) {
        values.push_back(places_of(state.program, param));
        continue;
      }
      std::set<std::string> table;
      for (const Args& site : sites) table.insert(site.get(param.name));
      values.emplace_back(table.begin(), table.end());
    }
    const auto key = [&](const Args& args) {
      std::string text;
      for (const Param& param : strategy.params) {
        if (is_place(param.type) || (param.type == ArgType::choice && !has_table(strategy))) text += args.get(param.name) + " ";
      }
      return text;
    };
    for (const Args& site : sites) listed.insert(key(site));
    if (std::any_of(values.begin(), values.end(), [](const auto& v) { return v.empty(); })) continue;
    std::size_t combinations = 1;
    for (const auto& v : values) combinations = std::min<std::size_t>(combinations * v.size(), 1u << 30);
    const bool all = combinations <= wanted_tuples();
    std::set<Digest> reached;
    for (std::size_t n = 0; n < (all ? combinations : wanted_tuples()); ++n) {
      Args args;
      std::size_t rest = n;
      for (std::size_t p = 0; p < values.size(); ++p) {
        const std::size_t at = all ? rest % values[p].size() : rng.below(values[p].size());
        rest /= values[p].size();
        args.set(std::string(strategy.params[p].name), values[p][at]);
      }
      ++tried;
      const Result<Step> step = apply_action(state.program, target, {std::string(strategy.name), args});
      if (!step) continue;
      ++accepted;
      if (listed.count(key(args)) || is_unlisted_by_rule(strategy, state.program, step->after, args)) continue;
      if (reached.empty()) {
        for (const Args& site : sites) {
          const Result<Step> other = strategy.apply(state.program, target, site);
          if (other) reached.insert(canonical_hash(other->after));
        }
      }
      if (reached.count(canonical_hash(step->after))) continue;
      ++missing;
      ADD_FAILURE() << state.workload << " (" << state.state << "): not listed: " << print_action({std::string(strategy.name), args}) << "\n"
                    << print_program(state.program);
      if (missing > 2) return;
    }
  }
  fmt::print("{}: {} tuples tried, {} accepted\n", strategy.name, tried, accepted);
}

INSTANTIATE_TEST_SUITE_P(Strategies, Complete, ::testing::ValuesIn(all_strategies()),
                         [](const auto& strategy) { return std::string(strategy.param->name); });

}  // namespace
}  // namespace cairn::test
