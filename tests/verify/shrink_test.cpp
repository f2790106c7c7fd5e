#include "verify/shrink.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.h"
#include "ir/walk.h"
#include "verify/verify.h"

namespace cairn {
namespace {

Program parse_ok(const std::string& text) {
  Result<Program> p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p ? std::string() : render(p.error()));
  return p ? *std::move(p) : Program();
}

std::optional<CounterExample> shrink(const std::string& before, const std::string& after, Exactness claim = Exactness::algebraic) {
  ShrinkOptions options;
  options.seconds = 20;
  return shrink_pair(parse_ok(before), parse_ok(after), claim, described_target(), 1, options);
}

constexpr char kHead[] = "in A^{f32}_{8,12};in C^{f32}_{12};out D^{f32}_{8};out E^{f32}_{8,12};\n";

TEST(shrink, a_wrong_statement_is_left_alone_with_the_smallest_shape_and_values) {
  const std::string shared = "L^{8}_{i=0}L^{12}_{j=0}[F^{f32,g}_{i,j}=exp(A_{i,j})*C_{j};];\nL^{8}_{i=0}L^{12}_{j=0}[E_{i,j}=F_{i,j}+1;];\n";
  const auto found = shrink(kHead + shared + "L^{8}_{i=0}L^{12}_{j=0}[D_{i}=D_{i}+F_{i,j};];",
                            kHead + shared + "P^{8}_{i=0}L^{11}_{j=0}[D_{i}=D_{i}+F_{i,j};];");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->failure.kind, PairFailure::Kind::value);
  const ShrinkCase& end = found->shrunk.smallest;
  // One output, one statement: the temporary has become an input, the large loops are gone.
  for (const Program& p : end.programs) {
    EXPECT_EQ(collect_equations(p.body()).size(), 1u) << print_program(p);
    EXPECT_EQ(p.find("E"), nullptr);
    EXPECT_TRUE(check_program(p, described_target()).ok()) << print_program(p);
  }
  std::size_t nonzero = 0;
  for (const auto& [name, v] : end.inputs) {
    for (const double x : v.floats) nonzero += x != 0;
  }
  EXPECT_EQ(nonzero, 1u);
  EXPECT_TRUE(found->shrunk.finished);
  EXPECT_TRUE(failure_on(end.programs[0], end.programs[1], end.inputs, Exactness::algebraic, described_target()));
}

TEST(shrink, a_loop_and_its_parts_shrink_together) {
  const std::string head = "in A^{f32}_{64};out D^{f32}_{64};\n";
  const auto found = shrink(head + "L^{64}_{i=0}[D_{i}=A_{i};];", head + "L^{16}_{o=0}L^{4}_{i=0}[D_{o*4+i}=A_{o*4+i}*if_then_else(i==0,2,1);];");
  ASSERT_TRUE(found);
  EXPECT_LE(found->shrunk.smallest.programs[0].find("A")->shape->at(0), 4) << print_program(found->shrunk.smallest.programs[1]);
}

TEST(shrink, a_refusal_keeps_its_rule) {
  const std::string head = "in A^{f32}_{8};out D^{f32}_{8};\n";
  const auto found = shrink(head + "L^{8}_{i=0}[E^{f32,g}_{i}=A_{i}*2;];L^{8}_{i=0}[D_{i}=E_{i}+1;];",
                            head + "P^{8}_{i=0}[E^{f32,g}_{0}=A_{i}*2;E^{f32,g}_{i}=E_{0};];L^{8}_{i=0}[D_{i}=E_{i}+1;];");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->failure.kind, PairFailure::Kind::refused_after);
  EXPECT_EQ(found->failure.rule, 12);
  EXPECT_TRUE(found->shrunk.smallest.inputs.empty());
  EXPECT_LE(found->shrunk.smallest.programs[1].find("D")->shape->at(0), 2);
}

TEST(shrink, nan_stays_nan_and_equal_pairs_have_no_counter_example) {
  const std::string head = "in A^{f64}_{8,8};out D^{f64}_{8,8};\n";
  const auto found = shrink(head + "L^{8}_{i=0}L^{8}_{j=0}[D_{i,j}=A_{i,j};];", head + "L^{8}_{i=0}L^{8}_{j=0}[D_{i,j}=A_{i,j}/A_{i,j}*A_{i,j};];");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->failure.kind, PairFailure::Kind::nonfinite);
  EXPECT_EQ(*found->shrunk.smallest.programs[0].find("A")->shape, (Shape{1, 1}));
  EXPECT_FALSE(shrink(head + "L^{8}_{i=0}L^{8}_{j=0}[D_{i,j}=A_{i,j};];", head + "P^{8}_{j=0}L^{8}_{i=0}[D_{i,j}=A_{i,j};];"));
}

TEST(shrink, large_programs_are_made_small_first) {
  const std::string head = "in A^{f32}_{512,512};in C^{f32}_{512,512};out D^{f32}_{512,512};\n";
  const auto found = shrink(head + "L^{512}_{i=0}L^{512}_{j=0}L^{512}_{k=0}[D_{i,j}=D_{i,j}+A_{i,k}*C_{k,j};];",
                            head + "L^{512}_{i=0}L^{512}_{j=0}L^{512}_{k=0}[D_{i,j}=D_{i,j}+A_{i,k}*C_{j,k};];");
  ASSERT_TRUE(found);
  EXPECT_LE(found->shrunk.smallest.programs[0].find("A")->shape->at(0), 2);
}

TEST(shrink, the_time_is_kept_and_one_program_will_do) {
  FakeClock clock;
  ShrinkOptions options;
  options.seconds = 1;
  options.clock = &clock;
  const ShrinkCase start{{parse_ok("in A^{f32}_{8};out D^{f32}_{8};\nL^{8}_{i=0}[D_{i}=exp(A_{i})+1;];")}, {}};
  const auto has_exp = [](const ShrinkCase& c) { return print_program(c.programs[0]).find("exp(") != std::string::npos; };
  const Shrunk all = shrink_case(start, has_exp, options);
  EXPECT_TRUE(all.finished);
  EXPECT_EQ(print_program(all.smallest.programs[0]).find("+1"), std::string::npos);
  EXPECT_LT(case_size(all.smallest), case_size(start));
  int asked = 0;
  const Shrunk cut = shrink_case(start, [&](const ShrinkCase& c) {
    clock.advance(0.4);
    ++asked;
    return has_exp(c);
  }, options);
  EXPECT_FALSE(cut.finished);
  EXPECT_EQ(asked, 3);
}

TEST(regress_pair, prints_and_parses_back) {
  RegressPair pair;
  pair.remarks = {"A zero divides.", "twice"};
  pair.claim = Exactness::reassociates;
  pair.before = "in A^{f32}_{3};out D^{f32}_{3};\nL^{3}_{i=0}[D_{i}=A_{i};];\n";
  pair.after = pair.before;
  pair.inputs = {{"A", {0.5, HUGE_VAL, -3}}};
  const std::string text = print_regress_pair(pair);
  const Result<RegressPair> back = parse_regress_pair(text);
  ASSERT_TRUE(back.ok()) << render(back.error());
  EXPECT_EQ(print_regress_pair(*back), text);
  const Result<ValueMap> inputs = regress_inputs(*back, parse_ok(back->before));
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(inputs->at("A").floats, (std::vector<double>{0.5, HUGE_VAL, -3}));
  EXPECT_FALSE(regress_inputs(*back, parse_ok("in A^{f32}_{4};out D^{f32}_{4};\nL^{4}_{i=0}[D_{i}=A_{i};];")).ok());
  for (const char* broken : {"", "claim exact\nexpect holds\n", "claim precise\n", "claim exact\nexpect holds\nbefore\nx\n", "claim exact\nexpect maybe\n",
                             "claim exact\nexpect holds\ninput A 1 b\nbefore\n", "claim exact\nexpect holds\naction a()\nbefore\nx\nafter\ny\n"}) {
    EXPECT_FALSE(parse_regress_pair(broken).ok()) << broken;
  }
}

}  // namespace
}  // namespace cairn
