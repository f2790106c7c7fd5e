// Programs for constant folding: equations of literals, neutral operands, conversions and conditions of loop variables, with
// guards, several types of inputs and outputs, self-updates and conditions on floats.
#include <fmt/core.h>

#include "strategy/generator.h"

namespace cairn::test {
namespace {

class Constants {
 public:
  explicit Constants(Rng* rng) : rng_(*rng) {}

  std::string run() {
    rows_ = 2 + static_cast<std::int64_t>(rng_.below(5));
    static const char* kTypes[] = {"f32", "f32", "f64", "f16", "bf16"};
    const char* type = kTypes[rng_.below(5)];
    std::string head = fmt::format("in A^{{{0}}}_{{{1}}};\nin C^{{f32}}_{{{1}}};\nin K^{{i64}}_{{{1}}};\nin B^{{bool}}_{{{1}}};\n", type, rows_);
    std::string body;
    static const char* kNames[] = {"D", "E", "F"};
    const std::uint64_t count = 1 + rng_.below(3);
    for (std::uint64_t n = 0; n < count; ++n) {
      const char* name = kNames[n];
      static const char* kOutputs[] = {"f32", "f32", "f64", "f16", "i64"};
      const bool integer = rng_.below(8) == 0;
      const char* out = integer ? "i64" : kOutputs[rng_.below(4)];
      head += fmt::format("out {}^{{{}}}_{{{}}};\n", name, out, rows_);
      const std::string value = integer ? whole(3) : real(3);
      std::string statement = fmt::format("{}_{{i}}={};", name, value);
      switch (rng_.below(6)) {
        case 0: statement = fmt::format("{0}_{{i}}=0;T^{{i>1}}[{1}];", name, statement); break;
        case 1: statement = fmt::format("{0}_{{i}}=0;L^{{3}}_{{j=0}}[{0}_{{i}}={0}_{{i}}+({1});];", name, value); break;
        case 2: statement = fmt::format("{0}_{{i}}=1;{0}_{{i}}={0}_{{i}}*1+({1});", name, value); break;
        default: break;
      }
      body += fmt::format("{}^{{{}}}_{{i=0}}[{}];\n", rng_.below(5) == 0 ? "P" : "L", rows_, statement);
    }
    return head + body;
  }

 private:
  std::string pick(const std::initializer_list<const char*>& of) { return of.begin()[rng_.below(of.size())]; }
  std::string literal() { return pick({"0", "1", "2", "3", "0.5", "1.0", "0.0", "0.1", "0.25", "-1", "16777217", "0.2", "1e30", "1e-30"}); }
  std::string whole(int depth) {
    if (depth == 0) return pick({"K_{i}", "i", "0", "1", "2", "3", "7"});
    const std::string a = whole(depth - 1), b = whole(static_cast<int>(rng_.below(2)));
    switch (rng_.below(6)) {
      case 0: return fmt::format("({}){}({})", a, pick({"//", "%"}), pick({"2", "3", "1"}));
      case 1: return fmt::format("{}({},{})", pick({"max", "min"}), a, b);
      case 2: return fmt::format("if_then_else({},{},{})", condition(), a, b);
      default: return fmt::format("({}){}({})", a, pick({"+", "-", "*"}), b);
    }
  }
  std::string condition() {
    switch (rng_.below(7)) {
      case 0: return fmt::format("A_{{i}}{}{}", pick({">", "<=", "=="}), literal());
      case 1: return fmt::format("{}&{}", condition(), condition());
      case 2: return fmt::format("!({})", condition());
      case 3: return "B_{i}";
      case 4: return fmt::format("{}<{}", literal(), literal());
      default: return fmt::format("i{}{}", pick({"<", ">=", ">", "==", "!="}), rng_.below(static_cast<std::uint64_t>(rows_) + 2));
    }
  }
  std::string real(int depth) {
    if (depth == 0) return rng_.below(3) == 0 ? literal() : pick({"A_{i}", "C_{i}", "K_{i}", "i", "exp(C_{i})", "A_{i}"});
    const std::string a = real(depth - 1);
    const std::string b = rng_.below(2) == 0 ? literal() : real(static_cast<int>(rng_.below(2)));
    switch (rng_.below(10)) {
      case 0: return fmt::format("-(-({}))", a);
      case 1: return fmt::format("{}({},{})", pick({"max", "min"}), a, rng_.below(2) == 0 ? a : b);
      case 2: return fmt::format("if_then_else({},{},{})", condition(), a, b);
      case 3: return fmt::format("{}({})", pick({"f16", "f32", "f64", "abs", "exp"}), a);
      case 4: return fmt::format("({})/({})", b, a);
      case 5: return fmt::format("({}){}({})", b, pick({"+", "-", "*"}), a);
      default: return fmt::format("({}){}({})", a, pick({"+", "-", "*", "/"}), b);
    }
  }

  Rng& rng_;
  std::int64_t rows_ = 0;
};

}  // namespace

std::string generate_constants(Rng* rng) { return Constants(rng).run(); }

}  // namespace cairn::test
