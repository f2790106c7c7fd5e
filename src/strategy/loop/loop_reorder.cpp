// loop_reorder: the loops of a band in another order.
//
//   L_i L_j L_k [S]  =>  L_k L_i L_j [S]
//
// `order` names the loops from the outermost place to the innermost: the whole band or a contiguous part of
// it. Tests on loop variables inside the band go to the depth where their last variable is bound.
//
// Legal when
// (1) the named loops are all the loops of one contiguous part of a band, each once,
// (2) every dependence keeps its order, those between instances of one reduction excepted: where these
//     change order the step reassociates (exact for max, min and integers).
#include <fmt/core.h>

#include <algorithm>

#include "analysis/dependence.h"
#include "ir/self_update.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/order.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

std::string join_addresses(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : "+") + part;
  return out;
}

// Paths of the band's loops, outermost first.
std::vector<StmtPath> paths_of(const Body& body, const Band& band) {
  std::vector<StmtPath> out{band.path};
  StmtPath path = band.path;
  while (out.size() < band.loops.size()) {
    path.push_back(0);
    if (stmt_at(body, path)->is_loop()) out.push_back(path);
  }
  return out;
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  const Body& body = program.body();
  std::vector<StmtPath> inside;
  for (const StmtPath& path : collect_loops(body)) {
    if (std::find(inside.begin(), inside.end(), path) != inside.end()) continue;
    const Band band = band_at(body, path);
    const std::vector<StmtPath> paths = paths_of(body, band);
    inside.insert(inside.end(), paths.begin(), paths.end());
    const std::size_t n = paths.size();
    std::vector<std::string> addresses;
    for (const StmtPath& p : paths) addresses.push_back(loop_address(body, p));
    std::size_t listed = 0;
    for (std::size_t from = 0; from < n; ++from) {
      for (std::size_t to = 0; to < n && listed < 64; ++to) {
        if (to == from || to + 1 == from) continue;  // moving down by one is the same as moving the next one up
        const std::size_t lo = std::min(from, to), hi = std::max(from, to);
        std::string order = to < from ? addresses[from] : "";
        for (std::size_t k = lo; k <= hi; ++k) {
          if (k != from) order += (order.empty() ? "" : "+") + addresses[k];
        }
        if (to > from) order += "+" + addresses[from];
        out.push_back(Args{{"order", order}});
        ++listed;
      }
    }
  }
  return out;
}

Result<Step> apply(const Program& program, const Target&, const Args& args) {
  const std::vector<std::string> names = args.get_list("order");
  std::vector<StmtPath> asked;
  for (const std::string& name : names) {
    CAIRN_TRY(StmtPath path, find_loop(program.body(), name));
    asked.push_back(std::move(path));
  }
  StmtPath top = asked[0];
  for (const StmtPath& path : asked) {
    if (path.size() < top.size()) top = path;
  }
  const Band band = band_at(program.body(), top, names.size());
  const SourcePos pos = stmt_at(program.body(), top)->pos;
  const std::vector<StmtPath> paths = paths_of(program.body(), band);
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < asked.size(); ++k) {
    const auto at = std::find(paths.begin(), paths.end(), asked[k]);
    const auto place = static_cast<std::size_t>(at - paths.begin());
    if (at == paths.end() || std::find(order.begin(), order.end(), place) != order.end()) {
      return refuse(program, pos, 1,
                    fmt::format("{} is not one of the {} loops of a band from {} down; each loop between two "
                                "named ones must hold only the next and be named once",
                                names[k], names.size(), loop_address(program.body(), top)));
    }
    order.push_back(place);
  }
  const Legality legality = check_band_order(program, band, order);
  if (!legality.ok) return refuse_because(legality.reason, 2);

  std::vector<StmtPtr> loops;
  for (const std::size_t place : order) loops.push_back(band.loops[place]);
  Step step;
  step.after = with_replaced(program, band.path, build_band(loops, band.tests, band.body));
  step.exactness = legality.reorders_reduction ? class_of_reorder(program, band.body) : Exactness::exact;
  step.proved = conditions_up_to(2);
  // The old order comes back where the tests stood at their depth already.
  const Body old = build_band(band.loops, band.tests, band.body);
  if (old.size() == 1 && same_stmt(*old[0], *stmt_at(program.body(), band.path))) {
    std::vector<std::string> back;
    const std::vector<StmtPath> now = paths_of(step.after.body(), band_at(step.after.body(), band.path, names.size()));
    for (const StmtPtr& loop : band.loops) {
      const auto at = std::find(loops.begin(), loops.end(), loop);
      back.push_back(loop_address(step.after.body(), now[static_cast<std::size_t>(at - loops.begin())]));
    }
    step.inverse = Action{"loop_reorder", Args{{"order", join_addresses(back)}}};
  }
  return step;
}

}  // namespace

extern const Strategy strategy_loop_reorder{
    "loop_reorder", Level::op, Direction::data_reuse, Exactness::reassociates,
    "the loops of a band in another order",
    {{"order", ArgType::loops, "the band's loops, outermost place first", {}, ""}},
    list_sites, apply};

}  // namespace cairn
