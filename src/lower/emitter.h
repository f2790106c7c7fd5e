// The C emitter's state and parts; one object lowers one program. Internal to lower/.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/interval.h"
#include "ir/typing.h"
#include "lower/affine_terms.h"
#include "lower/c.h"
#include "lower/plan.h"

namespace cairn {

// C precedence of an emitted expression: lower binds tighter.
enum Prec : int { kAtom = 0, kUnary = 2, kMul = 3, kAdd = 4, kRelation = 6, kEqual = 7, kBitAnd = 8, kBitOr = 10,
                  kAnd = 11, kOr = 12, kCond = 13 };

// An emitted expression. A vector holds one element a lane; a vector mask holds 0 or -1 in integers as wide
// as `mask_bytes`.
struct CValue {
  std::string text;
  int prec = kAtom;
  bool vec = false;
  int mask_bytes = 4;
  std::string at(int limit) const { return prec <= limit ? text : "(" + text + ")"; }
};

// What a loop variable is in C: [text] + offset [+ lane].
struct VarBinding {
  std::string var;
  std::string text;          // C variable, or empty for a constant
  std::int64_t offset = 0;
  bool lane = false;
  Interval range;            // of the value, lanes included
};

// sum coef * atom + constant + lane * (lane number): an index in C.
struct IndexForm {
  std::vector<std::pair<std::string, std::int64_t>> terms;
  std::int64_t constant = 0;
  std::int64_t lane = 0;
  void add(const IndexForm& other, std::int64_t factor);
};

// A tile of a tensor held in named C variables: element `base + n` is lane n % lanes of the n / lanes-th.
struct RegisterTile {
  std::string tensor;
  std::string prefix;
  IndexForm base;
  int lanes = 0;               // 0: scalars
  UpdateOp op = UpdateOp::add; // of lane_sum
  int parts = 1;               // of lane_sum: independent accumulators, one a vector of the V loop
  bool lane_sum = false;       // one partial result a lane of a reduction over the lanes
  std::map<std::int64_t, std::string> names;  // offset of the first lane -> C variable
};

// How the innermost emission context computes: plain C, W lanes at once, or one lane of a lane loop.
enum class LaneMode { scalar, vector, lane };

// A literal of a compute type, exact.
std::string c_float_literal(double value, ComputeType type);
// C text of the helper functions and types that were asked for.
std::string c_prelude(const std::set<std::string>& helpers, const std::set<std::string>& vector_types);
std::string c_vector_types(const std::set<std::string>& vector_types);
std::string c_vector_helpers(const std::set<std::string>& helpers);

class CEmitter {
 public:
  CEmitter(const Program& program, const Target& target, const CLowerOptions& options,
           const std::vector<std::string>& flags)
      : program_(program), target_(target), options_(options), flags_(flags) {}
  Result<CSource> run();

 private:
  // index.cpp
  const VarBinding* find_binding(std::string_view var) const;
  std::optional<IndexForm> index_form(const Expr& expr);
  std::optional<IndexForm> quotient_form(const Expr& expr);
  std::optional<IndexForm> opaque_form(const Expr& expr);
  std::optional<IndexForm> flat_form(const std::string& tensor, const std::vector<ExprPtr>& subscripts);
  CValue print_index(const IndexForm& form) const;
  std::optional<Interval> range_of(const Expr& expr) const { return interval_of(expr, ranges_); }
  std::optional<Interval> form_range(const IndexForm& form) const;
  std::string checked_divisor(const std::string& text);
  std::size_t add_check(const std::string& text);
  bool is_gather(const Expr& subscript) const;
  TypedPtr typed_index(const Expr& expr);
  bool in_bounds(const std::string& tensor, const std::vector<ExprPtr>& subscripts) const;
  std::string checked_index(const std::string& text, std::int64_t extent, const std::string& tensor, std::size_t dim);

  // access.cpp
  struct ElementRef {
    std::string lvalue;        // C lvalue of the element (scalar), or of the whole vector
    bool vec = false;          // a vector of lanes (register or unaligned memory)
    bool exact_type = true;    // already in the storage's C type
  };
  std::optional<ElementRef> element_ref(const std::string& tensor, const std::vector<ExprPtr>& subscripts, bool write);
  RegisterTile* find_tile(const std::string& tensor);
  std::optional<ElementRef> tile_ref(RegisterTile& tile, const IndexForm& flat, bool write);
  CValue load_value(const ElementRef& ref, Dtype dtype);
  std::string store_value(const CValue& value, ComputeType type, Dtype dtype, bool vec);
  std::string vector_type(Dtype dtype, bool unaligned = false);
  std::string vector_type(ComputeType type);
  std::string compute_c_type(ComputeType type) const;

  // value.cpp
  CValue emit_value(const TypedExpr& e);
  CValue emit_form(const TypedExpr& e);
  CValue emit_lazily(const TypedExpr& e);
  CValue gather_lanes(const TypedExpr& e);
  bool is_undecided(const TypedExpr& e);
  CValue emit_node(const TypedExpr& e);
  CValue emit_read(const TypedExpr& e);
  CValue emit_call(const TypedExpr& e);
  CValue emit_integer(const TypedExpr& e);
  CValue emit_compare(const TypedExpr& e);
  CValue emit_logic(const TypedExpr& e);
  CValue emit_select(const TypedExpr& e);
  CValue emit_convert(const TypedExpr& e);
  CValue emit_round(const TypedExpr& e);
  CValue binary(const char* op, const CValue& a, const CValue& b, int prec);
  CValue broadcast(const CValue& value, ComputeType type);
  CValue as_mask(const CValue& value, int bytes);
  bool find_place_is_memory(const std::string& tensor) const;
  bool is_total(const TypedExpr& e) const;   // may be evaluated where the program would not
  CValue fail_vector() { vector_failed_ = true; return {"0", kAtom, false, 4}; }

  // stmt.cpp
  void bind(const std::string& var, std::string text, std::int64_t offset, bool lane, Interval range);
  void unbind();
  void emit_body(const Body& body);
  void emit_stmt(const Stmt& stmt);
  void emit_loop(const Stmt& loop);
  void emit_serial(const Stmt& loop);
  void emit_unrolled(const Stmt& loop);
  void emit_test(const Stmt& test);
  void emit_equation(const Stmt& equation);
  void emit_starts(const StmtPath& path);
  const TypedExpr* typed(const Stmt& stmt);
  std::optional<bool> known_condition(const Expr& cond);
  struct LoopBounds {
    std::string first, last;   // empty: all of the extent
    bool whole_test = false;   // the bounds replace the test
    bool partial = false;      // some iterations may do nothing
  };
  LoopBounds loop_bounds(const Stmt& loop);

  // tiles.cpp
  std::vector<RegisterTile> open_tiles(const Stmt& loop, bool partial, bool only_lane_sums = false);
  void close_tiles(const std::vector<RegisterTile>& tiles);
  using MentionFn = std::function<bool(const Stmt* equation, const std::vector<ExprPtr>& subscripts, bool write,
                                       const std::vector<const Stmt*>& inner)>;
  using MentionVisitor = std::function<bool(const MentionFn&)>;
  std::optional<RegisterTile> plan_tile(const Stmt& loop, const std::string& name, bool guarded,
                                        const MentionVisitor& each_mention);
  bool in_bounds_with(const std::string& tensor, const std::vector<ExprPtr>& subscripts,
                      const std::vector<const Stmt*>& inner, const Stmt& loop) const;
  void load_tile(const RegisterTile& tile);
  std::string neutral_vector(const RegisterTile& tile);
  std::string part_name(const RegisterTile& tile, const std::string& name, std::int64_t part) const;
  std::string combine_vectors(UpdateOp op, Dtype dtype, const std::string& x, const std::string& y);
  std::string combine_lanes(const RegisterTile& tile, const std::string& element, const std::string& lanes);

  // parallel.cpp
  void emit_parallel(const Stmt& loop, const ParallelPlan& plan);
  void emit_reduction_region(const Stmt& loop, const ParallelPlan& plan);
  void combine_partials(const Stmt& loop, const ParallelPlan& plan);
  void declare_places(const StmtPath* region);
  void declare_place(const Place& place, const StmtPath* region);
  std::string parallel_pragma() const;
  std::string combine_elements(UpdateOp op, Dtype dtype, const std::string& x, const CValue& y);
  std::string neutral_text(const ExprPtr& neutral, Dtype dtype);
  void fill_place(const Place& place, const ExprPtr& neutral);

  // vector.cpp
  int lanes_of(const Stmt& loop) const;
  bool emit_vector_loop(const Stmt& loop);
  bool mentions_tensor(const Body& body, const std::string& tensor) const;
  void emit_vector_test(const Stmt& test);
  void emit_vector_equation(const Stmt& equation);
  void emit_lane_loop(const Stmt& stmt);
  std::string all_lanes(const TypedExpr& cond, bool holds);
  std::vector<const Expr*> undecided_selections(const TypedExpr& e) const;
  TypedPtr typed_condition(const Expr& cond, Dtype target);
  std::string vector_function(Op op, bool single, const std::string& name);

  // text
  void line(const std::string& text);
  void open(const std::string& text);
  void close(const std::string& text = "}");
  std::string fresh_name(const std::string& stem);
  void need(const std::string& helper) { helpers_.insert(helper); }

  // c.cpp
  Result<void> elaborate_all(const Body& body);
  void assemble();

  const Program& program_;
  const Target& target_;
  const CLowerOptions& options_;
  const std::vector<std::string>& flags_;
  LowerPlan plan_;
  std::map<const Stmt*, TypedPtr> typed_;
  std::map<const Expr*, TypedPtr> typed_indices_;
  std::vector<VarBinding> bindings_;
  VarRanges ranges_;
  std::map<std::string, Interval, std::less<>> atom_ranges_;
  std::vector<RegisterTile> tiles_;
  StmtPath path_;
  StmtPath region_;                    // of the enclosing parallel loop
  bool in_parallel_ = false;

  LaneMode mode_ = LaneMode::scalar;
  int lanes_ = 0;
  std::int64_t vector_number_ = 0;     // of the V loop, when written out
  std::string lane_var_;               // C variable of the lane in lane mode
  bool vector_failed_ = false;
  bool lazy_ = false;                  // inside an operand that may not be evaluated
  std::map<const Expr*, bool> assumed_;
  struct LaneDump {
    Dtype dtype = Dtype::f32;
    bool written = false;
  };
  std::map<std::string, LaneDump> lane_dumps_;  // vector registers used in a lane loop

  std::string out_;
  int indent_ = 1;
  int counter_ = 0;
  std::set<std::string> helpers_;
  std::set<std::string> vector_types_;
  bool check_used_ = false;
  CSource source_;
};

}  // namespace cairn
