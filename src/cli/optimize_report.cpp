#include "cli/optimize_report.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "analysis/cost.h"
#include "base/interrupt.h"
#include "cli/certify_trace.h"
#include "cli/summary.h"
#include "ir/text.h"
#include "report/report.h"

namespace cairn {

namespace {

constexpr double kNumericSeconds = 0.2;   // of one step

Json timing_json(const Timing& t) {
  return Json{{"median", t.median}, {"q25", t.q25}, {"q75", t.q75}, {"lo", t.lo}, {"hi", t.hi}, {"samples", t.samples}};
}

// Step numbers (1-based) whose programs are timed: evenly spread, ends of proposals preferred, the last always.
std::set<std::size_t> pick_timed(const std::vector<std::size_t>& edges, std::size_t steps, int count) {
  std::set<std::size_t> picked;
  if (steps == 0 || count <= 0) return picked;
  std::size_t at = 0;
  for (const std::size_t length : edges) {
    at += length;
    if (static_cast<int>(picked.size()) < count) picked.insert(at);
  }
  const auto wanted = static_cast<std::size_t>(count);
  for (std::size_t i = 1; i <= wanted && picked.size() < wanted; ++i) picked.insert(std::max<std::size_t>(1, i * steps / wanted));
  picked.insert(steps);
  return picked;
}

const Certificate* find_failure(const CertificateSet& set) {
  for (const Certificate& c : set.certificates) {
    if (!c.held) return &c;
  }
  return nullptr;
}

Certificate executed_certificate(const EvalResult& result) {
  Certificate c = result.executed;
  c.rung = Rung::executed;
  c.held = result.passed();
  if (!c.held) c.reason = fmt::format("{}: {}", outcome_name(result.outcome), result.reason);
  return c;
}

}  // namespace

Result<Json> make_report(Session& session, const Loaded& loaded, SearchRun& run, const CSource& source,
                         const std::optional<TorchTimes>& torch, const ReportOptions& report) {
  CAIRN_TRY(const std::uint64_t seed, session.settings.number("seed"));
  CAIRN_TRY(const Replay replay, replay_trace(run.naive, run.target, run.trace));
  const std::set<std::size_t> timed = pick_timed(run.edges, replay.steps.size(), report.timed_steps);
  Json steps = Json::array();
  CertifyOptions options;
  options.target = run.target;
  options.seed = seed;
  options.numeric_seconds = kNumericSeconds;
  // What is timed is compiled while steps are certified.
  for (const std::size_t n : timed) {
    if (n < replay.steps.size() && report.certify_seconds > 0) run.evaluator->prepare(replay.steps[n - 1].after);
  }
  CAIRN_TRY(const Progress::Mode mode, progress_mode(session.settings));
  Progress progress(session.clock, mode, "certifying " + loaded.name, replay.steps.size());
  TraceCertifier certifier(replay, run.trace, options, report.certify_seconds, session.clock);
  for (std::size_t i = 0; i < replay.steps.size(); ++i) {
    if (interrupted() != 0) return Error{Code::interrupted, "interrupted while certifying the winner's steps", {}, {}};
    const Step& step = replay.steps[i];
    const bool last = i + 1 == replay.steps.size();
    progress.update(i, std::string(run.trace[i].strategy));
    CertificateSet set = certifier.certify_step(i);
    std::optional<EvalResult> measured;
    if (last || (timed.count(i + 1) != 0 && !certifier.late()) || (!set.ok() && find_failure(set) == nullptr)) {
      // A step that neither keeps its instances nor is small enough to interpret is run on the machine; the winner always.
      measured = last ? run.best_result : run.evaluator->evaluate(step.after);
      if (run.evaluator->executes()) set.certificates.push_back(executed_certificate(*measured));
    }
    if (!set.ok()) {
      const Certificate* failure = find_failure(set);
      const std::string why = failure ? fmt::format("{}: {}", rung_name(failure->rung), failure->reason) : "no certificate beyond wellformed";
      return Error{Code::mismatch, fmt::format("step {} of the winner, {}, is not certified: {}", i + 1,
                                               print_action(run.trace[i]), why), {}, {}};
    }
    CAIRN_TRY(Json certificates, parse_json(serialize(set)));
    Json row{{"n", i + 1}, {"action", print_action(run.trace[i])}, {"class", std::string(exactness_name(step.exactness))},
             {"predicted_seconds", predict_cost(step.after, run.target).seconds}};
    if (last) row["seconds"] = run.best_seconds;
    else if (measured && measured->time) row["seconds"] = measured->time->median;
    if (row.contains("seconds") && run.floor_seconds > 0) row["roofline_share"] = run.floor_seconds / row["seconds"].get<double>();
    row["certificates"] = std::move(certificates);
    row["program"] = print_program(step.after);
    steps.push_back(std::move(row));
  }
  progress.finish(fmt::format("{} steps", steps.size()));
  CAIRN_TRY(Json target, parse_json(print_target(run.target)));
  Json times{{"naive", timing_json(run.naive_time)}, {"best", timing_json(run.best_time)}};
  Json speedups{{"naive", run.naive_seconds / run.best_seconds}, {"eager", Json()}, {"compile", Json()}};
  Json notes = Json::array();
  for (const std::string& note : run.summary.notes) notes.push_back(note);
  if (certifier.limited() > 0) {
    notes.push_back(fmt::format("after {:g} s the last {} steps were certified without numeric and identity (--certify-seconds)",
                                report.certify_seconds, certifier.limited()));
  }
  if (torch) {
    if (torch->eager_seconds > 0) {
      times["eager"] = Json{{"median", torch->eager_seconds}, {"beside", torch->ours_seconds}};
      speedups["eager"] = torch->eager_seconds / torch->ours_seconds;
    }
    if (torch->compile_seconds > 0) {
      times["compile"] = Json{{"median", torch->compile_seconds}, {"beside", torch->ours_seconds}};
      speedups["compile"] = torch->compile_seconds / torch->ours_seconds;
    }
    if (!torch->note.empty()) notes.push_back(torch->note);
  }
  std::string headline = fmt::format("{:.2f}x over naive", run.naive_seconds / run.best_seconds);
  if (speedups["eager"].is_number()) headline += fmt::format(", {:.2f}x over PyTorch eager", speedups["eager"].get<double>());
  if (speedups["compile"].is_number()) headline += fmt::format(", {:.2f}x over torch.compile", speedups["compile"].get<double>());
  headline += fmt::format("; {} steps, each certified", steps.size());
  return Json{{"cairn_report", kReportVersion}, {"task", loaded.name}, {"headline", headline}, {"date", session.clock.wall()},
              {"device", run.evaluator->device()}, {"target", target}, {"seed", seed},
              {"budget", session.settings.value("budget")}, {"algorithm", session.settings.value("algorithm")},
              {"times", times}, {"speedups", speedups}, {"floor_seconds", run.floor_seconds},
              {"max_ulp", run.best_result.max_ulp}, {"relative_l2", run.best_result.relative_l2},
              {"steps", steps}, {"search", summary_json(run)}, {"naive_program", print_program(run.naive)},
              {"best_program", print_program(run.best)}, {"source", source.code}, {"notes", notes}};
}

}  // namespace cairn
