// layout_transformation: the reads of a tensor go to a copy of it in another layout (edit/layout.h).
//
//   L_i L_k L_j [D_{i,j}=D_{i,j}+A_{i,k}*C_{j,k}]  =>  L_a L_b [E_{a,b}=C_{b,a}]  L_i L_k L_j [.. A_{i,k}*E_{k,j}]
//
// `nest` redirects the reads of one nest; the copy stands right before it. Without it (-) all reads after the last
// nest that writes the tensor are redirected, and the copy stands before the first of these. The copy runs over the
// tensor's elements, so that holes of the new layout (a short last block) are never written and never read.
// New names, in this order: the copy, then the loops of its nest, outermost first.
//
// Legal when
// (1) the tensor has scope g, a known shape and at least one dimension, and is read in the nest (after its last write),
// (2) nothing writes the tensor in a nest whose reads are redirected, nor between the copy and them,
// (3) every step of the map fits the shape, and the map changes something,
// (4) a subscript that depends on data is only moved (a quotient would hide its run-time check), and no subscript has
//     an M variable: the layout of matrix-unit operands belongs to the lowering,
// (5) every element of a temporary or output is written before the copy.
// The same values reach every use: exact. Where the copy is transposed or split, compute_inline takes it back.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/flow_memo.h"
#include "ir/canon.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/layout.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/split.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

// Top-level statements whose reads are redirected; the copy stands before the first.
struct Uses {
  std::vector<std::size_t> nests;
};

Result<Uses> find_uses(const Program& program, const Tensor& tensor, const std::string& nest) {
  const Body& body = program.body();
  Uses uses;
  if (nest != "-") {
    const std::size_t index = std::stoul(nest);
    if (index >= body.size()) return no_site(program, kNoPos, fmt::format("there is no nest {}; the program has {}", index, body.size()));
    if (!reads_below(*body[index], tensor.name)) return refuse(program, body[index]->pos, 1, fmt::format("nest {} does not read {}", nest, tensor.name));
    if (writes_below(*body[index], tensor.name)) {
      return refuse(program, body[index]->pos, 2, fmt::format("nest {} writes {}, which it reads; a copy before it would miss that", nest, tensor.name));
    }
    uses.nests = {index};
    return uses;
  }
  std::size_t from = 0;
  for (std::size_t n = 0; n < body.size(); ++n) {
    if (writes_below(*body[n], tensor.name)) from = n + 1;
  }
  for (std::size_t n = from; n < body.size(); ++n) {
    if (reads_below(*body[n], tensor.name)) uses.nests.push_back(n);
  }
  if (!uses.nests.empty()) return uses;
  const auto reads = [&](const StmtPtr& s) { return reads_below(*s, tensor.name); };
  const auto reader = std::find_if(body.begin(), body.end(), reads);
  if (reader == body.end()) return refuse(program, tensor.pos, 1, fmt::format("{} is read nowhere", tensor.name));
  return refuse(program, (*reader)->pos, 2, fmt::format("no nest reads {} after the last one that writes it", tensor.name));
}

// Condition (4), by dimension: subscripts that depend on data.
struct Reads {
  std::vector<bool> gathered;
  const Access* unit = nullptr;   // with an M variable
};

Reads look_at(const std::vector<Access>& all, const Uses& uses, const std::string& name, std::size_t rank) {
  Reads out;
  out.gathered.assign(rank, false);
  for (const Access& access : all) {
    if (access.tensor != name || access.is_write || access.subscripts.size() != rank) continue;
    if (std::find(uses.nests.begin(), uses.nests.end(), access.path[0]) == uses.nests.end()) continue;
    for (std::size_t d = 0; d < rank; ++d) {
      visit_expr(*access.subscripts[d], [&](const Expr& e) {
        if (e.op == Op::read) out.gathered[d] = true;
        return e.op != Op::read;
      });
      for (const Stmt* loop : access.loops) {
        if (loop->kind == LoopKind::M && uses_var(*access.subscripts[d], loop->var)) out.unit = &access;
      }
    }
  }
  return out;
}

// Conditions (3) and (4).
Result<void> check_map(const Program& program, const Tensor& tensor, const Shape& shape, const LayoutMap& map, const Reads& reads) {
  const Result<Shape> mapped = map_shape(map, shape);
  if (!mapped) return refuse(program, tensor.pos, 3, fmt::format("{} of {}: {}", print_layout(map), tensor.name, mapped.error().message));
  const auto drops = [](const LayoutOp& op) { return op.kind == LayoutOp::Kind::pad && op.value < 0; };
  if (std::any_of(map.begin(), map.end(), drops)) {
    return refuse(program, tensor.pos, 3, fmt::format("{} of {}: a negative pad would leave elements out of the copy", print_layout(map), tensor.name));
  }
  if (reads.unit) return refuse(program, reads.unit->pos, 4, fmt::format("{} is read with an M variable; its layout belongs to the lowering", tensor.name));
  const std::vector<bool> reshaped = reshaped_dims(expand_layout(map, shape), shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!reshaped[d] || !reads.gathered[d]) continue;
    return refuse(program, tensor.pos, 4, fmt::format("dimension {} of {} has a subscript that depends on data; it can only be moved", d, tensor.name));
  }
  return {};
}

// A program's loops for a copy over all elements of a tensor, refined so that split dimensions are loops of their own.
class CopyNest {
 public:
  CopyNest(const Program& program, const Shape& shape, std::vector<std::string>* created) : program_(program), created_(created) {
    for (const std::int64_t extent : shape) {
      from_.push_back(extent == 1 ? make_int(0) : loop(extent));
      to_.push_back({from_.back(), extent});
    }
  }

  void apply(const LayoutMap& map) {
    for (const LayoutOp& op : map) step(op);
  }

  Body build(const std::string& from, const std::string& to) const {
    std::vector<ExprPtr> left;
    std::vector<StmtPtr> loops;
    for (const Dim& dim : to_) {
      left.push_back(dim.index);
      visit_expr(*dim.index, [&](const Expr& e) {
        const auto known = [&](const StmtPtr& l) { return l->var == e.name; };
        if (e.op != Op::loop_var || std::any_of(loops.begin(), loops.end(), known)) return true;
        const auto range = std::find_if(ranges_.begin(), ranges_.end(), [&](const LoopRange& r) { return r.var == e.name; });
        loops.push_back(make_loop(LoopKind::L, range->extent, range->var, {}));
        return true;
      });
    }
    return build_band(loops, guards_, Body{make_equation(to, left, make_read(from, from_))});
  }

 private:
  struct Dim {
    ExprPtr index;
    std::int64_t extent;
  };

  ExprPtr loop(std::int64_t extent) {
    created_->push_back(fresh_var(program_, *created_));
    ranges_.push_back({created_->back(), extent});
    return make_var(created_->back());
  }

  void split(std::size_t d, std::int64_t factor) {
    const Dim whole = to_[d];
    const bool is_loop = whole.index->op == Op::loop_var;
    Dim outer{nullptr, ceil_div(whole.extent, factor)}, inner{nullptr, factor};
    if (is_loop) {   // the loop itself is split
      const std::string var = whole.index->name;
      const auto range = std::find_if(ranges_.begin(), ranges_.end(), [&](const LoopRange& r) { return r.var == var; });
      range->extent = outer.extent;
      outer.index = whole.index;
      inner.index = loop(factor);
      const ExprPtr index = add_index(mul_index(outer.index, factor), inner.index);
      for (ExprPtr& e : from_) e = simplify_value(substitute_vars(e, {{var, index}}), ranges_, {});
      for (ExprPtr& e : guards_) e = substitute_vars(e, {{var, index}});
      if (whole.extent % factor != 0) guards_.push_back(less_than(index, whole.extent));
    } else {
      outer.index = simplify_index(make_expr(Op::floor_div, {whole.index, make_int(factor)}), ranges_);
      inner.index = simplify_index(make_expr(Op::mod, {whole.index, make_int(factor)}), ranges_);
    }
    to_[d] = outer;
    to_.insert(to_.begin() + static_cast<std::ptrdiff_t>(d) + 1, inner);
  }

  void step(const LayoutOp& op) {
    if (op.kind == LayoutOp::Kind::split) return split(op.dim, op.value);
    if (op.kind == LayoutOp::Kind::transpose) {
      std::vector<Dim> moved;
      for (const std::size_t d : op.order) moved.push_back(to_[d]);
      to_ = std::move(moved);
      return;
    }
    Shape shape;
    std::vector<ExprPtr> indices;
    for (const Dim& dim : to_) {
      shape.push_back(dim.extent);
      indices.push_back(dim.index);
    }
    const LayoutMap one{op};
    indices = map_subscripts(one, shape, indices, ranges_);
    // A pad or a swizzle may leave a dimension as it was: the shape tells.
    shape = op.kind == LayoutOp::Kind::swizzle ? shape : *map_shape(one, shape);
    to_.clear();
    for (std::size_t d = 0; d < shape.size(); ++d) to_.push_back({indices[d], shape[d]});
  }

  const Program& program_;
  std::vector<std::string>* created_;
  std::vector<LoopRange> ranges_;
  std::vector<ExprPtr> from_, guards_;
  std::vector<Dim> to_;
};

// One plain write of every element: no need to ask the flow analysis.
bool is_plainly_written(const std::vector<Access>& all, const std::string& name, const Shape& shape, std::size_t before) {
  return std::any_of(all.begin(), all.end(), [&](const Access& a) {
    if (!a.is_write || a.tensor != name || !a.conditions.empty() || a.path[0] >= before) return false;
    std::vector<std::string> seen;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const Expr& s = *a.subscripts[d];
      if (s.op == Op::int_literal && s.int_value == 0 && shape[d] == 1) continue;
      const auto loop = std::find_if(a.loops.begin(), a.loops.end(), [&](const Stmt* l) { return s.op == Op::loop_var && l->var == s.name; });
      if (loop == a.loops.end() || (*loop)->extent != shape[d] || std::find(seen.begin(), seen.end(), s.name) != seen.end()) return false;
      seen.push_back(s.name);
    }
    return true;
  });
}

// Condition (5): the copy in `after` reads only what is written.
Result<void> check_written(const Program& after, const std::string& name, std::size_t at) {
  FlowAnalysis flow(after);
  for (const Access& access : flow.accesses()) {
    if (access.tensor != name || access.is_write || access.path[0] != at) continue;
    FlowVerdict verdict = flow.written_before(access);
    if (verdict.holds != Answer::yes) return refuse_because(std::move(verdict.reason), 5, "the copy takes every element");
  }
  return {};
}

struct Plan {
  const Tensor* tensor = nullptr;
  Shape shape;
  Uses uses;
};

Program build(const Program& program, const Plan& plan, const LayoutMap& map, Step* step) {
  Tensor copy;
  copy.name = fresh_tensor(program);
  copy.dtype = plan.tensor->dtype;
  copy.scope = Scope::g;
  step->created = {copy.name};
  CopyNest nest(program, plan.shape, &step->created);
  nest.apply(map);
  const Body copying = nest.build(plan.tensor->name, copy.name);
  Body body;
  for (std::size_t n = 0; n < program.body().size(); ++n) {
    if (n == plan.uses.nests.front()) body.insert(body.end(), copying.begin(), copying.end());
    const bool redirected = std::find(plan.uses.nests.begin(), plan.uses.nests.end(), n) != plan.uses.nests.end();
    if (!redirected) {
      body.push_back(program.body()[n]);
      continue;
    }
    std::vector<LoopRange> loops;
    const Body moved = rewrite_mentions(Body{program.body()[n]}, loops, {plan.tensor->name, copy.name, true, false,
                                                                         [&](const std::vector<ExprPtr>& subscripts, const std::vector<LoopRange>& around) {
                                                                           return map_subscripts(map, plan.shape, subscripts, around);
                                                                         }});
    body.insert(body.end(), moved.begin(), moved.end());
  }
  const auto pads = [](const LayoutOp& op) { return op.kind == LayoutOp::Kind::pad; };
  if (std::any_of(map.begin(), map.end(), pads)) {
    copy.shape = *map_shape(map, plan.shape);
    copy.declared = true;
  }
  Program out = program;
  out.set_body(std::move(body));
  out.set_tensor(std::move(copy));
  // Loop variables that merged into one subscript keep their order; those that split kept their names: list what is there.
  step->created.resize(1);
  visit_stmts(copying, [&](const Stmt& s, const StmtContext&) {
    if (s.is_loop()) step->created.push_back(s.var);
  });
  return out;
}

Result<Plan> make_plan(const Program& program, const Tensor& tensor, const std::map<std::string, Shape, std::less<>>& shapes, const std::string& nest) {
  Plan plan;
  plan.tensor = &tensor;
  const auto shape = shapes.find(tensor.name);
  if (shape == shapes.end() || shape->second.empty()) return refuse(program, tensor.pos, 1, fmt::format("{} has no dimension to lay out", tensor.name));
  if (tensor.role == Role::tmp && tensor.scope != Scope::g) {
    return refuse(program, tensor.pos, 1, fmt::format("{} has scope {}; a copy nest at the top sees g tensors only", tensor.name, scope_name(tensor.scope)));
  }
  plan.shape = shape->second;
  CAIRN_TRY(plan.uses, find_uses(program, tensor, nest));
  return plan;
}

bool is_given(const Tensor& tensor) { return tensor.role != Role::tmp && tensor.role != Role::out; }

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  const std::string& name = args.get("tensor");
  const Tensor* tensor = program.find(name);
  if (!tensor) return no_site(program, kNoPos, fmt::format("the program has no tensor {}", name));
  CAIRN_TRY(const LayoutMap given, parse_layout(args.get("map")));
  const std::shared_ptr<FlowAnalysis> flow = flow_of(program);
  CAIRN_TRY(const Plan plan, make_plan(program, *tensor, flow->shapes(), args.get("nest")));
  const std::vector<Access>& all = flow->accesses();
  CAIRN_CHECKED(check_map(program, *tensor, plan.shape, given, look_at(all, plan.uses, name, plan.shape.size())));
  Step step;
  step.after = build(program, plan, expand_layout(given, plan.shape), &step);
  if (!is_given(*tensor) && !is_plainly_written(all, name, plan.shape, plan.uses.nests.front())) {
    CAIRN_CHECKED(check_written(step.after, name, plan.uses.nests.front()));
  }
  step.same_instances = false;
  step.proved = conditions_up_to(5);
  const Strategy* inlining = find_strategy("compute_inline");
  const Args undo{{"tensor", step.created[0]}};
  const Result<Step> back = inlining->apply(step.after, target, undo);
  if (back && canonical_hash(back->after) == canonical_hash(program)) step.inverse = Action{"compute_inline", undo};
  return step;
}

// The maps worth a try that fit a shape, once for all tensors and nests.
class Candidates {
 public:
  struct Candidate {
    std::string text;
    LayoutMap map;
    std::vector<bool> reshaped;
  };
  const std::vector<Candidate>& of(const Shape& shape, std::int64_t lanes) {
    const auto [found, added] = known_.try_emplace({shape, lanes});
    if (!added) return found->second;
    for (std::string& text : layout_candidates(shape, lanes, false, false)) {
      LayoutMap map = *parse_layout(text);
      if (!map_shape(map, shape)) continue;
      std::vector<bool> reshaped = reshaped_dims(expand_layout(map, shape), shape.size());
      found->second.push_back({std::move(text), std::move(map), std::move(reshaped)});
    }
    return found->second;
  }

 private:
  std::map<std::pair<Shape, std::int64_t>, std::vector<Candidate>> known_;
};

// The candidate maps of one plan that check_map() takes, with the nest as it is written in the action.
void list_plan(const Program& program, const Tensor& tensor, const Plan& plan, const Reads& reads, const std::vector<Candidates::Candidate>& candidates,
               bool surely_written, const std::string& nest, std::vector<Args>* out) {
  std::optional<bool> written = surely_written ? std::optional(true) : std::nullopt;
  for (const Candidates::Candidate& candidate : candidates) {
    if (std::inner_product(candidate.reshaped.begin(), candidate.reshaped.end(), reads.gathered.begin(), 0) > 0) continue;   // both
    if (!written) {
      Step step;
      const Program after = build(program, plan, expand_layout(candidate.map, plan.shape), &step);
      written = check_written(after, tensor.name, plan.uses.nests.front()).ok();
    }
    if (*written) out->push_back(Args{{"tensor", tensor.name}, {"map", candidate.text}, {"nest", nest}});
  }
}

// A nest each, and all of them together where there are several.
std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const std::shared_ptr<FlowAnalysis> flow = flow_of(program);
  const std::vector<Access>& all = flow->accesses();
  std::map<std::string_view, std::vector<bool>> read_in;
  for (const Access& access : all) {
    if (access.is_write) continue;
    std::vector<bool>& nests = read_in[access.tensor];
    nests.resize(program.body().size());
    nests[access.path[0]] = true;
  }
  Candidates candidates;
  for (const Tensor& tensor : program.tensors()) {
    std::vector<std::string> choices;
    const std::vector<bool>& readers = read_in[tensor.name];
    if (std::count(readers.begin(), readers.end(), true) > 1) {
      const Result<Plan> together = make_plan(program, tensor, flow->shapes(), "-");
      if (together && together->uses.nests.size() > 1) choices.emplace_back("-");
    }
    for (std::size_t n = 0; n < readers.size(); ++n) {
      if (readers[n]) choices.push_back(std::to_string(n));
    }
    for (const std::string& nest : choices) {
      const Result<Plan> plan = make_plan(program, tensor, flow->shapes(), nest);
      if (!plan) continue;
      const Reads reads = look_at(all, plan->uses, tensor.name, plan->shape.size());
      if (reads.unit) continue;
      const std::int64_t lanes = std::max<std::int64_t>(target.vector_bytes.back() / dtype_bytes(tensor.dtype), 4);
      const bool surely = is_given(tensor) || is_plainly_written(all, tensor.name, plan->shape, plan->uses.nests.front());
      list_plan(program, tensor, *plan, reads, candidates.of(plan->shape, lanes), surely, nest, &out);
    }
  }
  return out;
}

}  // namespace

extern const Strategy strategy_layout_transformation{
    "layout_transformation", Level::memory, Direction::memory_access, Exactness::exact,
    "the reads of a tensor go to a transposed, split, tiled, packed or flattened copy",
    {{"tensor", ArgType::tensor, "the tensor that is copied", {}, ""},
     {"map", ArgType::text, "steps joined by +: transpose:1x0, split:D:F, merge:D, pad:D:E, xor:D:O:W, flatten", {}, ""},
     {"nest", ArgType::nest, "the nest whose reads are redirected; - for all after the last write", {}, "-"}},
    list_sites, apply};

}  // namespace cairn
