#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file.h"
#include "ir/text.h"
#include "support/pair_file.h"
#include "verify/certificate.h"

namespace cairn {
namespace {

struct Pair {
  std::string name, claim, expect, part, before, after;
};

std::vector<Pair> load_pairs() {
  std::vector<Pair> pairs;
  for (const PairText& p : load_pair_file("certify_pairs.txt", 4)) pairs.push_back({p.fields[0], p.fields[1], p.fields[2], p.fields[3], p.before, p.after});
  return pairs;
}

TEST(certify, judges_the_labelled_pairs) {
  const std::vector<Pair> pairs = load_pairs();
  EXPECT_GE(pairs.size(), 28u);
  for (const Pair& pair : pairs) {
    const CertificateSet set =
        certify(parse_ok(pair.before), parse_ok(pair.after), *parse_exactness(pair.claim), nullptr, CertifyOptions());
    EXPECT_EQ(set.ok(), pair.expect == "ok") << pair.name << "\n" << serialize(set);
    if (pair.part.empty()) continue;
    std::string reasons;
    for (const Certificate& c : set.certificates) reasons += c.held ? "" : c.reason;
    EXPECT_NE(reasons.find(pair.part), std::string::npos) << pair.name << "\n" << reasons;
  }
}

constexpr char kBefore[] = "in A^{f32}_{4};out D^{f32}_{4};\nL^{4}_{i=0}[D_{i}=A_{i}/2;];";
constexpr char kAfter[] = "in A^{f32}_{4};out D^{f32}_{4};\nP^{4}_{i=0}[D_{i}=A_{i}/2;];";

TEST(certify, legal_needs_the_replay_and_every_condition_proved) {
  const Program before = parse_ok(kBefore), after = parse_ok(kAfter);
  CertifyOptions options;
  options.numeric = false;
  options.identity = false;
  ActionEvidence evidence;
  evidence.action = "loop_kind(loop=0.i, kind=P)";
  evidence.replayed = true;
  evidence.same_instances = true;
  evidence.proved = {"(1) no dependence is carried"};
  CertificateSet set = certify(before, after, Exactness::exact, &evidence, options);
  EXPECT_TRUE(set.ok());
  ASSERT_NE(set.find(Rung::legal), nullptr);
  EXPECT_EQ(set.find(Rung::legal)->facts[0].second, "(1) no dependence is carried");
  evidence.replayed = false;
  set = certify(before, after, Exactness::exact, &evidence, options);
  EXPECT_FALSE(set.ok());
  EXPECT_FALSE(set.find(Rung::legal)->held);
  evidence.replayed = true;
  evidence.same_instances = false;
  set = certify(before, after, Exactness::exact, &evidence, options);
  EXPECT_EQ(set.find(Rung::legal), nullptr);
  ASSERT_NE(set.find(Rung::rule), nullptr);  // a named rewrite with proved conditions
  EXPECT_TRUE(set.find(Rung::rule)->held);
  evidence.replayed = false;
  EXPECT_FALSE(certify(before, after, Exactness::exact, &evidence, options).ok());
  evidence.replayed = true;
  evidence.proved.clear();
  set = certify(before, after, Exactness::exact, &evidence, options);
  EXPECT_EQ(set.find(Rung::rule), nullptr);
  EXPECT_FALSE(set.ok());  // nothing but wellformed
  evidence.same_instances = true;
  evidence.conditions = {{"A[i] != 0", false}};
  set = certify(before, after, Exactness::exact, &evidence, options);
  EXPECT_EQ(set.find(Rung::legal), nullptr);
}

TEST(certify, recorded_conditions_excuse_what_they_say_and_nothing_else) {
  const Program before = parse_ok("in A^{f32}_{20};in C^{f32}_{20};out D^{f32}_{20};\nL^{20}_{i=0}[D_{i}=A_{i};];");
  const Program after = parse_ok("in A^{f32}_{20};in C^{f32}_{20};out D^{f32}_{20};\nL^{20}_{i=0}[D_{i}=A_{i}/C_{i}*C_{i};];");
  const Program wrong = parse_ok("in A^{f32}_{20};in C^{f32}_{20};out D^{f32}_{20};\nL^{20}_{i=0}[D_{i}=A_{i}/C_{i}*A_{i};];");
  ActionEvidence evidence;
  evidence.action = "expand_factor(by=C)";
  evidence.replayed = true;
  evidence.conditions = {{"C[i] != 0", false}};
  const CertificateSet set = certify(before, after, Exactness::algebraic, &evidence, CertifyOptions());
  EXPECT_TRUE(set.ok()) << serialize(set);
  EXPECT_EQ(set.conditions.size(), 1u);
  EXPECT_FALSE(certify(before, after, Exactness::algebraic, nullptr, CertifyOptions()).ok());
  EXPECT_FALSE(certify(before, wrong, Exactness::algebraic, &evidence, CertifyOptions()).ok());
}

TEST(certify, conditions_that_only_extreme_values_break_are_named) {
  const Program before = parse_ok("in A^{f64}_{8,8};out D^{f64}_{8,8};\nL^{8}_{i=0}L^{8}_{j=0}[D_{i,j}=1/(1+exp(-A_{i,j}));];");
  const Program after = parse_ok("in A^{f64}_{8,8};out D^{f64}_{8,8};\nL^{8}_{i=0}L^{8}_{j=0}[D_{i,j}=exp(A_{i,j})/(1+exp(A_{i,j}));];");
  const CertificateSet set = certify(before, after, Exactness::algebraic, nullptr, CertifyOptions());
  EXPECT_FALSE(set.ok()) << serialize(set);   // nobody claimed it
  const auto extreme = [](const auto& f) { return f.first == "broken_by" && f.second == "extreme"; };
  const Certificate& numeric = *set.find(Rung::numeric);
  EXPECT_TRUE(std::any_of(numeric.facts.begin(), numeric.facts.end(), extreme)) << serialize(set);
  const auto named = [&](const SideCondition& c) { return !c.proved && c.text == "after s0: exp(A_{i,j}) is finite (its argument at most 709)"; };
  EXPECT_TRUE(std::any_of(set.conditions.begin(), set.conditions.end(), named)) << serialize(set);
}

// Where identity has shown the values equal, a few families confirm; alone, the numeric rung looks at more.
TEST(certify, numeric_runs_fewer_families_beside_identity) {
  const auto fact = [](const CertificateSet& set, const std::string& key) {
    for (const auto& [k, value] : set.find(Rung::numeric)->facts) {
      if (k == key) return value;
    }
    return std::string();
  };
  CertifyOptions options;
  const CertificateSet both = certify(parse_ok(kBefore), parse_ok(kAfter), Exactness::reassociates, nullptr, options);
  EXPECT_TRUE(both.ok() && both.find(Rung::identity) != nullptr);
  EXPECT_EQ(fact(both, "families"), "normal one_hot small_integers nonfinite");
  EXPECT_EQ(fact(both, "seeds"), "1");
  options.identity = false;
  const CertificateSet alone = certify(parse_ok(kBefore), parse_ok(kAfter), Exactness::reassociates, nullptr, options);
  EXPECT_NE(fact(alone, "families").find("cancellation"), std::string::npos);
  EXPECT_NE(fact(alone, "seeds"), "1");
}

TEST(certify, executed_comes_from_the_caller) {
  CertifyOptions options;
  options.execute = [](const Program&, const Program&, Exactness) {
    Certificate c;
    c.rung = Rung::executed;
    c.reason = "crashed with signal 11";
    return c;
  };
  const CertificateSet set = certify(parse_ok(kBefore), parse_ok(kAfter), Exactness::exact, nullptr, options);
  EXPECT_TRUE(set.find(Rung::numeric)->held);
  EXPECT_FALSE(set.ok());
}

TEST(certify, certificates_print_and_parse_back) {
  const CertificateSet set = certify(parse_ok(kBefore), parse_ok(kAfter), Exactness::exact, nullptr, CertifyOptions());
  const std::string text = serialize(set);
  EXPECT_EQ(text, serialize(certify(parse_ok(kBefore), parse_ok(kAfter), Exactness::exact, nullptr, CertifyOptions())));
  const Result<CertificateSet> back = parse_certificates(text);
  ASSERT_TRUE(back.ok()) << render(back.error());
  EXPECT_EQ(serialize(*back), text);
  EXPECT_TRUE(back->ok());
  std::string other = text;
  other.replace(other.find("\"version\":1"), 11, "\"version\":2");
  EXPECT_FALSE(parse_certificates(other).ok());
  EXPECT_FALSE(parse_certificates("{}").ok());
  EXPECT_FALSE(parse_certificates(text.substr(0, text.size() - 1)).ok());
}

}  // namespace
}  // namespace cairn
