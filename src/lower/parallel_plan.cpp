// What a P loop's writes mean: independent elements, private storage, or a reduction with fixed partials.
#include <algorithm>
#include <functional>
#include <set>

#include "analysis/promise.h"
#include "ir/subscripts.h"
#include "lower/plan.h"

namespace cairn {

namespace {
// Partials of a reduction over P: as many whatever the number of threads, so that runs agree.
constexpr std::int64_t kMaxChunks = 32;
constexpr std::int64_t kMaxPartialBytes = 64 << 20;

// One mention of a tensor inside the loop.
struct Mention {
  const std::vector<ExprPtr>* subscripts = nullptr;
  const PlacedEquation* at = nullptr;
  bool write = false;
  bool of_self_update = false;
};

void collect_reads(const Expr& root, const PlacedEquation& at, const Expr* self,
                   std::map<std::string, std::vector<Mention>>* out) {
  visit_expr(root, [&](const Expr& e) {
    if (e.op == Op::read) (*out)[e.name].push_back({&e.args, &at, false, &e == self});
    return true;
  });
}

// The largest value of `part` that the tests above a mention allow, at most `high`.
std::int64_t tested_limit(const PlacedEquation& at, std::size_t depth, const AffineTerms& part, std::int64_t high) {
  const std::function<void(const Expr&)> narrow = [&](const Expr& cond) {
    if (cond.op == Op::logical_and) {
      narrow(*cond.args[0]);
      narrow(*cond.args[1]);
    }
    if (cond.op != Op::lt && cond.op != Op::le) return;
    const auto a = affine_terms(*cond.args[0]);
    const auto b = affine_terms(*cond.args[1]);
    if (!a || !b || a->terms != part.terms || !b->terms.empty()) return;
    high = std::min(high, b->constant - a->constant - (cond.op == Op::lt ? 1 : 0) + part.constant);
  };
  for (std::size_t i = depth; i < at.enclosing.size(); ++i) {
    if (at.enclosing[i]->is_test()) narrow(*at.enclosing[i]->cond);
  }
  return high;
}

// Do mentions at different values of `var` touch different elements, by one dimension of the form c*var+rest?
bool is_independent(const std::vector<Mention>& mentions, const std::string& var, std::size_t depth,
                    const std::map<std::string, std::int64_t>& inner) {
  const std::size_t rank = mentions[0].subscripts->size();
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t coef = 0, lo = INT64_MAX, hi = INT64_MIN;
    AffineTerms outer;
    bool good = true;
    for (std::size_t m = 0; good && m < mentions.size(); ++m) {
      const auto form = affine_terms(*(*mentions[m].subscripts)[d]);
      if (!form) {
        good = false;
        break;
      }
      const std::int64_t c = form->coefficient(var);
      AffineTerms fixed, moving;
      moving.constant = form->constant;
      std::int64_t low = form->constant, high = form->constant;
      for (const auto& [name, k] : form->terms) {
        if (name == var) continue;
        const auto extent = inner.find(name);
        if (extent == inner.end()) {
          fixed.terms[name] = k;
        } else {
          moving.terms[name] = k;
          (k < 0 ? low : high) += k * (extent->second - 1);
        }
      }
      high = tested_limit(*mentions[m].at, depth, moving, high);
      good = c != 0 && (m == 0 || (c == coef && fixed == outer));
      coef = c;
      outer = fixed;
      lo = std::min(lo, low);
      hi = std::max(hi, high);
    }
    if (good && hi - lo < (coef < 0 ? -coef : coef)) return true;
  }
  return false;
}

// Is every mention of the tensor at the same subscripts? Then iterations meet in an element only by the
// reductions that the promise allows, and a promise kept means that they do not meet at all.
bool same_places(const std::vector<Mention>& mentions) {
  return std::all_of(mentions.begin(), mentions.end(), [&mentions](const Mention& m) {
    for (std::size_t d = 0; d < m.subscripts->size(); ++d) {
      if (!same_expr((*m.subscripts)[d], (*mentions[0].subscripts)[d])) return false;
    }
    return true;
  });
}

// The one operator of a tensor's mentions if all are self-updates, else nullopt.
std::optional<UpdateOp> reduction_op(const std::vector<Mention>& mentions) {
  std::optional<UpdateOp> op;
  for (const Mention& m : mentions) {
    const auto update = match_self_update(*m.at->equation);
    if (!update || !(m.write || m.of_self_update) || (op && *op != update->op)) return std::nullopt;
    op = update->op;
  }
  return op;
}

ParallelPlan plan_loop(const Program& program, const Target& target, const StmtPath& path,
                       const std::vector<const PlacedEquation*>& inside, LowerPlan* plan) {
  const std::size_t depth = path.size() - 1;
  const Stmt& loop = *inside[0]->enclosing[depth];
  ParallelPlan out;
  std::map<std::string, std::vector<Mention>> mentions;
  std::map<std::string, std::int64_t> inner;
  std::set<std::string> written, reset;
  for (const PlacedEquation* eq : inside) {
    const auto update = match_self_update(*eq->equation);
    written.insert(eq->equation->tensor);
    if (!update) reset.insert(eq->equation->tensor);
    mentions[eq->equation->tensor].push_back({&eq->equation->subscripts, eq, true, update.has_value()});
    collect_reads(*eq->equation->rhs, *eq, update ? update->self : nullptr, &mentions);
    for (const ExprPtr& s : eq->equation->subscripts) collect_reads(*s, *eq, nullptr, &mentions);
    for (std::size_t i = depth; i < eq->enclosing.size(); ++i) {
      const Stmt& s = *eq->enclosing[i];
      if (s.is_test()) collect_reads(*s.cond, *eq, nullptr, &mentions);
      if (s.is_loop() && i > depth) {
        std::int64_t& extent = inner[s.var];
        extent = std::max(extent, s.extent);
      }
    }
  }
  std::int64_t bytes = 0;
  std::optional<PromiseVerdict> verdict;
  for (const std::string& name : written) {
    const Tensor* tensor = program.find(name);
    const std::vector<Mention>& list = mentions[name];
    const bool has_rank = !list[0].subscripts->empty();
    if (has_rank && is_independent(list, loop.var, depth, inner)) continue;
    const auto op = reduction_op(list);
    // Private: rewritten in every iteration before it is read (the storage rule), unless the loop's own
    // variable addresses it (a scan).
    const bool by_var = std::any_of(list.begin(), list.end(), [&loop](const Mention& m) {
      return subscripts_use(*m.subscripts, loop.var);
    });
    if (tensor->scope != Scope::g && tensor->role == Role::tmp && !op && !by_var && reset.contains(name)) continue;
    if (!op && same_places(list) && by_var) continue;
    if (!op) {
      // The exact analysis tells other accesses of the same iteration from a scan.
      if (!verdict) verdict = check_promise(program, path, LoopKind::P, target);
      const bool carried = std::any_of(verdict->chains.begin(), verdict->chains.end(),
                                       [&name](const CarriedChain& c) { return c.tensor == name; });
      if (verdict->ok && !carried) continue;
    }
    if (!op) {
      out.reason = "the loop over " + loop.var + " runs serially: " + name + " may be carried from one iteration to another";
      return out;
    }
    out.reductions.push_back({name, *op, 0});
    bytes += (plan->places.at(name).elements * c_bytes(tensor->dtype) + 63) / 64 * 64;
  }
  if (!out.reductions.empty()) {
    out.chunks = std::min({loop.extent, kMaxChunks, std::max<std::int64_t>(1, kMaxPartialBytes / std::max<std::int64_t>(bytes, 1))});
    if (out.chunks < 2 && loop.extent > 1) {
      out.reductions.clear();
      out.reason = "the loop over " + loop.var + " runs serially: its partial results would take too much memory";
      return out;
    }
    for (ParallelReduction& r : out.reductions) {
      r.offset = plan->workspace_bytes;
      const std::int64_t one = plan->places.at(r.tensor).elements * c_bytes(program.find(r.tensor)->dtype);
      plan->workspace_bytes += out.chunks * ((one + 63) / 64 * 64);
    }
  }
  out.parallel = true;
  return out;
}
}  // namespace

void plan_parallel(const Program& program, const Target& target, const std::vector<PlacedEquation>& equations,
                   LowerPlan* plan) {
  std::map<StmtPath, std::vector<const PlacedEquation*>> regions;
  for (const PlacedEquation& eq : equations) {
    for (std::size_t i = 0; i < eq.enclosing.size(); ++i) {
      const Stmt& s = *eq.enclosing[i];
      if (!s.is_loop() || s.kind != LoopKind::P) continue;
      regions[StmtPath(eq.path.begin(), eq.path.begin() + static_cast<std::ptrdiff_t>(i) + 1)].push_back(&eq);
      break;
    }
  }
  for (const auto& [path, inside] : regions) {
    ParallelPlan decided = plan_loop(program, target, path, inside, plan);
    if (!decided.parallel) plan->notes.push_back(decided.reason);
    plan->parallel[path] = std::move(decided);
  }
}

}  // namespace cairn
