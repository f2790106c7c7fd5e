// Terms of the identity rung: hash-consed operations over elements of inputs, shared by both programs, so that what
// is built alike has one number. Operands precede their users.
#pragma once
#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "ir/expr.h"

namespace cairn::identity {

using TermId = std::uint32_t;
inline constexpr TermId kUnwrittenTerm = 0;

// What a term is: an operation (spelled as an Op), or one of these.
enum class Kind : std::uint8_t {
  unwritten,   // an element before its first write
  input,       // element b,c (low and high half) of state a
  operation,   // op of a, b, c
  round,       // a put into dtype `format`, a float
  chain,       // a, read by the accumulator that rounds it to `format` after each update; b is 1 for a partial result
  to_float,    // an integer or bool a as a float of `type`
  to_int,      // a float a truncated to integer dtype `format`
  to_bool,     // a != 0
  wrap,        // an integer a put into the width of `format`
};

struct Term {
  Kind kind = Kind::unwritten;
  Op op = Op::int_literal;                // operation; int_literal: value in b,c; float_literal: literal number a
  ComputeType type = ComputeType::f32;
  Dtype format = Dtype::f64;              // floats: a dtype that holds the value
  std::uint32_t a = 0, b = 0, c = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

struct Literal {
  double number = 0;    // as computed with
  double decimal = 0;   // as written
};

// An open-addressing map from non-zero 64-bit keys to 32-bit values.
class FlatMap {
 public:
  FlatMap() : slots_(64) {}
  // The value's place, fresh (0) if it was absent; valid until the next call.
  std::uint32_t& at(std::uint64_t key) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    std::size_t i = mix64(key) & (slots_.size() - 1);
    while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    count_ += slots_[i].key == 0;
    slots_[i].key = key;
    return slots_[i].value;
  }
  const std::uint32_t* find(std::uint64_t key) const {
    std::size_t i = mix64(key) & (slots_.size() - 1);
    while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return slots_[i].key == 0 ? nullptr : &slots_[i].value;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
  };
  void grow();
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

class TermGraph {
 public:
  TermGraph();
  std::size_t size() const { return terms_.size(); }
  const Term& operator[](TermId id) const { return terms_[id]; }
  const Literal& literal_of(const Term& t) const { return literals_[t.a]; }
  static std::int64_t integer_of(const Term& t) { return static_cast<std::int64_t>(t.b | (std::uint64_t{t.c} << 32)); }
  static std::int64_t offset_of(const Term& t) { return integer_of(t); }

  TermId integer(std::int64_t value) { return constant(value, ComputeType::i64); }
  TermId boolean(bool value) { return constant(value ? 1 : 0, ComputeType::boolean); }
  TermId literal(double number, double decimal, ComputeType type);
  TermId input(std::uint32_t state, std::int64_t offset, ComputeType type, Dtype format);
  // An operation with what holds in every algebra folded: integer constants, neutral elements, signs, repeated
  // arguments of max and min; operands of commutative ones in order.
  TermId operation(Op op, ComputeType type, TermId a, TermId b = 0, TermId c = 0);
  TermId convert(TermId a, ComputeType to);
  TermId round(TermId a, Dtype dtype, ComputeType type);
  TermId chain(TermId a, Dtype dtype, bool joined = false);
  // The term where `condition` is known: choices by it inside, down to `depth` operations, are made.
  TermId assume(TermId id, TermId condition, bool holds, int depth);
  static constexpr int kAssumeDepth = 4;

  bool is_integer(TermId id, std::int64_t* value) const {
    const Term& t = terms_[id];
    if (t.kind != Kind::operation || t.op != Op::int_literal) return false;
    *value = integer_of(t);
    return true;
  }
  // Terms a term is made of (0 to 3).
  int operands(const Term& t, TermId* out) const;

 private:
  TermId constant(std::int64_t value, ComputeType type);
  TermId make(const Term& t);
  TermId fold_integer(Op op, ComputeType type, TermId a, TermId b);
  // Arithmetic of two literals that no type of floats rounds.
  TermId fold_literals(Op op, ComputeType type, TermId a, TermId b);
  TermId fold_float(Op op, ComputeType type, TermId a, TermId b);
  TermId negate(TermId a, ComputeType type);
  bool is_literal(TermId id, double value) const {
    const Term& t = terms_[id];
    return t.kind == Kind::operation && t.op == Op::float_literal && literals_[t.a].number == value && literals_[t.a].decimal == value;
  }
  bool is_negation(TermId id) const { return terms_[id].kind == Kind::operation && terms_[id].op == Op::neg; }
  Dtype format_of(Op op, ComputeType type, TermId a, TermId b, TermId c) const;
  void grow();

  std::vector<Term> terms_;
  std::vector<TermId> slots_;
  std::vector<Literal> literals_;
  FlatMap literal_ids_;
};

// Every value of `narrow` is one of `wide`.
bool holds_all(Dtype wide, Dtype narrow);

}  // namespace cairn::identity
