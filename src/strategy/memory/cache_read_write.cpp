// cache_read_write: the part of a tensor that one iteration of a loop touches is staged in a buffer.
//
//   L_p [ L_k [ .. A_{p*8+k} .. ] ]  =>  L_p [ L_a [S_{a}=A_{p*8+a}] L_k [ .. S_{k} .. ] ]              (read)
//   L_p L_k [ L_i [ D_{i}=D_{i}+.. ] ]  =>  L_p L_k [ L_a [S_{a}=if_then_else(k<1,0,D_{a})]
//                                                     L_i [S_{i}=S_{i}+..] L_a [D_{a}=S_{a}] ]         (write)
//
// `loop` is the loop in whose body the copies stand ("0": around the whole nest 0). The box is the union of
// all mentions inside, counted from its origin; dimensions of extent 1 go. Where the box can stick out of the
// tensor the load is guarded and fills 0 (the neutral element on write), the store stands under a test.
// `order` permutes the buffer's dimensions (1x0: transposed), and the loops of the copies with them.
// New names, in this order: the buffer, then the loops of the copies (load and store share them), outermost first.
//
// Legal when
// (1) the tensor is mentioned below the loop, read mode: read there and not written at or after the first
//     statement that reads it; write mode: written there, and not in or const,
// (2) its subscripts below are affine in the loops inside, so that the footprint is a box,
// (3) the box fits the scope: l the first-level cache of a core, s the last-level cache, g 2^31 elements,
// (4) g stands above the outermost P or B; s and l keep the storage rule,
// (5) write mode: every stored element was written inside, or loaded, or started; where X starts in the first
//     of several visits (loops around that the box does not move with), boxes of different iterations of the
//     other loops are disjoint and nothing wrote X before,
// (6) `order` is a permutation of the buffer's dimensions.
// The same values reach every use: exact.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/flow_memo.h"
#include "analysis/promise.h"
#include "ir/interval.h"
#include "ir/self_update.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/stage.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

std::int64_t bytes_allowed(const Target& target, Scope scope) {
  switch (scope) {
    case Scope::l: return target.l1_bytes;
    case Scope::s: return std::max(target.l2_bytes, target.l3_bytes);
    case Scope::g: return std::int64_t{1} << 33;
  }
  return 0;
}

Scope scope_of(const std::string& text) { return text == "g" ? Scope::g : text == "s" ? Scope::s : Scope::l; }

bool in_parallel(const Program& program, const StagePlace& place) {
  const auto is_split = [](const Stmt* loop) { return loop->kind == LoopKind::P || loop->kind == LoopKind::B; };
  const std::vector<const Stmt*> above = loops_above(program.body(), place.path);
  if (std::any_of(above.begin(), above.end(), is_split)) return true;
  return !place.around_nest && is_split(stmt_at(program.body(), place.path));
}

// The copy nests: loops over the box, the tensor's and the buffer's subscripts, the condition "inside the tensor".
struct Copy {
  std::vector<LoopHeader> loops;
  std::vector<ExprPtr> global, local;
  ExprPtr inside;  // null: always
};

Copy make_copy(const StageBox& box, const Shape& shape, const std::vector<std::string>& names) {
  Copy copy;
  std::vector<std::string> var_of(box.dims.size());
  for (std::size_t k = 0; k < box.order.size(); ++k) {
    var_of[box.order[k]] = names[k];
    copy.loops.push_back({LoopKind::L, box.dims[box.order[k]].extent, names[k], {}});
    copy.local.push_back(make_var(names[k]));
  }
  std::vector<ExprPtr> conditions;
  for (std::size_t d = 0; d < box.dims.size(); ++d) {
    ExprPtr index = box.dims[d].origin;
    if (!var_of[d].empty()) {
      index = add_index(index, make_var(var_of[d]));
      if (const std::optional<LinearForm> form = linear_form(*index)) index = linear_expr(*form);
    }
    if (box.below[d]) conditions.push_back(make_expr(Op::le, {make_int(0), index}));
    if (box.above[d]) conditions.push_back(less_than(index, shape[d]));
    copy.global.push_back(std::move(index));
  }
  copy.inside = join_conjunction(conditions);
  return copy;
}

// The order argument on the buffer's dimensions: "-" keeps them.
bool permute(const Args& args, StageBox* box) {
  if (args.get("order") == "-") return true;
  const std::vector<std::int64_t> places = args.get_ints("order");
  std::vector<std::size_t> order;
  for (const std::int64_t place : places) {
    if (place < 0 || place >= static_cast<std::int64_t>(box->order.size())) return false;
    const std::size_t dim = box->order[static_cast<std::size_t>(place)];
    if (std::find(order.begin(), order.end(), dim) != order.end()) return false;
    order.push_back(dim);
  }
  if (order.size() != box->order.size()) return false;
  box->order = std::move(order);
  return true;
}

Body load_nest(const Copy& copy, const std::string& tensor, const std::string& buffer, const ExprPtr& first,
               const ExprPtr& fill) {
  ExprPtr value = make_read(tensor, copy.global);
  if (copy.inside) value = make_expr(Op::select, {copy.inside, value, fill});
  if (first) value = is_true(*first) ? fill : make_expr(Op::select, {first, fill, value});
  return wrap_loops(copy.loops, Body{make_equation(buffer, copy.local, value)});
}

// The test stands at the depth of its last variable.
Body store_nest(const Copy& copy, const std::string& tensor, const std::string& buffer) {
  std::vector<StmtPtr> loops;
  for (const LoopHeader& h : copy.loops) loops.push_back(make_loop(h.kind, h.extent, h.var, {}));
  const std::vector<ExprPtr> tests = copy.inside ? split_conjunction(copy.inside) : std::vector<ExprPtr>{};
  return build_band(loops, tests, Body{make_equation(tensor, copy.global, make_read(buffer, copy.local))});
}

// Can a write of X outside the place come before it: text-earlier, or in a common loop, or from outside (io).
bool written_before(const Program& program, const StagePlace& place, const std::vector<Access>& all, const Tensor& tensor) {
  if (tensor.role == Role::io) return true;
  for (const Access& access : all) {
    if (!access.is_write || access.tensor != tensor.name || is_prefix(place.path, access.path)) continue;
    if (access.path < place.path) return true;
    std::size_t common = 0;
    while (common < access.path.size() && common < place.path.size() && access.path[common] == place.path[common]) ++common;
    const Body* level = &program.body();
    for (std::size_t k = 0; k < common; ++k) {
      const Stmt& stmt = *(*level)[place.path[k]];
      if (stmt.is_loop()) return true;
      level = &stmt.body;
    }
  }
  return false;
}

enum class Init { none, load, start };
struct WritePlan {
  Init init = Init::load;
  ExprPtr first;  // start: when; literal 1: always
  ExprPtr fill;
};

Result<WritePlan> plan_write(const Program& program, const StagePlace& place, const StageBox& box,
                             const std::vector<StageAccess>& accesses, const std::vector<Access>& all, const Tensor& tensor) {
  WritePlan plan;
  plan.fill = make_int(0);
  std::optional<SelfUpdate> update;
  bool plain_first = false, seen_write = false;
  for (const StageAccess& entry : accesses) {
    const std::optional<SelfUpdate> match = entry.access->is_write ? match_self_update(*entry.access->stmt) : std::nullopt;
    if (match && !update) update = match;
    if (entry.access->is_write && !seen_write) {
      seen_write = true;
      plain_first = !match;
    }
    if (!entry.access->is_write && !entry.access->is_self && !seen_write) plain_first = false, seen_write = true;
  }
  if (update) plan.fill = neutral_element(update->op, tensor.dtype);
  if (plain_first) plan.init = Init::none;  // the caller checks coverage and falls back to a load
  if (plan.init == Init::none || written_before(program, place, all, tensor) || !update) return plan;
  const std::optional<std::vector<std::string>> revisits = revisiting_loops(place, box);
  if (!revisits) {
    return refuse(program, place.pos, 5, fmt::format("{} starts below the loop, but boxes of different iterations may overlap; "
                                                     "write the start as an equation first", tensor.name));
  }
  plan.init = Init::start;
  std::vector<ExprPtr> conditions;
  for (const LoopRange& loop : place.around) {
    const bool again = std::find(revisits->begin(), revisits->end(), loop.var) != revisits->end();
    if (again && loop.extent > 1) conditions.push_back(less_than(make_var(loop.var), 1));
  }
  plan.first = conditions.empty() ? make_int(1) : join_conjunction(conditions);
  return plan;
}

struct Staging {
  StagePlace place;
  StageBox box;
  Copy copy;
  Tensor buffer;
  Shape shape;
};

Program build(const Program& program, const Staging& staging, const std::string& tensor, const Body& load, const Body& store) {
  const StagePlace& place = staging.place;
  Body body(place.children.begin(), place.children.begin() + static_cast<std::ptrdiff_t>(place.first));
  body.insert(body.end(), load.begin(), load.end());
  const Body middle(place.children.begin() + static_cast<std::ptrdiff_t>(place.first),
                    place.children.begin() + static_cast<std::ptrdiff_t>(place.last) + 1);
  const Body moved = redirect(middle, place.around, tensor, staging.buffer.name, staging.box);
  body.insert(body.end(), moved.begin(), moved.end());
  body.insert(body.end(), store.begin(), store.end());
  body.insert(body.end(), place.children.begin() + static_cast<std::ptrdiff_t>(place.last) + 1, place.children.end());
  if (!place.around_nest) body = Body{with_body(*stmt_at(program.body(), place.path), std::move(body))};
  Program out = with_replaced(program, place.path, body);
  out.set_tensor(staging.buffer);
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  const std::string& name = args.get("tensor");
  const Tensor* tensor = program.find(name);
  if (!tensor) return no_site(program, kNoPos, fmt::format("the program has no tensor {}", name));
  CAIRN_TRY(StagePlace place, find_place(program, args.get("loop")));
  const bool write = args.get("mode") == "write";
  const Scope scope = scope_of(args.get("scope"));
  const std::shared_ptr<const std::vector<Access>> shared = accesses_of(program);
  const std::vector<Access>& all = *shared;
  std::vector<StageAccess> accesses = accesses_at(place, all, name);
  const auto is_write = [](const StageAccess& a) { return a.access->is_write; };
  if (accesses.empty() || (write && std::none_of(accesses.begin(), accesses.end(), is_write))) {
    return refuse(program, place.pos, 1, fmt::format("{} is not {} below {}", name, write ? "written" : "mentioned", args.get("loop")));
  }
  if (!write) {
    const auto first_read = std::find_if_not(accesses.begin(), accesses.end(), is_write);
    if (first_read == accesses.end()) return refuse(program, place.pos, 1, fmt::format("{} is not read below {}", name, args.get("loop")));
    place.first = first_read->child;
    for (const StageAccess& access : accesses) {
      if (!is_write(access) && access.child < place.first) place.first = access.child;
    }
    for (const StageAccess& access : accesses) {
      if (!is_write(access) || access.child < place.first) continue;
      return refuse(program, access.access->pos, 1, fmt::format("{} is written below {} where it is read; stage it with mode=write",
                                                                name, args.get("loop")));
    }
    std::erase_if(accesses, is_write);
  } else {
    place.first = accesses.front().child;
    for (const StageAccess& access : accesses) place.first = std::min(place.first, access.child);
  }
  for (const StageAccess& access : accesses) place.last = std::max(place.last, access.child);

  Staging staging;
  if (tensor->shape) {
    staging.shape = *tensor->shape;
  } else {
    CAIRN_TRY(const auto shapes, infer_shapes(program));
    staging.shape = shapes.find(name)->second;
  }
  const std::optional<StageBox> box = box_of(program, place, accesses, staging.shape);
  if (!box) {
    return refuse(program, place.pos, 2, fmt::format("the part of {} that {} touches is no box: a subscript is not affine in the loops "
                                                     "inside", name, args.get("loop")));
  }
  staging.box = *box;
  if (!permute(args, &staging.box)) {
    return refuse(program, place.pos, 6, fmt::format("order={} is no permutation of the buffer's {} dimensions", args.get("order"), box->order.size()));
  }
  std::int64_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(box->elements, dtype_bytes(tensor->dtype), &bytes);
  if (overflow || bytes > bytes_allowed(target, scope)) {
    return refuse(program, place.pos, 3, fmt::format("the box of {} has {} elements, more than scope {} holds ({} bytes); stage at an inner "
                                                     "loop", name, box->elements, scope_name(scope), bytes_allowed(target, scope)));
  }
  if (scope == Scope::g && in_parallel(program, place)) {
    return refuse(program, place.pos, 4, fmt::format("{} stands inside a parallel loop; a g buffer would be shared by its iterations: "
                                                     "use s or l", args.get("loop")));
  }
  staging.buffer.name = fresh_tensor(program);
  staging.buffer.dtype = tensor->dtype;
  staging.buffer.scope = scope;
  Step step;
  step.created.push_back(staging.buffer.name);
  for (std::size_t k = 0; k < box->order.size(); ++k) step.created.push_back(fresh_var(program, step.created));
  staging.copy = make_copy(staging.box, staging.shape, {step.created.begin() + 1, step.created.end()});
  staging.place = place;
  if (write) {
    CAIRN_TRY(WritePlan plan, plan_write(program, place, *box, accesses, all, *tensor));
    const Body store = store_nest(staging.copy, name, staging.buffer.name);
    const auto load = [&] { return load_nest(staging.copy, name, staging.buffer.name, plan.first, plan.fill); };
    step.after = build(program, staging, name, plan.init == Init::none ? Body{} : load(), store);
    const bool whole = accesses.size() == 1 && box->exact && accesses[0].access->conditions.empty();
    if (plan.init == Init::none && !whole && !check_written_before_read(step.after, staging.buffer.name)) {
      step.after = build(program, staging, name, load(), store);
      plan.init = Init::load;
    }
    if (plan.init == Init::load) {
      if (Result<void> loaded = check_written_before_read(step.after, name); !loaded) return refuse_because(std::move(loaded.error()), 5);
    }
  } else {
    step.after = build(program, staging, name, load_nest(staging.copy, name, staging.buffer.name, nullptr, make_int(0)), {});
  }
  if (scope != Scope::g) {
    if (Result<void> storage = check_storage(step.after, staging.buffer.name, scope, target); !storage) {
      return refuse_because(std::move(storage.error()), 4);
    }
  }
  step.same_instances = false;
  step.proved = conditions_up_to(6);
  return step;
}

// Iterations of the loops inside the place that an access runs through.
std::int64_t visits_of(const StagePlace& place, const Access& access) {
  std::int64_t visits = 1;
  for (std::size_t k = place.around.size(); k < access.loops.size(); ++k) {
    visits = std::min<std::int64_t>(visits * std::max<std::int64_t>(access.loops[k]->extent, 1), std::int64_t{1} << 40);
  }
  return visits;
}

// Cheap test before the box: can the accesses meet an element twice? (A loop inside that a subscript does not use, or
// several in one subscript, or several accesses.)
bool may_reuse(const StagePlace& place, const std::vector<StageAccess>& accesses) {
  if (accesses.size() > 1) return true;
  const Access& access = *accesses[0].access;
  for (std::size_t k = place.around.size(); k < access.loops.size(); ++k) {
    const bool used = subscripts_use(access.subscripts, access.loops[k]->var);
    if (!used) return true;
  }
  return std::any_of(access.subscripts.begin(), access.subscripts.end(), [](const ExprPtr& s) { return !s->args.empty(); });
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const std::shared_ptr<FlowAnalysis> flow = flow_of(program);
  const std::vector<Access>& all = flow->accesses();
  const auto* shapes = &flow->shapes();
  std::vector<std::string> addresses;
  for (std::size_t n = 0; n < program.body().size(); ++n) {
    if (program.body()[n]->is_loop()) addresses.push_back(std::to_string(n));
  }
  for (const StmtPath& path : collect_loops(program.body())) addresses.push_back(loop_address(program.body(), path));
  for (const std::string& address : addresses) {
    const Result<StagePlace> place = find_place(program, address);
    if (!place) continue;
    const bool parallel = in_parallel(program, *place);
    std::vector<std::string> names;
    for (const Access& access : all) {
      if (!is_prefix(place->path, access.path) || std::find(names.begin(), names.end(), access.tensor) != names.end()) continue;
      names.push_back(access.tensor);
    }
    for (const std::string& name : names) {
      const Tensor& tensor = *program.find(name);
      const std::vector<StageAccess> accesses = accesses_at(*place, all, name);
      std::int64_t visits = 0;
      bool written = false;
      for (std::size_t k = 0; k < accesses.size(); ++k) {
        // A self-update, or an operand read twice, meets its element once an instance.
        const bool again = k > 0 && accesses[k - 1].access->path == accesses[k].access->path;
        if (!again) visits += visits_of(*place, *accesses[k].access);
        written |= accesses[k].access->is_write;
      }
      if (visits < 2 || !may_reuse(*place, accesses)) continue;
      const auto shape = shapes->find(name);
      if (shape == shapes->end() || shape->second.empty()) continue;
      const std::optional<StageBox> box = box_of(program, *place, accesses, shape->second);
      if (!box || visits <= box->elements) continue;  // no reuse
      const std::int64_t bytes = box->elements * dtype_bytes(tensor.dtype);
      for (const Scope scope : {Scope::g, Scope::s, Scope::l}) {
        if (scope == Scope::g && (parallel || written || !place->around_nest)) continue;
        if (scope != Scope::g && place->around_nest) continue;
        const std::int64_t limit = scope == Scope::l ? std::int64_t{2} * target.vector_registers * target.vector_bytes.back()
                                                     : scope == Scope::s ? target.l2_bytes : target.l3_bytes;
        if (bytes > limit || bytes > bytes_allowed(target, scope)) continue;
        for (const char* order : {"-", "1x0"}) {
          if (order[0] == '1' && (written || scope == Scope::l || box->order.size() != 2)) continue;
          out.push_back(Args{{"tensor", name}, {"loop", address}, {"scope", std::string(scope_name(scope))},
                             {"mode", written ? "write" : "read"}, {"order", order}});
        }
      }
    }
  }
  return out;
}

}  // namespace

extern const Strategy strategy_cache_read_write{
    "cache_read_write", Level::memory, Direction::data_reuse, Exactness::exact,
    "the part of a tensor that a loop touches is staged in a buffer inside it",
    {{"tensor", ArgType::tensor, "the tensor to stage", {}, ""},
     {"loop", ArgType::loop, "the loop in whose body the copies stand; a nest's index stages around it", {}, ""},
     {"scope", ArgType::choice, "where the buffer lives", {"g", "s", "l"}, ""},
     {"mode", ArgType::choice, "read an operand, or write a result", {"read", "write"}, "read"},
     {"order", ArgType::integers, "the buffer's dimensions in another order, such as 1x0", {}, "-"}},
    list_sites, apply};

}  // namespace cairn
