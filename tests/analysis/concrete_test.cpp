// The shadow execution: what it reports on programs small enough to check by hand.
#include <gtest/gtest.h>

#include "analysis/concrete.h"
#include "ir/text.h"

namespace cairn {
namespace {

Program parse(std::string_view text) {
  Result<Program> program = parse_program(text);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : render(program.error()));
  return program.ok() ? *std::move(program) : Program();
}

TEST(Concrete, FindsTheFirstUnwrittenElement) {
  const Program p = parse("in A^{f32}_{9};out D^{f32}_{8};tmp E^{f32,g}_{9};L^{8}_{i=0}[E_{i}=A_{i};];L^{8}_{i=0}[D_{i}=E_{i+1};];");
  const ConcreteFlow flow = run_concrete(p);
  ASSERT_TRUE(flow.decided) << flow.reason;
  ASSERT_EQ(flow.problems.size(), 1u);
  EXPECT_EQ(flow.problems[0].kind, ConcreteProblem::Kind::unwritten);
  EXPECT_EQ(flow.problems[0].tensor, "E");
  EXPECT_EQ(flow.problems[0].element, std::vector<std::int64_t>{8});
  EXPECT_EQ(flow.problems[0].iteration, "i=7");
  EXPECT_TRUE(flow.missing.empty());
}

TEST(Concrete, CountsStartsAndContinuations) {
  const Program p = parse("in A^{f32}_{4,6};out D^{f32}_{4};L^{2}_{i=0}[D_{i}=1;];L^{4}_{i=0}L^{6}_{k=0}[D_{i}=D_{i}+A_{i,k};];");
  const ConcreteFlow flow = run_concrete(p);
  ASSERT_TRUE(flow.decided);
  EXPECT_TRUE(flow.problems.empty());
  EXPECT_EQ(flow.starts[1].starts, 2);        // two elements nobody wrote
  EXPECT_EQ(flow.starts[1].continues, 22);
  EXPECT_EQ(flow.starts[1].undecided, 0);
}

TEST(Concrete, DataConditionsGoBothWays) {
  const Program p = parse("in A^{f32}_{8};out D^{f32}_{8};L^{8}_{i=0}T^{A_{i}>0}[D_{i}=A_{i};];");
  const ConcreteFlow flow = run_concrete(p);
  ASSERT_EQ(flow.missing.size(), 1u);
  EXPECT_EQ(flow.missing[0].element, std::vector<std::int64_t>{0});
  const Program q = parse("in A^{f32}_{8};out D^{f32}_{8};tmp E^{f32,g}_{8};L^{8}_{i=0}[D_{i}=if_then_else(A_{i}>0,E_{i},0);E_{i}=1;];");
  const ConcreteFlow read = run_concrete(q);
  ASSERT_EQ(read.problems.size(), 1u);
  EXPECT_EQ(read.problems[0].kind, ConcreteProblem::Kind::unwritten);
}

TEST(Concrete, LazyBranchesAreNotRead) {
  const Program p = parse("in A^{f32}_{8};out D^{f32}_{10};L^{10}_{i=0}[D_{i}=if_then_else(1<=i&i<9,A_{i-1},0);];");
  EXPECT_TRUE(run_concrete(p).problems.empty());
  const Program q = parse("in A^{f32}_{8};out D^{f32}_{10};L^{10}_{i=0}[D_{i}=if_then_else(i<9&A_{i}>0,1,0);];");
  const ConcreteFlow flow = run_concrete(q);   // A_{8} is read where i is 8
  ASSERT_EQ(flow.problems.size(), 1u);
  EXPECT_EQ(flow.problems[0].kind, ConcreteProblem::Kind::bounds);
  EXPECT_EQ(flow.problems[0].value, 8);
}

TEST(Concrete, SaysWhatItCannotDecide) {
  const Program p = parse("in A^{f32}_{4096,4096};out D^{f32}_{4096};L^{4096}_{i=0}L^{4096}_{k=0}[D_{i}=D_{i}+A_{i,k};];");
  const ConcreteFlow flow = run_concrete(p);
  EXPECT_FALSE(flow.decided);
  EXPECT_NE(flow.reason.find("instances"), std::string::npos);
  EXPECT_EQ(count_instances(p.body()), 4096 * 4096);
}

TEST(Concrete, CarriedKinds) {
  const auto carried = [](const char* text, StmtPath path) {
    const ConcreteCarried c = run_carried(parse(text), path);
    EXPECT_TRUE(c.decided) << c.reason;
    std::string out;
    for (const CarriedTensor& t : c.carried) out += t.tensor + (t.flow ? " flow" : "") + (t.anti ? " anti" : "") + (t.output ? " output" : "") + ";";
    return out;
  };
  EXPECT_EQ(carried("io D^{f32}_{9};L^{8}_{i=0}[D_{i}=D_{i+1}*2;];", {0}), "D anti;");
  EXPECT_EQ(carried("io D^{f32}_{9};L^{8}_{i=0}[D_{i+1}=D_{i}*2;];", {0}), "D flow;");
  EXPECT_EQ(carried("in A^{f32}_{8};out D^{f32}_{8};L^{8}_{i=0}[D_{i}=A_{i};];", {0}), "");
  EXPECT_EQ(carried("in A^{f32}_{4,8};out D^{f32}_{4};L^{4}_{i=0}L^{8}_{k=0}[D_{i}=D_{i}+A_{i,k};];", {0}), "");
  EXPECT_EQ(carried("in A^{f32}_{4,8};out D^{f32}_{4};L^{4}_{i=0}L^{8}_{k=0}[D_{i}=D_{i}+A_{i,k};];", {0, 0}), "D flow anti output;");
  // An element written afresh in every iteration: no value flows, its place is written again.
  EXPECT_EQ(carried("in A^{f32}_{8};out D^{f32}_{8};L^{8}_{i=0}[E^{f32,g}=A_{i};D_{i}=E^{f32,g};];", {0}), "E anti output;");
  // A scatter may meet anything.
  EXPECT_EQ(carried("in A^{f32}_{8};in I^{i64}_{8};io D^{f32}_{8};L^{8}_{i=0}[D_{I_{i}}=A_{i};];", {0}), "D output;");
}

}  // namespace
}  // namespace cairn
