// set_storage_layout: a temporary is re-indexed in place by a layout map (edit/layout.h); every mention follows.
//
//   map=transpose:1x0     S_{i,k}    =>  S_{k,i}
//   map=split:1:8         S_{i,k}    =>  S_{i,k//8,k%8}
//   map=merge:0           S_{i,k}    =>  S_{i*64+k}
//   map=pad:1:1           tmp S_{32,32}  =>  tmp S_{32,33}
//   map=xor:1:0:8         S_{i,k}    =>  S_{i,k xor i%8}
//
// The declaration is rewritten; a temporary that has none gets one where padding makes it larger than what is written.
//
// Legal when
// (1) the tensor is a temporary with at least one dimension, of a known shape, that is mentioned,
// (2) every step of the map fits the shape, and the map changes something,
// (3) no mention reaches an element that a negative pad removes,
// (4) it is no fragment and no operand of a matrix unit (a subscript with an M variable), no binding, and a dimension
//     by which a thread axis owns an l tensor is only moved,
// (5) a subscript that depends on data is only moved: a quotient would hide its run-time check.
// The map is injective: the same values in other places, exact.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/access_bindings.h"
#include "analysis/flow_memo.h"
#include "ir/canon.h"
#include "ir/interval.h"
#include "strategy/edit/layout.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

bool depends_on_data(const Expr& subscript) {
  bool found = false;
  visit_expr(subscript, [&found](const Expr& e) {
    found |= e.op == Op::read;
    return !found;
  });
  return found;
}

// Conditions (4) and (5) for the mentions, as far as they do not depend on the map.
struct Mentions {
  std::size_t count = 0;
  const Access* fragment = nullptr;
  std::vector<bool> owned, gathered;   // by dimension
};

Mentions look_at(const std::vector<Access>& all, const Tensor& tensor, std::size_t rank) {
  Mentions out;
  out.owned.assign(rank, false);
  out.gathered.assign(rank, false);
  for (const Access& access : all) {
    if (access.tensor != tensor.name || access.subscripts.size() != rank) continue;
    ++out.count;
    for (const Stmt* loop : access.loops) {
      if (loop->kind != LoopKind::M && loop->kind != LoopKind::B) continue;
      for (std::size_t d = 0; d < rank; ++d) {
        const Expr& subscript = *access.subscripts[d];
        if (!uses_var(subscript, loop->var)) continue;
        if (loop->kind == LoopKind::M) out.fragment = &access;
        const bool plain = subscript.op == Op::loop_var && loop->var[0] != 'b';
        if (plain && tensor.scope == Scope::l) out.owned[d] = true;
      }
    }
    for (std::size_t d = 0; d < rank; ++d) {
      if (depends_on_data(*access.subscripts[d])) out.gathered[d] = true;
    }
  }
  return out;
}

// The conditions that ask for no new program: (1), (2), (4), (5).
Result<void> check(const Program& program, const Tensor& tensor, const Shape& shape, const LayoutMap& map, const Mentions& mentions) {
  const std::string& name = tensor.name;
  Result<Shape> mapped = map_shape(map, shape);
  if (!mapped) return refuse(program, tensor.pos, 2, fmt::format("{} of {}: {}", print_layout(map), name, mapped.error().message));
  if (mentions.fragment) {
    return refuse(program, mentions.fragment->pos, 4, fmt::format("{} is subscripted by an M variable; the layout of fragments and of matrix-unit operands "
                                                                  "belongs to the lowering", name));
  }
  const std::vector<bool> reshaped = reshaped_dims(expand_layout(map, shape), shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!reshaped[d]) continue;
    if (mentions.owned[d]) {
      return refuse(program, tensor.pos, 4, fmt::format("dimension {} of {} says which thread owns an element; it can only be moved", d, name));
    }
    if (mentions.gathered[d]) {
      return refuse(program, tensor.pos, 5, fmt::format("dimension {} of {} has a subscript that depends on data; it can only be moved", d, name));
    }
  }
  return {};
}

Program build(const Program& program, const Tensor& tensor, const Shape& shape, const LayoutMap& map) {
  Program out = program;
  std::vector<LoopRange> loops;
  out.set_body(rewrite_mentions(program.body(), loops, {tensor.name, tensor.name, true, true,
                                                        [&](const std::vector<ExprPtr>& subscripts, const std::vector<LoopRange>& around) {
                                                          return map_subscripts(map, shape, subscripts, around);
                                                        }}));
  Tensor changed = tensor;
  const auto pads = [](const LayoutOp& op) { return op.kind == LayoutOp::Kind::pad; };
  const bool resized = std::any_of(map.begin(), map.end(), pads);
  if (!tensor.declared && !resized) return out;
  changed.shape = *map_shape(map, shape);
  changed.declared = true;
  if (resized) {   // declared only as long as it says more than the mentions do
    Tensor plain = tensor;
    plain.declared = false;
    plain.shape.reset();
    out.set_tensor(plain);
    const auto inferred = infer_shapes(out);
    const auto found = inferred ? inferred->find(tensor.name) : inferred->end();
    const bool drop = std::any_of(map.begin(), map.end(), [](const LayoutOp& op) { return op.kind == LayoutOp::Kind::pad && op.value < 0; });
    if (drop && inferred && found != inferred->end() && found->second == *changed.shape) return out;
  }
  out.set_tensor(std::move(changed));
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  const std::string& name = args.get("tensor");
  const Tensor* tensor = program.find(name);
  if (!tensor) return no_site(program, kNoPos, fmt::format("the program has no tensor {}", name));
  if (tensor->role != Role::tmp) {
    return refuse(program, tensor->pos, 1, fmt::format("{} is {}, not a temporary; layout_transformation copies it", name, role_name(tensor->role)));
  }
  CAIRN_TRY(const LayoutMap given, parse_layout(args.get("map")));
  const std::shared_ptr<FlowAnalysis> flow = flow_of(program);
  const auto found = flow->shapes().find(name);
  if (found == flow->shapes().end() || found->second.empty()) {
    return refuse(program, tensor->pos, 1, fmt::format("{} has no dimension to lay out", name));
  }
  const Shape& shape = found->second;
  const Mentions mentions = look_at(flow->accesses(), *tensor, shape.size());
  if (mentions.count == 0) return refuse(program, tensor->pos, 1, fmt::format("{} is mentioned nowhere", name));
  CAIRN_CHECKED(check(program, *tensor, shape, given, mentions));
  if (BindingTable(program).is_binding(name)) {
    return refuse(program, tensor->pos, 4, fmt::format("{} only names an index expression; it has no storage to lay out", name));
  }
  const LayoutMap map = expand_layout(given, shape);
  Step step;
  step.after = build(program, *tensor, shape, map);
  const auto drops = [](const LayoutOp& op) { return op.kind == LayoutOp::Kind::pad && op.value < 0; };
  if (std::any_of(map.begin(), map.end(), drops)) {
    FlowAnalysis after(step.after);
    for (const Access& access : after.accesses()) {
      for (std::size_t d = 0; access.tensor == name && d < access.subscripts.size(); ++d) {
        FlowVerdict inside = after.bounds(access, d);
        if (inside.holds != Answer::yes && !inside.reason.message.empty()) return refuse_because(std::move(inside.reason), 3);
      }
    }
  }
  step.proved = conditions_up_to(5);
  // The inverse map, where the subscripts and the declaration come back in the form they had.
  const LayoutMap back = inverse_layout(map, shape);
  const auto after_shapes = infer_shapes(step.after);
  if (!after_shapes) return step;
  const auto mapped = after_shapes->find(name);
  if (mapped != after_shapes->end() && map_shape(back, mapped->second) &&
      canonical_hash(build(step.after, *step.after.find(name), mapped->second, back)) == canonical_hash(program)) {
    step.inverse = Action{"set_storage_layout", Args{{"tensor", name}, {"map", print_layout(back)}}};
  }
  return step;
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const auto is_candidate = [](const Tensor& t) { return t.role == Role::tmp; };
  if (std::none_of(program.tensors().begin(), program.tensors().end(), is_candidate)) return out;
  const std::shared_ptr<FlowAnalysis> flow = flow_of(program);
  const auto* shapes = &flow->shapes();
  const std::vector<Access>& all = flow->accesses();
  std::optional<BindingTable> bindings;
  for (const Tensor& tensor : program.tensors()) {
    const auto shape = shapes->find(tensor.name);
    if (tensor.role != Role::tmp || shape == shapes->end() || shape->second.empty()) continue;
    const Mentions mentions = look_at(all, tensor, shape->second.size());
    if (mentions.count == 0 || mentions.fragment) continue;
    if (tensor.scope == Scope::l && is_integer(tensor.dtype)) {
      if (!bindings) bindings.emplace(program);
      if (bindings->is_binding(tensor.name)) continue;
    }
    const std::int64_t lanes = std::max<std::int64_t>(target.vector_bytes.back() / dtype_bytes(tensor.dtype), 4);
    for (const std::string& text : layout_candidates(shape->second, lanes, true, tensor.scope == Scope::s)) {
      if (check(program, tensor, shape->second, *parse_layout(text), mentions)) out.push_back(Args{{"tensor", tensor.name}, {"map", text}});
    }
  }
  return out;
}

}  // namespace

extern const Strategy strategy_set_storage_layout{
    "set_storage_layout", Level::memory, Direction::memory_access, Exactness::exact,
    "a temporary is re-indexed in place: transposed, split, merged, padded or swizzled",
    {{"tensor", ArgType::tensor, "the temporary", {}, ""},
     {"map", ArgType::text, "steps joined by +: transpose:1x0, split:D:F, merge:D, pad:D:E, xor:D:O:W, flatten", {}, ""}},
    list_sites, apply};

}  // namespace cairn
