// What is compared: outputs, or the tensors that changed nests feed to unchanged ones, and at which elements
// (identity rung, internal).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "verify/identity.h"
#include "verify/identity/states.h"

namespace cairn::identity {

// A tensor of both programs before a nest of each (the number of nests: at the end).
struct Compared {
  std::string name;
  std::int32_t before = 0, after = 0;
  std::uint32_t nest_before = 0, nest_after = 0;
  const Shape* shape = nullptr;
  std::int64_t size = 0;
};

// Differing outputs and in-outs at the end. The pair has passed check_interfaces.
std::vector<Compared> differing_outputs(const Prepared& a, const StateTable& ta, const Prepared& b, const StateTable& tb);
// For the longest run of equal nests at the end that has one: the differing tensors that it needs. Empty: none.
std::vector<Compared> fed_tensors(const Prepared& a, const StateTable& ta, const Prepared& b, const StateTable& tb);

// Elements in the order to be compared: a base sample (corners, some rows) first, then all others, or some of
// every piece.
struct Elements {
  std::vector<std::int64_t> offsets;
  std::size_t least = 0;       // enough of each of few pieces
  std::size_t base = 0;        // what the algebraic class asks for at least
  std::int64_t pieces = 1;
  std::size_t complete_at = 0; // with so many, every piece is covered; SIZE_MAX: pieces are not known
};
Elements choose_elements(const Shape& shape, std::int64_t size, const std::vector<std::vector<std::int64_t>>& cuts, bool counted,
                         const IdentityOptions& options, Rng rng);

// Where along each dimension of the compared tensor some guard, condition or quotient of a program changes: starts of
// pieces, ascending. False if some depend on more than one dimension, on data, or are too many.
bool collect_cuts(const Prepared& code, std::int32_t tensor, std::uint32_t nest, std::vector<std::vector<std::int64_t>>* cuts);

}  // namespace cairn::identity
