// The three algebras: passes over recorded terms (identity rung, internal).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/identity/terms.h"

namespace cairn::identity {

// Terms that some of `roots` are made of, in order (operands first).
std::vector<TermId> reachable(const TermGraph& graph, const std::vector<TermId>& roots);

// A value of the exact or reassociating algebra: keyed hashes of a term and of its negative.
struct TermValue {
  std::uint64_t a = 0, b = 0;
  friend bool operator==(const TermValue&, const TermValue&) = default;
};
// exact: + and * commute, integers form the ring of 64-bit words, max and min are sets. reassociates: float + and *
// chains are multisets too and accumulators keep no roundings between their updates. Values of `roots`, in their order.
std::vector<TermValue> evaluate_terms(const TermGraph& graph, const std::vector<TermId>& order, const std::vector<TermId>& roots,
                                      bool reassociates, std::uint64_t key);

// A value of the algebraic class: residues modulo p (and q, if it has not passed an exp), an infinity, an integer,
// or nothing (void) with its cause.
struct FieldValue {
  enum class Kind : std::uint8_t { number, bottom, top, nan, integer, nothing };
  enum class Cause : std::uint8_t { none, infinities, zero_times_infinity, division_by_zero, unknown_sign, undefined };
  Kind kind = Kind::nothing;
  Cause cause = Cause::none;
  std::int8_t sign = 2;          // of a number where it is known: -1, 0, 1; else 2
  bool has_q = false;
  std::uint64_t p = 0, q = 0;    // integer: p holds it
  std::uint32_t set = 0, length = 0;   // FieldMode::sets: the members of a max or min (a prefix of log set-1)
};
bool same_value(const FieldValue& a, const FieldValue& b);
// plain: all values random. ties: inputs take few values, so that equal ones are compared. sets: max and min are opaque
// functions of the set of their operands; a missing operand shows at once, laws of the order do not hold.
enum class FieldMode : std::uint8_t { plain, ties, sets };
// `largest_set`: the most operands of one max or min (sets only).
std::vector<FieldValue> evaluate_field(const TermGraph& graph, const std::vector<TermId>& order, const std::vector<TermId>& wanted,
                                       std::uint64_t key, FieldMode mode = FieldMode::plain, std::size_t* largest_set = nullptr);
// True if some value depends on the order of numbers (max, min, a comparison).
bool asks_order(const TermGraph& graph, const std::vector<TermId>& order);
std::string_view cause_text(FieldValue::Cause cause);

}  // namespace cairn::identity
