#include "cli/summary.h"

#include <cmath>

#include <fmt/core.h>

#include "ir/canon.h"

namespace cairn {

Digest canonical_hash_of(const Program& program) { return canonical_hash(program); }

std::string format_seconds(double seconds) {
  if (!(seconds > 0)) return "-";
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string summary_text(const SearchRun& run) {
  const SearchSummary& s = run.summary;
  std::string text;
  text += fmt::format("naive       {:>10}\n", format_seconds(run.naive_seconds));
  text += fmt::format("best        {:>10}   {:.2f}x naive, {} steps\n", format_seconds(run.best_seconds),
                      run.naive_seconds / run.best_seconds, run.trace.size());
  if (run.floor_seconds > 0) {
    text += fmt::format("floor       {:>10}   best reaches {:.0f} % of the roofline\n", format_seconds(run.floor_seconds),
                        100 * run.floor_seconds / run.best_seconds);
  }
  text += fmt::format("stopped     {} after {} evaluations, {} proposals, {:.1f} s\n", s.stop_reason, s.ledger.evaluations,
                      s.ledger.proposals, s.ledger.wall_seconds);
  if (std::isfinite(s.rank_correlation)) text += fmt::format("cost model  rank correlation {:.2f} with measured times\n", s.rank_correlation);
  for (const ReasonRow& row : s.reasons) {
    text += fmt::format("  {:>4} {}{}\n", row.count, row.outcome, row.reason.empty() ? "" : ", first: " + row.reason);
  }
  if (!run.memory_run.empty()) {
    text += fmt::format("memory      run {0}, {1} rows of other runs; 'cairn memory why {0} NUMBER' explains a proposal\n", run.memory_run, run.memory_rows);
  }
  for (const std::string& note : s.notes) text += "note: " + note + "\n";
  return text;
}

Json summary_json(const SearchRun& run) {
  const SearchSummary& s = run.summary;
  Json reasons = Json::array(), curve = Json::array(), trace = Json::array();
  for (const ReasonRow& r : s.reasons) reasons.push_back(Json{{"outcome", r.outcome}, {"count", r.count}, {"first_reason", r.reason}});
  for (const CurvePoint& p : s.curve) curve.push_back(Json{{"evaluation", p.evaluation}, {"wall_s", p.wall_seconds}, {"seconds", p.seconds}});
  for (const Action& a : run.trace) trace.push_back(print_action(a));
  return Json{{"version", 1}, {"stop_reason", s.stop_reason}, {"naive_seconds", run.naive_seconds},
              {"best_seconds", run.best_seconds}, {"speedup", run.naive_seconds / run.best_seconds},
              {"floor_seconds", run.floor_seconds}, {"evaluations", s.ledger.evaluations}, {"proposals", s.ledger.proposals},
              {"wall_seconds", s.ledger.wall_seconds}, {"device_seconds", s.ledger.device_seconds},
              {"efficiency", s.efficiency}, {"rank_correlation", std::isfinite(s.rank_correlation) ? Json(s.rank_correlation) : Json()},
              {"reasons", reasons}, {"curve", curve}, {"trace", trace}, {"notes", s.notes},
              {"memory", run.memory_run.empty() ? Json() : Json{{"run", run.memory_run}, {"rows", run.memory_rows}}}};
}

}  // namespace cairn
