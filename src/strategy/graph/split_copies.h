// The copies of tensor_split_to_decouple_operators: slices of inputs, results of the parts' own.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/affine.h"
#include "analysis/flow.h"
#include "ir/interval.h"
#include "ir/program.h"
#include "ir/self_update.h"
#include "verify/certificate.h"

namespace cairn {

// What the cuts of one program ask again and again. Keeps a reference to the program.
class SplitFacts {
 public:
  explicit SplitFacts(const Program& program) : program_(program), flow_(program, FlowMode::boxes_only) {}
  // infer_shapes() of the program.
  const Result<std::map<std::string, Shape, std::less<>>>& shapes();
  // Is every element of the tensor written before the nest, all of it before any read of another equation? Sufficient
  // only: then any element may be read in the nest's place.
  bool is_complete_before(const std::string& tensor, std::uint32_t nest);
  // Does the nest alone mention the tensor?
  bool is_alone_in(const std::string& tensor, std::uint32_t nest);

 private:
  const Program& program_;
  FlowAnalysis flow_;
  std::optional<Result<std::map<std::string, Shape, std::less<>>>> shapes_;
  std::map<std::string, std::uint32_t> complete_from_;   // the first nest after all writes, or none (the largest number)
  std::map<std::string, std::vector<std::uint32_t>> mentioned_in_;
};

// The parts of one nest cut along `axis`; refusals name the conditions of the strategy.
class SplitCopies {
 public:
  // `extents` of the axis in each part; `parts` hold the shifted subscripts already.
  SplitCopies(const Program& program, SplitFacts& facts, std::uint32_t nest, std::string axis, std::vector<std::int64_t> extents,
              std::vector<StmtPtr> parts);
  // Asks only: conditions are checked and nothing is built; of the results, made() has its size and to_check() is empty if
  // nothing has to be asked after the step. No test on the axis may stand in the nest: the parts are all of it then, from
  // one iteration of the axis to the next part's.
  SplitCopies(const Program& program, SplitFacts& facts, std::uint32_t nest, std::string axis, std::vector<std::int64_t> extents);
  // Each part reads copies of its slices: condition (3).
  Result<void> copy_inputs();
  // Each part writes temporaries of its own: condition (4).
  Result<void> copy_results();
  // What replaces the nest.
  Body statements() const;
  const std::vector<Tensor>& made() const { return made_; }
  const std::vector<std::string>& vars() const { return vars_; }
  Exactness exactness() const { return exactness_; }
  // Tensors whose reads must be asked about after the step, with the condition.
  const std::vector<std::pair<std::string, int>>& to_check() const { return to_check_; }

 private:
  // A mention of a tensor, with the ranges of the loops around.
  struct Mention {
    const std::string* tensor;
    const std::vector<ExprPtr>* subscripts;
    std::shared_ptr<const VarRanges> ranges;
    bool write;
  };
  std::vector<Mention> mentions_of(std::size_t part) const;
  // The elements of a tensor that a part reads, by dimension.
  struct Window {
    std::vector<std::int64_t> lo, extent;
  };
  Result<Window> window_of(const std::vector<Mention>& mentions, const Tensor& tensor, const Shape& shape) const;
  Result<void> copy_result(const std::string& tensor);
  Result<void> copy_back(const std::string& tensor, std::size_t dim, const std::vector<std::int64_t>& starts);
  Result<void> combine(const std::string& tensor, const Stmt& equation, const SelfUpdate& update);
  const Stmt* single_write(const std::string& tensor) const;
  std::string make_temporary(const Tensor& like);
  const std::string& var(std::size_t k);

  const Program& program_;
  SplitFacts& facts_;
  std::uint32_t nest_;
  std::string axis_;
  std::vector<std::int64_t> extents_;
  std::vector<StmtPtr> parts_;
  std::vector<std::int64_t> origins_;   // of the axis in each part, where its subscripts are not shifted
  bool only_ask_ = false;
  Body before_, after_;
  std::vector<Tensor> made_;
  std::vector<std::string> vars_;
  std::vector<std::pair<std::string, int>> to_check_;
  Exactness exactness_ = Exactness::exact;
};

}  // namespace cairn
