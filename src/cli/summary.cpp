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

namespace {
std::string memory_text(const SearchRun& run) {
  const std::string id = run.memory_run.substr(0, 12);
  const std::string look = run.memory_decisions > 0 ? fmt::format("'cairn memory why {} NUMBER' explains a proposal", id)
                                                    : fmt::format("'cairn memory show --run {}' lists what it tried", id);
  return fmt::format("memory      run {}, {} rows of other runs; {}\n", id, run.memory_rows, look);
}
}  // namespace

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
  const std::optional<double> efficiency = efficiency_of(run);
  text += fmt::format("accepted    {} of the proposals; {} distinct strategies in the best trace\n",
                      efficiency ? fmt::format("{:.0f} %", 100 * *efficiency) : "n/a", count_distinct(run.trace));
  if (std::isfinite(s.rank_correlation)) text += fmt::format("cost model  rank correlation {:.2f} with measured times\n", s.rank_correlation);
  for (const ReasonRow& row : s.reasons) {
    text += fmt::format("  {:>4} {}{}\n", row.count, row.outcome, row.reason.empty() ? "" : ", first: " + row.reason);
  }
  if (!run.memory_run.empty()) text += memory_text(run);
  for (const std::string& note : s.notes) text += "note: " + note + "\n";
  return text;
}

Json summary_json(const SearchRun& run) {
  const SearchSummary& s = run.summary;
  Json reasons = Json::array(), curve = Json::array(), trace = Json::array();
  for (const ReasonRow& r : s.reasons) reasons.push_back(Json{{"outcome", r.outcome}, {"count", r.count}, {"first_reason", r.reason}});
  for (const CurvePoint& p : s.curve) curve.push_back(Json{{"evaluation", p.evaluation}, {"wall_s", p.wall_seconds}, {"seconds", p.seconds}});
  for (const Action& a : run.trace) trace.push_back(print_action(a));
  const std::optional<double> efficiency = efficiency_of(run);
  Json candidates = Json::array();
  for (const CandidateRow& c : s.candidates) {
    candidates.push_back(Json{{"n", c.number}, {"parent", c.parent}, {"from", c.origin}, {"outcome", c.outcome}, {"reason", c.reason},
                              {"seconds", c.seconds > 0 ? Json(c.seconds) : Json()}});
  }
  return Json{{"version", 1}, {"stop_reason", s.stop_reason}, {"naive_seconds", run.naive_seconds},
              {"best_seconds", run.best_seconds}, {"speedup", run.naive_seconds / run.best_seconds},
              {"floor_seconds", run.floor_seconds}, {"evaluations", s.ledger.evaluations}, {"proposals", s.ledger.proposals},
              {"wall_seconds", s.ledger.wall_seconds}, {"device_seconds", s.ledger.device_seconds},
              {"refused", s.ledger.refused}, {"duplicates", s.ledger.duplicates}, {"compiles", s.ledger.compiles},
              {"efficiency", efficiency ? Json(*efficiency) : Json()}, {"distinct_strategies", count_distinct(run.trace)},
              {"rank_correlation", std::isfinite(s.rank_correlation) ? Json(s.rank_correlation) : Json()},
              {"reasons", reasons}, {"candidates", candidates}, {"curve", curve}, {"trace", trace}, {"notes", s.notes},
              {"memory", run.memory_run.empty() ? Json() : Json{{"run", run.memory_run}, {"rows", run.memory_rows}, {"decisions", run.memory_decisions}}}};
}

}  // namespace cairn
