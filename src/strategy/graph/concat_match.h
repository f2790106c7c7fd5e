// Matches nests that are equal but for one axis: what tensor_concat_to_fuse_operators and
// partially_equivalent_then_correct join.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/affine.h"
#include "ir/program.h"

namespace cairn {

// One tensor of each nest, taken together: element `start + a` of nest k's along `dim` is element `offset_k + a` of `name`.
struct JoinedTensor {
  std::vector<std::string> tensors;
  std::size_t dim = 0;
  std::vector<std::int64_t> starts;
  std::int64_t stride = 0;   // not 0: operands are joined whole, those of nest k from element stride * offset_k on
  std::string name;
  bool written = false;
  SourcePos pos = kNoPos;
};

// The match of several nests of the program's body along the loop at `axis` (path within the nest, empty for the nest
// itself). Refusals carry the conditions of tensor_concat_to_fuse_operators. With `windows`, operands may be read through
// windows that move with the axis (stride * a + others), and bounds on these may differ: the joined nest then has the
// first one's lower and the last one's upper bounds, and equal_rows() tells which iterations that leaves as they are.
class ConcatMatcher {
 public:
  ConcatMatcher(const Program& program, std::vector<std::uint32_t> nests, StmtPath axis, bool windows = false);
  // Iterations [lo, hi) of the axis.
  struct Rows {
    std::int64_t lo = 0, hi = 0;
  };
  const std::vector<Rows>& equal_rows() const { return rows_; }
  // Was an operand read through more than the axis itself?
  bool has_windows() const { return has_windows_; }
  // The nest over the joined axis, in the names of the first one.
  Result<StmtPtr> match();
  const std::vector<JoinedTensor>& joined() const { return joined_; }
  const std::vector<std::int64_t>& extents() const { return extents_; }
  const std::vector<std::int64_t>& offsets() const { return offsets_; }

 private:
  // How the nests write a tensor: each its own along the axis, one tensor at elements counted on, or without the axis.
  enum class Kind : std::uint8_t { copied, shared_elements, without_axis };
  struct Written {
    Kind kind = Kind::copied;
    std::vector<std::string> tensors;
    std::size_t joined = 0;                  // index into joined_ (copied)
    std::set<std::size_t> loops;             // axis loops above some write (without_axis), as indices into axis_
    SourcePos pos = kNoPos;
  };
  using Stmts = std::vector<const Stmt*>;
  using Exprs = std::vector<ExprPtr>;

  Error refuse_at(SourcePos pos, int condition, std::string message) const;
  // The expressions of the nests in the names of the first.
  ExprPtr renamed(std::size_t nest, const ExprPtr& e) const;
  Exprs renamed_all(const Exprs& exprs) const;
  bool uses_axis(const Expr& e) const;
  // Is every expression the first one with the axis counted on?
  bool counts_on(const Exprs& e) const;
  // The subscript `a+start` of an axis variable in every nest.
  struct Plain {
    std::string var;
    std::vector<std::int64_t> starts;
  };
  std::optional<Plain> plain_axis(const Exprs& e) const;

  Result<StmtPtr> match_once();
  Result<void> find_extents();
  // Iterations by which nests must be apart, so that their whole operands are: true if that moves a nest.
  Result<bool> spread();
  Result<Body> walk_bodies(const std::vector<const Body*>& bodies, StmtPath& path, bool collect);
  Result<StmtPtr> walk(const Stmts& stmts, StmtPath& path, bool collect);
  Result<void> collect_write(const Stmts& stmts);
  Result<StmtPtr> join_equation(const Stmts& stmts);
  Result<ExprPtr> join(const Exprs& e);
  Result<ExprPtr> join_read(const Exprs& e);
  Result<ExprPtr> join_bounds(const Exprs& e);
  Result<ExprPtr> join_bound(const Exprs& e);
  // The one coefficient of the axis in equal affine subscripts; 0 if they are not that.
  std::int64_t stride_of(const Exprs& e) const;
  Result<std::size_t> add_joined(JoinedTensor tensor);
  Result<void> check_without_axis();
  // A loop of the first nest, not yet of the axis, that runs along the axis dimension of a copied tensor.
  std::optional<StmtPath> find_more_axis() const;
  const Written* find_written(const Exprs& e) const;

  const Program& program_;
  std::vector<std::uint32_t> nests_;
  std::vector<StmtPath> axis_;                                   // loops of the axis
  bool windows_ = false, has_windows_ = false;
  std::vector<std::int64_t> extents_, offsets_, spans_;
  std::vector<Rows> rows_;
  std::vector<JoinedTensor> joined_;
  std::map<std::string, Written, std::less<>> written_;          // by the first nest's tensor
  std::vector<std::set<std::string, std::less<>>> written_by_;   // tensors each nest writes
  std::vector<std::vector<std::pair<std::string, ExprPtr>>> names_;  // per nest: variables in scope
  std::vector<std::string> axis_vars_;                           // axis variables in scope
  std::vector<std::vector<LoopRange>> ranges_;                   // per nest, in the first's names
  std::optional<Error> disagreement_;                            // writes of one tensor that differ; more axis loops may settle it
  std::vector<std::pair<std::string, StmtPath>> scope_;          // loops of the first nest in scope
};

}  // namespace cairn
