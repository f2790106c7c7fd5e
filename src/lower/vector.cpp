// V loops: lanes at once in vector extension types, or lane by lane where a statement does not allow it.
#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"
#include "lower/emitter.h"

namespace cairn {

bool CEmitter::emit_vector_loop(const Stmt& loop) {
  const int width = lanes_of(loop);
  if (width == 0) return false;
  const int saved = lanes_;
  // Reductions over the lanes that no enclosing loop holds yet: this loop holds them.
  const StmtPtr around = make_loop(LoopKind::L, 1, "", Body{std::make_shared<const Stmt>(loop)});
  lanes_ = width;
  std::vector<RegisterTile> tiles = open_tiles(*around, false, true);
  bool constant = loop.extent / width <= kUnrolledVectors;
  for (const RegisterTile& t : tiles_) constant |= t.lanes > 0 && !t.lane_sum && mentions_tensor(loop.body, t.tensor);
  mode_ = LaneMode::vector;
  lanes_ = width;
  if (constant) {
    for (std::int64_t i = 0; i < loop.extent; i += width) {
      vector_number_ = i / width;
      bind(loop.var, "", i, true, {i, i + width - 1});
      emit_body(loop.body);
      unbind();
    }
  } else {
    vector_number_ = 0;
    const std::string var = c_name(loop.var);
    open(fmt::format("for (int64_t {0} = 0; {0} < {1}; {0} += {2}) {{", var, loop.extent, width));
    bind(loop.var, var, 0, true, {0, loop.extent - 1});
    atom_ranges_[var] = {0, loop.extent - width};
    emit_body(loop.body);
    unbind();
    close();
  }
  mode_ = LaneMode::scalar;
  lanes_ = saved;
  close_tiles(tiles);
  return true;
}

bool CEmitter::mentions_tensor(const Body& body, const std::string& tensor) const {
  return std::any_of(body.begin(), body.end(), [&](const StmtPtr& s) {
    if (!s->is_equation()) return mentions_tensor(s->body, tensor);
    return s->tensor == tensor || reads_tensor(*s->rhs, tensor);
  });
}

void CEmitter::emit_vector_test(const Stmt& test) {
  vector_failed_ = false;
  const std::size_t before = out_.size();
  const CValue c = emit_value(*typed(test));
  if (vector_failed_ || c.vec) out_.resize(before);
  if (!vector_failed_ && !c.vec) {
    open(fmt::format("if ({}) {{", c.text));
    emit_body(test.body);
    close();
    return;
  }
  const std::string whole = all_lanes(*typed(test), true);
  if (whole.empty()) {
    emit_lane_loop(test);
    return;
  }
  open(fmt::format("if ({}) {{", whole));
  emit_body(test.body);
  close(std::string("} else {"));
  ++indent_;
  emit_lane_loop(test);
  close();
}

void CEmitter::emit_vector_equation(const Stmt& equation) {
  const Dtype dtype = program_.find(equation.tensor)->dtype;
  vector_failed_ = false;
  const std::size_t before = out_.size();
  const CValue value = emit_value(*typed(equation));
  const auto ref = element_ref(equation.tensor, equation.subscripts, true);
  if (!vector_failed_ && ref && ref->vec) {
    const std::string stored = store_value(value, compute_type(dtype), dtype, true);
    if (!vector_failed_) {
      line(fmt::format("{} = {};", ref->lvalue, stored));
      return;
    }
  }
  out_.resize(before);
  // A selection whose condition is the same in all lanes of most vectors: one version for each case.
  for (const Expr* cond : undecided_selections(*typed(equation))) {
    const TypedPtr condition = typed_condition(*cond, dtype);
    const std::string yes = all_lanes(*condition, true);
    const std::string no = all_lanes(*condition, false);
    if (yes.empty() || no.empty()) continue;
    open(fmt::format("if ({}) {{", yes));
    assumed_[cond] = true;
    emit_vector_equation(equation);
    close(fmt::format("}} else if ({}) {{", no));
    ++indent_;
    assumed_[cond] = false;
    emit_vector_equation(equation);
    assumed_.erase(cond);
    close(std::string("} else {"));
    ++indent_;
    emit_lane_loop(equation);
    close();
    return;
  }
  emit_lane_loop(equation);
}

TypedPtr CEmitter::typed_condition(const Expr& cond, Dtype target) {
  const ExprPtr alias(std::shared_ptr<void>(), &cond);  // owned by the program
  auto made = elaborate_condition(program_, alias, target);
  CAIRN_CHECK(made.ok());
  return *std::move(made);
}

std::vector<const Expr*> CEmitter::undecided_selections(const TypedExpr& e) const {
  std::vector<const Expr*> out;
  if (e.form == TypedExpr::Form::node && e.op == Op::select && !assumed_.contains(e.args[0]->expr)) {
    out.push_back(e.args[0]->expr);
  }
  if (e.form != TypedExpr::Form::node || e.op != Op::read) {
    for (const TypedPtr& arg : e.args) {
      for (const Expr* c : undecided_selections(*arg)) out.push_back(c);
    }
  }
  return out;
}

// A C condition, the same for all lanes, under which `cond` holds (or fails) in every lane; empty if there is
// none to be told.
std::string CEmitter::all_lanes(const TypedExpr& cond, bool holds) {
  if (cond.form != TypedExpr::Form::node) return {};
  switch (cond.op) {
    case Op::logical_not: return all_lanes(*cond.args[0], !holds);
    case Op::logical_and:
    case Op::logical_or: {
      const std::string a = all_lanes(*cond.args[0], holds);
      const std::string b = all_lanes(*cond.args[1], holds);
      if (a.empty() || b.empty()) return {};
      return fmt::format("({} {} {})", a, (cond.op == Op::logical_and) == holds ? "&&" : "||", b);
    }
    case Op::lt: case Op::le: case Op::gt: case Op::ge: case Op::eq: case Op::ne: break;
    default: return {};
  }
  if (cond.args[0]->type != ComputeType::i64 || !range_of(*cond.args[0]->expr) || !range_of(*cond.args[1]->expr)) return {};
  const auto a = index_form(*cond.args[0]->expr);
  const auto b = index_form(*cond.args[1]->expr);
  if (!a || !b) return {};
  IndexForm diff = *a;
  diff.add(*b, -1);
  const bool below = cond.op == Op::lt || cond.op == Op::le;   // holds while diff is small
  if ((cond.op == Op::eq || cond.op == Op::ne) && diff.lane != 0) return {};
  // The lane where the condition is hardest to meet.
  const bool last = (diff.lane > 0) == (below == holds);
  if (last) diff.constant += diff.lane * (lanes_ - 1);
  diff.lane = 0;
  const char* op = cond.op == Op::lt ? "<" : cond.op == Op::le ? "<=" : cond.op == Op::gt ? ">" : cond.op == Op::ge ? ">=" : cond.op == Op::eq ? "==" : "!=";
  // Written with the constant on the right, as a reader would.
  const std::int64_t right = -diff.constant;
  diff.constant = 0;
  const std::string text = fmt::format("{} {} {}", print_index(diff).at(kAdd), op, right);
  return holds ? "(" + text + ")" : "!(" + text + ")";
}

// Runs a statement for one lane after the other; vector registers pass through arrays meanwhile.
void CEmitter::emit_lane_loop(const Stmt& stmt) {
  const std::string before = std::move(out_);
  out_.clear();
  const auto assumed = std::move(assumed_);
  assumed_.clear();
  lane_dumps_.clear();
  mode_ = LaneMode::lane;
  lane_var_ = fresh_name("lane");
  indent_ += 1;
  open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", lane_var_, lanes_));
  atom_ranges_[lane_var_] = {0, lanes_ - 1};
  emit_stmt(stmt);
  close();
  indent_ -= 1;
  mode_ = LaneMode::vector;
  assumed_ = assumed;
  const std::string loop = std::move(out_);
  out_ = before;
  if (lane_dumps_.empty()) {
    open(std::string("{"));
    out_ += loop;
    close();
    return;
  }
  open(std::string("{"));
  for (const auto& [name, use] : lane_dumps_) {
    line(fmt::format("{0} {1}_l[{2}] __attribute__((aligned(64)));", c_type(use.dtype), name, lanes_));
    line(fmt::format("*({} *){}_l = {};", vector_type(use.dtype, true), name, name));
  }
  out_ += loop;
  for (const auto& [name, use] : lane_dumps_) {
    if (use.written) line(fmt::format("{} = *(const {} *){}_l;", name, vector_type(use.dtype, true), name));
  }
  close();
}

std::string CEmitter::vector_function(Op op, bool single, const std::string& name) {
  if (op == Op::floor_div || op == Op::mod) return {};
  const char* suffix = single ? "f" : "d";
  vector_type(single ? Dtype::f32 : Dtype::f64);
  vector_type(single ? Dtype::i32 : Dtype::i64);
  static const std::set<std::string, std::less<>> plain{"sqrt", "floor", "ceil", "rint", "fabs", "sq", "rsqrt", "max", "min", "sign"};
  const std::string own = name == "**" ? "pow" : name;
  if (!plain.contains(name)) {
    need("mathlib");
    if (lanes_ >= (single ? 4 : 2) && lanes_ <= (single ? 16 : 8)) {
      return fmt::format("cairn_{}{}_v{}", own, single ? "f" : "", lanes_);
    }
  }
  need(fmt::format("lanes {} {} {}", name, lanes_, suffix));
  if (op == Op::max || op == Op::min) need(fmt::format("lanes select {} {}", lanes_, suffix));
  return fmt::format("cairn_{}_v{}{}", own, lanes_, suffix);
}

std::string CEmitter::neutral_vector(const RegisterTile& tile) {
  const Dtype dtype = program_.find(tile.tensor)->dtype;
  return fmt::format("({}) - ({}){{}}", neutral_text(neutral_element(tile.op, dtype), dtype), vector_type(dtype));
}

std::string CEmitter::part_name(const RegisterTile& tile, const std::string& name, std::int64_t part) const {
  return tile.parts > 1 ? fmt::format("{}_{}", name, part % tile.parts) : name;
}

// x = x op y, lane by lane.
std::string CEmitter::combine_vectors(UpdateOp op, Dtype dtype, const std::string& x, const std::string& y) {
  const ComputeType type = compute_type(dtype);
  const CValue a = load_value({x, true, true}, dtype);
  const CValue b = load_value({y, true, true}, dtype);
  CValue v;
  if (op == UpdateOp::add || op == UpdateOp::mul) {
    v = binary(op == UpdateOp::add ? "+" : "*", a, b, op == UpdateOp::add ? kAdd : kMul);
  } else {
    const std::string stem = type == ComputeType::f32 ? "f" : type == ComputeType::f64 ? "d" : "l";
    v = {fmt::format("cairn_{}_v{}{}({}, {})", update_op_name(op), lanes_, stem, a.text, b.text), kAtom, true, 4};
  }
  return fmt::format("{} = {};", x, store_value(v, type, dtype, true));
}

// element = element op (the lanes folded by halves, always in the same order).
std::string CEmitter::combine_lanes(const RegisterTile& tile, const std::string& element, const std::string& lanes) {
  const Dtype dtype = program_.find(tile.tensor)->dtype;
  const ComputeType type = compute_type(dtype);
  const std::string stem = type == ComputeType::f32 ? "f" : type == ComputeType::f64 ? "d" : "l";
  const CValue v = load_value({lanes, true, true}, dtype);
  vector_type(type);
  vector_type(type == ComputeType::f32 ? Dtype::i32 : Dtype::i64);
  const std::string name = tile.op == UpdateOp::add ? "sum" : tile.op == UpdateOp::mul ? "prod" : tile.op == UpdateOp::max ? "top" : "bottom";
  if (tile.op == UpdateOp::max || tile.op == UpdateOp::min) {
    need(fmt::format("lanes {} {} {}", update_op_name(tile.op), lanes_, stem));
    need(fmt::format("lanes select {} {}", lanes_, stem));
  }
  need(fmt::format("lanes {} {} {}", name, lanes_, stem));
  return combine_elements(tile.op, dtype, element, {fmt::format("cairn_{}_v{}{}({})", name, lanes_, stem, v.text), kAtom, false, 4});
}

}  // namespace cairn
