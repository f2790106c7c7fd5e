#include "strategy/loop/tile_tail.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "ir/self_update.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "strategy/edit/order.h"
#include "strategy/edit/refuse.h"

namespace cairn {
namespace {

constexpr int kOrder = 3, kPad = 4, kJoin = 5;

// The one self-update below a statement, or null.
std::optional<StmtPath> find_update(const Body& body, const StmtPath& place) {
  std::optional<StmtPath> found;
  for (const EquationRef& ref : collect_equations(body)) {
    if (!is_prefix(place, ref.path) || !match_self_update(*ref.equation)) continue;
    if (found) return std::nullopt;
    found = ref.path;
  }
  return found;
}

// Tests on loop variables between the place and the equation.
std::vector<ExprPtr> tests_above(const Body& body, const StmtPath& place, const StmtPath& equation) {
  std::vector<ExprPtr> out;
  for (std::size_t depth = place.size() + 1; depth < equation.size(); ++depth) {
    const Stmt& stmt = *stmt_at(body, StmtPath(equation.begin(), equation.begin() + static_cast<std::ptrdiff_t>(depth)));
    if (stmt.is_test()) out.push_back(stmt.cond);
  }
  return out;
}

// Does a subscript move with a variable of the tests?
bool ends_with(const std::vector<ExprPtr>& subscripts, const std::vector<ExprPtr>& tests) {
  return std::any_of(tests.begin(), tests.end(), [&](const ExprPtr& test) {
    bool moves = false;
    visit_expr(*test, [&](const Expr& e) {
      moves = moves || (e.op == Op::loop_var && subscripts_use(subscripts, e.name));
      return true;
    });
    return moves;
  });
}

// Applies a strategy to the step's program and adds what it did to the step.
Result<void> go_on(Step* step, const Target& target, std::string_view strategy, const Args& args) {
  Result<Step> next = find_strategy(strategy)->apply(step->after, target, args);
  if (!next) return std::move(next.error());
  step->after = std::move(next->after);
  step->exactness = std::max(step->exactness, next->exactness);
  step->same_instances = step->same_instances && next->same_instances;
  step->created.insert(step->created.end(), next->created.begin(), next->created.end());
  return {};
}

// The smallest scope that takes the box: registers and the first cache, then the shared ones.
Result<void> stage(Step* step, const Target& target, const std::string& tensor, const std::string& loop, const char* mode) {
  Result<void> last;
  for (const char* scope : {"l", "s"}) {
    last = go_on(step, target, "cache_read_write", Args{{"tensor", tensor}, {"loop", loop}, {"scope", scope}, {"mode", mode}, {"order", "-"}});
    if (last) return last;
  }
  return last;
}

}  // namespace

Result<Step> pad_tail(Step tiled, const Target& target, const StmtPath& place) {
  Step step = std::move(tiled);
  const SourcePos pos = stmt_at(step.after.body(), place)->pos;
  const std::optional<StmtPath> update = find_update(step.after.body(), place);
  if (!update) return refuse(step.after, pos, kPad, "only the tail of a band with one self-update can be padded");
  const Stmt equation = *stmt_at(step.after.body(), *update);
  const std::vector<ExprPtr> tests = tests_above(step.after.body(), place, *update);
  if (tests.empty()) return step;   // even sizes
  const std::string loop = loop_address(step.after.body(), place);
  std::vector<std::string> operands;
  visit_expr(*equation.rhs, [&](const Expr& e) {
    if (e.op != Op::read || e.name == equation.tensor || !ends_with(e.args, tests)) return true;
    if (std::find(operands.begin(), operands.end(), e.name) == operands.end()) operands.push_back(e.name);
    return true;
  });
  if (Result<void> staged = stage(&step, target, equation.tensor, loop, "write"); !staged) return refuse_because(std::move(staged.error()), kPad, "the tail cannot be padded");
  for (const std::string& operand : operands) {
    if (Result<void> staged = stage(&step, target, operand, loop, "read"); !staged) return refuse_because(std::move(staged.error()), kPad, "the tail cannot be padded");
  }
  const std::optional<StmtPath> padded = find_update(step.after.body(), place);
  CAIRN_CHECK(padded.has_value());
  const Args args{{"equation", equation_address(step.after.body(), *padded)}, {"loop", "-"}};
  if (Result<void> done = go_on(&step, target, "pad_to_tile", args); !done) return refuse_because(std::move(done.error()), kPad, "the tail cannot be padded");
  const std::optional<StmtPath> now = find_update(step.after.body(), place);
  CAIRN_CHECK(now.has_value());
  if (tests_above(step.after.body(), place, *now).empty()) return step;
  return refuse(step.after, pos, kPad, "a test of the update stays: what it keeps out is read later, or adds more than 0");
}

Result<Step> join_tiles(const Program& program, const Target& target, const Args& args) {
  const std::vector<std::string> names = args.get_list("loops");
  const std::vector<std::int64_t> extents = args.get_ints("sizes");
  if (names.size() != 2 * extents.size()) {
    return Error{Code::usage, fmt::format("loop_tiling: tail=join takes pairs of a tile and a point loop with one extent each, not {} loops and {} extents",
                                          names.size(), extents.size()), {}, {}};
  }
  CAIRN_TRY(const StmtPath top, find_loop(program.body(), names[0]));
  const SourcePos pos = stmt_at(program.body(), top)->pos;
  const Band whole = band_at(program.body(), top);
  std::vector<std::size_t> at;   // places of the named loops in the band
  for (const std::string& name : names) {
    CAIRN_TRY(const StmtPath path, find_loop(program.body(), name));
    const Stmt* loop = stmt_at(program.body(), path);
    const auto found = std::find_if(whole.loops.begin(), whole.loops.end(), [loop](const StmtPtr& l) { return l.get() == loop; });
    at.push_back(static_cast<std::size_t>(found - whole.loops.begin()));
    if (found == whole.loops.end() || std::find(at.begin(), at.end() - 1, at.back()) != at.end() - 1 || (at.size() % 2 == 0 && at.back() < *(at.end() - 2))) {
      return refuse(program, loop->pos, kJoin, fmt::format("{} is not, once and tile before point, a loop of the band from {} down", name, names[0]));
    }
  }
  const std::size_t count = *std::max_element(at.begin(), at.end()) + 1;
  const Band band = band_at(program.body(), top, count);
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < count; ++k) {
    const auto named = static_cast<std::size_t>(std::find(at.begin(), at.end(), k) - at.begin());
    if (named < at.size() && named % 2 == 0) continue;   // a tile loop goes to its point loop
    if (named < at.size()) order.push_back(at[named - 1]);
    order.push_back(k);
  }
  const Legality legality = check_band_order(program, band, order);
  if (!legality.ok) return refuse_because(legality.reason, kOrder);
  std::vector<StmtPtr> loops;
  for (const std::size_t k : order) loops.push_back(band.loops[k]);
  Step step;
  step.after = with_replaced(program, top, build_band(loops, band.tests, band.body));
  step.exactness = legality.reorders_reduction ? class_of_reorder(program, band.body) : Exactness::exact;
  for (std::size_t pair = 0; pair < extents.size(); ++pair) {
    const std::string& tile = whole.loops[at[2 * pair]]->var;
    StmtPath path = top;
    while (stmt_at(step.after.body(), path)->is_test() || stmt_at(step.after.body(), path)->var != tile) path.push_back(0);
    const Args fuse{{"loop", loop_address(step.after.body(), path)}};
    if (Result<void> fused = go_on(&step, target, "loop_fusion", fuse); !fused) return refuse_because(std::move(fused.error()), kJoin, "the pair does not join");
    if (const std::int64_t extent = stmt_at(step.after.body(), path)->extent; extent != extents[pair]) {
      return refuse(program, pos, kJoin, fmt::format("loop {} and its point loop join to {} iterations, not {}", tile, extent, extents[pair]));
    }
  }
  step.proved = conditions_up_to(kJoin);
  return step;
}

}  // namespace cairn
