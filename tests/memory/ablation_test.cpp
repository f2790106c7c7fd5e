// Each ablation leaves out what its name says and nothing else: the decision's terms beside those of htam, on the example's
// evidence, where every part of the policy has something to say.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "memory/policy_example.h"

namespace cairn {
namespace {

using namespace example;

// What scores are made of: values by "direction memory_access: trigger" and the like, without noise, which draws differ in.
using Terms = std::map<std::string, double>;

void add_terms(const std::string& part, const std::vector<Scored>& scored, Terms* terms) {
  for (const Scored& s : scored) {
    for (const Term& term : s.terms) {
      const std::string name = term.name.rfind("best local", 0) == 0 ? "best local" : term.name;
      if (name != "noise") (*terms)[part + " " + s.name + ": " + name] = term.value;
    }
  }
}

// Of one decision over all options, and of one a direction, so that the locals of both are scored whatever is drawn.
Terms terms_of(MemoryMode mode) {
  const EvidenceIndex index = make_index(mode);
  const auto decide_over = [&](const std::vector<LocalOption>& options) {
    return decide(index, make_state(), options, kTriggers, make_parameters(), mode, Rng(3));
  };
  Terms terms;
  add_terms("direction", decide_over(make_options()).directions, &terms);
  for (const LocalOption& option : make_options()) add_terms("local", decide_over({option}).locals, &terms);
  return terms;
}

struct Difference {
  std::set<std::string> gone, added, changed;
  friend bool operator==(const Difference&, const Difference&) = default;
};

Difference compare_terms(const Terms& from, const Terms& to) {
  Difference d;
  for (const auto& [name, value] : from) {
    const auto other = to.find(name);
    if (other == to.end()) d.gone.insert(name);
    else if (std::abs(other->second - value) > 1e-9) d.changed.insert(name);
  }
  for (const auto& [name, value] : to) {
    if (from.count(name) == 0) d.added.insert(name);
  }
  return d;
}

std::string print(const Difference& d) {
  std::string text;
  for (const auto& [what, names] : {std::pair{"gone", &d.gone}, std::pair{"added", &d.added}, std::pair{"changed", &d.changed}}) {
    for (const std::string& name : *names) text += std::string(what) + " \"" + name + "\"\n";
  }
  return text;
}

using Names = std::set<std::string>;

// Each of `heads` with each of `terms`.
Names name_terms(const std::vector<std::string>& heads, const std::vector<std::string>& terms) {
  Names names;
  for (const std::string& head : heads) {
    for (const std::string& term : terms) names.insert(head + ": " + term);
  }
  return names;
}
Names operator+(Names a, const Names& b) {
  a.insert(b.begin(), b.end());
  return a;
}

const std::vector<std::string> kDirections{"direction memory_access", "direction parallelism"};
const std::vector<std::string> kAccess{"direction memory_access"};
const std::vector<std::string> kLocals{"local vectorize", "local transpose", "local parallel"};
const std::vector<std::string> kOfAccess{"local vectorize", "local transpose"};
const std::vector<std::string> kDirectionSteps{"after data_reuse", "after START"}, kLocalSteps{"after tile", "after START"};
const Names kBestLocals = name_terms(kDirections, {"best local"});
// The one local that enables another; the cost of its failures grows with what it is worth.
const Names kEnables = name_terms({"local transpose"}, {"enables vectorize"}), kItsFailures = name_terms({"local transpose"}, {"failures"});

struct Ablation {
  MemoryMode mode;
  Difference expected;
};
// Of `parallel` four like rows are known and none in this run: contexts, credit and this run say the same of it as all rows do.
const std::vector<Ablation> kAblations{
    {MemoryMode::no_hierarchy, {name_terms(kDirections, {"trigger", "after data_reuse", "after START", "best local", "count"}), {}, {}}},
    {MemoryMode::no_local, {name_terms(kLocals, kLocalSteps) + name_terms(kLocals, {"failures"}) + kEnables, name_terms(kLocals, {"predicted"}), kBestLocals}},
    {MemoryMode::no_prefix,
     {name_terms(kDirections, kDirectionSteps) + name_terms(kLocals, kLocalSteps) + kEnables, name_terms(kLocals, {"local"}), kBestLocals + kItsFailures}},
    {MemoryMode::k1,
     {name_terms(kDirections, {"after START"}) + name_terms(kLocals, {"after START"}), {},
      name_terms(kDirections, {"after data_reuse"}) + name_terms(kLocals, {"after tile"}) + name_terms(kAccess, {"best local"})}},
    {MemoryMode::uniform_w, {{}, {}, name_terms(kDirections, kDirectionSteps) + name_terms(kLocals, kLocalSteps) + name_terms(kAccess, {"best local"})}},
    {MemoryMode::no_credit,
     {kEnables, {}, kItsFailures}},
    {MemoryMode::no_context,
     {{}, {}, name_terms(kAccess, {"after data_reuse", "after START", "best local"}) + name_terms(kOfAccess, kLocalSteps) + kEnables + kItsFailures}},
    {MemoryMode::no_run, {{}, {}, name_terms(kAccess, {"after data_reuse", "after START", "best local"}) + name_terms({"local vectorize"}, kLocalSteps) + kEnables + kItsFailures}},
    {MemoryMode::no_trigger, {name_terms(kDirections, {"trigger"}), {}, {}}},
};

class Ablated : public testing::TestWithParam<Ablation> {};

TEST_P(Ablated, DiffersFromHtamInWhatItsNameSays) {
  const Difference found = compare_terms(terms_of(MemoryMode::htam), terms_of(GetParam().mode));
  EXPECT_TRUE(found == GetParam().expected) << "found:\n" << print(found) << "expected:\n" << print(GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Policy, Ablated, testing::ValuesIn(kAblations), [](const auto& test) {
  std::string name(memory_mode_name(test.param.mode));
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Ablations, AreAllThere) {
  EXPECT_EQ(kAblations.size(), static_cast<std::size_t>(MemoryMode::no_trigger) - static_cast<std::size_t>(MemoryMode::no_hierarchy) + 1);
  EXPECT_TRUE(compare_terms(terms_of(MemoryMode::htam), terms_of(MemoryMode::htam)) == Difference{});
  EXPECT_EQ(terms_of(MemoryMode::htam).size(), 23u) << "five terms a direction, four a local, and one that enables another";
}

// Without directions a decision scores the locals of all at once, and still says which direction it took.
TEST(Ablations, NoHierarchyPicksAmongAllLocals) {
  const Decision d = decide(make_index(MemoryMode::no_hierarchy), make_state(), make_options(), kTriggers, make_parameters(), MemoryMode::no_hierarchy, Rng(3));
  EXPECT_TRUE(d.directions.empty());
  ASSERT_EQ(d.locals.size(), 3u);
  EXPECT_EQ(d.direction, d.local == "parallel" ? "parallelism" : "memory_access");
}

}  // namespace
}  // namespace cairn
