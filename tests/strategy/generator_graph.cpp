// Programs for strategies that join or cut whole nests: several nests of one form over different extents, with traps
// (a literal, dtype, operand or reduction that differs, a result that the next nest reads, prior values, other readers).
#include <fmt/core.h>

#include <vector>

#include "strategy/generator.h"

namespace cairn::test {
namespace {

class Twins {
 public:
  explicit Twins(Rng* rng) : rng_(*rng), rows_(extent()), depth_(extent()), form_(rng_.below(8)), order_(rng_.below(3)), by_rows_(chance(0.4)),
                             dtype_(chance(0.8) ? "f32" : chance(0.5) ? "f16" : "i32"), shared_(input(rows_, depth_, dtype_)) {}

  std::string run() {
    const std::uint64_t count = 2 + rng_.below(2);
    std::int64_t axis = extent();
    for (std::uint64_t k = 0; k < count; ++k) {
      if (chance(0.4)) axis = extent();
      nest(by_rows_ ? axis : rows_, by_rows_ ? rows_ : axis);
      if (chance(0.3)) between();
    }
    return head_ + body_;
  }

 private:
  std::int64_t extent() { return 2 + static_cast<std::int64_t>(rng_.below(5)); }
  bool chance(double p) { return rng_.uniform() < p; }
  std::string name() {
    static const char* kNames[] = {"A", "C", "D", "E", "F", "G", "H", "I", "J", "K", "N", "O", "Q", "R", "S", "W", "X", "Y", "Z"};
    const std::uint64_t n = next_++;
    return n < 19 ? kNames[n] : fmt::format("{}a", kNames[n % 19]);
  }
  std::string input(std::int64_t rows, std::int64_t cols, const std::string& type) {
    const std::string t = name();
    head_ += fmt::format("in {}^{{{}}}_{{{},{}}};\n", t, type, rows, cols);
    return t;
  }
  static std::string at(const std::string& t, const std::string& type, const std::string& sub) { return fmt::format("{}^{{{},g}}_{{{}}}", t, type, sub); }
  static std::string loop(const char* kind, std::int64_t n, const char* var) { return fmt::format("{}^{{{}}}_{{{}=0}}", kind, n, var); }

  // What a nest writes: mostly an output, else a temporary that an output copies afterwards.
  std::string result(std::int64_t rows, std::int64_t cols, const std::string& type, bool may_go_on) {
    const std::string t = name();
    const bool visible = chance(0.7);
    const std::string o = visible ? t : name();
    head_ += fmt::format("{} {}^{{{}}}_{{{},{}}};\n", visible && may_go_on ? "io" : "out", o, type, rows, cols);
    if (!visible) after_ = fmt::format("{}{}[{}={};];\n", loop("L", rows, "i"), loop("L", cols, "j"), at(o, type, "i,j"), at(t, type, "i,j"));
    return t;
  }
  void between() {
    const std::string t = name();
    head_ += fmt::format("out {}^{{{}}};\n", t, dtype_);
    body_ += fmt::format("{}^{{{},g}}={}*2;\n", t, dtype_, at(chance(0.5) || last_.empty() ? shared_ : last_, dtype_, "0,0"));
  }

  void nest(std::int64_t r, std::int64_t c) {
    const std::string type = chance(0.9) ? dtype_ : "f32", literal = chance(0.9) ? "2" : "3";
    const std::int64_t depth = chance(0.9) ? depth_ : extent();
    const std::string i = loop(chance(0.8) ? "L" : "P", r, "i"), j = loop("L", c, "j"), k = loop("L", depth, "k");
    const bool follow = chance(0.1) && !last_.empty() && last_rows_ == r && last_cols_ == c;
    const std::string previous = last_;
    const auto operand = [&](std::int64_t rows, std::int64_t cols) { return follow ? previous : input(rows, cols, type); };
    const auto product_loops = [&] {
      const std::uint64_t order = chance(0.9) ? order_ : rng_.below(3);
      return order == 0 ? i + j + k : order == 1 ? i + k + j : loop("L", depth, "k") + i + j;
    };
    after_.clear();
    std::string o;
    switch (form_) {
      case 0: {
        const std::string a = operand(r, c), value = chance(0.1) ? "+j" : chance(0.1) ? "+i" : "";
        o = result(r, c, type, false);
        body_ += fmt::format("{}{}[{}={}*{}{};];\n", i, j, at(o, type, "i,j"), at(a, type, "i,j"), literal, value);
        break;
      }
      case 1: {   // a product; the operand without the axis is shared
        const bool share = depth == depth_ && type == dtype_ && chance(0.9);
        const std::string a = share && !by_rows_ ? shared_ : input(r, depth, type);
        if (weights_.empty() || !share || !by_rows_) weights_ = input(depth, c, type);
        o = result(r, c, type, false);
        body_ += fmt::format("{}[{}={}+{}*{};];\n", product_loops(), at(o, type, "i,j"), at(o, type, "i,j"), at(a, type, "i,k"), at(weights_, type, "k,j"));
        break;
      }
      case 2: {   // a maximum under a condition
        const std::string a = by_rows_ ? input(r, depth, type) : input(depth, c, type);
        o = result(r, c, type, false);
        body_ += fmt::format("{}[{}=max({},if_then_else(k<={},{},0));];\n", product_loops(), at(o, type, "i,j"), at(o, type, "i,j"), chance(0.7) ? "1" : "j",
                             at(a, type, by_rows_ ? "i,k" : "k,j"));
        break;
      }
      case 3: {   // a sum that may go on from given values
        const std::string a = operand(r, c);
        o = result(r, c, type, chance(0.5));
        if (chance(0.4)) body_ += fmt::format("{}{}[{}=i+j;];\n", i, j, at(o, type, "i,j"));
        body_ += fmt::format("{}{}[{}={}+{};];\n", i, j, at(o, type, "i,j"), at(o, type, "i,j"), at(a, type, "i,j"));
        break;
      }
      case 4: {   // an imperfect nest with scratch
        const std::string a = operand(r, c);
        o = result(r, c, type, false);
        const bool reset = chance(0.8);
        const std::string s = fmt::format("{}^{{{},l}}{}", name(), type, reset ? "" : "_{i}"), start = reset ? s + "=0;" : "";
        body_ += fmt::format("{}[{}{}[{}={}+{};];{}[{}={}-{};];];\n", i, start, j, s, s, at(a, type, "i,j"), j, at(o, type, "i,j"), at(a, type, "i,j"), s);
        break;
      }
      case 5: {   // a guard, and a window into a larger operand
        const std::uint64_t start = rng_.below(3);
        const std::string a = input(r, c + static_cast<std::int64_t>(start), type);
        o = result(r, c, type, false);
        body_ += fmt::format("{}{}[{}=0;];\n", i, j, at(o, type, "i,j"));
        body_ += fmt::format("{}{}T^{{{}<{}}}[{}={}+{};];\n", i, j, by_rows_ == chance(0.8) ? "j" : "i", 1 + rng_.below(3), at(o, type, "i,j"), at(o, type, "i,j"),
                             at(a, type, start == 0 ? "i,j" : fmt::format("i,j+{}", start)));
        break;
      }
      case 6: {   // parts of one tensor, one after the other
        if (whole_.empty()) {
          whole_ = input(20, 20, dtype_);
          split_ = name();
          head_ += fmt::format("io {}^{{{}}}_{{20,20}};\n", split_, dtype_);
        }
        const std::string plus = part_ == 0 ? "" : fmt::format("+{}", part_), sub = by_rows_ ? "i" + plus + ",j" : "i,j" + plus;
        const std::string value = chance(0.8) ? "" : by_rows_ ? "+(i" + plus + ")" : "+(j" + plus + ")";
        body_ += fmt::format("{}{}[{}={}*{}{};];\n", i, j, at(split_, dtype_, sub), at(whole_, dtype_, sub), literal, value);
        part_ += by_rows_ ? r : c;
        break;
      }
      default: {  // two statements, a temporary between them
        const std::string a = operand(r, c), t = name();
        o = result(r, c, type, false);
        body_ += fmt::format("{}[{}[{}=abs({})*{};];{}[{}={}+1;];];\n", i, j, at(t, type, "i,j"), at(a, type, "i,j"), literal, loop("L", c, "l"), at(o, type, "i,l"),
                             at(t, type, "i,l"));
      }
    }
    body_ += after_;
    last_ = o;
    last_rows_ = r;
    last_cols_ = c;
  }

  Rng& rng_;
  std::string head_, body_, after_;
  std::uint64_t next_ = 0;
  std::int64_t rows_ = 0, depth_ = 0;
  std::uint64_t form_ = 0, order_ = 0;
  bool by_rows_ = false;
  std::string dtype_, shared_, weights_, last_, whole_, split_;
  std::int64_t last_rows_ = 0, last_cols_ = 0, part_ = 0;
};

}  // namespace

std::string generate_twins(Rng* rng) { return Twins(rng).run(); }

}  // namespace cairn::test
