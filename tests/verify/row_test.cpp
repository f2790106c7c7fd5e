// The rung `rule` for pairs that nobody's action made: which row is found, what it is worth, what must not earn it.
#include "verify/row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/pair_file.h"

namespace cairn {
namespace {

struct RowPair {
  const char* name;
  std::string before, after;
  const char* row;        // empty: none
  const char* equation;
};

std::string unary(const std::string& rhs) { return "in A^{f32}_{6};in C^{f32}_{6};out D^{f32}_{6};\nL^{6}_{i=0}[D_{i}=" + rhs + ";];"; }
std::string staged(const std::string& names, const std::string& second) {
  const std::string t(1, names[0]), i(1, names[1]);
  return "in A^{f32}_{6};in C^{f32}_{6};out D^{f32}_{6};\nL^{6}_{" + i + "=0}[" + t + "^{f32,g}_{" + i + "}=exp(A_{" + i + "});];\nL^{6}_{" + i + "=0}[D_{" + i + "}=" + second + ";];";
}
std::string update(const std::string& rhs) { return "in A^{f32}_{6,4};in C^{f32}_{6};out D^{f32}_{6};\nL^{6}_{i=0}L^{4}_{k=0}[D_{i}=" + rhs + ";];"; }

const RowPair kPairs[] = {
    {"one row", unary("exp(A_{i})*exp(C_{i})"), unary("exp(C_{i}+A_{i})"), "exp_product", "s0"},
    {"its other direction", unary("exp(A_{i}+C_{i})"), unary("exp(A_{i})*exp(C_{i})"), "exp_product backwards", "s0"},
    {"an invented value", unary("exp(A_{i}-C_{i})"), unary("exp(A_{i}-A_{0})*exp(A_{0}-C_{i})"), "exp_bridge backwards", "s0"},
    {"other names of loops and temporaries", staged("Ei", "E^{f32,g}_{i}*C_{i}+E^{f32,g}_{i}*A_{i}"), staged("Fr", "F^{f32,g}_{r}*(A_{r}+C_{r})"), "common_factor", "s1"},
    {"inside a sum", update("D_{i}+(A_{i,k}*C_{i}+A_{i,0}*C_{i})"), update("D_{i}+(A_{i,k}+A_{i,0})*C_{i}"), "common_factor", "s0"},
    {"another value", unary("exp(A_{i})*exp(C_{i})"), unary("exp(A_{i}+2*C_{i})"), "", ""},
    {"another element", unary("A_{i}*C_{i}/C_{i}"), unary("A_{5-i}"), "", ""},
    {"two rows", unary("exp(A_{i})*exp(C_{i})+log(C_{i})"), unary("exp(A_{i}+C_{i})-log(1/C_{i})"), "", ""},
    {"nothing differs", unary("A_{i}+C_{i}"), unary("C_{i}+A_{i}"), "", ""},
    {"two equations", staged("Ei", "E^{f32,g}_{i}*C_{i}"), "in A^{f32}_{6};in C^{f32}_{6};out D^{f32}_{6};\nL^{6}_{i=0}[E^{f32,g}_{i}=1/exp(-A_{i});];\nL^{6}_{i=0}[D_{i}=E^{f32,g}_{i}*C_{i}/C_{i}*C_{i};];", "", ""},
    {"another extent", unary("exp(A_{i})*exp(C_{i})"), "in A^{f32}_{6};in C^{f32}_{6};out D^{f32}_{6};\nL^{5}_{i=0}[D_{i}=exp(A_{i}+C_{i});];\nD_{5}=exp(A_{5})*exp(C_{5});", "", ""},
    {"across the accumulator", update("D_{i}*A_{i,k}+D_{i}"), update("D_{i}*(A_{i,k}+1)"), "", ""},
    {"a condition that never holds", unary("log(-exp(A_{i}))+log(C_{i})"), unary("log(-exp(A_{i})*C_{i})"), "", ""},
    {"another type of a comparison", "in A^{f32}_{6};in H^{f64}_{6};out D^{f32}_{6};\nL^{6}_{i=0}[D_{i}=if_then_else(A_{i}*H_{i}/H_{i}<0.1,1,2);];",
     "in A^{f32}_{6};in H^{f64}_{6};out D^{f32}_{6};\nL^{6}_{i=0}[D_{i}=if_then_else(A_{i}<0.1,1,2);];", "", ""},
};

TEST(Row, IsFoundWhereOneEquationDiffersByOne) {
  for (const RowPair& pair : kPairs) {
    const std::optional<RowRewrite> row = find_row(parse_ok(pair.before), parse_ok(pair.after));
    EXPECT_EQ(row ? row->row : "", pair.row) << pair.name;
    EXPECT_EQ(row ? row->equation : "", pair.equation) << pair.name;
    if (!row) continue;
    const CertificateSet set = certify(parse_ok(pair.before), parse_ok(pair.after), Exactness::algebraic, nullptr, CertifyOptions());
    const Certificate* rule = set.find(Rung::rule);
    ASSERT_NE(rule, nullptr) << pair.name << " " << serialize(set);
    EXPECT_TRUE(rule->held && rule->facts[0].second == pair.row) << pair.name;
    const CertificateSet exact = certify(parse_ok(pair.before), parse_ok(pair.after), Exactness::exact, nullptr, CertifyOptions());
    EXPECT_EQ(exact.find(Rung::rule), nullptr) << pair.name << ": a row over the reals is no exact one";
  }
}

// Conditions that are only recorded need another rung that judged the values; proved ones stand alone.
TEST(Row, StandsAloneOnlyIfProved) {
  CertifyOptions alone;
  alone.numeric = alone.identity = false;
  const Program square = parse_ok(unary("A_{i}*A_{i}")), power = parse_ok(unary("A_{i}**2"));
  const CertificateSet proved = certify(square, power, Exactness::exact, nullptr, alone);
  EXPECT_TRUE(proved.ok() && proved.find(Rung::rule) != nullptr) << serialize(proved);
  const CertificateSet open = certify(parse_ok(kPairs[0].before), parse_ok(kPairs[0].after), Exactness::algebraic, nullptr, alone);
  EXPECT_FALSE(open.ok());
  EXPECT_EQ(open.find(Rung::rule), nullptr);
  EXPECT_NE(serialize(open).find("\"rule_absent\",\"exp_product at s0"), std::string::npos) << serialize(open);
}

// A law of max with *, which the field does not know: the row stands in for it.
TEST(Row, CarriesALawThatIdentityDoesNotKnow) {
  const Program before = parse_ok(unary("max(A_{i}*exp(C_{i}),2*exp(C_{i}))")), after = parse_ok(unary("max(A_{i},2)*exp(C_{i})"));
  const CertificateSet set = certify(before, after, Exactness::algebraic, nullptr, CertifyOptions());
  ASSERT_NE(set.find(Rung::rule), nullptr) << serialize(set);
  EXPECT_EQ(set.find(Rung::rule)->facts[0].second, "common_factor_of_max");
  EXPECT_EQ(set.find(Rung::identity), nullptr) << serialize(set);
  const Program wrong = parse_ok(unary("max(A_{i},3)*exp(C_{i})"));
  EXPECT_FALSE(certify(before, wrong, Exactness::algebraic, nullptr, CertifyOptions()).ok());
}

// A replayed action's `rule` says which row its strategy used.
TEST(Row, IsNamedBesideAReplayedAction) {
  ActionEvidence evidence;
  evidence.action = "powsimp(equation=s0, rule=square, at=0)";
  evidence.replayed = true;
  evidence.proved = {"1", "2"};
  const CertificateSet set = certify(parse_ok(unary("A_{i}*A_{i}")), parse_ok(unary("A_{i}**2")), Exactness::exact, &evidence, CertifyOptions());
  const Certificate* rule = set.find(Rung::rule);
  ASSERT_NE(rule, nullptr);
  const auto named = [](const auto& f) { return f.first == "row" && f.second == "square"; };
  EXPECT_TRUE(std::any_of(rule->facts.begin(), rule->facts.end(), named)) << serialize(set);
}

}  // namespace
}  // namespace cairn
