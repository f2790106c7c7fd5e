// The exact and the reassociating algebra: keyed hashes. Every value is a pair (hash of x, hash of -x), so that a
// negation swaps the two and -(a+b) = (-a)+(-b), (-a)*b = -(a*b) hold.
#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "verify/identity/pass.h"

namespace cairn::identity {

std::vector<TermId> reachable(const TermGraph& graph, const std::vector<TermId>& roots) {
  TermId last = 0;
  for (const TermId r : roots) last = std::max(last, r);
  std::vector<bool> wanted(last + 1, false);
  for (const TermId r : roots) wanted[r] = true;
  std::size_t count = 0;
  for (TermId id = last + 1; id-- > 0;) {
    if (!wanted[id]) continue;
    ++count;
    TermId args[3];
    for (int i = graph.operands(graph[id], args); i-- > 0;) wanted[args[i]] = true;
  }
  std::vector<TermId> order;
  order.reserve(count);
  for (TermId id = 0; id <= last; ++id) {
    if (wanted[id]) order.push_back(id);
  }
  return order;
}

namespace {
// Distinct values in the order they were added; a set is a prefix of one log, so that growing shares it.
struct SetLog {
  std::vector<TermValue> items;
  std::unordered_map<std::uint64_t, std::uint32_t> place;
};

enum class Form : std::uint8_t { atom, sum, product, set };
struct Item {
  Form form = Form::atom;
  ComputeType type = ComputeType::f32;   // of the chain or set
  bool negative = false;                 // product, set: the negative of what follows
  std::uint32_t log = 0, length = 0;     // set
  TermValue v;                           // atom, sum: the value; product: v.a its magnitude; set: sums
  double number = HUGE_VAL;              // of a literal
};

bool is_float_type(ComputeType type) { return type == ComputeType::f32 || type == ComputeType::f64; }

class TermPass {
 public:
  TermPass(const TermGraph& graph, bool reassociates, std::uint64_t key)
      : graph_(graph), reassociates_(reassociates), key_(mix64(key ^ 0x6a09e667f3bcc909ULL)) {}

  std::vector<TermValue> run(const std::vector<TermId>& order, const std::vector<TermId>& roots) {
    if (order.empty()) return {};
    items_.resize(order.back() + 1);
    for (const TermId id : order) items_[id] = evaluate(graph_[id]);
    std::vector<TermValue> out;
    for (const TermId r : roots) out.push_back(atom(items_[r]));
    return out;
  }

 private:
  std::uint64_t tag(std::uint64_t what) const { return mix64(key_ + what * 0x9e3779b97f4a7c15ULL); }
  std::uint64_t tag(Op op, ComputeType type) const { return tag(static_cast<std::uint64_t>(op) << 8 | static_cast<std::uint64_t>(type)); }
  static std::uint64_t flip(std::uint64_t h) { return mix64(h ^ 0xc2b2ae3d27d4eb4fULL); }
  static TermValue opaque(std::uint64_t h) { return {h, flip(h)}; }
  static TermValue swapped(TermValue v, bool swap) { return swap ? TermValue{v.b, v.a} : v; }
  static std::uint64_t magnitude(TermValue v) { return std::min(v.a, v.b); }
  static bool is_negative(TermValue v) { return v.a > v.b; }

  // The value of an item as a whole.
  TermValue atom(const Item& x) const {
    switch (x.form) {
      case Form::atom: return x.v;
      case Form::sum: return {combine64(tag(301 + static_cast<std::uint64_t>(x.type)), x.v.a), combine64(tag(301 + static_cast<std::uint64_t>(x.type)), x.v.b)};
      case Form::product: return swapped(opaque(combine64(tag(311 + static_cast<std::uint64_t>(x.type)), x.v.a)), x.negative);
      case Form::set: {
        const std::uint64_t t = tag(321 + static_cast<std::uint64_t>(x.type));
        return swapped({combine64(t, x.v.a), flip(combine64(t, x.v.a))}, x.negative);
      }
    }
    return x.v;
  }

  TermValue literal(double number) const {
    const double size = number < 0 ? -number : number;
    const TermValue v = opaque(combine64(tag(11), std::bit_cast<std::uint64_t>(size == 0 ? 0.0 : size)));
    return size == 0 ? TermValue{v.a, v.a} : swapped(v, number < 0);
  }
  // Literals of few binary digits are added up in sums: 6+6 is 12 wherever the two stand in a chain.
  static bool adds_up(double number) { return std::fabs(number) < 0x1p30 && number * 0x1p32 == std::trunc(number * 0x1p32); }
  TermValue literal_part(double number) const {
    const std::uint64_t part = (tag(14) | 1) * static_cast<std::uint64_t>(static_cast<std::int64_t>(number * 0x1p32));
    return {part, 0 - part};
  }
  Item integer_item(std::uint64_t value) const { return {Form::atom, ComputeType::i64, false, 0, 0, {value, 0 - value}}; }

  Item evaluate(const Term& t) {
    const auto arg = [&](std::uint32_t id) -> const Item& { return items_[id]; };
    const auto whole = [&](std::uint32_t id) { return atom(items_[id]); };
    const auto wrap_up = [&](std::uint64_t h) {
      // A symbolic integer is a random word; its negative is the word's.
      if (t.type == ComputeType::i64) return integer_item(h);
      return Item{Form::atom, t.type, false, 0, 0, opaque(h)};
    };
    switch (t.kind) {
      case Kind::unwritten: return wrap_up(tag(1));
      case Kind::input: return wrap_up(combine64(combine64(tag(2), t.a), t.b | std::uint64_t{t.c} << 32));
      case Kind::round: return rounded(t, arg(t.a));
      case Kind::chain: {
        const Term& inner = graph_[t.a];
        if (reassociates_ && inner.kind == Kind::round && inner.format == t.format) return arg(inner.a);
        return arg(t.a);
      }
      case Kind::to_float: return wrap_up(combine64(tag(4 + static_cast<std::uint64_t>(t.type)), whole(t.a).a));
      case Kind::to_int: return wrap_up(combine64(tag(16 + static_cast<std::uint64_t>(t.format)), whole(t.a).a));
      case Kind::to_bool: return wrap_up(combine64(tag(9), magnitude(whole(t.a))));
      case Kind::wrap: return wrap_up(combine64(tag(48 + static_cast<std::uint64_t>(t.format)), whole(t.a).a));
      case Kind::operation: break;
    }
    switch (t.op) {
      case Op::int_literal: {
        const auto v = static_cast<std::uint64_t>(TermGraph::integer_of(t));
        return t.type == ComputeType::i64 ? integer_item(v) : Item{Form::atom, t.type, false, 0, 0, opaque(combine64(tag(10), v))};
      }
      case Op::float_literal: return {Form::atom, t.type, false, 0, 0, literal(graph_.literal_of(t).number), graph_.literal_of(t).number};
      case Op::neg: return negative(arg(t.a));
      case Op::add: return t.type == ComputeType::i64 ? integer_item(whole(t.a).a + whole(t.b).a) : add(t.type, arg(t.a), arg(t.b));
      case Op::mul: return t.type == ComputeType::i64 ? integer_item(whole(t.a).a * whole(t.b).a) : multiply(t.type, arg(t.a), arg(t.b));
      case Op::div: return divide(t, arg(t.a), arg(t.b));
      case Op::max: return is_float_type(t.type) ? maximum(t.type, arg(t.a), arg(t.b)) : maximum(ComputeType::i64, arg(t.a), arg(t.b));
      case Op::min:
        if (is_float_type(t.type)) return negative(maximum(t.type, negative(arg(t.a)), negative(arg(t.b))));
        return maximum(ComputeType::boolean, arg(t.a), arg(t.b));
      case Op::abs:
        if (is_float_type(t.type)) return wrap_up(combine64(tag(12), magnitude(whole(t.a))));
        break;
      case Op::eq: case Op::ne: case Op::logical_and: case Op::logical_or: case Op::bit_xor:
        return wrap_up(combine64(tag(t.op, graph_[t.a].type), mix64(whole(t.a).a ^ key_) + mix64(whole(t.b).a ^ key_)));
      case Op::erf: case Op::tanh: case Op::sin: case Op::sign:
        if (is_float_type(t.type)) {  // odd functions
          const TermValue v = whole(t.a);
          return {Form::atom, t.type, false, 0, 0, swapped(opaque(combine64(tag(t.op, t.type), magnitude(v))), is_negative(v))};
        }
        break;
      default: break;
    }
    std::uint64_t h = tag(t.op, graph_[t.a].type);
    TermId args[3];
    const int n = graph_.operands(t, args);
    for (int i = 0; i < n; ++i) h = combine64(h, atom(items_[args[i]]).a);
    if (t.op == Op::select && is_float_type(t.type)) {  // a choice of negatives is the negative of the choice
      std::uint64_t g = combine64(combine64(combine64(tag(t.op, graph_[t.a].type), whole(t.a).a), whole(t.b).b), whole(t.c).b);
      return {Form::atom, t.type, false, 0, 0, {h, g}};
    }
    return wrap_up(h);
  }

  Item rounded(const Term& t, const Item& x) const {
    const TermValue v = atom(x);
    const std::uint64_t h = combine64(tag(80 + static_cast<std::uint64_t>(t.format)), magnitude(v));
    return {Form::atom, t.type, false, 0, 0, swapped(opaque(h), is_negative(v))};
  }

  Item negative(const Item& x) const {
    Item y = x;
    y.number = -x.number;
    if (x.form == Form::atom || x.form == Form::sum) y.v = swapped(x.v, true);
    else y.negative = !x.negative;
    return y;
  }

  Item add(ComputeType type, const Item& x, const Item& y) const {
    if (!reassociates_) {
      const TermValue a = atom(x), b = atom(y);
      if (a == b) return multiply(type, x, Item{Form::atom, type, false, 0, 0, literal(2)});
      const std::uint64_t t = tag(Op::add, type);
      return {Form::atom, type, false, 0, 0, {combine64(t, mix64(a.a ^ key_) + mix64(b.a ^ key_)), combine64(t, mix64(a.b ^ key_) + mix64(b.b ^ key_))}};
    }
    const auto terms = [&](const Item& i) {
      if (i.form == Form::sum && i.type == type) return i.v;
      if (adds_up(i.number)) return literal_part(i.number);
      const TermValue v = atom(i);
      return TermValue{mix64(v.a ^ key_), mix64(v.b ^ key_)};
    };
    const TermValue a = terms(x), b = terms(y);
    return {Form::sum, type, false, 0, 0, {a.a + b.a, a.b + b.b}};
  }

  struct Factor {
    std::uint64_t sum;
    bool negative;
  };
  Factor factor_of(ComputeType type, const Item& i) const {
    if (reassociates_ && i.form == Form::product && i.type == type) return {i.v.a, i.negative};
    const TermValue v = atom(i);
    return {mix64(magnitude(v) ^ ~key_), is_negative(v)};
  }
  Item multiply(ComputeType type, const Item& x, const Item& y) const {
    const Factor a = factor_of(type, x), b = factor_of(type, y);
    Item out{Form::product, type, a.negative != b.negative, 0, 0, {a.sum + b.sum, 0}};
    if (!reassociates_) {
      out.v = atom(out);
      out.form = Form::atom;
      out.negative = false;
    }
    return out;
  }

  // A chain of * and / is one multiset of factors; the reciprocal of a literal stays whole, as x*(1/y) rounds twice.
  Item divide(const Term& t, const Item& x, const Item& y) const {
    const TermValue b = atom(y);
    const bool literal = graph_[t.a].kind == Kind::operation && graph_[t.a].op == Op::float_literal;
    if (reassociates_ && !literal) {
      const Factor a = factor_of(t.type, x);
      return {Form::product, t.type, a.negative != is_negative(b), 0, 0, {a.sum + combine64(tag(13), magnitude(b)), 0}};
    }
    const TermValue a = atom(x);
    const std::uint64_t h = combine64(combine64(tag(t.op, t.type), magnitude(a)), magnitude(b));
    return {Form::atom, t.type, false, 0, 0, swapped(opaque(h), is_negative(a) != is_negative(b))};
  }

  // Sets: the shorter joins the longer, in place where that is the end of its log.
  Item maximum(ComputeType type, const Item& x, const Item& y) {
    const auto is_set = [&](const Item& i) { return i.form == Form::set && i.type == type && !i.negative; };
    const bool second = is_set(y) && (!is_set(x) || y.length > x.length);
    const Item& large = second ? y : x;
    const Item& small = second ? x : y;
    Item out = large;
    if (!is_set(large)) {
      const TermValue p = atom(x), q = atom(y);
      if (p == q) return x;
      out = Item{Form::set, type, false, static_cast<std::uint32_t>(logs_.size()), 0, {0, 0}};
      logs_.emplace_back();
      insert(&out, p);
      insert(&out, q);
      return out;
    }
    if (!is_set(small)) {
      insert(&out, atom(small));
      return out;
    }
    if (out.log == small.log) return out;   // the longer prefix of one log holds the shorter
    for (std::uint32_t i = 0; i < small.length; ++i) insert(&out, TermValue(logs_[small.log].items[i]));
    return out;
  }
  void insert(Item* set, TermValue v) {
    const auto found = logs_[set->log].place.find(v.a);
    if (found != logs_[set->log].place.end() && found->second < set->length) return;
    if (set->length != logs_[set->log].items.size()) {  // somebody else grew it
      SetLog copy;
      const SetLog& log = logs_[set->log];
      copy.items.assign(log.items.begin(), log.items.begin() + set->length);
      for (std::uint32_t i = 0; i < set->length; ++i) copy.place.emplace(copy.items[i].a, i);
      set->log = static_cast<std::uint32_t>(logs_.size());
      logs_.push_back(std::move(copy));
    }
    SetLog& log = logs_[set->log];
    log.place.emplace(v.a, set->length);
    log.items.push_back(v);
    set->v = {set->v.a + mix64(v.a ^ key_), set->v.b + mix64(v.b ^ key_)};
    ++set->length;
  }

  const TermGraph& graph_;
  bool reassociates_;
  std::uint64_t key_;
  std::vector<Item> items_;
  std::vector<SetLog> logs_;
};
}  // namespace

std::vector<TermValue> evaluate_terms(const TermGraph& graph, const std::vector<TermId>& order, const std::vector<TermId>& roots,
                                      bool reassociates, std::uint64_t key) {
  return TermPass(graph, reassociates, key).run(order, roots);
}

}  // namespace cairn::identity
