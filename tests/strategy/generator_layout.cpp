#include <fmt/core.h>

#include <vector>

#include "strategy/generator.h"

namespace cairn::test {
namespace {

// Programs with temporaries that layout, placement and storage strategies can move: stencils, row accumulators, tiles,
// time loops, boundary tests; with traps (values that outlive an iteration, operands rewritten between, other readers,
// data-dependent tests and subscripts, narrow types, declared padding).
class LayoutPrograms {
 public:
  explicit LayoutPrograms(Rng* rng) : rng_(*rng) {}

  std::string run() {
    const std::uint64_t parts = 1 + rng_.below(2);
    for (std::uint64_t p = 0; p < parts; ++p) {
      n_ = extent();
      m_ = extent();
      switch (rng_.below(7)) {
        case 0: stencil(); break;
        case 1: rows(); break;
        case 2: tiles(); break;
        case 3: time_loop(); break;
        case 4: border(); break;
        case 5: gather(); break;
        default: rewritten(); break;
      }
    }
    return head_ + body_;
  }

 private:
  std::int64_t extent() { return 2 + static_cast<std::int64_t>(rng_.below(8)); }
  bool chance(double p) { return rng_.uniform() < p; }
  std::string name() {
    static const char* kNames[] = {"A", "C", "E", "F", "G", "H", "I", "J", "K", "N", "O", "Q", "R", "S", "W", "X", "Y", "Z", "D"};
    return kNames[next_++ % 19];
  }
  std::string declare(const char* role, const std::string& shape, const char* dtype = "f32") {
    const std::string t = name();
    head_ += fmt::format("{} {}^{{{}}}_{{{}}};\n", role, t, dtype, shape);
    return t;
  }
  std::string at(const std::string& tensor, const std::string& subscripts) { return fmt::format("{}^{{{},{}}}_{{{}}}", tensor, dtype_, scope_, subscripts); }
  static std::string given(const std::string& tensor, const std::string& subscripts) { return fmt::format("{}^{{f32,g}}_{{{}}}", tensor, subscripts); }
  static std::string loop(std::int64_t n, const std::string& var, const char* kind = "L") { return fmt::format("{}^{{{}}}_{{{}=0}}", kind, n, var); }
  void pick_type() {
    static const char* kTypes[] = {"f32", "f32", "f32", "f16", "f64"};
    dtype_ = kTypes[rng_.below(5)];
    scope_ = "g";
  }
  const char* outer() { return chance(0.2) ? "P" : "L"; }

  // A producer and a consumer that reads neighbours; the consumer may be tiled with a tail.
  void stencil() {
    pick_type();
    const std::int64_t reach = 1 + static_cast<std::int64_t>(rng_.below(2));
    const std::string a = declare("in", fmt::format("{},{}", n_ + reach, m_)), e = name(), d = declare("out", fmt::format("{},{}", n_, m_));
    const bool reduce = chance(0.4);
    const std::int64_t depth = extent();
    if (reduce) {
      const std::string w = declare("in", fmt::format("{},{}", m_, depth));
      body_ += fmt::format("{}{}{}[{}={}+{}*{};];\n", loop(n_ + reach, "i"), loop(depth, "k"), loop(m_, "j"), at(e, "i,j"), at(e, "i,j"), given(w, "j,k"), given(a, "i,j"));
    } else {
      const std::string test = chance(0.3) ? fmt::format("T^{{i+j<{}}}", n_ + m_) : "";
      body_ += fmt::format("{}{}{}[{}={}*2+i;];\n", loop(n_ + reach, "i"), loop(m_, "j"), test, at(e, "i,j"), given(a, "i,j"));
    }
    if (chance(0.4)) {
      const std::string f = declare("io", fmt::format("{}", m_));
      body_ += fmt::format("{}[{}={}+{};];\n", loop(m_, "j"), given(f, "j"), given(f, "j"), chance(0.3) ? at(e, "0,j") : given(a, "0,j"));
    }
    const std::string back = fmt::format("{}-j", m_ - 1);
    const std::string column = chance(0.5) ? "j" : back;
    if (chance(0.4)) {
      const std::int64_t size = 2 + static_cast<std::int64_t>(rng_.below(3)), blocks = (n_ + size - 1) / size;
      const std::string row = fmt::format("y*{}+a", size), test = n_ % size == 0 ? "" : fmt::format("T^{{{}<{}}}", row, n_);
      body_ += fmt::format("{}{}{}{}[{}={}+{};];\n", loop(blocks, "y", outer()), loop(size, "a"), test, loop(m_, "j"), given(d, row + ",j"), at(e, row + "," + column),
                           at(e, fmt::format("{}+{},{}", row, reach, column)));
    } else {
      body_ += fmt::format("{}{}[{}={}+{};];\n", loop(n_, "y", outer()), loop(m_, "j"), given(d, "y,j"), at(e, "y," + column), at(e, fmt::format("y+{},{}", reach, column)));
    }
  }

  // Accumulators and row buffers inside one outer loop.
  void rows() {
    pick_type();
    const std::string a = declare("in", fmt::format("{},{}", n_, m_)), e = name(), d = declare("out", fmt::format("{},{}", n_, m_));
    const bool repeat = chance(0.25), literal = chance(0.3), row = chance(0.4), start = chance(0.4);
    if (chance(0.3)) scope_ = "l";
    std::string sub = literal ? "i,0" : "i";
    if (row) sub += ",j";
    const std::string update = chance(0.3) ? fmt::format("max({},{})", at(e, sub), given(a, "i,j")) : fmt::format("{}+{}", at(e, sub), given(a, "i,j"));
    const std::string reset = row ? fmt::format("{}[{}=0;];", loop(m_, "j"), at(e, sub)) : fmt::format("{}=0;", at(e, sub));
    const std::string before = repeat ? loop(2, "t") : "";
    const char* kind = repeat ? "L" : outer();
    body_ += fmt::format("{}{}[{}{}[{}={};];{}[{}={}-{};];];\n", before, loop(n_, "i", kind), start ? reset : "", loop(m_, "j"), at(e, sub), update, loop(m_, "j"),
                         given(d, "i,j"), given(a, "i,j"), at(e, sub));
    if (scope_ == std::string("g") && chance(0.2)) {
      const std::string f = declare("out", std::to_string(n_));
      body_ += fmt::format("{}[{}={};];\n", loop(n_, "i"), given(f, "i"), at(e, row ? (literal ? "i,0,0" : "i,0") : sub));
    }
  }

  // Quotient subscripts, a declared tensor with padding.
  void tiles() {
    pick_type();
    const std::int64_t size = 2 + static_cast<std::int64_t>(rng_.below(3)), blocks = (n_ + size - 1) / size;
    const std::string a = declare("in", fmt::format("{},{}", n_, m_)), e = name(), d = declare("out", fmt::format("{},{}", m_, n_));
    if (chance(0.4)) head_ += fmt::format("tmp {}^{{{},{}}}_{{{},{},{}}};\n", e, dtype_, scope_, blocks, size, m_ + static_cast<std::int64_t>(rng_.below(3)));
    const auto element = [&](const std::string& i) { return at(e, fmt::format("({})//{},({})%{},j", i, size, i, size)); };
    body_ += fmt::format("{}{}[{}={}+j;];\n", loop(n_, "i", outer()), loop(m_, "j"), element("i"), given(a, "i,j"));
    if (chance(0.5)) body_ += fmt::format("{}{}T^{{j<=i}}[{}={}*2;];\n", loop(n_, "i"), loop(m_, "j"), element("i"), element("i"));
    const std::string value = chance(0.5) ? fmt::format("if_then_else(i>0,{},1)", element("i-1")) : element(fmt::format("{}-i", n_ - 1));
    body_ += fmt::format("{}{}[{}={}+{};];\n", loop(m_, "j", outer()), loop(n_, "i"), given(d, "j,i"), value, element("i"));
  }

  // A producer and a consumer inside a time loop; the value may live on from step to step.
  void time_loop() {
    pick_type();
    const std::int64_t steps = 2 + static_cast<std::int64_t>(rng_.below(3));
    const std::string a = declare("in", fmt::format("{},{}", steps, n_)), e = name(), d = declare("out", fmt::format("{},{}", steps, n_));
    const bool lives = chance(0.4), first = chance(0.3);
    const std::string value = lives ? fmt::format("{}+{}", at(e, "i"), given(a, "t,i")) : fmt::format("{}*2", given(a, "t,i"));
    const std::string test = first && !lives ? "T^{t<1}" : "";
    body_ += fmt::format("{}[{}{}[{}={};];{}[{}={}+{};];];\n", loop(steps, "t"), test, loop(n_, "i"), at(e, "i"), value, loop(n_, "j"), given(d, "t,j"),
                         at(e, fmt::format("{}-j", n_ - 1)), given(a, "t,j"));
  }

  // Boundary tests that a peeled iteration decides.
  void border() {
    const std::string a = declare("in", fmt::format("{},{}", n_, m_)), d = declare("out", fmt::format("{},{}", n_, m_));
    const std::string left = fmt::format("if_then_else(i>0,{},0)", given(a, "i-1,j")), right = fmt::format("if_then_else(j<{},{},1)", m_ - 1, given(a, "i,j+1"));
    const std::string inner = chance(0.5) ? fmt::format("T^{{i>=1&j<{}}}[{}={}*3;];", m_ - 1, given(d, "i,j"), given(d, "i,j")) : "";
    body_ += fmt::format("{}{}[{}={}+{};{}];\n", loop(n_, "i", outer()), loop(m_, "j", chance(0.2) ? "U" : "L"), given(d, "i,j"), left, right, inner);
    if (chance(0.5)) {   // two loops that may be one
      const std::string f = declare("out", std::to_string(n_ + 2));
      const std::int64_t step = chance(0.8) ? n_ : n_ - 1;
      body_ += fmt::format("{}[{}={}*2;];\n{}[{}={}*2;];\n", loop(n_, "i"), given(f, "i"), "(i+1)", loop(2, "i"), given(f, fmt::format("i+{}", n_)), fmt::format("(i+{})", step + 1));
    }
  }

  // Data-dependent subscripts and tests.
  void gather() {
    pick_type();
    const std::string a = declare("in", fmt::format("{},{}", n_, m_)), x = declare("in", std::to_string(n_), "i32"), e = name(), d = declare("out", fmt::format("{},{}", n_, m_));
    body_ += fmt::format("{}{}[{}={}*2;];\n", loop(n_, "i"), loop(m_, "j"), at(e, "i,j"), given(a, "i,j"));
    const std::string index = fmt::format("max(min({}^{{i32,g}}_{{i}},{}),0)", x, n_ - 1);
    body_ += fmt::format("{}{}[{}=0;T^{{{}>0}}[{}={}-{};];];\n", loop(n_, "i", outer()), loop(m_, "j"), given(d, "i,j"), at(e, "i,j"), given(d, "i,j"),
                         at(e, index + ",j"), given(a, "i,j"));
  }

  // An operand that changes between the producer and the consumer, or not.
  void rewritten() {
    pick_type();
    const std::string x = declare("io", fmt::format("{},{}", n_, m_)), e = name(), d = declare("out", fmt::format("{},{}", n_, m_));
    body_ += fmt::format("{}{}[{}={}*2;];\n", loop(n_, "i"), loop(m_, "j"), at(e, "i,j"), given(x, "i,j"));
    const std::string change = fmt::format("{}{}[{}={}+1;];\n", loop(n_, "i"), loop(m_, "j"), given(x, "i,j"), given(x, "i,j"));
    const bool between = chance(0.5);
    if (between) body_ += change;
    body_ += fmt::format("{}{}[{}={}+{};];\n", loop(n_, "i", outer()), loop(m_, "j"), given(d, "i,j"), at(e, fmt::format("{}-i,j", n_ - 1)), given(x, "i,j"));
    if (!between && chance(0.5)) body_ += change;
  }

  Rng& rng_;
  std::string head_, body_;
  std::string dtype_ = "f32", scope_ = "g";
  std::int64_t n_ = 2, m_ = 2;
  std::uint64_t next_ = 0;
};

}  // namespace

std::string generate_layout(Rng* rng) { return LayoutPrograms(rng).run(); }

}  // namespace cairn::test
