#include "analysis/algebra/chain.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace cairn::algebra {
namespace {

bool inverts_right(Op op) { return op == Op::sub || op == Op::div; }

void collect_leaves(const ExprPtr& e, ChainKind kind, bool inverse, ExprPath* path, std::vector<Leaf>* out) {
  if (chain_kind(*e) != kind) {
    out->push_back({e, inverse, *path});
    return;
  }
  for (std::uint32_t k = 0; k < e->args.size(); ++k) {
    path->push_back(k);
    const bool flips = e->op == Op::neg || (k == 1 && inverts_right(e->op));
    collect_leaves(e->args[k], kind, inverse != flips, path, out);
    path->pop_back();
  }
}

void collect_operands(const ExprPtr& e, ChainKind kind, bool inverse, std::vector<Leaf>* out) {
  if (chain_kind(*e) != kind) {
    out->push_back({e, inverse, {}});
    return;
  }
  for (std::size_t k = 0; k < e->args.size(); ++k) {
    const bool flips = e->op == Op::neg || (k == 1 && inverts_right(e->op));
    collect_operands(e->args[k], kind, inverse != flips, out);
  }
}

bool is_literal(const Expr& e) { return e.op == Op::int_literal || e.op == Op::float_literal; }

// Moves the sign of a leaf of a sum into its polarity.
void normalize_sign(Leaf* leaf) {
  const Expr& e = *leaf->expr;
  if (e.op == Op::neg) {
    leaf->expr = e.args[0];
    leaf->inverse = !leaf->inverse;
  } else if (e.op == Op::int_literal && e.int_value < 0 && e.int_value != INT64_MIN) {
    leaf->expr = make_int(-e.int_value, e.pos);
    leaf->inverse = !leaf->inverse;
  } else if (e.op == Op::float_literal && std::signbit(e.float_value)) {
    leaf->expr = make_float(-e.float_value, e.pos);
    leaf->inverse = !leaf->inverse;
  }
}

ExprPtr join(Op op, const ExprPtr& a, const ExprPtr& b) { return make_expr(op, {a, b}); }

ExprPtr append_leaf(ChainKind kind, ExprPtr acc, Leaf leaf) {
  if (kind == ChainKind::sum) normalize_sign(&leaf);
  if (is_neutral(kind, *leaf.expr)) return acc;
  if (!acc) return leaf.inverse ? make_inverse(kind, leaf.expr) : leaf.expr;
  const Op op = kind == ChainKind::sum ? (leaf.inverse ? Op::sub : Op::add) : (leaf.inverse ? Op::div : Op::mul);
  return join(op, acc, leaf.expr);
}

// acc op leaf, with a chain's own leaves joined one by one.
ExprPtr append(ChainKind kind, ExprPtr acc, const ExprPtr& e, bool inverse) {
  if (chain_kind(*e) != kind) return append_leaf(kind, std::move(acc), {e, inverse, {}});
  for (const Leaf& leaf : operands_of(e, kind)) acc = append_leaf(kind, std::move(acc), {leaf.expr, leaf.inverse != inverse, {}});
  return acc;
}

ExprPtr build_sum(const std::vector<Leaf>& leaves) {
  std::vector<Leaf> terms;
  terms.reserve(leaves.size());
  for (Leaf leaf : leaves) {
    normalize_sign(&leaf);
    if (!is_neutral(ChainKind::sum, *leaf.expr)) terms.push_back(std::move(leaf));
  }
  const auto first = std::find_if(terms.begin(), terms.end(), [](const Leaf& leaf) { return !leaf.inverse; });
  if (first != terms.end()) std::rotate(terms.begin(), first, first + 1);
  ExprPtr acc;
  for (const Leaf& leaf : terms) {
    if (!acc && !leaf.inverse) {
      acc = leaf.expr;
    } else {
      acc = append(ChainKind::sum, acc, leaf.expr, leaf.inverse);
    }
  }
  return acc ? acc : make_int(0);
}

ExprPtr build_product(const std::vector<Leaf>& leaves) {
  ExprPtr above, below;
  for (const Leaf& leaf : leaves) {
    if (is_neutral(ChainKind::product, *leaf.expr)) continue;
    ExprPtr& acc = leaf.inverse ? below : above;
    acc = acc ? append(ChainKind::product, acc, leaf.expr, false) : leaf.expr;
  }
  if (!above) above = make_int(1);
  return below ? join(Op::div, above, below) : above;
}

struct Editor {
  ChainKind kind;
  const std::vector<ExprPath>& consumed;
  std::size_t anchor;
  ExprPtr replacement;   // null: the neutral element
  ExprPath path = {};
  bool spliced = false;  // the node returned last is the replacement itself

  // The edited node, or null if nothing is left of it.
  ExprPtr edit(const ExprPtr& e) {
    spliced = false;
    if (chain_kind(*e) != kind) return edit_leaf(e);
    std::vector<ExprPtr> parts;
    bool right_is_new = false;
    for (std::uint32_t k = 0; k < e->args.size(); ++k) {
      path.push_back(k);
      parts.push_back(edit(e->args[k]));
      right_is_new = spliced;
      path.pop_back();
    }
    spliced = false;
    if (parts == e->args) return e;
    if (e->op == Op::neg) return parts[0] ? make_negation(parts[0]) : nullptr;
    const bool inverts = inverts_right(e->op);
    if (!parts[1]) return parts[0];
    if (!parts[0]) return inverts ? make_inverse(kind, parts[1]) : parts[1];
    return right_is_new ? append(kind, parts[0], parts[1], inverts) : join(e->op, parts[0], parts[1]);
  }

  ExprPtr edit_leaf(const ExprPtr& e) {
    const auto found = std::find(consumed.begin(), consumed.end(), path);
    if (found == consumed.end()) return e;
    if (static_cast<std::size_t>(found - consumed.begin()) != anchor) return nullptr;
    spliced = true;
    return replacement;
  }
};

Digest seed(std::uint64_t tag) { return {mix64(tag + 0x3b1ULL), mix64(tag + 0x9e77ULL)}; }
void mix(Digest* h, const Digest& d) {
  h->hi = combine64(h->hi, d.hi);
  h->lo = combine64(h->lo, d.lo ^ 0x5851f42d4c957f2dULL);
}
void add(Digest* h, const Digest& d) {
  h->hi += mix64(d.hi);
  h->lo += mix64(d.lo ^ 0x2545f4914f6cdd1dULL);
}

Digest hash_chain(const Expr& e, ChainKind kind, bool inverse, std::size_t* count, Digest* single) {
  // Sum over the leaves; a single plain leaf stands for itself.
  Digest total = seed(0);
  if (chain_kind(e) != kind) {
    Digest own;
    bool flipped = inverse;
    const bool number = is_literal(e);
    const double value = e.op == Op::int_literal ? static_cast<double>(e.int_value) : e.float_value;
    if (kind == ChainKind::sum && number && std::signbit(value)) {
      own = value_hash(*make_float(-value));
      flipped = !flipped;
    } else {
      own = value_hash(e);
    }
    if (number && is_neutral(kind, e)) return {};
    ++*count;
    *single = own;
    if (flipped) {
      Digest turned = seed(static_cast<std::uint64_t>(kind) + 77);
      mix(&turned, own);
      *count += 1;  // no plain leaf any more
      own = turned;
    }
    total = {};
    add(&total, own);
    return total;
  }
  total = {};
  for (std::size_t k = 0; k < e.args.size(); ++k) {
    const bool flips = e.op == Op::neg || (k == 1 && inverts_right(e.op));
    const Digest part = hash_chain(*e.args[k], kind, inverse != flips, count, single);
    total.hi += part.hi;
    total.lo += part.lo;
  }
  return total;
}

bool commutes(Op op) { return op == Op::max || op == Op::min || op == Op::eq || op == Op::ne; }

}  // namespace

ChainKind chain_kind(const Expr& e) {
  switch (e.op) {
    case Op::add: case Op::sub: case Op::neg: return ChainKind::sum;
    case Op::mul: case Op::div: return ChainKind::product;
    default: return ChainKind::none;
  }
}

std::vector<Leaf> operands_of(const ExprPtr& e, ChainKind kind) {
  std::vector<Leaf> out;
  out.reserve(4);
  collect_operands(e, kind, false, &out);
  return out;
}

std::vector<Leaf> leaves_of(const ExprPtr& e, ChainKind kind) {
  std::vector<Leaf> out;
  out.reserve(4);
  ExprPath path;
  collect_leaves(e, kind, false, &path, &out);
  return out;
}

bool is_neutral(ChainKind kind, const Expr& e) {
  const int neutral = kind == ChainKind::sum ? 0 : 1;
  return (e.op == Op::int_literal && e.int_value == neutral) || (e.op == Op::float_literal && e.float_value == neutral);
}

ExprPtr make_negation(const ExprPtr& e) { return e->op == Op::neg ? e->args[0] : make_expr(Op::neg, {e}); }

ExprPtr make_inverse(ChainKind kind, const ExprPtr& e) {
  if (kind == ChainKind::sum) return make_negation(e);
  if (e->op == Op::div) return is_neutral(kind, *e->args[0]) ? e->args[1] : join(Op::div, e->args[1], e->args[0]);
  return join(Op::div, make_int(1), e);
}

ExprPtr build_chain(ChainKind kind, const std::vector<Leaf>& leaves) {
  CAIRN_CHECK(kind != ChainKind::none);
  return kind == ChainKind::sum ? build_sum(leaves) : build_product(leaves);
}

Digest value_hash(const Expr& e) {
  const ChainKind kind = chain_kind(e);
  if (kind != ChainKind::none) {
    std::size_t count = 0;
    Digest single;
    const Digest total = hash_chain(e, kind, false, &count, &single);
    if (count == 1) return single;
    if (count == 0) return value_hash(*make_int(kind == ChainKind::sum ? 0 : 1));
    Digest h = seed(0x500 + static_cast<std::uint64_t>(kind));
    mix(&h, total);
    return h;
  }
  Digest h = seed(0x100 + static_cast<std::uint64_t>(is_literal(e) ? Op::float_literal : e.op));
  switch (e.op) {
    case Op::int_literal: case Op::float_literal: {
      const double value = e.op == Op::int_literal ? static_cast<double>(e.int_value) : e.float_value;
      const bool exact = e.op == Op::float_literal || static_cast<std::int64_t>(value) == e.int_value;
      const std::uint64_t bits = std::isnan(value) ? 0x7ff8ULL << 48 : exact ? std::bit_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(e.int_value);
      mix(&h, seed(bits));
      return h;
    }
    case Op::loop_var: case Op::read: mix(&h, seed(hash64(e.name))); break;
    case Op::cast: mix(&h, seed(static_cast<std::uint64_t>(e.dtype))); break;
    default: break;
  }
  if (commutes(e.op)) {
    Digest both;
    for (const ExprPtr& arg : e.args) add(&both, value_hash(*arg));
    mix(&h, both);
    return h;
  }
  for (const ExprPtr& arg : e.args) mix(&h, value_hash(*arg));
  return h;
}

bool same_value(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) return true;
  // Without literals and chains at the top, and with operands in a fixed order, the nodes decide.
  const auto is_plain = [](const Expr& e) { return chain_kind(e) == ChainKind::none && !is_literal(e) && !commutes(e.op); };
  if (is_plain(*a) && is_plain(*b)) {
    if (a->op != b->op || a->name != b->name || a->dtype != b->dtype || a->args.size() != b->args.size()) return false;
    return std::equal(a->args.begin(), a->args.end(), b->args.begin(), [](const ExprPtr& x, const ExprPtr& y) { return same_value(x, y); });
  }
  // A chain may come to a single leaf of any kind.
  const bool chains = chain_kind(*a) != ChainKind::none || chain_kind(*b) != ChainKind::none;
  if (!chains && a->op != b->op && !(is_literal(*a) && is_literal(*b))) return false;
  return value_hash(*a) == value_hash(*b);
}

Digest commuted_hash(const Expr& e) {
  if (e.args.empty()) return {mix64(e.hash), mix64(e.hash ^ 0x7f4a7c15ULL)};
  Digest h = seed(0x900 + static_cast<std::uint64_t>(e.op));
  if (e.op == Op::read) mix(&h, seed(hash64(e.name)));
  if (e.op == Op::cast) mix(&h, seed(static_cast<std::uint64_t>(e.dtype)));
  if (commutes(e.op) || e.op == Op::add || e.op == Op::mul) {
    Digest both;
    for (const ExprPtr& arg : e.args) add(&both, commuted_hash(*arg));
    mix(&h, both);
    return h;
  }
  for (const ExprPtr& arg : e.args) mix(&h, commuted_hash(*arg));
  return h;
}

const ExprPtr& node_at(const ExprPtr& root, const ExprPath& path) {
  const ExprPtr* at = &root;
  for (const std::uint32_t k : path) {
    CAIRN_CHECK(k < (*at)->args.size());
    at = &(*at)->args[k];
  }
  return *at;
}

ExprPtr replace_node(const ExprPtr& root, const ExprPath& path, const ExprPtr& replacement) {
  if (path.empty()) return replacement;
  std::vector<ExprPtr> args = root->args;
  CAIRN_CHECK(path[0] < args.size());
  args[path[0]] = replace_node(args[path[0]], ExprPath(path.begin() + 1, path.end()), replacement);
  switch (root->op) {
    case Op::read: return make_read(root->name, std::move(args), root->pos);
    case Op::cast: return make_cast(root->dtype, std::move(args[0]), root->pos);
    default: return make_expr(root->op, std::move(args), root->pos);
  }
}

ExprPtr edit_chain(const ExprPtr& chain, ChainKind kind, const std::vector<ExprPath>& consumed, std::size_t anchor,
                   const ExprPtr& replacement, bool inverted) {
  Editor editor{kind, consumed, anchor, nullptr};
  if (!is_neutral(kind, *replacement)) editor.replacement = inverted ? make_inverse(kind, replacement) : replacement;
  const ExprPtr edited = editor.edit(chain);
  return edited ? edited : make_int(kind == ChainKind::sum ? 0 : 1);
}

}  // namespace cairn::algebra
