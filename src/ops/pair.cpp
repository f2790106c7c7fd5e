#include "ops/pair.h"

#include "ops/typing.h"

namespace cairn {

ExprPtr Pair::left(const Index& i) const { return as_dtype(a.broadcast_at(i), a.dtype, work); }

ExprPtr Pair::right(const Index& i) const {
  return b ? as_dtype(b->broadcast_at(i), b->dtype, work) : scalar_literal(scalar, work);
}

Result<Pair> take_pair(Call& call, const char* left, const char* right) {
  Pair pair;
  const auto& args = call.node().args;
  const auto found = args.find(std::string_view(left));
  if (found != args.end() && found->second.kind != Arg::Kind::tensor) {
    CAIRN_TRY(const Scalar scalar, call.scalar(left));
    pair.a = make_constant(scalar.integral ? Dtype::i64 : Dtype::f64, {}, scalar_literal(scalar, call.dtype()));
    CAIRN_TRY(pair.b, call.tensor(right));
    pair.work = promote(*pair.b, scalar);
    pair.a.dtype = pair.work;
    return pair;
  }
  CAIRN_TRY(pair.a, call.tensor(left));
  const auto other = args.find(std::string_view(right));
  if (other != args.end() && other->second.kind == Arg::Kind::tensor) {
    CAIRN_TRY(pair.b, call.tensor(right));
    pair.work = promote(pair.a, *pair.b);
    const auto shape = broadcast_shapes(pair.a.shape, pair.b->shape);
    // where broadcasts its condition too: the pair need only fit the result.
    const auto fit = shape ? broadcast_shapes(*shape, call.shape()) : std::nullopt;
    if (!fit || *fit != call.shape()) return call.error("the operands do not broadcast to the result's shape");
    return pair;
  }
  CAIRN_TRY(pair.scalar, call.scalar(right));
  pair.work = promote(pair.a, pair.scalar);
  const auto fit = broadcast_shapes(pair.a.shape, call.shape());
  if (!fit || *fit != call.shape()) return call.error("the operand does not broadcast to the result's shape");
  return pair;
}

}  // namespace cairn
