// Walking, addresses, fresh names, self-updates, intervals.
#include <gtest/gtest.h>

#include "ir/interval.h"
#include "ir/self_update.h"
#include "ir/text.h"
#include "ir/walk.h"

namespace cairn {
namespace {

Program parse(std::string_view text) {
  Result<Program> program = parse_program(text);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : render(program.error()));
  return program.ok() ? *std::move(program) : Program();
}

constexpr std::string_view kText =
    "out D^{f32}_{4,8};\n"
    "L^{4}_{i=0}[E^{f32,l}_{i}=0;L^{8}_{k=0}[E^{f32,l}_{i}=E^{f32,l}_{i}+k;];L^{8}_{k=0}[D^{f32,g}_{i,k}=E^{f32,l}_{i};];];\n"
    "L^{4}_{a=0}T^{a<3}[D^{f32,g}_{a,0}=1;];\n";

TEST(Walk, AddressesRoundTrip) {
  const Program program = parse(kText);
  int loops = 0;
  visit_stmts(program.body(), [&](const Stmt& stmt, const StmtContext& context) {
    EXPECT_EQ(stmt_at(program.body(), context.path), &stmt);
    if (stmt.is_loop()) {
      const Result<StmtPath> found = find_loop(program.body(), loop_address(program.body(), context.path));
      ASSERT_TRUE(found.ok());
      EXPECT_EQ(*found, context.path);
      ++loops;
    }
    if (stmt.is_equation()) {
      const Result<StmtPath> found = find_equation(program.body(), equation_address(program.body(), context.path));
      ASSERT_TRUE(found.ok());
      EXPECT_EQ(*found, context.path);
    }
  });
  EXPECT_EQ(loops, 4);
  EXPECT_EQ(loop_address(program.body(), {0, 2}), "0.k#1");
  EXPECT_EQ(equation_address(program.body(), {1, 0, 0}), "s3");
  for (const char* bad : {"", "0", "0.z", "9.i", "0.k#2", "x.i", "0.k#"}) {
    EXPECT_EQ(find_loop(program.body(), bad).error().code, Code::no_site) << bad;
  }
  for (const char* bad : {"", "s", "s4", "e0", "s-1"}) {
    EXPECT_EQ(find_equation(program.body(), bad).error().code, Code::no_site) << bad;
  }
}

TEST(Walk, ReplaceRemovesEmptyLoops) {
  const Program program = parse(kText);
  EXPECT_EQ(replace_at(program.body(), {1, 0, 0}, {}).size(), 1u);
  const Body twice = replace_at(program.body(), {0, 0}, {program.body()[0]->body[0], program.body()[0]->body[0]});
  EXPECT_EQ(twice[0]->body.size(), 4u);
  EXPECT_EQ(twice[1], program.body()[1]);
}

TEST(Walk, RewriteSharesWhatStays) {
  const Program program = parse(kText);
  const Body same = rewrite_exprs(program.body(), [](const ExprPtr&) { return ExprPtr(); });
  EXPECT_EQ(same, program.body());
  const Body without = rewrite_stmts(program.body(), [](const StmtPtr& stmt) -> std::optional<Body> {
    if (stmt->is_equation() && stmt->tensor == "D") return Body();
    return std::nullopt;
  });
  ASSERT_EQ(without.size(), 1u);
  EXPECT_EQ(without[0]->body.size(), 2u);
  const StmtPtr renamed = rename_loop_var(program.body()[0], "z");
  EXPECT_EQ(print_stmt(*renamed), "L^{4}_{z=0}[E_{z}=0;L^{8}_{k=0}[E_{z}=E_{z}+k;];L^{8}_{k=0}[D_{z,k}=E_{z};];];");
}

TEST(Walk, FreshNamesFollowTheAlphabets) {
  const Program program = parse("L^{4}_{a=0}L^{4}_{c=0}[A^{f32,g}_{a}=c;C^{f32,g}_{a}=c;];");
  EXPECT_EQ(fresh_tensor(program), "D");
  EXPECT_EQ(fresh_var(program), "d");
  EXPECT_EQ(fresh_var(program, {"d", "f"}), "g");
  std::vector<std::string> taken;
  for (int i = 0; i < 18; ++i) taken.push_back(fresh_tensor(program, taken));
  EXPECT_EQ(taken.back(), "Z");
  EXPECT_EQ(fresh_tensor(program, taken), "Aa");
}

TEST(SelfUpdate, MatchesTheSpecifiedForms) {
  const auto match = [](const std::string& equation) {
    const Program program = parse("out D^{f32}_{8};in A^{f32}_{8};L^{8}_{i=0}[" + equation + "];");
    const auto found = match_self_update(*program.body()[0]->body[0]);
    return found ? std::string(update_op_name(found->op)) + std::to_string(found->others.size()) : "none";
  };
  EXPECT_EQ(match("D_{i}=D_{i}+A_{i};"), "+1");
  EXPECT_EQ(match("D_{i}=A_{i}-1+D_{i};"), "+2");
  EXPECT_EQ(match("D_{i}=A_{i}-D_{i};"), "none");
  EXPECT_EQ(match("D_{i}=D_{i}*A_{i}/2;"), "*2");
  EXPECT_EQ(match("D_{i}=A_{i}/D_{i};"), "none");
  EXPECT_EQ(match("D_{i}=max(A_{i},D_{i});"), "max1");
  EXPECT_EQ(match("D_{i}=max(max(D_{i},1),A_{i});"), "none");
  EXPECT_EQ(match("D_{i}=D_{i}+D_{i};"), "none");
  EXPECT_EQ(match("D_{i}=D_{i+1}+A_{i};"), "none");
  EXPECT_EQ(match("D_{i}=D_{i}*2+A_{i};"), "none");
  EXPECT_EQ(match("D_{i}=D_{i};"), "none");
  EXPECT_EQ(print_expr(*neutral_element(UpdateOp::max, Dtype::f32)), "-inf");
  EXPECT_EQ(print_expr(*neutral_element(UpdateOp::min, Dtype::i32)), "2147483647");
}

TEST(Interval, BoundsContainEveryValue) {
  const VarRanges ranges{{"a", {0, 6}}, {"c", {-5, 4}}, {"d", {1, 3}}};
  for (const char* text : {"a*c-d", "c//d", "c%d", "c//(0-d)", "c%(0-d)", "a%8", "min(a,c)", "max(a,c)*d", "2**d", "xor(a,d)",
                           "if_then_else(a<3,a,c)", "abs(c)", "-c", "(a*4+d)%4", "a**d", "i8(c)", "a<c"}) {
    const ExprPtr expr = *parse_expr(text);
    const auto bounds = interval_of(*expr, ranges);
    ASSERT_TRUE(bounds) << text;
    for (std::int64_t a = 0; a <= 6; ++a) {
      for (std::int64_t c = -5; c <= 4; ++c) {
        for (std::int64_t d = 1; d <= 3; ++d) {
          const VarRanges point{{"a", {a, a}}, {"c", {c, c}}, {"d", {d, d}}};
          const auto value = interval_of(*expr, point);
          ASSERT_TRUE(value) << text;
          EXPECT_TRUE(bounds->lo <= value->lo && value->hi <= bounds->hi) << text << " at " << a << ' ' << c << ' ' << d;
        }
      }
    }
  }
  EXPECT_EQ(*interval_of(**parse_expr("-7//2"), {}), (Interval{-4, -4}));
  EXPECT_EQ(*interval_of(**parse_expr("-7%3"), {}), (Interval{2, 2}));
  EXPECT_EQ(*interval_of(**parse_expr("7%(-3)"), {}), (Interval{-2, -2}));
  EXPECT_FALSE(interval_of(**parse_expr("9223372036854775807+a"), ranges));
  EXPECT_FALSE(interval_of(**parse_expr("1//a"), ranges));
}

TEST(Interval, InfersShapesThroughBindings) {
  const Program program = parse(
      "out D^{f32}_{4};tmp R^{f32,s}_{9};\n"
      "L^{4}_{i=0}L^{8}_{j=0}[Q^{i32,l}=(i*8+j)//4;S^{f32,g}_{Q^{i32,l},i+2}=1;R^{f32,s}_{i}=1;D^{f32,g}_{i}=1;];");
  const auto shapes = infer_shapes(program);
  ASSERT_TRUE(shapes.ok()) << render(shapes.error());
  EXPECT_EQ(shapes->at("S"), (Shape{8, 6}));
  EXPECT_EQ(shapes->at("R"), (Shape{9}));
  EXPECT_EQ(shapes->at("Q"), Shape{});
  const auto refused = infer_shapes(parse("in C^{i64}_{4};L^{4}_{i=0}[S^{f32,g}_{C^{i64,g}_{i}}=1;];"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where.column, 39u);
}

}  // namespace
}  // namespace cairn
