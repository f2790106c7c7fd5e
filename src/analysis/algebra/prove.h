// Proving side conditions: signs, bounds and finiteness of expressions where they are evaluated.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/affine.h"
#include "analysis/algebra/chain.h"
#include "analysis/algebra/match.h"
#include "ir/walk.h"

namespace cairn::algebra {

enum class Truth : std::uint8_t { yes, no, unknown };

// What the values of an expression lie between, NaN aside. An open end is approached over the reals but may be met after
// rounding: exp(x) lies in (0, inf) and may underflow to 0.
struct Bounds {
  double lo = -__builtin_inf();
  double hi = __builtin_inf();
  bool lo_open = false, hi_open = false;
  bool may_be_nan = true;
};

// Where an expression stands: the loops around it and what is known to hold there.
struct Place {
  StmtPath path;                   // of the equation
  const Stmt* equation = nullptr;
  std::vector<LoopRange> loops;
  std::vector<ExprPtr> known;      // tests and conditions above that hold
  std::vector<ExprPtr> under;      // the if_then_else conditions among them, negated for an else branch
  ComputeType type = ComputeType::f32;
};
// The place of a node of an equation's right side: T tests and if_then_else above it count.
Place place_of(const Program& program, const StmtPath& equation, const ExprPath& node = {});
// The place of a node of its right side, given an equation's.
Place place_in(const Program& program, Place equation, const ExprPath& node);

// Proves conditions about one program; keeps a reference to it and remembers the bounds of its tensors.
class Prover {
 public:
  explicit Prover(const Program& program) : program_(program), equations_(collect_equations(program.body())) {}
  // yes and no hold for every instance of the place. A sign or an order is proved over the reals and of every value that
  // is not NaN; `e!=0` and `e<inf` also after rounding in the place's compute type, `e<inf` of NaN too.
  Truth prove(const ExprPtr& condition, const Place& place);
  Bounds bounds_of(const ExprPtr& e, const Place& place);
  // Whether `upper` >= `e` wherever neither is NaN: a max that has e among its arguments, or a running or final max
  // reduction that included e. Sound, not complete.
  bool is_max_over(const ExprPtr& upper, const ExprPtr& e, const Place& place);

 private:
  Bounds bounds_of_node(const ExprPtr& e, const Place& place);
  Bounds bounds_of_sum(const ExprPtr& e, const Place& place);
  Bounds bounds_of_product(const ExprPtr& e, const Place& place);
  Bounds bounds_of_tensor(const std::string& name);
  Bounds bounds_of_writes(const std::string& name);
  bool reduction_includes(const Expr& maximum, const ExprPtr& e, const Place& place);

  const Program& program_;
  std::vector<EquationRef> equations_;
  std::map<std::string, Bounds, std::less<>> tensors_;
  unsigned depth_ = 0;
};

// The largest exponent that exp takes safely in a compute type: 80 (f32), 700 (f64).
std::int64_t safe_exponent(ComputeType type);
// A row's condition with values of its variables, `big` included; its conditions with the match's.
ExprPtr condition_of(const ExprPtr& condition, const Bindings& bindings, const Place& place);
std::vector<ExprPtr> conditions_of(const Rule& rule, const Match& match, const Place& place);
// "A_{i,j}>0 at s3" or "A_{i-1,j}>0 at s3 if i>0": a side condition, naming the elements, the equation and the conditions
// of its right side that the place stands under; the expressions parse back. It is evaluated in the type that the equation
// computes in; of the tensor that a self-update updates it means the value after the update.
std::string describe_condition(const Program& program, const ExprPtr& condition, const Place& place);

}  // namespace cairn::algebra
