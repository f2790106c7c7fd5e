// The ladder under damage: whatever computes another function, or breaks a promise, gets no certificate.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/clock.h"
#include "cli/mutation_corpus.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace cairn {
namespace {

std::uint64_t seed_of_run() {
  const char* text = std::getenv("CAIRN_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}
std::vector<MutationPair> library(std::int64_t max_instances, std::size_t steps, std::size_t every = 1) {
  MutationCorpusOptions options;
  options.target = described_target();
  options.seed = seed_of_run();
  options.max_instances = max_instances;
  options.steps = steps;
  options.every = every;
  const std::string root = CAIRN_SOURCE_DIR;
  Result<std::vector<MutationPair>> pairs = make_mutation_corpus({root + "/tests/leir/ok", root + "/tests/leir/naive", root + "/tests/mutation/programs", root + "/src/strategy"}, options);
  EXPECT_TRUE(pairs.ok()) << (pairs ? "" : render(pairs.error()));
  return pairs ? *std::move(pairs) : std::vector<MutationPair>();
}
MutationOptions options_of_run() {
  MutationOptions options;
  options.target = described_target();
  options.seed = seed_of_run();
  return options;
}

TEST(Mutation, NamesAtLeastFortyKindsOfDamage) {
  std::set<std::string_view> names;
  for (const DamageOperator& op : damage_operators()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_FALSE(op.sentence.empty()) << op.name;
    EXPECT_EQ(find_damage_operator(op.name), &op);
  }
  EXPECT_GE(names.size(), 40u);
  EXPECT_EQ(find_damage_operator("no_such"), nullptr);
}

TEST(Mutation, EveryKindFindsSitesInTheLibraryAndGivesReadableText) {
  const std::vector<MutationPair> pairs = library(100'000, 0);
  ASSERT_GE(pairs.size(), 40u);
  for (const DamageOperator& op : damage_operators()) {
    std::size_t sites = 0;
    for (const MutationPair& pair : pairs) {
      for (const Damage& d : sample_damage(pair.after, op, 7, 2)) {
        ++sites;
        EXPECT_NE(canonical_hash(d.program), canonical_hash(pair.after)) << op.name << " " << d.site;
        const Result<Program> again = parse_program(print_program(d.program));
        ASSERT_TRUE(again.ok()) << op.name << " " << d.site;
        EXPECT_EQ(canonical_hash(*again), canonical_hash(d.program)) << op.name << " " << d.site << "\n" << print_program(d.program);
      }
      if (sites >= 4) break;
    }
    EXPECT_GE(sites, 1u) << op.name;
  }
}

TEST(Mutation, EnumerationIsCompleteAndSamplesComeFromIt) {
  const Program p = *parse_program("in A^{f32}_{4,4};out D^{f32}_{4};\nL^{4}_{i=0}L^{4}_{j=0}[D_{i}=D_{i}+A_{i,j}*2;];");
  const DamageOperator* op = find_damage_operator("term_dropped");
  ASSERT_NE(op, nullptr);
  const Damages all = enumerate_damage(p, *op);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].site, "s0: D_{i}+A_{i,j}*2 -> D_{i}");
  const Damages some = sample_damage(p, *op, 3, 1), again = sample_damage(p, *op, 3, 1);
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].site, again[0].site);
}

// Damage of form is refused by the rules of form wherever it is done: no damaged program keeps them.
TEST(Mutation, DamageOfFormIsDamage) {
  // A loop named after an axis may be bound to it.
  const Program p = *parse_program("in A^{f32}_{8};out D^{f32}_{8};\nL^{2}_{bx=0}L^{4}_{k=0}[D_{bx*4+k}=A_{bx*4+k};];");
  const Damages bound = enumerate_damage(p, *find_damage_operator("axis_misnamed"));
  ASSERT_EQ(bound.size(), 1u);
  EXPECT_EQ(bound[0].site, "0.k: bound under a name that is no axis");
  for (const MutationPair& pair : library(4'000, 1)) {
    for (const DamageOperator& op : damage_operators()) {
      if (op.kind != DamageKind::form) continue;
      for (const Damage& d : sample_damage(pair.after, op, seed_of_run(), 2)) {
        EXPECT_FALSE(check_program(d.program, described_target()).ok()) << op.name << " " << d.site << "\n" << print_program(d.program);
      }
    }
  }
}

// Results do not depend on threads; a sample of the library stays without a miss.
TEST(Mutation, SampleOfTheLibraryIsCaughtAndReproduces) {
  const std::vector<MutationPair> pairs = library(4'000, 1, 4);
  MutationOptions options = options_of_run();
  options.stride = 13;
  options.jobs = 2;
  const MutationReport report = run_mutation(pairs, options);
  EXPECT_GE(report.mutants, 300);
  EXPECT_TRUE(report.unusable.empty()) << report.unusable[0];
  EXPECT_EQ(report.missed, 0) << mutation_text(report);
  std::int64_t refused_by_both = 0, different = 0;
  for (const OperatorCount& op : report.operators) {
    for (const ClaimCount& c : op.claims) refused_by_both += c.by_both, different += c.different;
  }
  EXPECT_GE(refused_by_both * 100, different * 95) << "each rung must refuse nearly everything by itself";
  const std::vector<MutationPair> few(pairs.begin(), pairs.begin() + 10);
  options.jobs = 1;
  const std::string once = mutation_json(run_mutation(few, options));
  options.jobs = 2;
  EXPECT_EQ(mutation_json(run_mutation(few, options)), once);
}

// CAIRN_NIGHTLY: every kind of damage on every program and on two results of random strategies each.
TEST(Mutation, WholeLibrary) {
  if (std::getenv("CAIRN_NIGHTLY") == nullptr) GTEST_SKIP() << "CAIRN_NIGHTLY is not set";
  MutationOptions options = options_of_run();
  options.jobs = 2;
  const MutationReport report = run_mutation(library(100'000, 2), options);
  EXPECT_GE(report.mutants, 5'000);
  EXPECT_TRUE(report.unusable.empty()) << report.unusable[0];
  EXPECT_EQ(report.missed, 0) << mutation_text(report);
}

}  // namespace
}  // namespace cairn
