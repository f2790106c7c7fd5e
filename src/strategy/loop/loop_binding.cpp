// loop_binding: a serial loop runs along an axis of the grid or block; kind=L takes it back.
//
//   L^{64}_{i=0}L^{256}_{j=0}[S]  =>  B^{64}_{bx=0}L^{256}_{j=0}[S(i=bx)]
//
// The loop variable takes the axis's name; taken back, the loop gets the first fresh name (`created` names it).
//
// Legal when
// (1) the loop is a plain L loop below loops of kind L and B only (kind=L: a B loop without a mark, no M loop inside
//     warps),
// (2) the loop carries no dependence but reductions and scans of the allowed form (leir.md "Promises"),
// (3) a block axis: nothing flows between its iterations through any statement of the kernel; a reduction over it
//     goes into a g tensor that the kernel does not read,
// (4) the axis is free around and inside, blocks stand outside threads, ty and tz not beside warps, and threads and
//     grid stay within the target,
// (5) every s and l tensor stays inside its block and thread: storage, owners, no barrier under a test that varies.
// Exact without carried chains and for max, min and integers, else the step reassociates.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/flow_memo.h"
#include "analysis/kernels.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/marks.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

bool has_kind(const Body& body, LoopKind kind) {
  return std::any_of(body.begin(), body.end(), [&](const StmtPtr& s) { return (s->is_loop() && s->kind == kind) || has_kind(s->body, kind); });
}

bool binds(const Stmt& loop, const std::string& var) {
  if (loop.is_loop() && loop.var == var) return true;
  return std::any_of(loop.body.begin(), loop.body.end(), [&](const StmtPtr& s) { return binds(*s, var); });
}

// The kernel that the loop at `path` belongs to, or null.
std::optional<StmtPath> kernel_of(const Body& body, const StmtPath& path) {
  for (std::size_t depth = 1; depth <= path.size(); ++depth) {
    StmtPath prefix(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth));
    const Stmt& s = *stmt_at(body, prefix);
    if (s.is_loop() && s.kind == LoopKind::B) return prefix;
  }
  return std::nullopt;
}

// Condition (1) for binding.
Result<void> check_kind(const Program& program, const StmtPath& path) {
  const Stmt& loop = *stmt_at(program.body(), path);
  if (loop.kind != LoopKind::L || loop.mark.type != LoopMark::Type::none) {
    return refuse(program, loop.pos, 1, fmt::format("loop {} has kind {}{}; only a plain L loop can be bound: take the old kind back first (kind=L)", loop.var,
                                                    kind_name(loop.kind), loop.mark.type == LoopMark::Type::none ? "" : " and a mark"));
  }
  for (const Stmt* above : loops_above(program.body(), path)) {
    if (above->kind == LoopKind::L || above->kind == LoopKind::B) continue;
    return refuse(program, loop.pos, 1, fmt::format("loop {} stands under {} loop {}; an axis stands below L and B loops only", loop.var, kind_name(above->kind), above->var));
  }
  return {};
}

// Condition (4): `bound` holds the loop with its new kind and name at `path`.
Result<void> check_axis(const Program& program, const Program& bound, const Target& target, const StmtPath& path, const std::string& axis) {
  const Stmt& loop = *stmt_at(program.body(), path);
  const auto taken = [&](const Stmt* l) { return l->var == axis; };
  const std::vector<const Stmt*> above = loops_above(program.body(), path);
  const bool inside = std::any_of(loop.body.begin(), loop.body.end(), [&](const StmtPtr& s) { return binds(*s, axis); });
  if (inside || std::any_of(above.begin(), above.end(), taken)) {
    return refuse(program, loop.pos, 4, fmt::format("a loop {} of loop {} has the name {} already", inside ? "inside" : "around", loop.var, axis));
  }
  const Stmt& kernel = *stmt_at(bound.body(), *kernel_of(bound.body(), path));
  Result<void> result;
  const auto refused = [&](const Stmt& at, std::string message) {
    if (result) result = refuse(program, at.pos == kNoPos ? loop.pos : at.pos, 4, std::move(message));
  };
  check_axis_nesting(kernel, refused);
  check_axis_limits(kernel, target, [&](const Stmt& at, std::string message, const std::string&) { refused(at, std::move(message)); });
  if (result && axis == "bx" && loop.extent > INT32_MAX) refused(loop, fmt::format("grid axis bx has extent {}, expected at most {}", loop.extent, INT32_MAX));
  return result;
}

// Condition (3) for the kernel of a loop on a block axis.
Result<void> check_blocks(FlowAnalysis& flow, const Program& program, const StmtPath& path) {
  const std::optional<StmtPath> kernel = kernel_of(program.body(), path);
  if (!kernel) return {};
  const Stmt& loop = *stmt_at(program.body(), path);
  if (is_block_axis(loop)) {
    if (Result<void> axis = check_block_axis(flow, program, path, *kernel); !axis) return refuse_because(std::move(axis.error()), 3);
  }
  if (Result<void> blocks = check_block_flow(flow, program, *kernel); !blocks) return refuse_because(std::move(blocks.error()), 3);
  return {};
}

// Condition (5).
Result<void> check_storage_of(FlowAnalysis& flow, const Program& program) {
  const auto local = [](const Tensor& t) { return t.role == Role::tmp && t.scope != Scope::g; };
  const bool any = std::any_of(program.tensors().begin(), program.tensors().end(), local);
  if (any) {
    for (const Access& a : flow.accesses()) {
      const Tensor* t = a.is_write ? nullptr : program.find(a.tensor);
      if (t == nullptr || !local(*t)) continue;
      FlowVerdict inside = flow.stays_inside(a);
      if (inside.holds != Answer::yes) return refuse_because(std::move(inside.reason), 5);
    }
    for (const Tensor& t : program.tensors()) {
      if (Result<void> owner = check_owner(flow, program, t); !owner) return refuse_because(std::move(owner.error()), 5);
    }
  }
  Result<void> result;
  visit_stmts(program.body(), [&](const Stmt& s, const StmtContext& context) {
    if (!result || !s.is_test()) return;
    if (Result<void> barrier = check_barrier(flow, program, context.path, context.enclosing); !barrier) {
      result = refuse_because(std::move(barrier.error()), 5);
    }
  });
  return result;
}

Program rebound(const Program& program, const StmtPath& path, LoopKind kind, const std::string& var) {
  const StmtPtr renamed = rename_loop_var(shared_at(program.body(), path), var);
  return with_replaced(program, path, Body{with_body(*loop_like(*renamed, kind, renamed->extent, var), renamed->body)});
}

// Promises of the loops that stay bound or parallel: their s and l tensors may have other owners now.
Result<void> check_promises(FlowAnalysis& flow, const Program& program) {
  const auto local = [](const Tensor& t) { return t.role == Role::tmp && t.scope != Scope::g; };
  if (std::none_of(program.tensors().begin(), program.tensors().end(), local)) return {};
  for (const StmtPath& path : collect_loops(program.body())) {
    const LoopKind kind = stmt_at(program.body(), path)->kind;
    if (kind != LoopKind::B && kind != LoopKind::P) continue;
    PromiseVerdict verdict = check_promise(flow, program, path, kind);
    if (!verdict.ok) return refuse_because(std::move(verdict.reason), 5);
  }
  return {};
}

// Conditions (2) to (5) on the bound program; the chains are what it would reassociate.
Result<std::vector<CarriedChain>> check_bound(const Program& program, const Program& bound, const Target& target, const StmtPath& path, const std::string& axis) {
  CAIRN_CHECKED(check_axis(program, bound, target, path, axis));
  FlowAnalysis flow(bound);
  PromiseVerdict verdict = check_promise(flow, bound, path, LoopKind::B);
  if (!verdict.ok) return refuse_because(std::move(verdict.reason), 2);
  CAIRN_CHECKED(check_blocks(flow, bound, path));
  CAIRN_CHECKED(check_storage_of(flow, bound));
  CAIRN_CHECKED(check_promises(flow, bound));
  return std::move(verdict.chains);
}

Result<Step> unbind(const Program& program, const StmtPath& path) {
  const Stmt& loop = *stmt_at(program.body(), path);
  if (loop.kind != LoopKind::B || loop.mark.type != LoopMark::Type::none) {
    return refuse(program, loop.pos, 1, fmt::format("loop {} has kind {}{}; only a plain B loop can be taken back", loop.var, kind_name(loop.kind),
                                                    loop.mark.type == LoopMark::Type::none ? "" : " and a mark"));
  }
  if ((loop.var == "wx" || loop.var == "gx") && has_kind(loop.body, LoopKind::M)) {
    return refuse(program, loop.pos, 1, fmt::format("the lanes of {} run M loops; take those back first", loop.var));
  }
  Step step;
  step.created = {fresh_var(program)};
  step.after = rebound(program, path, LoopKind::L, step.created[0]);
  FlowAnalysis flow(step.after);
  CAIRN_CHECKED(check_blocks(flow, step.after, path));
  CAIRN_CHECKED(check_storage_of(flow, step.after));
  CAIRN_CHECKED(check_promises(flow, step.after));
  step.proved = conditions_up_to(5);
  if (!check_kind(step.after, path)) return step;   // below a P loop it can not be bound again
  step.inverse = Action{"loop_binding", Args{{"loop", loop_address(step.after.body(), path)}, {"axis", loop.var}, {"kind", "B"}}};
  return step;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_loop(program.body(), args.get("loop")));
  if (args.get("kind") == "L") return unbind(program, path);
  const std::string& axis = args.get("axis");
  if (!is_axis_name(axis)) return no_site(program, kNoPos, fmt::format("there is no axis {}, expected bx by bz tx ty tz wx or gx", axis));
  CAIRN_CHECKED(check_kind(program, path));
  Step step;
  step.after = rebound(program, path, LoopKind::B, axis);
  CAIRN_TRY(const std::vector<CarriedChain> chains, check_bound(program, step.after, target, path, axis));
  for (const CarriedChain& chain : chains) {
    if (!chain.exact) step.exactness = Exactness::reassociates;
  }
  step.proved = conditions_up_to(5);
  step.inverse = Action{"loop_binding", Args{{"loop", loop_address(step.after.body(), path)}, {"axis", axis}, {"kind", "L"}}};
  return step;
}

// The first axis of a row that no loop around or inside has.
const char* free_axis(const Program& program, const StmtPath& path, std::initializer_list<const char*> row) {
  const std::vector<const Stmt*> above = loops_above(program.body(), path);
  const Stmt& loop = *stmt_at(program.body(), path);
  for (const char* axis : row) {
    const auto taken = [&](const Stmt* l) { return l->var == axis; };
    if (!binds(loop, axis) && std::none_of(above.begin(), above.end(), taken)) return axis;
  }
  return nullptr;
}

std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  const std::shared_ptr<FlowAnalysis> plain = flow_of(program);
  const auto kernels = has_kind(program.body(), LoopKind::B);
  const auto local = [](const Tensor& t) { return t.role == Role::tmp && t.scope != Scope::g; };
  const bool storage = std::any_of(program.tensors().begin(), program.tensors().end(), local);
  for (const StmtPath& path : collect_loops(program.body())) {
    const Stmt& loop = *stmt_at(program.body(), path);
    const std::string address = loop_address(program.body(), path);
    if (loop.kind == LoopKind::B && loop.mark.type == LoopMark::Type::none && unbind(program, path)) {
      out.push_back(Args{{"loop", address}, {"axis", loop.var}, {"kind", "L"}});
    }
    if (!check_kind(program, path)) continue;
    // Without s and l tensors the promise does not depend on the axis: ask once, before anything is built.
    std::optional<PromiseVerdict> promise;
    if (!storage) {
      promise = check_promise(*plain, program, path, LoopKind::B);
      if (!promise->ok) continue;
    }
    for (const std::initializer_list<const char*> row : {std::initializer_list<const char*>{"bx", "by", "bz"}, {"tx", "ty", "tz"}}) {
      const char* axis = free_axis(program, path, row);
      if (!axis) continue;
      if (promise && !kernels) {   // it becomes a kernel of its own, with this one axis
        const bool fits = axis[0] == 't' ? loop.extent <= target.max_threads_per_block
                                         : loop.extent <= INT32_MAX && check_block_chains(*plain, program, path, path, promise->chains).ok();
        if (fits) out.push_back(Args{{"loop", address}, {"axis", axis}, {"kind", "B"}});
        continue;
      }
      if (!check_bound(program, rebound(program, path, LoopKind::B, axis), target, path, axis)) continue;
      out.push_back(Args{{"loop", address}, {"axis", axis}, {"kind", "B"}});
    }
  }
  return out;
}

}  // namespace

extern const Strategy strategy_loop_binding{
    "loop_binding", Level::op, Direction::parallelism, Exactness::reassociates,
    "a loop runs along an axis of the grid or block; kind=L takes it back",
    {{"loop", ArgType::loop, "the loop", {}, ""},
     {"axis", ArgType::text, "the axis: bx by bz (blocks), tx ty tz (threads), wx (warps) or gx (warpgroups)", {}, "bx"},
     {"kind", ArgType::choice, "B, or L to take it back", {"B", "L"}, "B"}},
    list_sites, apply};

}  // namespace cairn
