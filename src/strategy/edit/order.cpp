#include "strategy/edit/order.h"

#include "ir/self_update.h"
#include "ir/walk.h"

namespace cairn {

Legality check_band_order(const Program& program, const Band& band, const std::vector<std::size_t>& order) {
  if (band.tests.empty()) return check_permutation(program, band.path, order);
  const Program sunk = with_replaced(program, band.path, build_sunk(band.loops, band.tests, band.body));
  return check_permutation(sunk, band.path, order);
}

Legality check_fully_permutable(const Program& program, const Band& band) {
  const bool sink = !band.tests.empty();
  const Program sunk = sink ? with_replaced(program, band.path, build_sunk(band.loops, band.tests, band.body)) : program;
  Legality all;
  for (std::size_t first = 1; first < band.loops.size(); ++first) {
    std::vector<std::size_t> order{first};
    for (std::size_t k = 0; k < band.loops.size(); ++k) {
      if (k != first) order.push_back(k);
    }
    const Legality one = check_permutation(sunk, band.path, order);
    if (!one.ok) return one;
    all.reorders_reduction |= one.reorders_reduction;
  }
  return all;
}

Exactness class_of_reduction(UpdateOp op, Dtype dtype) {
  const bool free = op == UpdateOp::max || op == UpdateOp::min || !is_float(dtype);
  return free ? Exactness::exact : Exactness::reassociates;
}

Exactness class_of_reorder(const Program& program, const Body& body) {
  for (const EquationRef& ref : collect_equations(body)) {
    const std::optional<SelfUpdate> update = match_self_update(*ref.equation);
    if (!update) continue;
    const Tensor* tensor = program.find(ref.equation->tensor);
    if (!tensor || class_of_reduction(update->op, tensor->dtype) == Exactness::reassociates) return Exactness::reassociates;
  }
  return Exactness::exact;
}

}  // namespace cairn
