#include "analysis/access.h"

#include <gtest/gtest.h>

#include "ir/text.h"

namespace cairn {
namespace {

Program parse(const std::string& text) {
  auto p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : render(p.error()));
  return p.ok() ? *p : Program{};
}

// One line an access: equation, mark, element, loops, conditions.
std::string list(const Program& p, const StmtPath& under = {}) {
  std::string text;
  for (const Access& a : collect_accesses(p, under)) {
    text += "s" + std::to_string(a.equation) + (a.is_write ? " w " : a.is_self ? " x " : a.in_condition ? " c " : " r ");
    text += a.tensor;
    for (const ExprPtr& e : a.subscripts) text += "," + print_expr(*e);
    text += " [";
    for (const Stmt* loop : a.loops) text += loop->var;
    text += "]";
    for (const Condition& c : a.conditions) text += std::string(c.holds ? " if " : " unless ") + print_expr(*c.cond);
    text += "\n";
  }
  return text;
}

TEST(Access, OrderConditionsAndSelfReads) {
  const Program p = parse(
      "in A^{f32}_{8,8};in G^{i32}_{8};out C^{f32}_{8};"
      "L^{8}_{i=0}L^{8}_{j=0}[T^{j<=i}[C^{f32}_{i}=C^{f32}_{i}+if_then_else(j>0&A^{f32}_{i,j}>0,A^{f32}_{G^{i32}_{j},j-1},0);];];");
  EXPECT_EQ(list(p),
            "s0 x C,i [ij] if j<=i\n"
            "s0 c A,i,j [ij] if j<=i if j>0\n"
            "s0 r G,j [ij] if j<=i if j>0&A_{i,j}>0\n"
            "s0 r A,G_{j},j-1 [ij] if j<=i if j>0&A_{i,j}>0\n"
            "s0 w C,i [ij] if j<=i\n");
}

TEST(Access, SubtreesKeepOuterLoopsAndNumbers) {
  const Program p = parse(
      "in A^{f32}_{8};out C^{f32}_{8};out D^{f32}_{8};"
      "L^{8}_{i=0}[D^{f32}_{i}=A^{f32}_{i};];L^{8}_{i=0}[T^{A^{f32}_{i}>0}[C^{f32}_{i}=1;];T^{A^{f32}_{i}<=0}[C^{f32}_{i}=2;];];");
  EXPECT_EQ(list(p, {1, 0, 1}), "");
  EXPECT_EQ(list(p, {1, 0, 0}), "s1 w C,i [i] if A_{i}>0\n");
  EXPECT_EQ(list(p, {1}),
            "s1 c A,i [i]\ns1 w C,i [i] if A_{i}>0\ns2 c A,i [i]\ns2 w C,i [i] if A_{i}<=0\n");
}

TEST(Access, BindingsAreReplacedWhereTheyAreSeen) {
  const Program p = parse(
      "in A^{f32}_{64};out C^{f32}_{64};"
      "L^{8}_{a=0}L^{8}_{b=0}[Q^{i32,l}=a*8+b;C^{f32}_{Q^{i32,l}}=A^{f32}_{Q^{i32,l}};];");
  const std::string text = list(p);
  EXPECT_NE(text.find("s1 r A,a*8+b [ab]"), std::string::npos) << text;
  EXPECT_NE(text.find("s1 w C,a*8+b [ab]"), std::string::npos) << text;
  EXPECT_NE(text.find("s1 r Q [ab]"), std::string::npos) << text;
  // Defined in another nest by its own subscripts: any read sees the value of the element.
  const Program table = parse(
      "in A^{f32}_{64};out C^{f32}_{8,8};"
      "L^{64}_{c=0}[Q^{i32,l}_{c}=c//8;];L^{8}_{a=0}L^{8}_{b=0}[C^{f32}_{a,b}=A^{f32}_{Q^{i32,l}_{a*8+b}};];");
  EXPECT_NE(list(table).find("s1 r A,(a*8+b)//8 [ab]"), std::string::npos) << list(table);
  // Not a binding: read by a sibling nest, where the last iteration's value stands.
  const Program stale = parse(
      "in A^{f32}_{64};out C^{f32}_{8};L^{8}_{a=0}[Q^{i32,l}=a;];L^{8}_{a=0}[C^{f32}_{a}=A^{f32}_{Q^{i32,l}};];");
  EXPECT_NE(list(stale).find("s1 r A,Q [a]"), std::string::npos) << list(stale);
  // Not a binding: the value wraps when it is stored.
  const Program wraps = parse(
      "in A^{f32}_{512};out C^{f32}_{512};L^{512}_{a=0}[Q^{u8,l}=a;C^{f32}_{a}=A^{f32}_{Q^{u8,l}};];");
  EXPECT_NE(list(wraps).find("s1 r A,Q [a]"), std::string::npos) << list(wraps);
}

}  // namespace
}  // namespace cairn
