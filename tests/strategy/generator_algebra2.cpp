// Programs for the strategies that take subexpressions out of equations or move factors and terms: a few nests that
// share expressions over a matrix, a column and a row, with guards, renamed loops, other dtypes, parallel loops,
// several outputs, and operands that are rewritten in between.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "strategy/generator.h"

namespace cairn::test {
namespace {

class Sharing {
 public:
  explicit Sharing(Rng* rng) : rng_(*rng) {}

  std::string run() {
    rows_ = 2 + static_cast<std::int64_t>(rng_.below(5));
    cols_ = 2 + static_cast<std::int64_t>(rng_.below(5));
    static const char* kTypes[] = {"f32", "f32", "f32", "f16", "f64", "bf16"};
    type_ = kTypes[rng_.below(6)];
    const bool rewrites = chance(0.25);
    head_ = fmt::format("{} A^{{{}}}_{{{},{}}};\nin C^{{{}}}_{{{}}};\nin W^{{f32}}_{{{}}};\nin K^{{i64}}_{{{}}};\n", rewrites ? "io" : "in", type_, rows_,
                        cols_, type_, rows_, cols_, rows_);
    for (int k = 0; k < 3; ++k) pool_.push_back(expression(2));
    const std::uint64_t nests = 1 + rng_.below(3);
    for (std::uint64_t n = 0; n < nests; ++n) {
      if (rewrites && n > 0 && chance(0.6)) body_ += fmt::format("L^{{{}}}_{{i=0}}[A^{{{},g}}_{{i,0}}=1;];\n", rows_, type_);
      nest();
    }
    return head_ + body_;
  }

 private:
  bool chance(double p) { return rng_.uniform() < p; }
  // $i and $j stand for the nest's loops.
  std::string expression(int depth) {
    if (depth == 0) {
      switch (rng_.below(5)) {
        case 0: return "C_{$i}";
        case 1: return "W_{$j}";
        case 2: return "K_{$i}";
        default: return "A_{$i,$j}";
      }
    }
    const std::string a = expression(depth - 1), b = expression(static_cast<int>(rng_.below(static_cast<std::uint64_t>(depth))));
    switch (rng_.below(8)) {
      case 0: return fmt::format("exp({})", a);
      case 1: return fmt::format("({}+{})", a, b);
      case 2: return fmt::format("({}-{})", a, b);
      case 3: return fmt::format("{}*{}", b, a);
      case 4: return fmt::format("max({},{})", a, b);
      case 5: return fmt::format("abs({})*2", a);
      case 6: return fmt::format("if_then_else({}<$j,{},{})", chance(0.5) ? "$i" : "K_{$i}", a, b);
      default: return fmt::format("({}+1)*{}", a, a);
    }
  }
  std::string value() {
    const std::string a = pool_[rng_.below(3)], b = pool_[rng_.below(3)];
    switch (rng_.below(5)) {
      case 0: return fmt::format("{}*{}", a, b);
      case 1: return fmt::format("{}-{}", a, b);
      case 2: return fmt::format("tanh({})+{}", a, b);
      case 3: return fmt::format("if_then_else($i>0,{},{})", a, b);
      default: return a;
    }
  }
  std::string output(bool vector) {
    static const char* kNames[] = {"D", "E", "F", "G", "H", "I", "J"};
    const std::string name = kNames[next_++ % 7];
    const char* type = chance(0.8) ? "f32" : "f64";
    head_ += vector ? fmt::format("out {}^{{{}}}_{{{}}};\n", name, type, rows_) : fmt::format("out {}^{{{}}}_{{{},{}}};\n", name, type, rows_, cols_);
    return name;
  }
  void nest() {
    const bool renamed = chance(0.5), parallel = chance(0.25);
    const std::string i = renamed ? "a" : "i", j = renamed ? "c" : "j";
    std::string statements;
    const std::uint64_t count = 1 + rng_.below(2);
    const bool reduced = chance(0.35);
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::string name = output(reduced);
      if (reduced) {
        statements += fmt::format("{}_{{$i}}={}_{{$i}}+{};", name, name, value());
      } else {
        statements += fmt::format("{}_{{$i,$j}}={};", name, value());
      }
    }
    // A reduction under a test must still start every element.
    const std::string test = reduced && chance(0.4) ? "T^{$j<=$i}" : "";
    std::string text = fmt::format("{}^{{{}}}_{{$i=0}}{}^{{{}}}_{{$j=0}}{}[{}];\n", parallel ? "P" : "L", rows_, chance(0.1) && !reduced ? "P" : "L", cols_, test,
                                   statements);
    replace(&text, "$i", i);
    replace(&text, "$j", j);
    body_ += text;
  }
  static void replace(std::string* text, const std::string& from, const std::string& to) {
    for (std::size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size())) text->replace(at, from.size(), to);
  }

  Rng& rng_;
  std::int64_t rows_ = 0, cols_ = 0;
  std::string type_, head_, body_;
  std::vector<std::string> pool_;
  int next_ = 0;
};

}  // namespace

std::string generate_sharing(Rng* rng) { return Sharing(rng).run(); }

}  // namespace cairn::test
