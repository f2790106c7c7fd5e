// The identity table and its matching: what fits where, what does not, and that rewriting keeps real values.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/algebra/match.h"
#include "ir/text.h"

namespace cairn::algebra {
namespace {

ExprPtr read_expr(const std::string& text) {
  Result<ExprPtr> e = parse_expr(text);
  EXPECT_TRUE(e.ok()) << text;
  return *e;
}

Rule rule_named(const std::string& name, bool back = false) {
  for (const Identity& row : identities()) {
    if (row.name == name) return {&row, back};
  }
  ADD_FAILURE() << name;
  return {&identities()[0], back};
}

std::vector<std::string> results_of(const std::string& name, bool back, const std::string& text, Bindings invented = {}) {
  const ExprPtr e = read_expr(text);
  const Rule rule = rule_named(name, back);
  MatchOptions options;
  options.invented = std::move(invented);
  std::vector<std::string> out;
  for (const Match& match : find_matches(rule, e, options)) out.push_back(print_expr(*rewrite_at(rule, e, match)));
  return out;
}

struct RowCase {
  const char* rule;
  bool back;
  const char* before;
  std::vector<std::string> after;   // all results; empty: nothing fits
};

TEST(AlgebraMatch, RowsFitWhereTheyShould) {
  const RowCase cases[] = {
      {"cancel_factor", false, "A_{i}*C_{i}/A_{i}", {"C_{i}"}},
      {"cancel_factor", false, "A_{i}*C/(D*A_{i})", {"C/D"}},
      {"cancel_factor", false, "A_{i}/A_{5-i}", {}},
      {"cancel_factor", false, "C/(D*C)", {"1/D"}},
      {"cancel_factor", false, "A_{i+1}/A_{1+i}", {"1"}},
      {"cancel_term", false, "A+C-A", {"C"}},
      {"cancel_term", false, "A_{i}-A_{5-i}", {}},
      {"cancel_term", false, "A-(C+A)", {"-C"}},
      {"cancel_sum", false, "(A*C+D*C)/C", {"A+D"}},
      {"cancel_sum", false, "(A*C+D*E)/C", {}},
      {"cancel_one_more", false, "(A*A+A)/A", {"A+1"}},
      {"cancel_conjugate", false, "(A*A-C*C)/(A-C)", {"A+C"}},
      {"cancel_squares", false, "(A-C)/(A*A-C*C)*D", {"1/(A+C)*D"}},
      {"add_fractions", false, "A/C+D/E", {"(A*E+D*C)/(C*E)"}},
      {"add_to_fraction", false, "A/C+D", {"(A+D*C)/C"}},
      {"add_alike", false, "A/C+D/C", {"(A+D)/C"}},
      {"add_alike", true, "(A+D)/C", {"A/C+D/C"}},
      {"square", false, "A*A", {"A**2"}},
      {"square", false, "A_{i}*A_{j}", {}},
      {"square", true, "(A-C)**2", {"(A-C)*(A-C)"}},
      {"raise_power", false, "A**2*A", {"A**3"}},
      {"exp_product", false, "exp(A)*exp(C)", {"exp(A+C)"}},
      {"exp_product", false, "exp(A)*C*exp(-D)", {"exp(A-D)*C"}},
      {"exp_product", false, "C/(exp(A)*exp(D))", {"C/exp(A+D)"}},
      {"exp_product", true, "exp(A-C)", {"exp(A)*exp(-C)"}},
      {"exp_quotient", true, "exp(A-C)", {"exp(A)/exp(C)"}},
      {"exp_reciprocal", false, "A/exp(C)", {"A*exp(-C)"}},
      {"exp_power", false, "exp(A)**3", {"exp(A*3)"}},
      {"exp_power", false, "exp(A)**C", {}},
      {"log_product", false, "log(A)+log(C)-D", {"log(A*C)-D"}},
      {"log_product", false, "D-log(A)-log(C)", {"D-log(A*C)"}},
      {"log_product", true, "D-log(A*C)", {"D-log(A)-log(C)", "D-log(C)-log(A)"}},
      {"log_quotient", false, "log(A)-log(C)", {"log(A/C)"}},
      {"log_power", true, "log(A**3)", {"3*log(A)"}},
      {"sqrt_squared", false, "sqrt(A)*sqrt(A)", {"A"}},
      {"sqrt_reciprocal", false, "A/sqrt(C)", {"A*rsqrt(C)"}},
      {"proper_fraction", true, "exp(A)/(exp(A)+1)", {"1-1/(exp(A)+1)"}},
  };
  for (const RowCase& one : cases) EXPECT_EQ(results_of(one.rule, one.back, one.before), one.after) << one.rule << " on " << one.before;
}

TEST(AlgebraMatch, SplitsTakeTheirInventedName) {
  EXPECT_EQ(results_of("exp_bridge", true, "exp(A-C)", {{"z", read_expr("D")}}), (std::vector<std::string>{"exp(A-D)*exp(D-C)"}));
  EXPECT_EQ(results_of("unscale", true, "A", {{"z", read_expr("D")}}), (std::vector<std::string>{"A/D*D"}));
  const std::vector<std::string> got = results_of("unshift", true, "A_{i}*C", {{"z", read_expr("D")}});
  EXPECT_EQ(got, (std::vector<std::string>{"A_{i}*C+D-D", "(A_{i}+D-D)*C", "A_{i}*(C+D-D)"}));
}

TEST(AlgebraMatch, EqualUpToOrderAndGrouping) {
  const auto same = [](const char* a, const char* b) { return same_value(read_expr(a), read_expr(b)); };
  EXPECT_TRUE(same("A+(C-D)", "C+A-D"));
  EXPECT_TRUE(same("A*(C/D)", "C*A/D"));
  EXPECT_TRUE(same("A-2", "A+-2"));
  EXPECT_TRUE(same("max(A,C+D)", "max(D+C,A)"));
  EXPECT_TRUE(same("-(A-C)", "C-A"));
  EXPECT_FALSE(same("A-C", "C-A"));
  EXPECT_FALSE(same("A/C", "C/A"));
  EXPECT_FALSE(same("A_{i,j}", "A_{j,i}"));
  EXPECT_FALSE(same("-A", "A"));
  EXPECT_FALSE(same("f16(A)", "f32(A)"));
  EXPECT_FALSE(same("A*2", "A*3"));
}

TEST(AlgebraMatch, ExplainsARewrite) {
  const auto explained = [](const char* before, const char* after) -> std::string {
    const std::optional<Explanation> e = explain_rewrite(read_expr(before), read_expr(after));
    return e ? e->rule.name() : "";
  };
  EXPECT_EQ(explained("exp(A)*C*exp(D)", "C*exp(D+A)"), "exp_product");
  EXPECT_EQ(explained("exp(A-C)", "exp(A-D)*exp(D-C)"), "exp_bridge");
  EXPECT_EQ(explained("A/C+D/C", "(D+A)/C"), "add_alike");
  EXPECT_EQ(explained("exp(A)*C", "C*exp(2*A)"), "");
}

}  // namespace
}  // namespace cairn::algebra
