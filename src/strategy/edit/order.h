// Questions about the order of a band's iterations, asked of dependence analysis.
#pragma once
#include <vector>

#include "analysis/dependence.h"
#include "strategy/edit/band.h"
#include "verify/certificate.h"

namespace cairn {

// check_permutation() on a band with lifted tests: they are sunk below the innermost loop for the question.
Legality check_band_order(const Program& program, const Band& band, const std::vector<std::size_t>& order);
// May the band be tiled: is every order that puts one of its loops first legal? (Then no dependence has a
// negative component, Wolf and Lam 1991.) reorders_reduction as in check_permutation.
Legality check_fully_permutable(const Program& program, const Band& band);
// Exact for max, min and integers, else reassociates.
Exactness class_of_reduction(UpdateOp op, Dtype dtype);
// Class of a step that reorders the reductions below: exact if they are all max, min or integer.
Exactness class_of_reorder(const Program& program, const Body& body);

}  // namespace cairn
