// Gathers: the index tensor becomes a subscript; what it may hold is checked when the program runs.
#include "ops/build.h"
#include "ops/families.h"
#include "ops/view.h"

namespace cairn {
namespace {

using namespace build;

// Indices with negative ones counted from the end, stored, as subscripts know no conditions.
Operand wrapped(Call& call, const Operand& index, std::int64_t extent) {
  return call.emit.compute(Dtype::i64, index.shape, [&](const Index& i) {
    return select(lt(index.at(i), num(0)), add(index.at(i), num(extent)), index.at(i));
  });
}

// A subscript reads a stored integer tensor.
Operand stored_index(Call& call, const Operand& index) {
  return index.element->op == Op::read ? index : call.emit.materialise(index);
}

bool is_index(const Operand& operand) { return is_integer(operand.dtype); }

// weight[indices, :]; negative indices are errors.
Result<void> emit_embedding(Call& call) {
  CAIRN_TRY(const Operand weight, call.tensor("weight"));
  CAIRN_TRY(const Operand given, call.tensor("indices"));
  if (weight.rank() != 2 || !is_index(given)) return call.error("expected a weight of rank 2 and integer indices");
  const Operand indices = stored_index(call, given);
  return call.finish_compute([&](const Index& i) {
    const Index outer(i.begin(), i.end() - 1);
    return weight.at({indices.at(outer), i.back()});
  });
}

// self along dim at index: index has rank 1.
Result<void> emit_index_select(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t axis, call.axis("dim", self.rank()));
  CAIRN_TRY(const Operand given, call.tensor("index"));
  if (given.rank() > 1 || !is_index(given)) return call.error("expected integer indices of rank 1");
  if (self.rank() == 0) return call.error("a selection of rank 0");
  const Operand index = stored_index(call, given);
  return call.finish_compute([&](const Index& i) {
    Index own = i;
    own[axis] = index.at(index.rank() == 0 ? Index{} : Index{i[axis]});
    return self.at(own);
  });
}

// out[i..] = self[.., index[i..], ..].
Result<void> emit_gather(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(const std::size_t axis, call.axis("dim", self.rank()));
  CAIRN_TRY(const Operand given, call.tensor("index"));
  if (!is_index(given)) return call.error("expected integer indices");
  if (self.rank() == 0) {
    return call.finish_compute([&](const Index&) { return self.at({}); });
  }
  if (given.rank() != self.rank()) return call.error("the index differs in rank");
  const Operand index = stored_index(call, given);
  return call.finish_compute([&](const Index& i) {
    Index own = i;
    own[axis] = index.at(i);
    return self.at(own);
  });
}

// self[a, b, :, c ...]: index tensors broadcast together; their axes stand where the first one stood when they are
// neighbours, else in front.
Result<void> emit_index(Call& call) {
  CAIRN_TRY(const Operand self, call.tensor("self"));
  CAIRN_TRY(auto indices, call.maybe_tensors("indices"));
  if (indices.size() > self.rank()) return call.error("more indices than axes");
  indices.resize(self.rank());
  Shape joint;
  std::vector<std::size_t> indexed;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    if (!indices[axis]) continue;
    if (!is_index(*indices[axis])) return call.error("an index by bools has no shape of its own");
    const auto shape = broadcast_shapes(joint, indices[axis]->shape);
    if (!shape) return call.error("the indices do not broadcast");
    joint = *shape;
    indexed.push_back(axis);
    indices[axis] = wrapped(call, *indices[axis], self.shape[axis]);
  }
  if (indexed.empty()) return call.error("no index is given");
  const bool neighbours = indexed.back() - indexed.front() + 1 == indexed.size();
  const std::size_t at = neighbours ? indexed.front() : 0;
  return call.finish_compute([&](const Index& i) {
    const Index where(i.begin() + static_cast<std::ptrdiff_t>(at),
                      i.begin() + static_cast<std::ptrdiff_t>(at + joint.size()));
    Index rest(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(at));
    rest.insert(rest.end(), i.begin() + static_cast<std::ptrdiff_t>(at + joint.size()), i.end());
    Index own;
    std::size_t next = 0;
    for (const auto& index : indices) own.push_back(index ? index->broadcast_at(where) : rest[next++]);
    return self.at(own);
  });
}

constexpr OpEntry kOps[] = {
    {"aten.embedding.default", emit_embedding},
    {"aten.gather.default", emit_gather},
    {"aten.index.Tensor", emit_index},
    {"aten.index_select.default", emit_index_select},
};

}  // namespace

std::span<const OpEntry> index_ops() { return kOps; }

}  // namespace cairn
