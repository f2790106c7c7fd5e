// cairn bench search: algorithms and proposers on a set of programs, under one budget.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/interrupt.h"
#include "cli/bench.h"
#include "cli/run_search.h"
#include "cli/search_bench.h"
#include "cli/summary.h"
#include "cli/torch_compare.h"

namespace cairn {

namespace {

struct Options {
  std::vector<std::string> programs, algorithms, proposers;
  bool torch = true;
};

Result<std::vector<std::string>> default_programs() {
  const std::string directory = join_path(executable_directory(), "../bench/programs");
  CAIRN_TRY(const std::vector<std::string> names, list_directory(directory));
  std::vector<std::string> programs;
  for (const std::string& name : names) {
    if (name.size() > 5 && name.compare(name.size() - 5, 5, ".leir") == 0) programs.push_back(join_path(directory, name));
  }
  std::sort(programs.begin(), programs.end());
  return programs;
}

// Best log speed-up by evaluation, from the improvements.
std::vector<double> curve_of(const SearchSummary& summary) {
  std::vector<double> best(summary.ledger.evaluations + 1, 0);
  for (const CurvePoint& point : summary.curve) {
    for (std::size_t k = point.evaluation; k < best.size(); ++k) best[k] = std::max(best[k], std::log(summary.naive_seconds / point.seconds));
  }
  return best;
}

SearchBenchRow run_one(Session& session, const Options& options, const std::string& file, const std::string& algorithm, const std::string& proposer) {
  SearchBenchRow row;
  row.task = basename_of(file);
  row.algorithm = algorithm;
  row.proposer = proposer;
  row.enumerates = proposer == "enumerate";
  const auto fail = [&](const Error& error) {
    row.failure = error.message;
    return row;
  };
  const auto scratch = ScratchDir::create("cairn-bench");
  if (!scratch.ok()) return fail(scratch.error());
  const auto loaded = load_verified(session, file, scratch->path());
  if (!loaded.ok()) return fail(loaded.error());
  row.task = loaded->name;
  const auto run = run_search(session, *loaded, {});
  if (!run.ok()) return fail(run.error());
  row.efficiency = run->summary.efficiency;
  row.evaluations = run->summary.ledger.evaluations;
  row.proposals = run->summary.ledger.proposals;
  row.wall_seconds = run->summary.ledger.wall_seconds;
  row.best = curve_of(run->summary);
  row.distinct = count_distinct(run->trace);
  row.steps = run->trace.size();
  if (!run->improved) {
    row.failure = fmt::format("no verified improvement within {}", session.settings.value("budget"));
    return row;
  }
  row.speedup = run->naive_seconds / run->best_seconds;
  if (options.torch && loaded->kind == "torch") {
    const auto source = lower_c(run->best, run->target, {});
    if (!source.ok()) return fail(source.error());
    const TorchTimes torch = compare_with_torch(session, *loaded, file, *source, run->target, false);
    if (torch.eager_seconds > 0) row.over_torch = torch.eager_seconds / torch.ours_seconds;
  }
  return row;
}

}  // namespace

CommandRun setup_bench_search(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("programs", options->programs, "programs: .leir, graph.json or .py (timed against PyTorch); default: bench/programs/*.leir");
  app.add_option("--algorithms", options->algorithms, "algorithms to compare; default: --algorithm")->delimiter(',');
  app.add_option("--proposers", options->proposers, "proposers to compare; default: --proposer")->delimiter(',');
  app.add_flag("!--no-torch", options->torch, "do not time PyTorch beside");
  return [options](Session& session) -> Result<int> {
    if (options->programs.empty()) {
      CAIRN_TRY(options->programs, default_programs());
    }
    for (const std::string& file : options->programs) CAIRN_CHECKED(expect_file(file));
    if (options->algorithms.empty()) options->algorithms = {session.settings.value("algorithm")};
    if (options->proposers.empty()) options->proposers = {session.settings.value("proposer")};
    for (const std::string& name : options->algorithms) CAIRN_CHECKED(expect_algorithm(name));
    for (const std::string& name : options->proposers) CAIRN_CHECKED(check_proposer(name));
    std::vector<SearchBenchRow> rows;
    for (const std::string& algorithm : options->algorithms) {
      for (const std::string& proposer : options->proposers) {
        session.line.flags["algorithm"] = algorithm;
        session.line.flags["proposer"] = proposer;
        CAIRN_TRY(session.settings, Settings::resolve(session.line.flags));
        for (const std::string& file : options->programs) {
          rows.push_back(run_one(session, *options, file, algorithm, proposer));
          if (interrupted() != 0) return Error{Code::interrupted, fmt::format("interrupted after {} searches", rows.size()), {}, {}};
        }
      }
    }
    const Json json = search_bench_json(rows);
    const std::string text = search_bench_text(rows), out = session.settings.value("out");
    if (!out.empty()) {
      CAIRN_CHECKED(make_directories(out));
      CAIRN_CHECKED(write_file_atomic(join_path(out, "search.json"), dump_json_pretty(json) + "\n"));
      CAIRN_CHECKED(write_file_atomic(join_path(out, "search.txt"), text));
      CAIRN_CHECKED(write_file_atomic(join_path(out, "curves.svg"), search_bench_svg(rows)));
    }
    session.answer(json, text + (out.empty() ? "" : fmt::format("wrote {0}/search.json, {0}/search.txt and {0}/curves.svg\n", out)));
    return 0;
  };
}

}  // namespace cairn
