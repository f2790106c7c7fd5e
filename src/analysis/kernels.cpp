#include "analysis/kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analysis/access.h"
#include "analysis/affine.h"
#include "analysis/dependence.h"
#include "ir/self_update.h"
#include "ir/walk.h"

namespace cairn {

namespace {
constexpr const char* kAxes[] = {"bx", "by", "bz", "tx", "ty", "tz", "wx", "gx"};

void gather_kernels(const Body& body, StmtPath* path, std::vector<StmtPath>* out) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    path->push_back(static_cast<std::uint32_t>(i));
    if (body[i]->is_loop() && body[i]->kind == LoopKind::B) {
      out->push_back(*path);
    } else {
      gather_kernels(body[i]->body, path, out);
    }
    path->pop_back();
  }
}

void visit_axes(const Stmt& stmt, std::vector<const Stmt*>* outer, const std::function<void(const Stmt&, const std::vector<const Stmt*>&)>& fn) {
  const bool axis = stmt.is_loop() && stmt.kind == LoopKind::B;
  if (axis) {
    fn(stmt, *outer);
    outer->push_back(&stmt);
  }
  for (const StmtPtr& child : stmt.body) visit_axes(*child, outer, fn);
  if (axis) outer->pop_back();
}

bool under(const StmtPath& loop, const Access& a) {
  return a.path.size() > loop.size() && std::equal(loop.begin(), loop.end(), a.path.begin());
}

// The access's loop along the axis, or null: it is made by block 0 alone.
const Stmt* axis_loop(const Access& a, std::string_view axis) {
  const auto loop = std::find_if(a.loops.begin(), a.loops.end(), [&](const Stmt* l) { return l->kind == LoopKind::B && l->var == axis; });
  return loop == a.loops.end() ? nullptr : *loop;
}

// Some subscript is the same expression, the axis alone, in both: they touch in one block only.
bool apart(const Access& a, const Access& b, const std::string& axis) {
  for (std::size_t d = 0; d < a.subscripts.size() && d < b.subscripts.size(); ++d) {
    const auto form = linear_form(*a.subscripts[d]);
    if (form && form->terms.size() == 1 && form->terms[0].first == axis && same_expr(a.subscripts[d], b.subscripts[d])) return true;
  }
  return false;
}

bool joined(const Access& a, const Access& b, const std::string& axis, std::size_t host_loops) {
  const Stmt *at_a = axis_loop(a, axis), *at_b = axis_loop(b, axis);
  if (!at_a && !at_b) return false;
  std::vector<PairRelation> relations;
  for (std::size_t k = 0; k < host_loops; ++k) relations.push_back({a.loops[k]->var, a.loops[k]->var, Order::equal});
  if (at_a && at_b) {
    if (apart(a, b, axis)) return false;
    for (const Order order : {Order::less, Order::greater}) {
      relations.push_back({axis, axis, order});
      if (may_touch(a, b, relations) != Answer::no) return true;
      relations.pop_back();
    }
    return false;
  }
  Access other = at_a ? a : b;
  other.conditions.push_back({make_expr(Op::le, {make_int(1), make_var(axis)}), true});
  return may_touch(at_a ? other : a, at_a ? b : other, relations) != Answer::no;
}

std::string place_of(const Program& program, const Access& a) {
  return a.stmt->is_equation() ? equation_address(program.body(), a.path) : fmt::format("the test before s{}", a.equation);
}
}  // namespace

bool is_axis_name(std::string_view name) { return std::find(std::begin(kAxes), std::end(kAxes), name) != std::end(kAxes); }

std::vector<StmtPath> find_kernels(const Body& body) {
  std::vector<StmtPath> out;
  StmtPath path;
  gather_kernels(body, &path, &out);
  return out;
}

std::map<std::string, std::int64_t> axis_extents(const Stmt& kernel) {
  std::map<std::string, std::int64_t> extents;
  std::vector<const Stmt*> outer;
  visit_axes(kernel, &outer, [&](const Stmt& s, const std::vector<const Stmt*>&) { extents[s.var] = std::max(extents[s.var], s.extent); });
  return extents;
}

std::int64_t count_threads(const std::map<std::string, std::int64_t>& extents) {
  const auto extent = [&](const char* axis) {
    const auto it = extents.find(axis);
    return it == extents.end() ? std::int64_t{0} : std::min<std::int64_t>(it->second, 1 << 20);
  };
  std::int64_t threads = 1;
  for (const char* axis : {"tx", "ty", "tz"}) threads *= std::max<std::int64_t>(extent(axis), 1);
  return std::max({threads, extent("wx") * 32, extent("gx") * 128});
}

void check_axis_limits(const Stmt& kernel, const Target& target, const std::function<void(const Stmt&, std::string, std::string)>& refused) {
  const std::map<std::string, std::int64_t> extents = axis_extents(kernel);
  const std::int64_t threads = count_threads(extents);
  if (threads > target.max_threads_per_block) {
    refused(kernel, fmt::format("a block of this kernel has {} threads, expected at most {}", threads, target.max_threads_per_block), "");
  }
  for (const char* axis : {"by", "bz"}) {
    const auto it = extents.find(axis);
    if (it == extents.end() || it->second <= target.max_grid_yz) continue;
    refused(kernel, fmt::format("grid axis {} has extent {}, expected at most {}", axis, it->second, target.max_grid_yz), "put the long axis on bx");
  }
}

void check_axis_nesting(const Stmt& kernel, const std::function<void(const Stmt&, std::string)>& refused) {
  std::map<std::string, const Stmt*> axes;
  std::vector<const Stmt*> none;
  visit_axes(kernel, &none, [&](const Stmt& s, const std::vector<const Stmt*>& outer) {
    axes.emplace(s.var, &s);
    const auto thread = std::find_if(outer.begin(), outer.end(), [](const Stmt* o) { return is_thread_axis(*o); });
    if (!is_axis_name(s.var)) {
      refused(s, fmt::format("B loop {} is not bound to an axis, expected bx by bz tx ty tz wx or gx", s.var));
    } else if (is_block_axis(s) && thread != outer.end()) {
      refused(s, fmt::format("block axis {} stands inside thread axis {}, expected blocks outside threads", s.var, (*thread)->var));
    } else if (std::any_of(outer.begin(), outer.end(), [&](const Stmt* o) { return o->var == s.var; })) {
      refused(s, fmt::format("axis {} stands inside itself", s.var));
    }
  });
  const bool warps = axes.count("wx") + axes.count("gx") > 0;
  for (const char* axis : {"ty", "tz"}) {
    if (!warps || axes.count(axis) == 0) continue;
    refused(*axes[axis], fmt::format("axis {} stands in a kernel with warps (wx or gx), expected tx alone beside them", axis));
  }
}

Result<void> check_block_axis(FlowAnalysis& flow, const Program& program, const StmtPath& path, const StmtPath& kernel) {
  PromiseVerdict verdict = check_promise(flow, program, path, LoopKind::B);
  if (!verdict.ok) return std::move(verdict.reason);
  return check_block_chains(flow, program, path, kernel, verdict.chains);
}

Result<void> check_block_chains(FlowAnalysis& flow, const Program& program, const StmtPath& path, const StmtPath& kernel,
                                const std::vector<CarriedChain>& chains) {
  const Stmt& loop = *stmt_at(program.body(), path);
  for (const CarriedChain& chain : chains) {
    const Tensor* t = program.find(chain.tensor);
    if (chain.scan || (t != nullptr && t->scope != Scope::g)) {
      return error_at(program, loop.pos, Code::verify, fmt::format("blocks along {} share {} {}, expected a reduction into a g tensor", loop.var,
                                                                   chain.scan ? "the scan of" : "the reduction into", chain.tensor));
    }
    for (const Access& a : flow.accesses()) {
      if (a.tensor != chain.tensor || a.is_write || a.is_self || !under(kernel, a)) continue;
      Error e = error_at(program, a.pos, Code::verify, fmt::format("{} is reduced over the blocks of {} and read in the same kernel", chain.tensor, loop.var));
      e.notes.push_back("read it in a nest of its own");
      return e;
    }
  }
  return {};
}

Result<void> check_block_flow(FlowAnalysis& flow, const Program& program, const StmtPath& kernel) {
  std::vector<std::string> axes;
  for (const auto& [axis, extent] : axis_extents(*stmt_at(program.body(), kernel))) {
    if (axis[0] == 'b' && extent > 1) axes.push_back(axis);
  }
  if (axes.empty()) return {};
  std::map<std::string, std::vector<const Access*>> mentions;
  std::set<std::string> written;
  for (const Access& a : flow.accesses()) {
    if (!under(kernel, a)) continue;
    mentions[a.tensor].push_back(&a);
    if (a.is_write) written.insert(a.tensor);
  }
  std::size_t host_loops = 0;
  for (std::size_t k = 1; k < kernel.size(); ++k) {
    host_loops += stmt_at(program.body(), StmtPath(kernel.begin(), kernel.begin() + static_cast<std::ptrdiff_t>(k)))->is_loop() ? 1 : 0;
  }
  for (const auto& [tensor, accesses] : mentions) {
    const Tensor* t = program.find(tensor);
    if (written.count(tensor) == 0 || t == nullptr || (t->role == Role::tmp && t->scope != Scope::g)) continue;
    for (const Access* a : accesses) {
      if (!a->is_write) continue;
      for (const Access* b : accesses) {
        if (b->is_write && b < a) continue;
        const auto op = update_of(*a);
        if (op && op == update_of(*b)) continue;   // one reduction
        for (const std::string& axis : axes) {
          if (!joined(*a, *b, axis, host_loops)) continue;
          Error e = error_at(program, b->pos == kNoPos ? b->stmt->pos : b->pos, Code::verify,
                             fmt::format("blocks along {} depend on each other: {} writes {} and {} {} the same element, perhaps in another block", axis,
                                         place_of(program, *a), tensor, place_of(program, *b), b->is_write ? "writes" : "reads"));
          e.notes.push_back("no barrier joins the blocks of one kernel: put the two into nests of their own");
          return e;
        }
      }
    }
  }
  return {};
}

}  // namespace cairn
