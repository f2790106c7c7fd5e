#include "strategy/edit/stage.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ir/interval.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"

namespace cairn {
namespace {

// a - b over loop variables, in linear form where both are linear.
ExprPtr offset_from(const ExprPtr& subscript, const ExprPtr& origin, const std::vector<LoopRange>& loops) {
  const ExprPtr difference = sub_index(subscript, origin);
  if (const std::optional<LinearForm> form = linear_form(*difference)) return linear_expr(*form);
  return simplify_index(difference, loops);
}

std::vector<ExprPtr> move_subscripts(const std::vector<ExprPtr>& subscripts, const StageBox& box,
                                     const std::vector<LoopRange>& loops) {
  std::vector<ExprPtr> out;
  for (const std::size_t d : box.order) out.push_back(offset_from(subscripts[d], box.dims[d].origin, loops));
  return out;
}

ExprPtr redirect_reads(const ExprPtr& e, const std::vector<LoopRange>& loops, const std::string& from,
                       const std::string& to, const StageBox& box) {
  if (!reads_tensor(*e, from)) return e;
  return rewrite_expr(e, [&](const ExprPtr& node) -> ExprPtr {
    if (node->op != Op::read || node->name != from) return nullptr;
    return make_read(to, move_subscripts(node->args, box, loops), node->pos);
  });
}

}  // namespace

Result<StagePlace> find_place(const Program& program, const std::string& address) {
  StagePlace place;
  const Body& body = program.body();
  if (address.find('.') == std::string::npos) {
    const std::size_t nest = std::stoul(address);
    if (nest >= body.size()) {
      return Error{Code::no_site, fmt::format("there is no nest {}; the program has {}", nest, body.size()), {}, {}};
    }
    place.path = {static_cast<std::uint32_t>(nest)};
    place.around_nest = true;
    place.children = {body[nest]};
    place.pos = body[nest]->pos;
    return place;
  }
  CAIRN_TRY(place.path, find_loop(body, address));
  const Stmt& loop = *stmt_at(body, place.path);
  place.children = loop.body;
  place.around = ranges_above(body, place.path);
  place.around.push_back({loop.var, loop.extent});
  place.pos = loop.pos;
  // A test right below the loop (the bound of a tail) also guards the copies.
  while (place.children.size() == 1 && place.children[0]->is_test() && is_index_condition(*place.children[0]->cond)) {
    place.path.push_back(0);
    const Body inner = place.children[0]->body;
    place.children = inner;
  }
  return place;
}

std::vector<StageAccess> accesses_at(const StagePlace& place, const std::vector<Access>& all, const std::string& tensor) {
  std::vector<StageAccess> out;
  for (const Access& access : all) {
    if (access.tensor != tensor || !is_prefix(place.path, access.path)) continue;
    out.push_back({&access, place.around_nest ? 0 : access.path[place.path.size()]});
  }
  return out;
}

std::optional<StageBox> box_of(const Program& program, const StagePlace& place, const std::vector<StageAccess>& accesses,
                               const Shape& shape) {
  std::vector<const Access*> plain;
  std::vector<std::string> inner;
  for (const StageAccess& entry : accesses) {
    plain.push_back(entry.access);
    for (std::size_t k = place.around.size(); k < entry.access->loops.size(); ++k) {
      const std::string& var = entry.access->loops[k]->var;
      if (std::find(inner.begin(), inner.end(), var) == inner.end()) inner.push_back(var);
    }
  }
  const std::optional<Footprint> footprint = footprint_of(program, plain, inner);
  if (!footprint || footprint->dims.size() != shape.size()) return std::nullopt;
  StageBox box;
  box.exact = footprint->exact;
  box.dims = footprint->dims;
  VarRanges ranges;
  for (const LoopRange& loop : place.around) ranges[loop.var] = {0, loop.extent - 1};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const BoxDim& dim = box.dims[d];
    const std::optional<Interval> at = interval_of(*dim.origin, ranges);
    if (!at) return std::nullopt;
    box.below.push_back(at->lo < 0);
    box.above.push_back(at->hi + dim.extent > shape[d]);
    if (dim.extent > 1) box.order.push_back(d);
    if (__builtin_mul_overflow(box.elements, dim.extent, &box.elements)) return std::nullopt;
  }
  return box;
}

std::optional<std::vector<std::string>> revisiting_loops(const StagePlace& place, const StageBox& box) {
  std::vector<std::string> moved;
  for (const BoxDim& dim : box.dims) {
    const std::optional<LinearForm> form = linear_form(*dim.origin);
    if (!form) return std::nullopt;
    std::vector<std::pair<std::int64_t, std::int64_t>> digits;  // coefficient, extent
    std::vector<std::string> names;
    for (const auto& [name, coefficient] : form->terms) {
      const auto loop = std::find_if(place.around.begin(), place.around.end(),
                                     [&n = name](const LoopRange& r) { return r.var == n; });
      if (loop == place.around.end()) return std::nullopt;
      digits.emplace_back(coefficient < 0 ? -coefficient : coefficient, loop->extent);
      names.push_back(name);
    }
    std::sort(digits.begin(), digits.end());
    // Each coefficient must exceed the reach of the smaller ones and of the box itself.
    std::int64_t reach = dim.extent - 1;
    bool apart = true;
    for (const auto& [coefficient, extent] : digits) {
      apart &= coefficient > reach;
      reach += coefficient * (extent - 1);
    }
    if (apart) moved.insert(moved.end(), names.begin(), names.end());
    if (!apart && !digits.empty()) return std::nullopt;
  }
  std::vector<std::string> out;
  for (const LoopRange& loop : place.around) {
    if (std::find(moved.begin(), moved.end(), loop.var) == moved.end()) out.push_back(loop.var);
  }
  return out;
}

Body redirect(const Body& body, std::vector<LoopRange> loops, const std::string& from, const std::string& to,
              const StageBox& box) {
  Body out;
  for (const StmtPtr& stmt : body) {
    if (stmt->is_equation()) {
      const bool target = stmt->tensor == from;
      std::vector<ExprPtr> subscripts;
      for (const ExprPtr& s : stmt->subscripts) subscripts.push_back(redirect_reads(s, loops, from, to, box));
      if (target) subscripts = move_subscripts(subscripts, box, loops);
      out.push_back(make_equation(target ? to : stmt->tensor, std::move(subscripts),
                                  redirect_reads(stmt->rhs, loops, from, to, box), stmt->pos));
      continue;
    }
    std::vector<LoopRange> inner = loops;
    if (stmt->is_loop()) inner.push_back({stmt->var, stmt->extent});
    Body below = redirect(stmt->body, std::move(inner), from, to, box);
    if (stmt->is_test()) {
      out.push_back(make_test(redirect_reads(stmt->cond, loops, from, to, box), std::move(below), stmt->pos));
    } else {
      out.push_back(with_body(*stmt, std::move(below)));
    }
  }
  return out;
}

}  // namespace cairn
