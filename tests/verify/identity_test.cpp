// The identity rung: laws each algebra must accept and refuse, staged tiles at full shape, cut points, speed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file.h"
#include "ir/text.h"
#include "support/pair_file.h"
#include "verify/identity.h"
#include "verify/identity/choices.h"
#include "verify/identity/pass.h"

namespace cairn {
namespace {

struct Pair {
  std::string name, strongest, part, before, after;
};

std::vector<Pair> load_pairs() {
  std::vector<Pair> pairs;
  for (const PairText& p : load_pair_file("identity_pairs.txt", 3)) pairs.push_back({p.fields[0], p.fields[1], p.fields[2], p.before, p.after});
  return pairs;
}

std::string show(const IdentityResult& r) {
  return fmt::format("verdict {} class {} elements {} pieces {} nodes {}: {}", static_cast<int>(r.verdict), exactness_name(r.claim),
                     r.elements, r.pieces, r.nodes, r.reason);
}

class Law : public ::testing::TestWithParam<Pair> {};

TEST_P(Law, HoldsInItsStrongestClassAndNoStronger) {
  const Pair& pair = GetParam();
  const Program before = parse_ok(pair.before), after = parse_ok(pair.after);
  for (const std::uint64_t seed : {1, 2, 3}) {
    IdentityOptions options;
    options.seed = seed;
    const IdentityResult r = find_identity(before, after, options);
    EXPECT_EQ(r.held() ? std::string(exactness_name(r.claim)) : "none", pair.strongest) << pair.name << "\n" << show(r);
    EXPECT_NE(r.reason.find(pair.part), std::string::npos) << pair.name << "\n" << show(r);
    EXPECT_LE(r.nodes, options.max_nodes);
    for (const Exactness claim : {Exactness::exact, Exactness::reassociates, Exactness::algebraic}) {
      options.claim = claim;
      const bool wanted = r.held() && claim >= r.claim;
      EXPECT_EQ(check_identity(before, after, options).held(), wanted) << pair.name << " as " << exactness_name(claim);
      // Equality is symmetric, but where `before` itself is void nothing is asked of `after`.
      if (pair.part == "void") continue;
      EXPECT_EQ(check_identity(after, before, options).held(), wanted) << pair.name << " backwards as " << exactness_name(claim);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Identity, Law, ::testing::ValuesIn(load_pairs()), [](const auto& p) { return p.param.name; });

constexpr char kProduct[] =
    "in A^{f32}_{1024,1024};in C^{f32}_{1024,1024};out D^{f32}_{1024,1024};\n"
    "L^{1024}_{i=0}L^{1024}_{j=0}L^{1024}_{k=0}[D_{i,j}=D_{i,j}+A_{i,k}*C_{k,j};];";

// A program of copies alone has reads of rank two and no operands.
TEST(Identity, CopiesOfALargeMatrix) {
  const Program before = parse_ok("in A^{f32}_{128,64};out D^{f32}_{128,64};L^{128}_{i=0}L^{64}_{j=0}[D_{i,j}=A_{i,j};];");
  const Program after = parse_ok("in A^{f32}_{128,64};out D^{f32}_{128,64};L^{64}_{j=0}L^{128}_{i=0}[D_{i,j}=A_{i,j};];");
  const Program wrong = parse_ok("in A^{f32}_{128,64};out D^{f32}_{128,64};L^{128}_{i=0}L^{64}_{j=0}[D_{i,j}=A_{i,63-j};];");
  IdentityOptions options;
  EXPECT_EQ(check_identity(before, after, options).verdict, IdentityResult::Verdict::held);
  EXPECT_EQ(check_identity(before, wrong, options).verdict, IdentityResult::Verdict::failed);
}

TEST(Identity, ChoicesAreResolvedWhereAConditionIsShared) {
  using identity::TermId;
  identity::TermGraph graph;
  const auto input = [&](std::int64_t k) { return graph.input(1, k, ComputeType::f32, Dtype::f32); };
  const TermId condition = graph.operation(Op::lt, ComputeType::boolean, input(0), input(1));
  const TermId inner = graph.operation(Op::select, ComputeType::f32, condition, input(2), input(3));
  TermId grown = inner;
  for (int k = 4; k < 20; ++k) grown = graph.operation(Op::mul, ComputeType::f32, graph.operation(Op::add, ComputeType::f32, grown, input(k)), input(k));
  std::uint64_t work = 0;
  std::vector<TermId> terms{grown};
  EXPECT_FALSE(identity::resolve_choices(&graph, &terms, 1000, &work));   // the scan is not counted: it may not end the judging
  EXPECT_EQ(work, 0u);
  terms = {graph.operation(Op::select, ComputeType::f32, condition, grown, input(3))};
  const std::vector<TermId> before = terms;
  EXPECT_FALSE(identity::resolve_choices(&graph, &terms, 5, &work));
  EXPECT_EQ(terms, before);
  EXPECT_TRUE(identity::resolve_choices(&graph, &terms, 1000, &work));
  std::vector<TermId> parts = identity::reachable(graph, terms);
  EXPECT_EQ(std::count_if(parts.begin(), parts.end(), [&](TermId id) { return graph[id].kind == identity::Kind::operation && graph[id].op == Op::select; }), 1);
}

TEST(Identity, StagedTilesOfAFullProduct) {
  const Program before = parse_ok(kProduct);
  const std::string staged = *read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/verify/data/path_1024.leir");
  const IdentityResult r = find_identity(before, parse_ok(staged), {});
  ASSERT_TRUE(r.held()) << show(r);
  EXPECT_EQ(r.claim, Exactness::exact) << show(r);   // blocks of k in order: the same chain
  EXPECT_GE(r.elements, 8);
  std::string damaged = staged;
  const std::size_t at = damaged.find("kb*256+k,jb*32+j}");
  ASSERT_NE(at, std::string::npos);
  damaged.replace(at, 17, "kb*256+k,jb*32+(j+1)%32}");
  EXPECT_FALSE(find_identity(before, parse_ok(damaged), {}).held());
}

TEST(Identity, ConditionsOfNewDivisorsAreNamed) {
  const Program before = parse_ok("in A^{f32}_{20};in C^{f32}_{20};out D^{f32}_{20};\nL^{20}_{i=0}[D_{i}=A_{i};];");
  const Program after = parse_ok("in A^{f32}_{20};in C^{f32}_{20};out D^{f32}_{20};\nL^{20}_{i=0}[D_{i}=A_{i}/C_{i}*C_{i};];");
  const IdentityResult r = find_identity(before, after, {});
  ASSERT_TRUE(r.held()) << show(r);
  EXPECT_EQ(r.claim, Exactness::algebraic);
  ASSERT_EQ(r.conditions.size(), 1u);
  EXPECT_EQ(r.conditions[0], "C[..] != 0");
  std::string absent;
  const std::optional<Certificate> bare = identity_certificate(r, false, &absent);
  ASSERT_TRUE(bare.has_value());
  EXPECT_FALSE(bare->held);
  EXPECT_NE(bare->reason.find("C[..] != 0"), std::string::npos);
  EXPECT_TRUE(identity_certificate(r, true, &absent)->held);
  // A divisor that is a sum of exponentials is positive.
  const Program softmax = parse_ok(
      "in A^{f32}_{4,8};out D^{f32}_{4,8};\nL^{4}_{i=0}L^{8}_{j=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+exp(A_{i,j});];\n"
      "L^{4}_{i=0}L^{8}_{j=0}[D_{i,j}=exp(A_{i,j})/E^{f32,g}_{i};];");
  const Program shifted = parse_ok(
      "in A^{f32}_{4,8};out D^{f32}_{4,8};\nL^{4}_{i=0}L^{8}_{j=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+exp(A_{i,j}-1);];\n"
      "L^{4}_{i=0}L^{8}_{j=0}[D_{i,j}=exp(A_{i,j}-1)/E^{f32,g}_{i};];");
  const IdentityResult s = find_identity(softmax, shifted, {});
  EXPECT_TRUE(s.held()) << show(s);
  EXPECT_TRUE(s.conditions.empty());
}

TEST(Identity, UnchangedNestsAreCutPoints) {
  const std::string head = "in A^{f32}_{512,512};in C^{f32}_{512,512};out D^{f32}_{512,512};\n"
                           "L^{512}_{i=0}L^{512}_{j=0}L^{512}_{k=0}[E^{f32,g}_{i,j}=E^{f32,g}_{i,j}+A_{i,k}*C_{k,j};];\n";
  const std::string tail = "L^{512}_{i=0}L^{512}_{j=0}[G^{f32,g}_{i}=G^{f32,g}_{i}+F^{f32,g}_{i,j};];\n"
                           "L^{512}_{i=0}L^{512}_{j=0}[D_{i,j}=F^{f32,g}_{i,j}/G^{f32,g}_{i};];\n";
  const Program before = parse_ok(head + "L^{512}_{i=0}L^{512}_{j=0}[F^{f32,g}_{i,j}=max(E^{f32,g}_{i,j},0);];\n" + tail);
  const Program after = parse_ok(head + "L^{512}_{j=0}P^{512}_{i=0}[F^{f32,g}_{i,j}=max(0,E^{f32,g}_{i,j});];\n" + tail);
  const IdentityResult r = find_identity(before, after, {});
  ASSERT_TRUE(r.held()) << show(r);
  EXPECT_EQ(r.compared, std::vector<std::string>{"F"});
  EXPECT_LT(r.nodes, 3000u) << show(r);
  const Program same = parse_ok(head + "L^{512}_{i=0}V^{512}_{j=0}[F^{f32,g}_{i,j}=max(E^{f32,g}_{i,j},0);];\n" + tail);
  const IdentityResult promises = find_identity(before, same, {});
  EXPECT_TRUE(promises.held());
  EXPECT_EQ(promises.nodes, 0u);
}

// A guarded tail leaves rows of a temporary unwritten; filling them changes nothing that is read.
TEST(Identity, ElementsThatNobodyWroteBeforeAreNotCompared) {
  const std::string head = "in A^{f32}_{512};out D^{f32}_{512,512};\n";
  const std::string tail = "L^{512}_{i=0}L^{512}_{j=0}L^{512}_{k=0}[D_{i,j}=D_{i,j}+W^{f32,g}_{i}*W^{f32,g}_{j}*W^{f32,g}_{k};];\n";
  const Program before = parse_ok(head + "L^{43}_{i=0}L^{12}_{j=0}T^{i*12+j<512}[W^{f32,g}_{i*12+j}=A_{i*12+j}*2;];\n" + tail);
  const Program after = parse_ok(head + "L^{43}_{i=0}L^{12}_{j=0}[W^{f32,g}_{i*12+j}=A_{min(i*12+j,511)}*2;];\n" + tail);
  const IdentityResult r = find_identity(before, after, {});
  ASSERT_TRUE(r.held()) << show(r);
  EXPECT_EQ(r.compared, std::vector<std::string>{"W"});
  const Program wrong = parse_ok(head + "L^{43}_{i=0}L^{12}_{j=0}[W^{f32,g}_{i*12+j}=A_{min(i*12+j,510)}*2;];\n" + tail);
  EXPECT_FALSE(find_identity(before, wrong, {}).held());
}

TEST(Identity, ClassesWithoutAnAlgebraAreAbsent) {
  IdentityOptions options;
  options.claim = Exactness::changes_precision;
  EXPECT_EQ(check_identity(parse_ok(kProduct), parse_ok(kProduct), options).verdict, IdentityResult::Verdict::absent);
}

// Nothing is left to compare: the strongest class, not the weakest that was asked for.
TEST(Identity, AProgramIsExactlyItself) {
  const IdentityResult r = find_identity(parse_ok(kProduct), parse_ok(kProduct), {});
  EXPECT_TRUE(r.held() && r.claim == Exactness::exact) << show(r);
}

TEST(Identity, IsDeterministic) {
  const std::vector<Pair> pairs = load_pairs();
  for (const Pair& pair : pairs) {
    const Program before = parse_ok(pair.before), after = parse_ok(pair.after);
    EXPECT_EQ(show(find_identity(before, after, {})), show(find_identity(before, after, {}))) << pair.name;
  }
}

}  // namespace
}  // namespace cairn
