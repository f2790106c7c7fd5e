// common_subexpression_elimination: equal subexpressions are computed once.
//
//   L_i L_j [ D_{i,j}=exp(A_{i,j})*2 ]  L_k L_l [ E_{k,l}=1/exp(A_{k,l}) ]
//     =>  L_i L_j [ F_{i,j}=exp(A_{i,j}) ]  L_i L_j [ D_{i,j}=F_{i,j}*2 ]  L_k L_l [ E_{k,l}=1/F_{k,l} ]
//
// `equation` and `part` name one occurrence, whose loops and guards the temporary's nest takes. Every occurrence of the
// program that is equal up to renaming of loops and commutation of + * max min == != joins it, in text order, if it
// can. The nest stands in the innermost body around all of them, before the first; the temporary is subscripted by
// all loops the expression and its guards use (and the lanes of a V loop around).
//
// Legal when
// (1) the part is an operation, no condition, not made of loop variables and literals alone, does not read the tensor
//     that its equation writes, and no matrix-unit loop is around it,
// (2) another occurrence equals it up to renaming and commutation and is computed in the same type,
// (3) nothing from the first to the last occurrence writes an operand,
// (4) the loops of each occurrence stay within those of the named one, and every guard of the named one guards it too.
// The same operations on the same values in the type they were computed in: exact.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "ir/walk.h"
#include "strategy/edit/extract.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

constexpr ExtractRules kRules{3, 4, 4};
constexpr std::size_t kMostMatches = 16;   // of one pair: ways to pair commuting operands
constexpr std::size_t kMostUses = 64;

bool commutes(Op op) {
  return op == Op::add || op == Op::mul || op == Op::max || op == Op::min || op == Op::eq || op == Op::ne;
}

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

// Equal for expressions that differ only in the names of loops and the order of commuting operands.
std::uint64_t hash_shape(const Expr& e) {
  if (e.op == Op::loop_var) return 0x51ed270b;
  if (e.args.empty() && e.op != Op::read) return e.hash;
  std::vector<std::uint64_t> parts;
  for (const ExprPtr& arg : e.args) parts.push_back(hash_shape(*arg));
  if (commutes(e.op)) std::sort(parts.begin(), parts.end());
  std::uint64_t h = mix(static_cast<std::uint64_t>(e.op) + 1, static_cast<std::uint64_t>(e.dtype));
  if (e.op == Op::read) h = mix(h, std::hash<std::string>()(e.name));
  for (const std::uint64_t part : parts) h = mix(h, part);
  return h;
}

using Names = std::vector<std::pair<std::string, std::string>>;

// All ways (a few) to rename the loops of `a`, beyond `start`, so that it equals `b`.
std::vector<Names> match(const Expr& a, const Expr& b, const std::vector<Names>& start) {
  if (a.op != b.op || a.args.size() != b.args.size() || a.dtype != b.dtype || (a.op == Op::read && a.name != b.name)) return {};
  std::vector<Names> out;
  if (a.op == Op::loop_var) {
    for (Names names : start) {
      const auto known = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == a.name; });
      if (known != names.end() && known->second != b.name) continue;
      if (known == names.end()) names.emplace_back(a.name, b.name);
      out.push_back(std::move(names));
    }
    return out;
  }
  if (a.args.empty() && a.op != Op::read) return same_expr(a, b) ? start : out;
  out = start;
  for (std::size_t k = 0; k < a.args.size() && !out.empty(); ++k) out = match(*a.args[k], *b.args[k], out);
  if (!commutes(a.op)) return out;
  const std::vector<Names> left = match(*a.args[0], *b.args[1], start);
  for (Names& names : match(*a.args[1], *b.args[0], left)) {
    if (out.size() < kMostMatches && std::find(out.begin(), out.end(), names) == out.end()) out.push_back(std::move(names));
  }
  return out;
}

Substitution substitution_of(const Names& names) {
  Substitution map;
  for (const auto& [from, to] : names) map.emplace_back(from, make_var(to));
  return map;
}

// The innermost body around all uses: the path of its first child with a use.
StmtPath place_of(const std::vector<PartUse>& uses) {
  StmtPath common = uses[0].part.path;
  common.pop_back();
  for (const PartUse& use : uses) {
    std::size_t n = 0;
    while (n < common.size() && n + 1 < use.part.path.size() && common[n] == use.part.path[n]) ++n;
    common.resize(n);
  }
  std::uint32_t first = uses[0].part.path[common.size()];
  for (const PartUse& use : uses) first = std::min(first, use.part.path[common.size()]);
  common.push_back(first);
  return common;
}

// Renames the loops of the leader so that use and guards fit, or says which guard does not: condition (4).
bool fits(const Program& program, const Extraction& plan, const Part& part, Names* names) {
  const std::vector<LoopRange> around = ranges_above(program.body(), plan.before);
  std::vector<Names> ways{{}};
  for (const LoopRange& loop : around) ways[0].emplace_back(loop.var, loop.var);
  ways = match(*plan.leader.expr, *part.expr, ways);
  const std::vector<Condition> there = guards_of(program, plan.before, part);
  const std::vector<LoopRange> ranges = ranges_above(program.body(), part.path);
  const auto require = [&](const ExprPtr& cond, bool holds) {
    std::vector<Names> next;
    for (const Names& way : ways) {
      const ExprPtr now = substitute_vars(cond, substitution_of(way));
      if (holds && is_index_condition(*now) && is_true(*simplify_index(now, ranges))) next.push_back(way);
      for (const Condition& other : there) {
        if (other.holds != holds) continue;
        for (Names& found : match(*cond, *other.cond, {way})) next.push_back(std::move(found));
      }
      if (next.size() >= kMostMatches) break;
    }
    ways = std::move(next);
  };
  for (const ExprPtr& test : plan.tests) require(test, true);
  for (const Condition& condition : plan.selects) require(condition.cond, condition.holds);
  const auto extent_of = [](const std::vector<LoopRange>& loops, const std::string& var) -> std::int64_t {
    for (const LoopRange& loop : loops) {
      if (loop.var == var) return loop.extent;
    }
    return 0;
  };
  const std::vector<LoopRange> of_leader = ranges_above(program.body(), plan.leader.path);
  for (const Names& way : ways) {
    const bool inside = std::all_of(plan.index.begin(), plan.index.end(), [&](const std::string& var) {
      const auto to = std::find_if(way.begin(), way.end(), [&](const auto& entry) { return entry.first == var; });
      if (to == way.end()) return false;
      const std::int64_t extent = extent_of(ranges, to->second);
      return extent > 0 && extent <= extent_of(of_leader, var);
    });
    if (!inside) continue;
    *names = way;
    return true;
  }
  return false;
}

Result<Extraction> check_uses(const Program& program, const Part& leader, std::vector<PartUse> uses) {
  const StmtPath before = place_of(uses);
  CAIRN_TRY(Extraction plan, plan_extraction(program, before, leader, std::move(uses), false, kRules));
  for (PartUse& use : plan.uses) {
    Names names;
    if (!fits(program, plan, use.part, &names)) {
      return refuse(program, use.part.equation->pos, 4,
                    fmt::format("{} is computed where {} is not: its loops or guards are wider", part_text(use.part), part_text(leader)));
    }
    use.names = substitution_of(names);
  }
  return plan;
}

// Parts by shape, in text order.
using Classes = std::map<std::uint64_t, std::vector<Part>>;
Classes list_classes(const Program& program) {
  Classes out;
  for (const EquationRef& ref : collect_equations(program.body())) {
    if (in_matrix_unit(program, ref.path)) continue;
    for (Part& part : list_parts(program, ref.path)) out[hash_shape(*part.expr)].push_back(std::move(part));
  }
  return out;
}

bool same_place(const Part& a, const Part& b) { return a.path == b.path && a.ordinal == b.ordinal; }

Result<Extraction> plan_class(const Program& program, const Part& leader, const std::vector<Part>& all) {
  if (in_matrix_unit(program, leader.path)) return refuse(program, leader.equation->pos, 1, "the equation belongs to the matrix unit");
  Result<Extraction> plan = refuse(program, leader.equation->pos, 2, fmt::format("{} occurs once in its type", part_text(leader)));
  std::vector<PartUse> uses{{leader, {}}};
  bool tried = false;
  for (const Part& other : all) {
    if (same_place(other, leader) || other.type != leader.type || uses.size() >= kMostUses) continue;
    if (match(*leader.expr, *other.expr, {{}}).empty()) continue;
    uses.push_back({other, {}});
    Result<Extraction> now = check_uses(program, leader, uses);
    if (now || !tried) plan = std::move(now);
    if (!plan || plan->uses.size() != uses.size()) uses.pop_back();
    tried = true;
  }
  return plan;
}

// Two leaders of one class with like loops give programs that differ in names only.
bool same_result(const Extraction& a, const Extraction& b) {
  if (a.before != b.before || a.uses.size() != b.uses.size() || a.loops.size() != b.loops.size() || a.tests.size() != b.tests.size()) return false;
  for (std::size_t k = 0; k < a.loops.size(); ++k) {
    if (a.loops[k]->kind != b.loops[k]->kind || a.loops[k]->extent != b.loops[k]->extent) return false;
  }
  return std::all_of(a.uses.begin(), a.uses.end(), [&](const PartUse& use) {
    return std::any_of(b.uses.begin(), b.uses.end(), [&](const PartUse& other) { return same_place(use.part, other.part); });
  });
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<std::pair<std::pair<StmtPath, std::size_t>, Args>> found;
  for (const auto& [hash, parts] : list_classes(program)) {
    if (parts.size() < 2) continue;
    std::vector<Extraction> listed;
    std::vector<const Part*> tried;
    for (const Part& leader : parts) {
      const bool again = std::any_of(tried.begin(), tried.end(),
                    [&](const Part* part) { return part->path == leader.path && same_expr(part->expr, leader.expr); });
      if (again) continue;
      tried.push_back(&leader);
      Result<Extraction> plan = plan_class(program, leader, parts);
      if (!plan || std::any_of(listed.begin(), listed.end(), [&](const Extraction& other) { return same_result(*plan, other); })) continue;
      listed.push_back(*plan);
      found.emplace_back(std::make_pair(leader.path, leader.ordinal),
                    Args{{"equation", equation_address(program.body(), leader.path)}, {"part", part_text(leader)}});
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Args> out;
  for (auto& [place, args] : found) out.push_back(std::move(args));
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_equation(program.body(), args.get("equation")));
  CAIRN_TRY(const Part part, find_part(program, path, args.get("part"), 1));
  const Classes classes = list_classes(program);
  const auto all = classes.find(hash_shape(*part.expr));
  CAIRN_TRY(const Extraction plan, plan_class(program, part, all == classes.end() ? std::vector<Part>{} : all->second));
  return build_extraction(program, target, plan, 4);
}

}  // namespace

extern const Strategy strategy_common_subexpression_elimination{
    "common_subexpression_elimination", Level::graph, Direction::algebra, Exactness::exact,
    "equal subexpressions are computed once",
    {{"equation", ArgType::equation, "an equation with the subexpression", {}, ""},
     {"part", ArgType::text, "the subexpression, such as exp(A_{i,j})", {}, ""}},
    list_sites, apply};

}  // namespace cairn
