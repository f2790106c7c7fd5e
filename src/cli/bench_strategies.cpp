// cairn bench strategies: how long the sites and one application of every strategy take, against the limits.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>

#include "base/file.h"
#include "base/process.h"
#include "cli/bench.h"
#include "cli/load.h"
#include "cli/summary.h"
#include "ir/text.h"
#include "strategy/strategy.h"

namespace cairn {

namespace {

// Seconds; negative where there is no site that applies.
struct StrategyTime {
  const Strategy* strategy = nullptr;
  std::size_t sites = 0;
  double listing = 0, plain = -1, verified = -1;
};

// The smallest of 5 to 12 runs.
template <class Fn>
double time_of(Clock& clock, const Fn& fn) {
  double best = 1e9, total = 0;
  for (int run = 0; run < 12 && (run < 5 || total < 0.03); ++run) {
    const double from = clock.now();
    fn();
    const double seconds = clock.now() - from;
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

StrategyTime measure(Clock& clock, const Strategy& strategy, const Program& program, const Target& target) {
  StrategyTime row;
  row.strategy = &strategy;
  std::vector<Args> sites;
  row.listing = time_of(clock, [&] { sites = strategy.sites(program, target); });
  row.sites = sites.size();
  const auto applies = [&](const Args& args) { return apply_action(program, target, {std::string(strategy.name), args}).ok(); };
  const auto chosen = std::find_if(sites.begin(), sites.end(), applies);
  if (chosen == sites.end()) return row;
  row.plain = time_of(clock, [&] { (void)strategy.apply(program, target, *chosen); });
  row.verified = time_of(clock, [&] { (void)apply_action(program, target, {std::string(strategy.name), *chosen}); });
  return row;
}

std::string milliseconds(double seconds) { return seconds < 0 ? "-" : fmt::format("{:.3f}", seconds * 1e3); }

Json row_json(const StrategyTime& row) {
  Json out{{"strategy", std::string(row.strategy->name)}, {"sites", row.sites}, {"listing_seconds", row.listing}};
  if (row.plain >= 0) {
    out["apply_seconds"] = row.plain;
    out["verified_seconds"] = row.verified;
  }
  return out;
}

}  // namespace

CommandRun setup_bench_strategies(CLI::App& app) {
  struct Options {
    std::vector<std::string> programs;
    std::size_t slowest = 5;
  };
  auto options = std::make_shared<Options>();
  app.add_option("program", options->programs, "LEIR files (default: a product and a 12-equation attention)");
  app.add_option("--slowest", options->slowest, "rows printed, slowest first; 0: all");
  return [options](Session& session) -> Result<int> {
    std::vector<std::string> files = options->programs;
    if (files.empty()) {
      const std::string directory = join_path(executable_directory(), "../bench/strategies");
      files = {join_path(directory, "product.leir"), join_path(directory, "attention.leir")};
    }
    const Target target = described_target();
    Json answer{{"version", 1}, {"programs", Json::array()}};
    std::string text;
    for (const std::string& file : files) {
      CAIRN_TRY(const std::string source, read_file(file));
      ParseOptions parse;
      parse.file = file;
      CAIRN_TRY(const Program program, parse_program(source, parse));
      std::vector<StrategyTime> rows;
      double listing = 0;
      std::size_t sites = 0;
      for (const Strategy* strategy : all_strategies()) {
        rows.push_back(measure(session.clock, *strategy, program, target));
        listing += rows.back().listing;
        sites += rows.back().sites;
      }
      Json list = Json::array();
      for (const StrategyTime& row : rows) list.push_back(row_json(row));
      answer["programs"].push_back(Json{{"file", file}, {"sites", sites}, {"listing_seconds", listing}, {"strategies", list}});
      text += fmt::format("{}: {} sites of {} strategies in {} ms\n", basename_of(file), sites, rows.size(), milliseconds(listing));
      text += fmt::format("  {:<48} {:>6} {:>10} {:>10} {:>10}\n", "strategy (ms)", "sites", "listing", "apply", "verified");
      std::stable_sort(rows.begin(), rows.end(), [](const StrategyTime& a, const StrategyTime& b) {
        return std::max(a.listing, a.verified) > std::max(b.listing, b.verified);
      });
      if (options->slowest > 0 && rows.size() > options->slowest) rows.resize(options->slowest);
      for (const StrategyTime& row : rows) {
        text += fmt::format("  {:<48} {:>6} {:>10} {:>10} {:>10}\n", row.strategy->name, row.sites, milliseconds(row.listing), milliseconds(row.plain),
                            milliseconds(row.verified));
      }
    }
    session.answer(answer, text);
    return 0;
  };
}

}  // namespace cairn
