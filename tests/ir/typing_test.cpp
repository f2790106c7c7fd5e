#include <gtest/gtest.h>

#include "ir/typing_show.h"

namespace cairn {
namespace {
using testing::show_typed;

// One tensor of each kind: Fa f32, Fb f16, Fc f64, N i64, K i32, Q bool, all of rank 1.
Program tensors() {
  Program p;
  const auto add = [&p](std::string name, Dtype d) {
    Tensor t;
    t.name = std::move(name);
    t.dtype = d;
    t.shape = Shape{8};
    t.role = Role::in;
    p.set_tensor(t);
  };
  add("Fa", Dtype::f32);
  add("Fb", Dtype::f16);
  add("Fc", Dtype::f64);
  add("N", Dtype::i64);
  add("K", Dtype::i32);
  add("Q", Dtype::boolean);
  return p;
}
ExprPtr at(const char* name) { return make_read(name, {make_var("i")}); }
ExprPtr op(Op o, std::vector<ExprPtr> args) { return make_expr(o, std::move(args)); }

std::string typed(Dtype target, const ExprPtr& rhs) {
  Program p = tensors();
  Tensor x;
  x.name = "X";
  x.dtype = target;
  p.set_tensor(x);
  const StmtPtr equation = make_equation("X", {}, rhs);
  const Result<TypedPtr> t = elaborate_rhs(p, *equation);
  return t ? show_typed(**t) : "refused: " + t.error().message;
}
std::string condition(const ExprPtr& c, Dtype target = Dtype::f32) {
  const Program p = tensors();
  const Result<TypedPtr> t = elaborate_condition(p, c, target);
  return t ? show_typed(**t) : "refused: " + t.error().message;
}

TEST(typing, operands_convert_to_the_targets_compute_type) {
  EXPECT_EQ(typed(Dtype::f32, op(Op::add, {at("Fa"), at("Fb")})), "(+:f32 (Fa:f32 i) (Fb:f32 i))");
  EXPECT_EQ(typed(Dtype::f16, op(Op::add, {at("Fa"), at("Fc")})), "(+:f32 (Fa:f32 i) (to:f32 (Fc:f64 i)))");
  EXPECT_EQ(typed(Dtype::f64, op(Op::mul, {at("Fa"), at("Q")})), "(*:f64 (to:f64 (Fa:f32 i)) (to:f64 (Q:bool i)))");
  EXPECT_EQ(typed(Dtype::f32, make_float(0.1)), "0.10000000149011612:f32");
  EXPECT_EQ(typed(Dtype::f32, make_int(3)), "3:f32");
}

TEST(typing, integers_are_computed_as_integers_bottom_up) {
  const ExprPtr half = op(Op::floor_div, {make_var("i"), make_int(2)});
  EXPECT_EQ(typed(Dtype::f32, op(Op::mul, {half, at("Fa")})), "(*:f32 (to:f32 (//:i64 i 2)) (Fa:f32 i))");
  EXPECT_EQ(typed(Dtype::f32, op(Op::div, {make_int(1), make_int(2)})), "(/:f32 1:f32 2:f32)");
  EXPECT_EQ(typed(Dtype::i32, op(Op::add, {at("K"), at("N")})), "(+:i64 (K:i64 i) (N:i64 i))");
  EXPECT_EQ(typed(Dtype::f32, op(Op::pow, {make_int(10), make_int(-4)})), "(**:f32 10:f32 -4:f32)");
  EXPECT_EQ(typed(Dtype::f32, op(Op::pow, {at("Fa"), make_int(2)})), "(*:f32 (Fa:f32 i) (Fa:f32 i))");
  EXPECT_EQ(typed(Dtype::f32, op(Op::pow, {at("Fa"), make_float(0.5)})), "(**:f32 (Fa:f32 i) 0.5:f32)");
}

TEST(typing, comparisons_are_made_in_the_common_type_of_their_sides) {
  EXPECT_EQ(condition(op(Op::gt, {at("Fa"), at("Fb")})), "(>:bool (Fa:f32 i) (Fb:f32 i))");
  EXPECT_EQ(condition(op(Op::gt, {at("Fa"), at("Fc")})), "(>:bool (to:f64 (Fa:f32 i)) (Fc:f64 i))");
  EXPECT_EQ(condition(op(Op::lt, {make_var("i"), at("Fa")})), "(<:bool (to:f32 i) (Fa:f32 i))");
  EXPECT_EQ(condition(op(Op::eq, {at("N"), make_int(-100)})), "(==:bool (N:i64 i) -100)");
  EXPECT_EQ(condition(op(Op::eq, {at("Fc"), make_float(0.1)})), "(==:bool (Fc:f64 i) 0.1:f64)");
  EXPECT_EQ(condition(op(Op::lt, {make_var("i"), make_float(2.5)}), Dtype::i64), "(<:bool (to:f64 i) 2.5:f64)");
  EXPECT_EQ(condition(op(Op::lt, {make_var("i"), make_float(2.5)})), "(<:bool (to:f32 i) 2.5:f32)");
  // Conditions of a nested choice and gathers do not widen the comparison.
  const ExprPtr choice = op(Op::select, {op(Op::lt, {at("Fc"), make_int(0)}), at("Fa"), make_int(0)});
  EXPECT_EQ(condition(op(Op::gt, {choice, make_int(1)})),
            "(>:bool (if_then_else:f32 (<:bool (Fc:f64 i) 0:f64) (Fa:f32 i) 0:f32) 1:f32)");
  // argmax: the float comparison stays one under an integer target.
  EXPECT_EQ(typed(Dtype::i64, op(Op::select, {op(Op::gt, {at("Fa"), at("Fb")}), make_var("i"), at("N")})),
            "(if_then_else:i64 (>:bool (Fa:f32 i) (Fb:f32 i)) i (N:i64 i))");
}

TEST(typing, casts_compute_in_the_wider_type) {
  const ExprPtr scaled = op(Op::mul, {at("Fc"), make_float(0.5)});
  EXPECT_EQ(typed(Dtype::f32, make_cast(Dtype::f16, scaled)), "(round:f16 (*:f64 (Fc:f64 i) 0.5:f64))");
  EXPECT_EQ(typed(Dtype::i64, make_cast(Dtype::i8, op(Op::mul, {at("Fb"), make_int(2)}))),
            "(round:i8 (*:f32 (Fb:f32 i) 2:f32))");
  EXPECT_EQ(typed(Dtype::i64, make_cast(Dtype::i64, at("Fa"))), "(round:i64 (Fa:f32 i))");
  EXPECT_EQ(typed(Dtype::i64, make_cast(Dtype::i32, at("N"))), "(round:i32 (N:i64 i))");
  EXPECT_EQ(typed(Dtype::f32, make_cast(Dtype::f64, make_float(0.1))), "(to:f32 0.1:f64)");
  EXPECT_EQ(typed(Dtype::f64, make_cast(Dtype::f32, at("Fc"))), "(to:f64 (round:f32 (Fc:f64 i)))");
  EXPECT_EQ(typed(Dtype::boolean, make_cast(Dtype::boolean, at("Fa"))), "(to:bool (Fa:f32 i))");
  EXPECT_EQ(typed(Dtype::i64, make_cast(Dtype::i64, op(Op::gt, {at("Fa"), make_int(0)}))),
            "(to:i64 (>:bool (Fa:f32 i) 0:f32))");
  EXPECT_EQ(typed(Dtype::f32, make_cast(Dtype::f32, at("N"))), "(to:f32 (N:i64 i))");
}

TEST(typing, refusals_say_what_to_write) {
  EXPECT_NE(typed(Dtype::i64, at("Fa")).find("convert it, e.g. i64(Fa..)"), std::string::npos) << typed(Dtype::i64, at("Fa"));
  EXPECT_NE(typed(Dtype::i64, op(Op::div, {at("N"), make_int(2)})).find("use // (floor)"), std::string::npos);
  EXPECT_NE(typed(Dtype::i64, op(Op::exp, {at("N")})).find("exp where an integer is computed"), std::string::npos);
  EXPECT_NE(typed(Dtype::i64, make_float(0.5)).find("float literal 0.5"), std::string::npos);
  EXPECT_NE(typed(Dtype::boolean, at("Fa")).find("a condition is expected"), std::string::npos);
  EXPECT_NE(typed(Dtype::boolean, make_int(1)).find("a condition is expected"), std::string::npos);
  EXPECT_NE(typed(Dtype::f32, make_read("Zz", {})).find("Zz is neither declared nor written"), std::string::npos);
  EXPECT_NE(typed(Dtype::f32, make_read("Fa", {})).find("rank 1, found 0 subscripts"), std::string::npos);
  EXPECT_NE(typed(Dtype::c64, make_int(0)).find("c64"), std::string::npos);
  EXPECT_NE(typed(Dtype::f32, op(Op::bit_xor, {at("Fa"), make_int(1)})).find("xor needs integers"), std::string::npos);
  EXPECT_NE(condition(at("N")).find("a condition is expected"), std::string::npos);
}

}  // namespace
}  // namespace cairn
