// Every row of the table: it holds in f64 on values of many kinds where its conditions hold, its conditions are needed, it
// fits its own sides, and not their twins with another element or function.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/algebra/match.h"
#include "base/rng.h"
#include "ir/text.h"

namespace cairn::algebra {
namespace {

// Evaluates an expression of pattern variables; NaN for what the rows do not use.
double evaluate(const Expr& e, const std::map<std::string, double>& values) {
  const auto arg = [&](std::size_t k) { return evaluate(*e.args[k], values); };
  switch (e.op) {
    case Op::int_literal: return static_cast<double>(e.int_value);
    case Op::float_literal: return e.float_value;
    case Op::loop_var: return values.at(e.name);
    case Op::neg: return -arg(0);
    case Op::add: return arg(0) + arg(1);
    case Op::sub: return arg(0) - arg(1);
    case Op::mul: return arg(0) * arg(1);
    case Op::div: return arg(0) / arg(1);
    case Op::pow: return std::pow(arg(0), arg(1));
    case Op::exp: return std::exp(arg(0));
    case Op::log: return std::log(arg(0));
    case Op::sqrt: return std::sqrt(arg(0));
    case Op::rsqrt: return 1 / std::sqrt(arg(0));
    case Op::abs: return std::fabs(arg(0));
    case Op::max: return std::max(arg(0), arg(1));
    case Op::min: return std::min(arg(0), arg(1));
    case Op::floor: return std::floor(arg(0));
    case Op::lt: return arg(0) < arg(1);
    case Op::le: return arg(0) <= arg(1);
    case Op::gt: return arg(0) > arg(1);
    case Op::ge: return arg(0) >= arg(1);
    case Op::eq: return arg(0) == arg(1);
    case Op::ne: return arg(0) != arg(1);
    case Op::logical_and: return arg(0) != 0 && arg(1) != 0;
    case Op::logical_or: return arg(0) != 0 || arg(1) != 0;
    default: return std::nan("");
  }
}

bool holds_all(const std::vector<ExprPtr>& conditions, const std::map<std::string, double>& values) {
  for (const ExprPtr& c : conditions) {
    if (!(evaluate(*c, values) != 0)) return false;
  }
  return true;
}

std::vector<std::string> names_of(const Identity& row) {
  std::vector<std::string> names = variables_of(*row.lhs);
  for (const std::string& name : variables_of(*row.rhs)) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// Values like those of the input families: normal, of several magnitudes, small integers, zeros, huge, tiny, infinite.
double draw(Rng* rng, bool wild) {
  if (wild && rng->below(3) == 0) {
    constexpr double kSpecial[] = {0, -1, 1e200, -1e200, 1e-200, 1000, -1000, __builtin_inf(), 1e-310};
    return kSpecial[rng->below(9)];
  }
  return rng->below(4) == 0 ? static_cast<double>(rng->below(7)) - 3 : rng->normal() * std::pow(10.0, static_cast<double>(rng->below(3)) - 1);
}

bool agree(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)) || (std::isinf(a) && std::isinf(b))) return true;   // a pole has no sign
  return std::isfinite(a - b) && std::fabs(a - b) <= 1e-6 * std::max({std::fabs(a), std::fabs(b), 1e-12});
}

TEST(AlgebraTable, EveryRowHoldsUnderItsConditionsAndNeedsThem) {
  for (const Identity& row : identities()) {
    Rng rng = Rng(11).split(row.name);
    const std::vector<std::string> names = names_of(row);
    const bool conditional = !Rule{&row, false}.conditions().empty() || !Rule{&row, true}.conditions().empty();
    int held = 0, broken = 0;
    for (int trial = 0; trial < 6000; ++trial) {
      std::map<std::string, double> values{{"big", 700}};
      const bool wild = trial % 2 == 1;
      for (const std::string& name : names) {
        const double literal = (static_cast<double>(rng.below(9)) - 3) / (rng.below(4) == 0 ? 2 : 1);
        values[name] = is_literal_variable(name) ? literal : draw(&rng, wild);
      }
      const double a = evaluate(*row.lhs, values), b = evaluate(*row.rhs, values);
      if (holds_all(Rule{&row, false}.conditions(), values) && holds_all(Rule{&row, true}.conditions(), values)) {
        ++held;
        if (wild && (!std::isfinite(a) || !std::isfinite(b))) continue;   // overflow between is no matter of the row
        // Beside huge values, what cancels is lost to rounding.
        double largest = 0;
        for (const auto& entry : values) largest = std::max(largest, std::fabs(entry.second));
        EXPECT_TRUE(agree(a, b) || (wild && std::fabs(a - b) <= 1e-6 * largest)) << row.name << ": " << a << " and " << b << " at a=" << values["a"] << " b=" << values["b"];
      } else if (!agree(a, b)) {
        ++broken;
      }
    }
    EXPECT_GT(held, 100) << row.name << ": its conditions hardly ever hold";
    if (conditional) {
      EXPECT_GT(broken, 0) << row.name << ": its conditions exclude nothing";
    }
  }
}

// The side with an element for each name; `twin` >= 0 gives the occurrence of that number an element of its own.
ExprPtr instance(const ExprPtr& pattern, int twin) {
  int seen = 0;
  return rewrite_expr(pattern, [&](const ExprPtr& e) -> ExprPtr {
    if (e->op != Op::loop_var) return nullptr;
    if (is_literal_variable(e->name)) return make_int(e->name == "n" ? 4 : 3);
    const bool other = seen++ == twin;
    return make_read(e->name == "a" ? "A" : e->name == "b" ? "C" : e->name == "c" ? "D" : e->name == "d" ? "E" : e->name == "x" ? "F" : e->name == "y" ? "G" : "H",
                     {make_int(other ? 1 : 0)});
  });
}

int count_names(const ExprPtr& pattern, const std::string& name) {
  int count = 0;
  visit_expr(*pattern, [&](const Expr& e) {
    count += e.op == Op::loop_var && e.name == name ? 1 : 0;
    return true;
  });
  return count;
}

Op twin_of(Op op) {
  switch (op) {
    case Op::exp: case Op::log: case Op::sqrt: case Op::rsqrt: return Op::tanh;
    case Op::pow: return Op::max;
    default: return op;
  }
}

std::size_t count_matches(const Rule& rule, const ExprPtr& e) {
  MatchOptions options;
  for (const std::string& name : invented_by(rule)) options.invented.emplace_back(name, make_read("Z", {}));
  return find_matches(rule, e, options).size();
}

TEST(AlgebraTable, EveryRowFitsItsSideAndNoTwinOfIt) {
  for (const Identity& row : identities()) {
    for (const bool back : {false, true}) {
      if ((back ? row.back : row.forward).empty()) continue;
      const Rule rule{&row, back};
      EXPECT_GT(count_matches(rule, instance(rule.from(), -1)), 0U) << row.name;
      bool repeated = false;
      int occurrence = 0;
      visit_expr(*rule.from(), [&](const Expr& e) {
        if (e.op != Op::loop_var || is_literal_variable(e.name)) return true;
        if (count_names(rule.from(), e.name) > 1) {
          repeated = true;
          EXPECT_EQ(count_matches(rule, instance(rule.from(), occurrence)), 0U) << row.name << ": " << print_expr(*instance(rule.from(), occurrence));
        }
        ++occurrence;
        return true;
      });
      if (repeated || rule.from()->op == Op::loop_var) continue;
      bool turned = false;
      const ExprPtr twin = rewrite_expr(instance(rule.from(), -1), [&](const ExprPtr& e) -> ExprPtr {
        if (turned || twin_of(e->op) == e->op) return nullptr;
        turned = true;
        return make_expr(twin_of(e->op), e->args);
      });
      if (turned) {
        EXPECT_EQ(count_matches(rule, twin), 0U) << row.name << ": " << print_expr(*twin);
      }
    }
  }
}

TEST(AlgebraTable, MalformedRowsAreRefused) {
  for (const char* text : {"a: x => x", "[p | q]\nno arrow", "[p | q]\nr: x => (", "[p q]", "[p | q]\nr: x => x\nr: x => x"}) {
    EXPECT_FALSE(parse_identities(text).ok()) << text;
  }
}

}  // namespace
}  // namespace cairn::algebra
