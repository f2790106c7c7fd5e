// Restructuring before scheduling: producers are inlined where that repeats no work, neighbouring nests fused.
#include <algorithm>
#include <map>

#include "ir/self_update.h"
#include "ir/walk.h"
#include "search/templates.h"

namespace cairn {

namespace {

struct Mentions {
  int writers = 0;
  double written_instances = 0;      // of the producing equation
  double read_instances = 0;         // summed over all reads
  int readers = 0;
  bool costly = false;               // the producer calls a function that is worth keeping
  bool self_update = false;
};

double instances(const StmtContext& context) {
  double n = 1;
  for (const Stmt* s : context.enclosing) {
    if (s->is_loop()) n *= static_cast<double>(s->extent);
  }
  return n;
}

bool is_costly(const Expr& e) {
  switch (e.op) {
    case Op::exp: case Op::log: case Op::tanh: case Op::erf: case Op::sin: case Op::cos: case Op::pow: case Op::sqrt:
    case Op::rsqrt: case Op::div: return true;
    default: break;
  }
  return std::any_of(e.args.begin(), e.args.end(), [](const ExprPtr& a) { return is_costly(*a); });
}

std::map<std::string, Mentions> count_mentions(const Program& program) {
  std::map<std::string, Mentions> all;
  visit_stmts(program.body(), [&](const Stmt& s, const StmtContext& context) {
    if (!s.is_equation()) return;
    const double n = instances(context);
    Mentions& w = all[s.tensor];
    w.writers += 1;
    w.written_instances += n;
    w.costly |= is_costly(*s.rhs);
    w.self_update |= reads_tensor(*s.rhs, s.tensor);
    visit_expr(*s.rhs, [&](const Expr& e) {
      if (e.op == Op::read && e.name != s.tensor) {
        all[e.name].readers += 1;
        all[e.name].read_instances += n;
      }
      return true;
    });
  });
  return all;
}

// Inlines every temporary with one producer whose uses repeat no costly work.
void inline_producers(Schedule& schedule) {
  for (bool progress = true; progress;) {
    progress = false;
    const std::map<std::string, Mentions> all = count_mentions(schedule.program());
    for (const EquationRef& ref : collect_equations(schedule.program().body())) {
      const Tensor* t = schedule.program().find(ref.equation->tensor);
      if (!t || t->role != Role::tmp) continue;
      const Mentions& m = all.at(ref.equation->tensor);
      if (m.writers != 1 || m.self_update || m.readers == 0) continue;
      const bool repeats = m.read_instances > 1.01 * m.written_instances;
      if (repeats && (m.costly || m.read_instances > 3.01 * m.written_instances)) continue;
      if (schedule.apply("compute_inline", Args{{"tensor", ref.equation->tensor}})) {
        progress = true;
        break;
      }
    }
  }
}

// Fuses neighbouring nests over as many loops as is legal; nests with reuse keep to themselves.
void fuse_neighbours(Schedule& schedule) {
  for (std::size_t i = 0; i + 1 < schedule.program().body().size();) {
    const std::vector<const Stmt*> first = band_of_nest(schedule.program(), i), second = band_of_nest(schedule.program(), i + 1);
    bool fused = false;
    if (!first.empty() && !second.empty() && !match_reuse_nest(schedule.program(), i) && !match_reuse_nest(schedule.program(), i + 1)) {
      std::size_t depth = 0;
      while (depth < first.size() && depth < second.size() && first[depth]->extent == second[depth]->extent) ++depth;
      for (; depth > 0 && !fused; --depth) {
        fused = schedule.apply("operator_fusion", Args{{"first", address_in(i, first[0]->var)}, {"second", address_in(i + 1, second[0]->var)},
                                                       {"depth", std::to_string(depth)}, {"order", "-"}});
      }
    }
    if (!fused) ++i;
  }
}

}  // namespace

std::string_view restructure_name(Restructure r) {
  constexpr std::string_view names[] = {"as-is", "inline", "fuse", "inline-fuse"};
  return names[static_cast<std::size_t>(r)];
}

void apply_restructure(Schedule& schedule, Restructure r) {
  if (r == Restructure::inline_only || r == Restructure::inline_and_fuse) inline_producers(schedule);
  if (r == Restructure::fuse_only || r == Restructure::inline_and_fuse) fuse_neighbours(schedule);
}

}  // namespace cairn
