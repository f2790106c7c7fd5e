// Sums and products as multisets: flattening, equality up to associativity and commutativity, rebuilding.
#pragma once
#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "ir/expr.h"

namespace cairn::algebra {

// Which multiset a node is part of: + - and negation make sums, * / products.
enum class ChainKind : std::uint8_t { none, sum, product };
ChainKind chain_kind(const Expr& e);

// Child indices from an expression down to a node.
using ExprPath = std::vector<std::uint32_t>;

// A term of a sum (inverse: subtracted) or a factor of a product (inverse: divided by).
struct Leaf {
  ExprPtr expr;
  bool inverse = false;
  ExprPath path;   // from the chain's root
};
// The leaves of a maximal chain in text order; an expression that is no such chain is its own only leaf.
std::vector<Leaf> leaves_of(const ExprPtr& e, ChainKind kind);
// The same with empty paths, for those who do not look back at the chain.
std::vector<Leaf> operands_of(const ExprPtr& e, ChainKind kind);
// The chain of the leaves: positive ones first where the first is inverse, -x and negative literals as subtraction,
// quotients with one denominator; 0 in sums and 1 in products drop out. No leaves: the neutral literal.
ExprPtr build_chain(ChainKind kind, const std::vector<Leaf>& leaves);
// -e; -(-e) is e.
ExprPtr make_negation(const ExprPtr& e);
// -e of a sum's leaf, 1/e of a product's.
ExprPtr make_inverse(ChainKind kind, const ExprPtr& e);
bool is_neutral(ChainKind kind, const Expr& e);

// Equal for expressions that differ by the order and grouping of + * max min == !=, and by -x for subtraction: the
// same value over the reals. Reads are equal only with equal subscripts; 2 and 2.0 are equal.
Digest value_hash(const Expr& e);
bool same_value(const ExprPtr& a, const ExprPtr& b);
// Equal for expressions that differ by the operand order of + * max min == != only (as canonical_hash).
Digest commuted_hash(const Expr& e);

// The node at a path; the expression with it replaced.
const ExprPtr& node_at(const ExprPtr& root, const ExprPath& path);
ExprPtr replace_node(const ExprPtr& root, const ExprPath& path, const ExprPtr& replacement);

// The chain with the leaves at `consumed` taken out and `replacement` put where the one at `anchor` (an index of
// consumed) stood, with that leaf's polarity, or with the opposite one if `inverted`. The rest keeps its grouping.
ExprPtr edit_chain(const ExprPtr& chain, ChainKind kind, const std::vector<ExprPath>& consumed, std::size_t anchor,
                   const ExprPtr& replacement, bool inverted);

}  // namespace cairn::algebra
