// Coverage where a loop is only seen through f//c and f%c: the loop is taken as the two loops it stands for.
#include <algorithm>
#include <map>

#include "analysis/affine.h"
#include "analysis/flow_cover.h"

namespace cairn {

namespace {
// Loops that stand for one loop: outer of extent n/c, inner of extent c.
struct Pair {
  std::int64_t factor = 0;
  StmtPtr outer, inner;
};
using Pairs = std::map<const Stmt*, Pair>;

const Stmt* loop_named(const Access& access, const std::string& var) {
  for (auto loop = access.loops.rbegin(); loop != access.loops.rend(); ++loop) {
    if ((*loop)->var == var) return *loop;
  }
  return nullptr;
}

// Factors of v//c and v%c; 0 where there are several.
void gather_factors(const Access& access, const Expr& root, std::map<const Stmt*, std::int64_t>* factors) {
  visit_expr(root, [&](const Expr& e) {
    const bool quotient = (e.op == Op::floor_div || e.op == Op::mod) && e.args[0]->op == Op::loop_var && e.args[1]->op == Op::int_literal;
    if (!quotient) return true;
    const Stmt* loop = loop_named(access, e.args[0]->name);
    const std::int64_t c = e.args[1]->int_value;
    if (loop == nullptr) return false;
    const bool fits = c > 1 && c < loop->extent && loop->extent % c == 0;
    const auto [entry, added] = factors->emplace(loop, fits ? c : 0);
    if (!added && entry->second != c) entry->second = 0;
    return false;
  });
}

Access split_access(const Access& access, const Pairs& pairs) {
  Access out = access;
  out.loops.clear();
  std::vector<std::pair<std::string, ExprPtr>> map;
  std::vector<LoopRange> ranges;
  for (const Stmt* loop : access.loops) {
    const auto pair = pairs.find(loop);
    if (pair == pairs.end()) {
      out.loops.push_back(loop);
    } else {
      out.loops.push_back(pair->second.outer.get());
      out.loops.push_back(pair->second.inner.get());
      map.emplace_back(loop->var, make_expr(Op::add, {make_expr(Op::mul, {make_var(pair->second.outer->var), make_int(pair->second.factor)}),
                                                      make_var(pair->second.inner->var)}));
    }
  }
  if (map.empty()) return out;
  for (const Stmt* loop : out.loops) ranges.push_back({loop->var, loop->extent});
  const auto place = [&](const ExprPtr& e) { return simplify_index(substitute_vars(e, map), ranges); };
  for (ExprPtr& s : out.subscripts) s = place(s);
  for (Condition& c : out.conditions) {
    const ExprPtr cond = place(c.cond);
    c.cond = cond->op == Op::int_literal ? substitute_vars(c.cond, map) : cond;   // a decided one stays a comparison
  }
  return out;
}
}  // namespace

Answer covered_by_split_regions(const Program& program, const CoverQuestion& question) {
  std::map<const Stmt*, std::int64_t> factors;
  const auto look = [&](const Access& access) {
    for (const ExprPtr& s : access.subscripts) gather_factors(access, *s, &factors);
    for (const Condition& c : access.conditions) gather_factors(access, *c.cond, &factors);
  };
  look(*question.read);
  for (const Access* write : question.writes) look(*write);
  std::erase_if(factors, [](const auto& entry) { return entry.second == 0; });
  if (factors.empty()) return Answer::unknown;
  Pairs pairs;
  for (const auto& [loop, factor] : factors) {
    Pair pair;
    pair.factor = factor;   // names that no text can have
    pair.outer = make_loop(LoopKind::L, loop->extent / factor, loop->var + "/", {});
    pair.inner = make_loop(LoopKind::L, factor, loop->var + "%", {});
    pairs.emplace(loop, std::move(pair));
  }
  const Access read = split_access(*question.read, pairs);
  std::vector<Access> writes;
  writes.reserve(question.writes.size());
  CoverQuestion split = question;
  split.writes.clear();
  for (const Access* write : question.writes) {
    writes.push_back(split_access(*write, pairs));
    split.writes.push_back(&writes.back());
  }
  split.read = &read;
  // Loops are counted from the outermost: how many stand for the first k.
  split.counts = {0};
  for (const Stmt* loop : question.read->loops) split.counts.push_back(split.counts.back() + (pairs.count(loop) > 0 ? 2 : 1));
  split.equal_loops = question.equal_loops < split.counts.size() ? split.counts[question.equal_loops] : question.equal_loops;
  if (question.extra) {
    Access holder = *question.read;
    holder.subscripts.clear();
    holder.conditions = {{question.extra, true}};
    split.extra = split_access(holder, pairs).conditions[0].cond;
  }
  return covered_by_regions(program, split);
}

}  // namespace cairn
