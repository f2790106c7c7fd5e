// Programs with the rows of a softmax: maxima, sums of exponentials, quotients, logarithms, weighted sums of values, in
// separate nests or one, with masks, other loop orders and dtypes, and with traps that online forms must refuse.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "strategy/generator.h"

namespace cairn::test {
namespace {

using Names = std::vector<std::string>;

class OnlineGenerator {
 public:
  explicit OnlineGenerator(Rng* rng) : rng_(*rng) {}

  std::string run() {
    rank_ = 1 + below(2);
    for (std::size_t k = 0; k < rank_; ++k) rows_.push_back(2 + static_cast<std::int64_t>(below(3)));
    n_ = 1 + static_cast<std::int64_t>(below(6));
    if (chance(0.2)) n_ = rows_[0];
    width_ = 2 + static_cast<std::int64_t>(below(3));
    static const char* kTypes[] = {"f32", "f32", "f32", "f64", "f16"};
    dtype_ = kTypes[below(5)];
    for (auto* order : {&order_x_, &order_m_, &order_s_, &order_y_}) *order = permutation(order == &order_x_ || order == &order_y_ ? rank_ + 1 : rank_);
    mask_ = below(4);
    change_ = chance(0.1);
    declare(change_ ? "io" : "in", "A", dtype_, shape_x());
    if (mask_ == 1) declare("in", "K", "bool", {rows_[0], n_});
    stored_x_ = chance(0.4);
    if (stored_x_) {
      const Names names = fresh_names(rank_ + 1);
      body_ += nest(names, all_extents(), fmt::format("{}={};", read("X", dtype_, permuted(order_x_, names)), raw_x(names)));
    }
    if (chance(0.3)) {
      fused();
    } else {
      separate();
    }
    return head_ + body_;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(rng_.below(n)); }
  bool chance(double p) { return rng_.uniform() < p; }
  std::vector<std::size_t> permutation(std::size_t n) {
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < n; ++k) out.insert(out.begin() + static_cast<std::ptrdiff_t>(below(k + 1)), k);
    return out;
  }
  static Names permuted(const std::vector<std::size_t>& order, const Names& names) {
    Names out;
    for (const std::size_t k : order) out.push_back(names[k]);
    return out;
  }
  std::vector<std::int64_t> all_extents() const {
    std::vector<std::int64_t> out = rows_;
    out.push_back(n_);
    return out;
  }
  std::vector<std::int64_t> shape_x() const {
    std::vector<std::int64_t> out;
    for (const std::size_t k : order_x_) out.push_back(all_extents()[k]);
    return out;
  }
  Names fresh_names(std::size_t n) {
    static const Names kSets[] = {{"i", "j", "k", "l"}, {"a", "c", "d", "f"}, {"k", "i", "j", "h"}};
    const Names& set = kSets[below(3)];
    return Names(set.begin(), set.begin() + static_cast<std::ptrdiff_t>(n));
  }
  void declare(const char* role, const std::string& name, const std::string& dtype, const std::vector<std::int64_t>& shape) {
    head_ += fmt::format("{} {}^{{{}}}_{{", role, name, dtype);
    for (std::size_t k = 0; k < shape.size(); ++k) head_ += fmt::format("{}{}", k == 0 ? "" : ",", shape[k]);
    head_ += "};\n";
  }
  static std::string read(const std::string& name, const std::string& dtype, const Names& subscripts, const char* scope = "g") {
    std::string out = fmt::format("{}^{{{},{}}}", name, dtype, scope);
    for (std::size_t k = 0; k < subscripts.size(); ++k) out += (k == 0 ? "_{" : ",") + subscripts[k];
    return subscripts.empty() ? out : out + "}";
  }
  std::string nest(const Names& names, const std::vector<std::int64_t>& extents, const std::string& text, bool guarded = false, bool may_mark = true) {
    std::string out;
    bool first = true;
    for (const std::size_t k : permutation(names.size())) {
      const bool row = k < rank_ || extents.size() == rank_;
      out += fmt::format("{}^{{{}}}_{{{}=0}}", first && may_mark && row && chance(0.2) ? "P" : chance(0.1) && !first ? "U" : "L", extents[k], names[k]);
      first = false;
    }
    if (guarded) out += fmt::format("T^{{{}<={}+1}}", names[rank_], names[0]);
    return out + "[" + text + "];\n";
  }
  // The score before it is stored: masked, scaled. names: the rows, then the axis.
  std::string raw_x(const Names& names) {
    std::string x = read("A", dtype_, permuted(order_x_, names));
    if (scale_ < 0) scale_ = static_cast<int>(below(3));
    if (scale_ == 1) x += "/2";
    if (scale_ == 2) x += "*1.5";
    if (mask_ == 1) x = fmt::format("if_then_else(K^{{bool}}_{{{},{}}},{},-inf)", names[0], names[rank_], x);
    if (mask_ == 2) x = fmt::format("if_then_else({}<={}+1,{},-inf)", names[rank_], names[0], x);
    return x;
  }
  std::string x(const Names& names) { return stored_x_ ? read("X", dtype_, permuted(order_x_, names)) : raw_x(names); }
  Names rows_of(const Names& names) const { return Names(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(rank_)); }
  std::string m(const Names& names) { return read("M", dtype_, permuted(order_m_, rows_of(names))); }
  std::string s(const Names& names) { return read("S", dtype_, permuted(order_s_, rows_of(names))); }
  void out_of_rows(const std::string& name, const std::vector<std::size_t>& order) {
    std::vector<std::int64_t> shape;
    for (const std::size_t k : order) shape.push_back(rows_[k]);
    declare("out", name, dtype_, shape);
  }

  void separate() {
    const bool guarded = mask_ == 3;
    const bool finite = chance(0.15);
    Names v = fresh_names(rank_ + 1);
    if (chance(0.2)) out_of_rows("M", order_m_);
    if (chance(0.2)) out_of_rows("S", order_s_);
    body_ += nest(v, all_extents(), fmt::format("{}=max({},{});", m(v), m(v), x(v)), guarded);
    if (change_) body_ += nest(v, all_extents(), fmt::format("{}=1;", read("A", dtype_, permuted(order_x_, v))), false, false);
    v = fresh_names(rank_ + 1);
    std::string z = m(v);
    if (finite) {
      body_ += nest(rows_of(v), rows_, fmt::format("{}=if_then_else(abs({})==inf,0,{});", read("Z", dtype_, rows_of(v)), m(v), m(v)));
      z = read("Z", dtype_, rows_of(v));
    }
    const bool stored_e = !guarded && chance(0.4);
    if (stored_e) {
      body_ += nest(v, all_extents(), fmt::format("{}=exp({}-{});", read("E", dtype_, v), x(v), z));
    }
    v = fresh_names(rank_ + 1);
    if (finite) z = read("Z", dtype_, rows_of(v));
    if (!finite) z = m(v);
    const std::string term = stored_e ? read("E", dtype_, v) : fmt::format("exp({}-{})", chance(0.05) ? x(v) + "*2" : x(v), z);
    body_ += nest(v, all_extents(), fmt::format("{}={}+{};", s(v), s(v), term), guarded);
    finish(guarded, stored_e, finite);
  }

  void finish(bool guarded, bool stored_e, bool finite) {
    Names v = fresh_names(rank_ + 1);
    const std::string z = finite ? read("Z", dtype_, rows_of(v)) : m(v);
    const std::string e = stored_e ? read("E", dtype_, v) : fmt::format("exp({}-{})", x(v), z);
    const std::size_t kind = below(8);
    if (kind == 0 || guarded) {
      if (!guarded || chance(0.4)) {
        out_of_rows("D", order_s_);
        v = fresh_names(rank_ + 1);
        body_ += nest(rows_of(v), rows_, fmt::format("{}=log({})+{};", read("D", dtype_, permuted(order_s_, rows_of(v))), s(v), m(v)));
        return;
      }
    }
    if (kind == 1 && !guarded) {
      declare("out", "C", dtype_, all_extents());
      body_ += nest(v, all_extents(), fmt::format("{}={}/{};", read("C", dtype_, v), e, s(v)));
      return;
    }
    weigh(guarded, stored_e, finite);
  }

  // The weighted sum of values: weights stored or in place, a row of -inf giving 0 or NaN.
  void weigh(bool guarded, bool stored_e, bool finite) {
    Names v = fresh_names(rank_ + 1);
    const bool zero = !guarded && !finite && chance(0.25);
    const auto weight = [&](const Names& names) {
      const std::string z = finite ? read("Z", dtype_, rows_of(names)) : m(names);
      const std::string e = stored_e ? read("E", dtype_, names) : fmt::format("exp({}-{})", x(names), z);
      const std::string w = fmt::format("{}/{}", e, s(names));
      return zero ? fmt::format("if_then_else({}==-inf,0,{})", m(names), w) : w;
    };
    const bool stored_w = !guarded && chance(0.5);
    const bool visible = stored_w && chance(0.1);
    if (visible) declare("out", "W", dtype_, all_extents());
    if (stored_w) body_ += nest(v, all_extents(), fmt::format("{}={};", read("W", dtype_, v), weight(v)));
    v = fresh_names(rank_ + 1);
    Names with = v;
    with.push_back("h");
    if (v[0] == "k") with.back() = "q";
    const bool shared = chance(0.5);  // the values differ between the outermost rows
    declare("in", "V", dtype_, shared ? std::vector<std::int64_t>{n_, width_} : std::vector<std::int64_t>{rows_[0], n_, width_});
    const std::string value = read("V", dtype_, shared ? Names{v[rank_], with.back()} : Names{v[0], v[rank_], with.back()});
    std::vector<std::int64_t> extents = all_extents(), shape;
    extents.push_back(width_);
    Names target = rows_of(v);
    target.push_back(with.back());
    for (const std::size_t k : order_y_) shape.push_back(k < rank_ ? rows_[k] : width_);
    declare("out", "Y", dtype_, shape);
    const std::string y = read("Y", dtype_, permuted(order_y_, target)), w = stored_w ? read("W", dtype_, v) : weight(v);
    body_ += nest(with, extents, fmt::format("{}={}+{};", y, y, chance(0.7) ? w + "*" + value : value + "*(" + w + ")"), guarded);
  }
  // One nest over the rows; the maximum and the sum are scalars with explicit starts.
  void fused() {
    const Names v = [&] {
      Names names{"i", "j"};
      names.resize(rank_);
      return names;
    }();
    const auto with = [&](const char* axis) {
      Names names = v;
      names.push_back(axis);
      return names;
    };
    const char* scope = chance(0.7) ? "l" : "g";
    const std::string mm = read("M", dtype_, {}, scope), ss = read("S", dtype_, {}, scope);
    const std::string guard = mask_ == 3 ? fmt::format("T^{{k<={}+1}}", v[0]) : "";
    const std::string loop = fmt::format("L^{{{}}}_{{k=0}}", n_) + guard;
    std::string text = mm + "=-inf;";
    const bool early = chance(0.5);
    if (early) text += ss + "=0;";
    text += fmt::format("{}[{}=max({},{});];", loop, mm, mm, x(with("k")));
    if (change_) text += fmt::format("{}=2;", read("A", dtype_, permuted(order_x_, with("0"))));
    if (!early) text += ss + "=0;";
    text += fmt::format("{}[{}={}+exp({}-{});];", loop, ss, ss, x(with("k")), mm);
    if (chance(0.4)) {
      out_of_rows("D", order_s_);
      text += fmt::format("{}={}+log({});", read("D", dtype_, permuted(order_s_, v)), mm, ss);
    } else {
      Names target = v;
      target.push_back("h");
      std::vector<std::int64_t> shape;
      for (const std::size_t k : order_y_) shape.push_back(k < rank_ ? rows_[k] : width_);
      declare("in", "V", dtype_, {n_, width_});
      declare("out", "Y", dtype_, shape);
      const std::string y = read("Y", dtype_, permuted(order_y_, target));
      text += fmt::format("L^{{{}}}_{{h=0}}{}[{}={}+exp({}-{})/{}*{};];", width_, loop, y, y, x(with("k")), mm, ss, read("V", dtype_, {"k", "h"}));
    }
    std::string loops;
    for (std::size_t k = 0; k < rank_; ++k) loops += fmt::format("{}^{{{}}}_{{{}=0}}", k == 0 && scope[0] == 'l' && chance(0.5) ? "P" : "L", rows_[k], v[k]);
    body_ += loops + "[" + text + "];\n";
  }

  Rng& rng_;
  std::string head_, body_, dtype_;
  std::size_t rank_ = 1, mask_ = 0;
  std::vector<std::int64_t> rows_;
  std::int64_t n_ = 1, width_ = 1;
  std::vector<std::size_t> order_x_, order_m_, order_s_, order_y_;
  int scale_ = -1;
  bool stored_x_ = false, change_ = false;
};

}  // namespace

std::string generate_softmax(Rng* rng) { return OnlineGenerator(rng).run(); }

}  // namespace cairn::test
