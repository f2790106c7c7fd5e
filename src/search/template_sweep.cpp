// The sweep template, for nests that pass over their data: vectors on the innermost loops, temporaries local,
// threads on the outermost loop. And the finishing steps that both templates share.
#include <algorithm>
#include <set>

#include "analysis/promise.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "search/templates.h"

namespace cairn {

namespace {

constexpr std::int64_t kMaxUnroll = 16;

// The largest power of two that divides n, at most `limit`.
std::int64_t power_of_two_divisor(std::int64_t n, std::int64_t limit) {
  std::int64_t p = 1;
  while (p * 2 <= limit && n % (p * 2) == 0) p *= 2;
  return p;
}

std::string join_orders(const std::vector<std::string>& addresses) {
  std::string text;
  for (const std::string& a : addresses) text += (text.empty() ? "" : "+") + a;
  return text;
}

// True if a short loop around vector statements belongs to a register tile: what it moves are `l` tensors.
bool is_register_tile_loop(const Program& program, const Stmt& loop) {
  bool local = false;
  for (const EquationRef& ref : collect_equations(loop.body)) {
    const auto look = [&](const std::string& name, const std::vector<ExprPtr>& subscripts) {
      const Tensor* t = program.find(name);
      if (!t || t->scope != Scope::l) return;
      local |= subscripts_use(subscripts, loop.var);
    };
    look(ref.equation->tensor, ref.equation->subscripts);
    visit_expr(*ref.equation->rhs, [&](const Expr& e) {
      if (e.op == Op::read) look(e.name, e.args);
      return true;
    });
  }
  return local;
}

// Sites whose subtree holds only unrolled or vector loops below.
bool only_marked_below(const Stmt& loop) {
  return std::all_of(loop.body.begin(), loop.body.end(), [](const StmtPtr& s) {
    if (s->is_equation()) return true;
    if (s->is_loop() && s->kind != LoopKind::U && s->kind != LoopKind::V) return false;
    return only_marked_below(*s);
  });
}

}  // namespace

void finish_innermost(Schedule& schedule, std::size_t nest, std::int64_t lanes) {
  const std::int64_t limit = std::max<std::int64_t>(lanes, 2);
  // Addresses change with each split, so one loop is handled at a time, until none is left to try.
  std::set<std::string> tried;
  for (bool progress = true; progress;) {
    progress = false;
    for (const LoopSite& site : loops_of_nest(schedule.program(), nest)) {
      if (!site.innermost || site.loop->kind != LoopKind::L) continue;
      const std::string address = loop_address(schedule.program().body(), site.path);
      if (!tried.insert(address).second) continue;
      progress = true;
      const std::int64_t extent = site.loop->extent;
      const std::int64_t even = power_of_two_divisor(extent, limit);
      const auto vectorise = [&](const std::string& at) {
        return schedule.apply("loop_vectorization", Args{{"loop", at}, {"kind", "V"}});
      };
      if (extent == even) {
        vectorise(address);
        break;
      }
      const auto before = schedule.mark();
      // An even split where the divisor is at least half a vector long, else the end is peeled off.
      const bool peel = even < std::min<std::int64_t>(limit, 8);
      const std::int64_t factor = peel ? power_of_two_divisor(std::int64_t{1} << 40, std::min(limit, extent)) : even;
      if (factor < 2) break;
      std::set<std::string> names;
      for (const LoopSite& s : loops_of_nest(schedule.program(), nest)) names.insert(s.loop->var);
      if (!schedule.apply("loop_split", Args{{"loop", address}, {"factor", std::to_string(factor)}, {"tail", peel ? "peel" : "guard"}})) break;
      bool any = false;
      std::set<std::string> fresh;
      for (const LoopSite& s : loops_of_nest(schedule.program(), nest)) {
        if (names.count(s.loop->var) != 0 || !s.innermost) continue;
        const std::string at = loop_address(schedule.program().body(), s.path);
        fresh.insert(at);
      }
      for (const std::string& at : fresh) any |= vectorise(at);
      if (!any) schedule.rewind(before);
      break;
    }
  }
  // Short loops around vectors that walk a register tile are unrolled, innermost first.
  tried.clear();
  for (bool progress = true; progress;) {
    progress = false;
    std::vector<LoopSite> sites = loops_of_nest(schedule.program(), nest);
    std::reverse(sites.begin(), sites.end());
    for (const LoopSite& site : sites) {
      if (site.loop->kind != LoopKind::L || site.innermost || site.loop->extent > kMaxUnroll) continue;
      if (!only_marked_below(*site.loop) || !is_register_tile_loop(schedule.program(), *site.loop)) continue;
      const std::string address = loop_address(schedule.program().body(), site.path);
      if (!tried.insert(address).second) continue;
      schedule.apply("loop_unrolling", Args{{"loop", address}, {"factor", "0"}, {"kind", "U"}});
      progress = true;
      break;
    }
  }
}

bool apply_sweep(Schedule& schedule, std::size_t nest, const NestChoice& choice) {
  std::vector<const Stmt*> band = band_of_nest(schedule.program(), nest);
  if (band.empty()) return false;
  if (choice.rotate) {
    // Loops of the result outermost, reductions inside; the result's last loop stays innermost of all.
    const std::vector<EquationRef> equations = collect_equations(Body{schedule.program().body()[nest]});
    if (equations.size() != 1 || band.size() < 2) return false;
    std::vector<std::string> spatial, reduction, order;
    for (const Stmt* loop : band) {
      const bool in_result = subscripts_use(equations[0].equation->subscripts, loop->var);
      (in_result ? spatial : reduction).push_back(loop->var);
    }
    if (reduction.empty() || spatial.empty()) return false;
    order.assign(spatial.begin(), spatial.end() - 1);
    order.insert(order.end(), reduction.begin(), reduction.end());
    order.push_back(spatial.back());
    std::vector<std::string> addresses;
    for (const std::string& var : order) addresses.push_back(address_in(nest, var));
    if (!schedule.apply("loop_reorder", Args{{"order", join_orders(addresses)}})) return false;
    band = band_of_nest(schedule.program(), nest);
  }
  const std::string outermost = band.front()->var;
  const bool single = band.size() == 1 && loops_of_nest(schedule.program(), nest).size() == 1;
  if (choice.parallel == NestChoice::Axis::outer && single && band.front()->extent >= 4 * choice.lanes) {
    // One long loop: blocks for the threads first, vectors inside the blocks.
    const std::int64_t cores = schedule.target().cores;
    const std::int64_t extent = band.front()->extent;
    const Args blocks{{"loop", address_in(nest, outermost)}, {"factor", std::to_string(extent / cores)}, {"tail", "guard"}};
    if (extent % cores == 0) schedule.apply("loop_split", blocks);
  }
  if (choice.lanes > 1) finish_innermost(schedule, nest, choice.lanes);
  if (choice.parallel == NestChoice::Axis::outer) {
    if (!schedule.apply("loop_parallelization", Args{{"loop", address_in(nest, outermost)}, {"kind", "P"}})) return false;
  }
  if (choice.local_temporaries) {
    std::set<std::string> written;
    for (const EquationRef& ref : collect_equations(Body{schedule.program().body()[nest]})) written.insert(ref.equation->tensor);
    for (const std::string& name : written) {
      const Tensor* t = schedule.program().find(name);
      if (t && t->role == Role::tmp && t->scope == Scope::g) {
        schedule.apply("set_storage_scope", Args{{"tensor", name}, {"scope", "l"}});
      }
    }
  }
  return true;
}

}  // namespace cairn
