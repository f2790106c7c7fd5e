// Programs for factorization, collect and their inverses: sums of products with shared factors, products with sums,
// reductions whose terms share factors, scalings behind reductions; with traps (shifted subscripts, accumulators that
// continue, guards, readers inside the loops, several updates, other dtypes).
#include <fmt/core.h>

#include <vector>

#include "strategy/generator.h"

namespace cairn::test {
namespace {

class Factors {
 public:
  explicit Factors(Rng* rng) : rng_(*rng) {}

  std::string run() {
    rows_ = 2 + static_cast<std::int64_t>(rng_.below(5));
    cols_ = 2 + static_cast<std::int64_t>(rng_.below(5));
    integer_ = chance(0.2);
    type_ = integer_ ? "i32" : chance(0.2) ? "f64" : "f32";
    head_ = fmt::format("in A^{{{0}}}_{{{1},{2}}};\nin C^{{{0}}}_{{{1}}};\nin W^{{{0}}}_{{{2}}};\nin K^{{{0}}}_{{{1},{2}}};\n", type_, rows_, cols_);
    const std::uint64_t nests = 1 + rng_.below(2);
    for (std::uint64_t n = 0; n < nests; ++n) {
      if (chance(0.5)) {
        sums();
      } else {
        reduction();
      }
    }
    return head_ + body_;
  }

 private:
  bool chance(double p) { return rng_.uniform() < p; }
  std::string atom() {
    switch (rng_.below(7)) {
      case 0: return "C_{i}";
      case 1: return "W_{k}";
      case 2: return "K_{i,k}";
      case 3: return integer_ ? "C_{i}" : "exp(C_{i})";
      case 4: return "3";
      case 5: return fmt::format("W_{{{}-k}}", cols_ - 1);
      default: return "A_{i,k}";
    }
  }
  std::string term(const std::string& factor) {
    switch (rng_.below(integer_ ? 3 : 5)) {
      case 0: return factor;
      case 1: return fmt::format("{}*{}", atom(), factor);
      case 2: return fmt::format("{}*{}*{}", factor, atom(), atom());
      case 3: return fmt::format("{}*({}+{})", factor, atom(), atom());
      default: return fmt::format("{}*{}", factor, fmt::format("abs({})", atom()));
    }
  }
  std::string output(const std::string& name, bool vector) {
    head_ += vector ? fmt::format("out {}^{{{}}}_{{{}}};\n", name, type_, rows_) : fmt::format("out {}^{{{}}}_{{{},{}}};\n", name, type_, rows_, cols_);
    return name;
  }
  std::string name() {
    static const char* kNames[] = {"D", "E", "F", "G", "H", "I"};
    return kNames[next_++ % 6];
  }

  void sums() {
    const std::string d = output(name(), false), x = atom(), sign = chance(0.5) ? "+" : "-";
    std::string value;
    switch (rng_.below(integer_ ? 4 : 6)) {
      case 0:
        value = fmt::format("{}{}{}", term(x), sign, term(x));
        if (chance(0.5)) value += fmt::format("+{}", atom());
        break;
      case 1: value = fmt::format("{}+{}{}{}", atom(), term(x), sign, term(x)); break;
      case 2: value = fmt::format("({}{}{})*{}", atom(), sign, atom(), x); break;
      case 3: value = fmt::format("{}+({}{}{})*{}", atom(), atom(), sign, atom(), x); break;
      case 4: value = fmt::format("sqrt(abs({}*{}-{}*{}))", x, x, atom(), atom()); break;
      default: value = fmt::format("({}{}{})**2", atom(), sign, x); break;
    }
    body_ += fmt::format("L^{{{}}}_{{i=0}}L^{{{}}}_{{k=0}}[{}_{{i,k}}={};];\n", rows_, cols_, d, value);
  }

  void reduction() {
    const bool visible = chance(0.6);
    const std::string e = name();
    if (visible) output(e, true);
    const std::string x = at(e, !visible);
    const std::string factor = integer_ || chance(0.6) ? (chance(0.2) ? "W_{k}" : "C_{i}") : chance(0.5) ? "exp(C_{i})" : "2";
    const bool divides = !integer_ && chance(0.2), maximum = !integer_ && chance(0.2);
    std::string operand = divides ? fmt::format("{}/{}", atom(), factor) : term(factor);
    if (chance(0.2)) operand = fmt::format("if_then_else(k<=i,{},0)", operand);
    std::string update = maximum ? fmt::format("{}=max({},{});", x, x, operand) : fmt::format("{}={}{}{};", x, x, chance(0.3) ? "-" : "+", operand);
    if (!maximum && chance(0.2)) update += fmt::format("{}={}+{};", x, x, term(factor));
    const std::string test = chance(0.2) ? "T^{k<=i}" : "";
    const std::string rows = fmt::format("L^{{{}}}_{{i=0}}", rows_), cols = fmt::format("L^{{{}}}_{{k=0}}", cols_);
    const std::string start = fmt::format("{}={};", x, maximum ? "-inf" : chance(0.9) ? "0" : "1");
    const std::string scaling = fmt::format("{}={}{}{};", x, x, integer_ || chance(0.7) ? "*" : "/", integer_ || chance(0.5) ? "C_{i}" : "exp(C_{i})");
    const bool scaled = chance(0.5);
    switch (rng_.below(3)) {
      case 0:
        body_ += fmt::format("{}{}{}[{}];\n", rows, cols, test, update);
        if (scaled) body_ += fmt::format("{}[{}];\n", rows, scaling);
        break;
      case 1:
        body_ += fmt::format("{}{}[{}];\n", cols, rows, update);
        if (scaled) body_ += fmt::format("{}[{}];\n", rows, scaling);
        break;
      default:
        body_ += fmt::format("{}[{}{}{}[{}];{}];\n", rows, start, cols, test, update, scaled ? scaling : "");
        break;
    }
    const std::string d = output(name(), true);
    body_ += fmt::format("{}[{}_{{i}}={}*2;];\n", rows, d, x);
  }
  std::string at(const std::string& tensor, bool temporary) const {
    return temporary ? fmt::format("{}^{{{},g}}_{{i}}", tensor, type_) : fmt::format("{}_{{i}}", tensor);
  }

  Rng& rng_;
  std::int64_t rows_ = 0, cols_ = 0;
  bool integer_ = false;
  std::string type_, head_, body_;
  int next_ = 0;
};

}  // namespace

std::string generate_factors(Rng* rng) { return Factors(rng).run(); }

}  // namespace cairn::test
