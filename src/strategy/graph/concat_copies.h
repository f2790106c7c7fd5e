// Copies of joined tensors: windows of the operands in, slices of the results out.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "strategy/graph/axis_parts.h"
#include "strategy/graph/concat_match.h"

namespace cairn {

class ConcatCopies {
 public:
  using Shapes = std::map<std::string, Shape, std::less<>>;
  ConcatCopies(const Program& program, const AxisGroup& group, const ConcatMatcher& match, Shapes shapes)
      : program_(program), group_(group), match_(match), shapes_(std::move(shapes)), original_(program.body()) {}

  // Condition (4) for shapes and windows.
  Result<void> check(const JoinedTensor& joined) const;
  // Does nest k read what an earlier statement, or the caller, left in its result?
  bool has_prior(const JoinedTensor& joined, std::size_t k) const;
  // Nest k's window, or whole operand, into the joined tensor.
  StmtPtr copy(const JoinedTensor& joined, std::size_t k);
  // Zeros between nest k's operand and the next one's; null where they touch.
  StmtPtr fill(const JoinedTensor& joined, std::size_t k);
  // What nest k wrote, from the joined result back to where it belongs: one nest for each different way of writing it,
  // over the given iterations of the axis.
  Result<Body> slices(const JoinedTensor& joined, std::size_t k, const ConcatMatcher::Rows& rows);
  // A temporary that only nest k mentions needs no slice.
  bool stays_inside(const std::string& tensor, std::size_t k) const;
  // Did a slice leave out a test on loops it does not have? Then what it reads must be asked about.
  bool dropped_test() const { return dropped_test_; }
  const std::vector<std::string>& vars() const { return vars_; }
  // The program with the group replaced by copies, the joined nest and what follows it; tensors made and dropped.
  Program finish(const Gathered& gathered, const Body& before, const StmtPtr& joined, const Body& after) const;

 private:
  StmtPtr move(const JoinedTensor& joined, std::int64_t from, std::int64_t to, std::int64_t extent, const Shape& shape, const std::string* source);
  const std::string& var(std::size_t k);

  const Program& program_;
  const AxisGroup& group_;
  const ConcatMatcher& match_;
  Shapes shapes_;
  const Body& original_;
  std::vector<std::string> vars_;
  bool dropped_test_ = false;
};

}  // namespace cairn
