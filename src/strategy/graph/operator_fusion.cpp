// operator_fusion: two adjacent nests become one over matching loops.
//
//   L_i [S(i)]  L_j [R(j)]  =>  L_i [S(i); R(i)]
//
// The `depth` outermost loops of both nests are matched in order; `order` names the second nest's loops in the
// order in which they match the first's ("-": as they stand). The fused loops keep the first's names; the longer
// extent wins and the shorter part gets a test. Scopes are never changed.
//
// Legal when
// (1) the two loops are adjacent statements of one body, the second after the first,
// (2) both begin a band of `depth` loops, matched loops having the same kind and mark,
// (3) every dependence keeps its order over the merged body.
// Exact; reassociates when `order` makes a reduction of the second nest change its order.
#include <fmt/core.h>

#include <algorithm>

#include "ir/walk.h"
#include "strategy/edit/order.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

bool same_header(const Stmt& a, const Stmt& b) { return a.kind == b.kind && a.mark == b.mark; }

// Loops of `body` renamed away from `taken`.
Body avoid_names(const Program& program, const Body& body, const std::vector<std::string>& taken, std::vector<std::string>* fresh) {
  Body out;
  for (const StmtPtr& stmt : body) {
    if (stmt->is_equation()) {
      out.push_back(stmt);
      continue;
    }
    StmtPtr now = stmt;
    if (stmt->is_loop() && std::find(taken.begin(), taken.end(), stmt->var) != taken.end()) {
      const std::string name = fresh_var(program, *fresh);
      fresh->push_back(name);
      now = rename_loop_var(stmt, name);
    }
    Body inner = avoid_names(program, now->body, taken, fresh);
    out.push_back(inner == now->body ? now : with_body(*now, std::move(inner)));
  }
  return out;
}

Body guarded(const std::vector<ExprPtr>& tests, Body body) {
  return tests.empty() ? body : Body{make_test(join_conjunction(tests), std::move(body))};
}

Args args_for(const std::string& first, const std::string& second, std::size_t depth, const std::string& order) {
  return Args{{"first", first}, {"second", second}, {"depth", std::to_string(depth)}, {"order", order}};
}

// Depths to which the nests match, and the other order of the second nest's first two loops where that matches better.
std::vector<Args> candidates(const Program& program, const StmtPath& first, const StmtPath& second, std::vector<Args>* permuted) {
  std::vector<Args> out;
  const Band a = band_at(program.body(), first), b = band_at(program.body(), second);
  const std::string one = loop_address(program.body(), first), two = loop_address(program.body(), second);
  const std::size_t common = std::min(a.loops.size(), b.loops.size());
  for (std::size_t depth = 1; depth <= common; ++depth) {
    if (!same_header(*a.loops[depth - 1], *b.loops[depth - 1])) break;
    out.push_back(args_for(one, two, depth, "-"));
    if (a.loops[depth - 1]->extent != b.loops[depth - 1]->extent) break;
  }
  if (common < 2) return out;
  const auto matches = [](const StmtPtr& x, const StmtPtr& y) { return same_header(*x, *y) && x->extent == y->extent; };
  if (matches(a.loops[0], b.loops[0]) && matches(a.loops[1], b.loops[1])) return out;
  if (!matches(a.loops[0], b.loops[1]) || !matches(a.loops[1], b.loops[0])) return out;
  StmtPath inner = second;
  do {
    inner.push_back(0);
  } while (!stmt_at(program.body(), inner)->is_loop());
  permuted->push_back(args_for(one, two, 2, loop_address(program.body(), inner) + "+" + two));
  return out;
}

// The second nest with its loops in the asked order; reports whether a reduction changed its order.
Result<Program> permute_second(const Program& program, const StmtPath& second, const std::vector<std::string>& names, Exactness* cls) {
  const Band band = band_at(program.body(), second, names.size());
  std::vector<std::size_t> order;
  std::vector<StmtPtr> loops;
  for (const std::string& name : names) {
    CAIRN_TRY(const StmtPath path, find_loop(program.body(), name));
    const Stmt* stmt = stmt_at(program.body(), path);
    const auto at = std::find_if(band.loops.begin(), band.loops.end(), [stmt](const StmtPtr& l) { return l.get() == stmt; });
    const auto place = static_cast<std::size_t>(at - band.loops.begin());
    if (at == band.loops.end() || std::find(order.begin(), order.end(), place) != order.end()) {
      return refuse(program, stmt->pos, 2, fmt::format("{} is not one of the {} outermost loops of the second nest, named once", name, names.size()));
    }
    order.push_back(place);
    loops.push_back(*at);
  }
  const Legality legality = check_band_order(program, band, order);
  if (!legality.ok) return refuse_because(legality.reason, 3);
  if (legality.reorders_reduction) *cls = class_of_reorder(program, band.body);
  return with_replaced(program, second, build_band(loops, band.tests, band.body));
}

Result<Step> apply(const Program& original, const Target&, const Args& args) {
  Program program = original;
  CAIRN_TRY(const StmtPath first, find_loop(program.body(), args.get("first")));
  CAIRN_TRY(const StmtPath second, find_loop(program.body(), args.get("second")));
  const SourcePos pos = stmt_at(program.body(), second)->pos;
  StmtPath next = first;
  ++next.back();
  if (next != second) {
    return refuse(program, pos, 1, fmt::format("{} does not follow {} in the same body; move it there first (expression_reorder)",
                                               args.get("second"), args.get("first")));
  }
  Step step;
  const bool permuted = args.get("order") != "-";
  if (permuted) {
    CAIRN_TRY(program, permute_second(program, second, args.get_list("order"), &step.exactness));
  }
  const std::int64_t asked = args.get_int("depth");
  const auto depth = static_cast<std::size_t>(std::max<std::int64_t>(asked, 0));
  const Band a = band_at(program.body(), first, depth), b = band_at(program.body(), second, depth);
  if (asked < 1 || a.loops.size() != depth || b.loops.size() != depth) {
    return refuse(program, pos, 2, fmt::format("the nests begin with {} and {} nested loops, {} were to be shared", band_at(program.body(), first).loops.size(),
                                               band_at(program.body(), second).loops.size(), asked));
  }
  std::vector<std::pair<std::string, std::string>> matching;
  std::vector<std::string> names;
  std::vector<StmtPtr> loops;
  std::vector<ExprPtr> tests_a = a.tests, tests_b;
  Substitution renames;
  std::vector<LoopRange> ranges = ranges_above(program.body(), first);
  bool equal = !permuted && a.tests.empty() && b.tests.empty();
  for (std::size_t k = 0; k < depth; ++k) {
    const Stmt& x = *a.loops[k];
    const Stmt& y = *b.loops[k];
    if (!same_header(x, y)) {
      return refuse(program, y.pos, 2, fmt::format("loops {} and {} have kinds {} and {} or different marks; take the marks back first (kind=L)",
                                                   x.var, y.var, kind_name(x.kind), kind_name(y.kind)));
    }
    matching.emplace_back(x.var, y.var);
    names.push_back(x.var);
    const std::int64_t extent = std::max(x.extent, y.extent);
    loops.push_back(x.extent == extent ? a.loops[k] : loop_like(x, x.kind, extent, x.var, x.mark));
    ranges.push_back({x.var, extent});
    if (x.var != y.var) renames.emplace_back(y.var, make_var(x.var));
    if (x.extent < extent) tests_a.push_back(less_than(make_var(x.var), x.extent));
    if (y.extent < extent) tests_b.push_back(less_than(make_var(y.var), y.extent));  // renamed with the body
    equal &= x.extent == y.extent;
  }
  Program question = program;
  if (!a.tests.empty()) question = with_replaced(question, first, build_sunk(a.loops, a.tests, a.body));
  if (!b.tests.empty()) question = with_replaced(question, second, build_sunk(b.loops, b.tests, b.body));
  const Legality legality = check_fusion(question, first, second, matching);
  if (!legality.ok) return refuse_because(legality.reason, 3);
  if (legality.reorders_reduction) {
    Body both = a.body;
    both.insert(both.end(), b.body.begin(), b.body.end());
    step.exactness = class_of_reorder(program, both);
  }

  std::vector<std::string> fresh;
  Body moved = avoid_names(program, b.body, names, &fresh);
  for (const ExprPtr& test : b.tests) tests_b.push_back(test);
  moved = guarded(tests_b, std::move(moved));
  if (!renames.empty()) moved = substitute_vars(moved, renames);
  Body body = guarded(tests_a, a.body);
  const std::size_t cut = body.size();
  body.insert(body.end(), moved.begin(), moved.end());
  bool invertible = equal && renames.size() <= depth;
  for (const Tensor& tensor : program.tensors()) {
    const bool crosses = tensor.role == Role::tmp && count_mentions(a.body, tensor.name) != 0 && count_mentions(b.body, tensor.name) != 0;
    for (std::size_t k = 0; crosses && k < depth; ++k) invertible &= all_mentions_use(body, tensor.name, names[k]);
  }
  for (const EquationRef& ref : collect_equations(a.body)) {
    const Op op = ref.equation->rhs->op;
    if (op == Op::int_literal || op == Op::float_literal) invertible &= count_mentions(b.body, ref.equation->tensor) == 0;
  }
  Program joined = with_replaced(program, first, build_sunk(loops, {}, std::move(body)));
  joined.set_body(replace_at(joined.body(), second, {}));
  step.after = std::move(joined);
  step.proved = conditions_up_to(3);
  step.created = fresh;
  if (invertible) {
    StmtPath at = first;
    at.insert(at.end(), depth - 1, 0);
    at.push_back(static_cast<std::uint32_t>(cut));
    while (!stmt_at(step.after.body(), at)->is_equation()) at.push_back(0);
    step.inverse = Action{"operator_fission", Args{{"loop", loop_address(step.after.body(), first)}, {"cut", equation_address(step.after.body(), at)}}};
  }
  return step;
}

// What may share `depth` loops may share fewer: a dependence that fewer loops reverse, more reverse too.
std::vector<Args> list_sites(const Program& program, const Target& target) {
  std::vector<Args> out;
  for (const StmtPath& first : collect_loops(program.body())) {
    StmtPath second = first;
    ++second.back();
    const Stmt* other = stmt_at(program.body(), second);
    if (!other || !other->is_loop()) continue;
    std::vector<Args> permuted, straight = candidates(program, first, second, &permuted);
    while (!straight.empty() && !apply(program, target, straight.back())) straight.pop_back();
    out.insert(out.end(), straight.begin(), straight.end());
    if (!permuted.empty() && apply(program, target, permuted[0])) out.push_back(permuted[0]);
  }
  return out;
}

}  // namespace

extern const Strategy strategy_operator_fusion{
    "operator_fusion", Level::graph, Direction::fusion, Exactness::reassociates,
    "two adjacent nests become one over matching loops",
    {{"first", ArgType::loop, "outermost loop of the first nest", {}, ""},
     {"second", ArgType::loop, "outermost loop of the nest right after it", {}, ""},
     {"depth", ArgType::integer, "how many outermost loops are shared", {}, "1"},
     {"order", ArgType::loops, "the second nest's loops in matching order; - as they stand", {}, "-"}},
    list_sites, apply};

}  // namespace cairn
