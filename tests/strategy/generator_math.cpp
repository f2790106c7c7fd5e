// Programs for the strategies made of identities: equations whose right sides hold quotients, powers, exponentials and
// logarithms of elements over a matrix, a column and a row, with guards, conditions, accumulators, conversions, integer
// elements, other dtypes, several outputs, and a softmax whose running maximum is at hand.
#include <fmt/core.h>

#include <vector>

#include "strategy/generator.h"

namespace cairn::test {
namespace {

constexpr const char* kForms[] = {
    "$a*$b/($c*$b)", "$a+$b-$a", "($a*$c+$b*$c)/$c", "($a*$c-$b*$c)/$c", "($a*$c+$c)/$c", "$c/($a*$c+$b*$c)", "($a*$a-$b*$b)/($a-$b)", "$a/$a",
    "$a**3/$a", "$a/$b+$c/$d", "$a/$b-$c/$b", "$a/$b+$c", "$c-$a/$b", "($a+$b)/$c", "($a-$b)/$c", "$a/($a+$b)", "1/(($a+1)*($a+2))", "$a*$a",
    "$a**2", "$a**3*$a", "$a**4", "$a**2*$b**2", "($a*$b)**2", "exp($a)*exp($b)", "exp($a-$b)", "exp($a)/exp($b)", "$c/exp($a)", "exp($a)**2",
    "exp($a*2)", "sqrt($a)*sqrt($b)", "sqrt($a*$b)", "sqrt($a)/sqrt($b)", "$c/sqrt($a)", "rsqrt($a)", "log($a)+log($b)", "log($a)-log($b)",
    "log($a*$b)", "log($a/$b)", "log($a**2)", "2*log($a)", "log(exp($a))", "$a-log($b)", "log($a)*0.5", "log(sqrt($a))", "1/(1+exp(-$a))", "$a*$b+$c",
};

class Algebra {
 public:
  explicit Algebra(Rng* rng) : rng_(*rng) {}

  std::string run() {
    rows_ = 2 + static_cast<std::int64_t>(rng_.below(4));
    cols_ = 2 + static_cast<std::int64_t>(rng_.below(4));
    static const char* kTypes[] = {"f32", "f32", "f32", "f64", "f16"};
    type_ = kTypes[rng_.below(5)];
    head_ = fmt::format("in A^{{{0}}}_{{{1},{2}}};\nin C^{{{0}}}_{{{1}}};\nin W^{{f32}}_{{{2}}};\nin K^{{i64}}_{{{1}}};\n", type_, rows_, cols_);
    if (chance(0.3)) softmax();
    const std::uint64_t nests = 1 + rng_.below(2);
    for (std::uint64_t n = 0; n < nests; ++n) nest();
    return head_ + body_;
  }

 private:
  bool chance(double p) { return rng_.uniform() < p; }
  std::string atom() {
    switch (rng_.below(9)) {
      case 0: return "C_{i}";
      case 1: return "W_{j}";
      case 2: return "exp(A_{i,j})";
      case 3: return "(A_{i,j}+2)";
      case 4: return "(C_{i}*C_{i}+1)";
      case 5: return chance(0.5) ? "K_{i}" : "(j+1)";
      case 6: return "max(W_{j},C_{i})";
      default: return "A_{i,j}";
    }
  }
  std::string fill(std::string form) {
    const std::string a = atom(), b = atom(), c = atom(), d = atom();
    std::string out;
    for (std::size_t k = 0; k < form.size(); ++k) {
      if (form[k] != '$') {
        out += form[k];
        continue;
      }
      const char which = form[++k];
      out += which == 'a' ? a : which == 'b' ? b : which == 'c' ? c : d;
    }
    return out;
  }
  std::string value() {
    std::string one = fill(kForms[rng_.below(std::size(kForms))]);
    switch (rng_.below(9)) {
      case 0: return fmt::format("if_then_else(i>0,{},{})", one, atom());
      case 1: return fmt::format("if_then_else({}>0.5,1,{})", one, atom());
      case 2: return fmt::format("{}*({})", atom(), one);
      case 3: return fmt::format("{}-({})", atom(), one);
      case 4: return fmt::format("f16({})", one);
      case 5: return fmt::format("max({},{})", one, fill(kForms[rng_.below(std::size(kForms))]));
      default: return one;
    }
  }
  std::string output(bool column) {
    static const char* kNames[] = {"D", "E", "F", "G", "H", "I", "J"};
    const std::string name = kNames[next_++ % 7];
    const char* dtype = chance(0.8) ? "f32" : "f64";
    head_ += column ? fmt::format("out {}^{{{}}}_{{{}}};\n", name, dtype, rows_) : fmt::format("out {}^{{{}}}_{{{},{}}};\n", name, dtype, rows_, cols_);
    return name;
  }
  std::string loops() { return fmt::format("{}^{{{}}}_{{i=0}}L^{{{}}}_{{j=0}}", chance(0.2) ? "P" : "L", rows_, cols_); }

  void softmax() {
    const std::string out = output(false);
    body_ += fmt::format("L^{{{0}}}_{{i=0}}L^{{{1}}}_{{j=0}}[M^{{f32,g}}_{{i}}=max(M_{{i}},A_{{i,j}});];\n"
                         "L^{{{0}}}_{{i=0}}L^{{{1}}}_{{j=0}}[S^{{f32,g}}_{{i}}=S_{{i}}+exp(A_{{i,j}}-M_{{i}});];\n"
                         "L^{{{0}}}_{{i=0}}L^{{{1}}}_{{j=0}}[{2}_{{i,j}}=exp(A_{{i,j}}-M_{{i}})/S_{{i}};];\n",
                         rows_, cols_, out);
  }
  void nest() {
    const bool column = chance(0.3), guard = chance(0.2);
    const std::string out = output(column);
    if (column) {
      static const char* kUpdates[] = {"{0}={0}+{1}", "{0}={0}-{1}+{2}", "{0}={0}+({1}+{2})", "{0}=max({0},{1})", "{0}={0}*{1}"};
      const std::string element = out + "_{i}";
      body_ += fmt::format("{}[{};];\n", loops(), fmt::format(fmt::runtime(kUpdates[rng_.below(5)]), element, value(), value()));
      return;
    }
    std::string statement = fmt::format("{}_{{i,j}}={};", out, value());
    if (guard) statement = fmt::format("{0}_{{i,j}}=0;T^{{i<j}}[{1}];", out, statement);
    if (chance(0.3)) statement += fmt::format("{}_{{i,j}}={};", output(false), value());
    body_ += fmt::format("{}[{}];\n", loops(), statement);
  }

  Rng& rng_;
  std::int64_t rows_ = 0, cols_ = 0;
  const char* type_ = "f32";
  std::string head_, body_;
  std::uint64_t next_ = 0;
};

}  // namespace

std::string generate_algebra(Rng* rng) { return Algebra(rng).run(); }

}  // namespace cairn::test
