// Convolutions, poolings and stencils over several inputs, with every stride, dilation and padding, padded by conditions,
// tests or nests of their own, and with traps (another kernel, stride or padding, given values, values of the axis).
#include <fmt/core.h>

#include "strategy/generator.h"

namespace cairn::test {
namespace {

class Windows {
 public:
  explicit Windows(Rng* rng) : rng_(*rng) {}

  std::string run() {
    stride_ = 1 + below(3);
    dilation_ = 1 + below(2);
    taps_ = 1 + below(3);
    pad_ = below(3);
    planar_ = chance(0.4);
    form_ = below(5);
    dtype_ = chance(0.8) ? "f32" : "i32";
    kernel_ = input(planar_ ? fmt::format("{},{}", taps_, taps_) : fmt::format("{}", taps_));
    const std::int64_t count = 2 + below(2);
    std::int64_t rows = size();
    const std::int64_t cols = size();
    for (std::int64_t k = 0; k < count; ++k) {
      if (chance(0.4)) rows = size();
      nest(rows, cols);
    }
    return head_ + body_;
  }

 private:
  std::int64_t below(std::uint64_t n) { return static_cast<std::int64_t>(rng_.below(n)); }
  bool chance(double p) { return rng_.uniform() < p; }
  std::int64_t size() { return 4 + below(7); }
  std::string name() {
    static const char* kNames[] = {"A", "C", "D", "E", "F", "G", "H", "I", "J", "K", "N", "O", "Q", "R", "S", "W", "X", "Y", "Z"};
    const std::uint64_t n = next_++;
    return n < 19 ? kNames[n] : fmt::format("{}a", kNames[n % 19]);
  }
  std::string input(const std::string& shape) {
    const std::string t = name();
    head_ += fmt::format("in {}^{{{}}}_{{{}}};\n", t, dtype_, shape);
    return t;
  }
  std::string at(const std::string& t, const std::string& sub) const { return fmt::format("{}^{{{},g}}_{{{}}}", t, dtype_, sub); }
  static std::string loop(std::int64_t n, const char* var) { return fmt::format("L^{{{}}}_{{{}=0}}", n, var); }
  static std::string plus(std::int64_t c) { return c == 0 ? "" : c > 0 ? fmt::format("+{}", c) : fmt::format("-{}", -c); }
  std::string window(const char* y, const char* r, std::int64_t stride) const {
    return (stride == 1 ? y : fmt::format("{}*{}", y, stride)) + (dilation_ == 1 ? fmt::format("+{}", r) : fmt::format("+{}*{}", r, dilation_));
  }
  std::int64_t outputs(std::int64_t n, std::int64_t pad, std::int64_t stride) const { return (n + 2 * pad - dilation_ * (taps_ - 1) - 1) / stride + 1; }

  void nest(std::int64_t rows, std::int64_t cols) {
    const std::int64_t stride = chance(0.93) ? stride_ : 1 + below(3), pad = chance(0.93) ? pad_ : below(3);
    const std::int64_t y = outputs(rows, pad, stride), x = planar_ ? outputs(cols, pad, stride) : 1;
    if (y < 1 || x < 1 || rows + 2 * pad < dilation_ * (taps_ - 1) + 1 || (planar_ && cols + 2 * pad < dilation_ * (taps_ - 1) + 1)) return;
    const std::string shape = planar_ ? fmt::format("{},{}", rows, cols) : fmt::format("{}", rows);
    const std::string a = input(shape), w = chance(0.93) ? kernel_ : input(planar_ ? fmt::format("{},{}", taps_, taps_) : fmt::format("{}", taps_)), o = name();
    const bool given = chance(0.05);
    head_ += fmt::format("{} {}^{{{}}}_{{{}}};\n", given ? "io" : "out", o, dtype_, planar_ ? fmt::format("{},{}", y, x) : fmt::format("{}", y));
    const std::string wy = window("y", "r", stride), wx = window("x", "s", stride);
    const std::string out = at(o, planar_ ? "y,x" : "y"), weight = at(w, planar_ ? "r,s" : "r");
    const std::string loops = loop(y, "y") + (planar_ ? loop(x, "x") : ""), taps = loop(taps_, "r") + (planar_ ? loop(taps_, "s") : "");
    const auto bound = [&](const std::string& e, std::int64_t n) { return fmt::format("{}<={}<{}", pad, e, n + pad); };
    const std::string inside = pad == 0 ? "" : bound(wy, rows) + (planar_ ? "&" + bound(wx, cols) : "");
    const std::string element = at(a, wy + plus(-pad) + (planar_ ? "," + wx + plus(-pad) : ""));
    switch (form_) {
      case 0: {   // the condition around the product
        const std::string term = inside.empty() ? element + "*" + weight : fmt::format("if_then_else({},{}*{},0)", inside, element, weight);
        body_ += fmt::format("{}{}[{}={}+{};];\n", loops, taps, out, out, term);
        break;
      }
      case 1: {   // the condition around the operand, the taps outside where that is legal
        const std::string term = inside.empty() ? element : fmt::format("if_then_else({},{},0)", inside, element);
        body_ += fmt::format("{}[{}={}+{}*{};];\n", chance(0.5) ? loops + taps : taps + loops, out, out, term, weight);
        break;
      }
      case 2: {   // a padding nest of its own
        const std::string e = name(), back = at(a, planar_ ? fmt::format("y{},x{}", plus(-pad), plus(-pad)) : "y" + plus(-pad));
        const std::string when = bound("y", rows) + (planar_ ? "&" + bound("x", cols) : "");
        body_ += fmt::format("{}{}[{}={};];\n", loop(rows + 2 * pad, "y"), planar_ ? loop(cols + 2 * pad, "x") : "", at(e, planar_ ? "y,x" : "y"),
                             pad == 0 ? back : fmt::format("if_then_else({},{},0)", when, back));
        body_ += fmt::format("{}{}[{}={}+{}*{};];\n", loops, taps, out, out, at(e, wy + (planar_ ? "," + wx : "")), weight);
        break;
      }
      case 3: {   // a maximum under a test
        const std::string test = inside.empty() ? "" : "T^{" + inside + "}";
        body_ += fmt::format("{}{}{}[{}=max({},{});];\n", loops, taps, test, out, out, element);
        break;
      }
      default: {  // a sum kept apart, then scaled; now and then by the row
        const std::string s = fmt::format("{}^{{{},l}}", name(), dtype_), term = inside.empty() ? element : fmt::format("if_then_else({},{},0)", inside, element);
        body_ += fmt::format("{}[{}=0;{}[{}={}+{};];{}={}*{};];\n", loops, s, taps, s, s, term, out, s, chance(0.1) ? "y" : "3");
      }
    }
  }

  Rng& rng_;
  std::string head_, body_, dtype_, kernel_;
  std::uint64_t next_ = 0;
  std::int64_t stride_ = 1, dilation_ = 1, taps_ = 1, pad_ = 0, form_ = 0;
  bool planar_ = false;
};

}  // namespace

std::string generate_windows(Rng* rng) { return Windows(rng).run(); }

}  // namespace cairn::test
