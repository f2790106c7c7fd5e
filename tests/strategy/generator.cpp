#include "strategy/generator.h"

#include <fmt/core.h>

#include <vector>

namespace cairn::test {
namespace {

struct Made {
  std::string name;
  std::int64_t rows = 0, cols = 0;  // cols 0: rank 1
};

class Generator {
 public:
  explicit Generator(Rng* rng) : rng_(*rng) {}

  std::string run() {
    Made now = input(extent(), extent());
    const std::uint64_t stages = 1 + rng_.below(4);
    for (std::uint64_t s = 0; s < stages; ++s) {
      out_ = s + 1 == stages;
      now = stage(now);
    }
    return head_ + body_;
  }

 private:
  std::int64_t extent() { return 2 + static_cast<std::int64_t>(rng_.below(8)); }
  bool chance(double p) { return rng_.uniform() < p; }
  std::string name() {
    static const char* kNames[] = {"A", "C", "E", "F", "G", "H", "I", "J", "K", "N", "O", "Q", "R", "S", "W", "X", "Y", "Z"};
    return kNames[next_++ % 18];
  }
  Made input(std::int64_t rows, std::int64_t cols) {
    Made t{name(), rows, cols};
    head_ += cols == 0 ? fmt::format("in {}^{{f32}}_{{{}}};\n", t.name, rows) : fmt::format("in {}^{{f32}}_{{{},{}}};\n", t.name, rows, cols);
    return t;
  }
  // The tensor a stage writes: D for the last stage, else a temporary.
  Made target(std::int64_t rows, std::int64_t cols) {
    if (!out_) return {name(), rows, cols};
    head_ += cols == 0 ? fmt::format("out D^{{f32}}_{{{}}};\n", rows) : fmt::format("out D^{{f32}}_{{{},{}}};\n", rows, cols);
    return {"D", rows, cols};
  }
  static std::string at(const Made& t, const std::string& i, const std::string& j) {
    return t.cols == 0 ? fmt::format("{}^{{f32,g}}_{{{}}}", t.name, i) : fmt::format("{}^{{f32,g}}_{{{},{}}}", t.name, i, j);
  }
  std::string loop(std::int64_t n, const std::string& var, bool may_mark = false) {
    const char* kind = may_mark && chance(0.15) ? "P" : "L";
    return fmt::format("{}^{{{}}}_{{{}=0}}", kind, n, var);
  }
  // i and j loops in random order.
  std::string plane(std::int64_t rows, std::int64_t cols) {
    const std::string i = loop(rows, "i", true), j = loop(cols, "j");
    return chance(0.3) ? loop(cols, "j", true) + loop(rows, "i") : i + j;
  }
  std::string function(const std::string& x) {
    switch (rng_.below(5)) {
      case 0: return x + "*2";
      case 1: return "max(" + x + ",0)";
      case 2: return x + "+1";
      case 3: return x + "*" + x;
      default: return "abs(" + x + ")-i";
    }
  }

  Made stage(const Made& x) {
    if (x.cols == 0) return chance(0.5) ? spread(x) : vector(x);
    switch (rng_.below(10)) {
      case 0: return map(x);
      case 1: return transpose(x);
      case 2: return product(x);
      case 3: return reduce(x);
      case 4: return normalise(x);
      case 5: return shift(x);
      case 6: return imperfect(x);
      case 7: return tiled(x);
      case 8: return convolve(x);
      default: return two(x);
    }
  }
  Made vector(const Made& x) {
    const Made o = target(x.rows, 0);
    body_ += fmt::format("{}[{}={};];\n", loop(x.rows, "i", true), at(o, "i", ""), function(at(x, "i", "")));
    return o;
  }
  Made spread(const Made& x) {
    const Made o = target(x.rows, extent());
    body_ += fmt::format("{}[{}={}+j;];\n", plane(o.rows, o.cols), at(o, "i", "j"), at(x, "i", ""));
    return o;
  }
  Made map(const Made& x) {
    const Made o = target(x.rows, x.cols);
    body_ += fmt::format("{}[{}={};];\n", plane(o.rows, o.cols), at(o, "i", "j"), function(at(x, "i", "j")));
    return o;
  }
  Made transpose(const Made& x) {
    const Made o = target(x.cols, x.rows);
    body_ += fmt::format("{}[{}={};];\n", plane(x.rows, x.cols), at(o, "j", "i"), function(at(x, "i", "j")));
    return o;
  }
  Made product(const Made& x) {
    const std::int64_t m = extent();
    const Made w = input(x.cols, m), o = target(x.rows, m);
    std::string loops = plane(x.rows, m);
    loops = chance(0.5) ? loops + loop(x.cols, "k") : loop(x.cols, "k") + loops;
    body_ += fmt::format("{}[{}={}+{}*{};];\n", loops, at(o, "i", "j"), at(o, "i", "j"), at(x, "i", "k"), at(w, "k", "j"));
    return o;
  }
  Made reduce(const Made& x) {
    const Made o = target(x.rows, 0);
    const std::string update = chance(0.3) ? fmt::format("max({},{})", at(o, "i", ""), at(x, "i", "j"))
                                           : fmt::format("{}+{}", at(o, "i", ""), function(at(x, "i", "j")));
    body_ += fmt::format("{}[{}={};];\n", plane(x.rows, x.cols), at(o, "i", ""), update);
    return o;
  }
  Made normalise(const Made& x) {
    const Made r{name(), x.rows, 0}, o = target(x.rows, x.cols);
    body_ += fmt::format("{}[{}={}+{};];\n", plane(x.rows, x.cols), at(r, "i", ""), at(r, "i", ""), at(x, "i", "j"));
    body_ += fmt::format("{}[{}={}-{};];\n", plane(x.rows, x.cols), at(o, "i", "j"), at(x, "i", "j"), at(r, "i", ""));
    return o;
  }
  Made shift(const Made& x) {
    const Made o = target(x.rows, x.cols);
    body_ += fmt::format("{}[{}=if_then_else(i>0,{},0)+{};];\n", plane(x.rows, x.cols), at(o, "i", "j"), at(x, "i-1", "j"), at(x, "i", "j"));
    return o;
  }
  Made imperfect(const Made& x) {
    const Made o = target(x.rows, x.cols);
    const bool scalar = chance(0.5);
    const std::string scope = chance(0.5) ? "l" : "g", tmp = name();
    const std::string e = scalar ? fmt::format("{}^{{f32,{}}}", tmp, scope) : fmt::format("{}^{{f32,{}}}_{{i}}", tmp, scope);
    const std::string start = scalar || chance(0.5) ? fmt::format("{}=0;", e) : "";
    body_ += fmt::format("{}[{}{}[{}={}+{};];{}[{}={}*2+{};];];\n", loop(x.rows, "i", !scalar || scope == "l"), start, loop(x.cols, "j"), e, e,
                         at(x, "i", "j"), loop(x.cols, "j"), at(o, "i", "j"), at(x, "i", "j"), e);
    return o;
  }
  Made tiled(const Made& x) {
    const Made o = target(x.rows, x.cols);
    const std::int64_t size = 2 + static_cast<std::int64_t>(rng_.below(3));
    const std::int64_t blocks = (x.rows + size - 1) / size;
    const std::string row = fmt::format("i*{}+a", size);
    const std::string guard = x.rows % size == 0 ? "" : fmt::format("T^{{{}<{}}}", row, x.rows);
    body_ += fmt::format("{}{}{}{}[{}={}+1;];\n", loop(blocks, "i", true), loop(size, "a"), guard, loop(x.cols, "j"), at(o, row, "j"), at(x, row, "j"));
    return o;
  }
  Made convolve(const Made& x) {
    const std::int64_t taps = std::min<std::int64_t>(x.cols, 2 + static_cast<std::int64_t>(rng_.below(2)));
    const Made w = input(taps, 0), o = target(x.rows, x.cols - taps + 1);
    body_ += fmt::format("{}{}[{}={}+{}*{};];\n", plane(o.rows, o.cols), loop(taps, "r"), at(o, "i", "j"), at(o, "i", "j"), at(x, "i", "j+r"), at(w, "r", ""));
    return o;
  }
  Made two(const Made& x) {
    const Made o = target(x.rows, x.cols);
    const std::string spare = name();
    const bool visible = chance(0.5);
    if (visible) head_ += fmt::format("out {}^{{f32}}_{{{},{}}};\n", spare, x.rows, x.cols);
    const std::string e = fmt::format("{}^{{f32,g}}_{{i,j}}", spare);
    body_ += fmt::format("{}[{}={};{}={}+{};];\n", plane(x.rows, x.cols), e, function(at(x, "i", "j")), at(o, "i", "j"), chance(0.7) ? e : at(x, "i", "j"), at(x, "i", "j"));
    return o;
  }

  Rng& rng_;
  std::string head_, body_;
  std::uint64_t next_ = 0;
  bool out_ = false;
};

}  // namespace

std::string generate_program(Rng* rng) { return Generator(rng).run(); }

namespace {
// Builders of single strategies, sorted by nothing but the order they came in: one a line.
struct Builder {
  std::string_view strategy;
  std::string (*make)(Rng* rng);
};
constexpr Builder kBuilders[] = {
    {"factorization", generate_factors},
    {"expand_factorization", generate_factors},
    {"collect", generate_factors},
    {"expand_collect", generate_factors},
    {"expression_splitting", generate_sharing},
    {"common_subexpression_elimination", generate_sharing},
    {"hoist_invariant", generate_sharing},
    {"normal_loop_max_to_prefix_max", generate_softmax},
    {"normal_loop_summation_on_exp_to_prefix_summation_on_exp", generate_softmax},
    {"online_softmax", generate_softmax},
    {"flashattention_wo_tiling", generate_softmax},
    {"expression_reorder", generate_twins},
    {"partially_equivalent_then_correct", generate_windows},
    {"tensor_concat_to_fuse_operators", generate_twins},
    {"tensor_split_to_decouple_operators", generate_twins},
    {"loop_binding", generate_layout},
    {"layout_transformation", generate_layout},
    {"set_storage_layout", generate_layout},
    {"compute_at", generate_layout},
    {"loop_peel", generate_layout},
    {"scalar_replace", generate_layout},
    {"constant_fold", generate_constants},
    {"cancellation", generate_algebra},
    {"expand_cancellation", generate_algebra},
    {"apart", generate_algebra},
    {"together", generate_algebra},
    {"powsimp", generate_algebra},
    {"expand_powsimp", generate_algebra},
    {"expand_log", generate_algebra},
    {"logsimp", generate_algebra},
    {"exponential_split", generate_algebra},
    {"multiplicative_split", generate_algebra},
    {"additive_split", generate_algebra},
};
}  // namespace

std::string generate_program_for(std::string_view strategy, Rng* rng) {
  for (const Builder& builder : kBuilders) {
    if (builder.strategy == strategy && rng->below(2) == 0) return builder.make(rng);
  }
  return generate_program(rng);
}

}  // namespace cairn::test
