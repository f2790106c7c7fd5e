// cairn bench verify: what each rung costs a row, on the programs of the library and what random strategies made of them.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "base/file.h"
#include "base/processor_time.h"
#include "cli/bench.h"
#include "cli/load.h"
#include "cli/mutation_corpus.h"
#include "ir/canon.h"
#include "verify/identity.h"
#include "verify/numeric.h"
#include "verify/row.h"
#include "verify/verify.h"

namespace cairn {

namespace {
struct BenchWords {
  std::vector<std::string> paths;
  std::size_t steps = 2, rows = 0;
  std::int64_t max_instances = 100'000;
  double numeric_seconds = 5;
};

// Of one rung: processor seconds a row, and how often it held, failed or was absent.
struct RungTimes {
  std::string name;
  std::vector<double> seconds;
  std::size_t held = 0, failed = 0, absent = 0;
};

double total_of(const RungTimes& t) {
  double sum = 0;
  for (const double s : t.seconds) sum += s;
  return sum;
}
double quantile_of(RungTimes t, double share) {
  if (t.seconds.empty()) return 0;
  std::sort(t.seconds.begin(), t.seconds.end());
  return t.seconds[static_cast<std::size_t>(share * static_cast<double>(t.seconds.size() - 1))];
}

class RowTimer {
 public:
  RowTimer(const Target& target, std::uint64_t seed, double numeric_seconds) {
    options_.target = target;
    options_.seed = seed;
    options_.numeric_seconds = numeric_seconds;
    for (const char* name : {"wellformed", "identity", "rule", "numeric", "certify"}) rungs_.push_back({name, {}, 0, 0, 0});
  }

  void measure(const MutationPair& pair) {
    run(0, [&] { return verify_program(pair.after, options_.target).ok() ? 1 : 0; });
    IdentityResult identity;
    run(1, [&] {
      IdentityOptions options;
      options.seed = options_.seed;
      identity = find_identity(pair.before, pair.after, options);
      return identity.verdict == IdentityResult::Verdict::absent ? -1 : identity.held() ? 1 : 0;
    });
    const Exactness claim = identity.held() ? identity.claim : Exactness::algebraic;
    run(2, [&] { return find_row(pair.before, pair.after) ? 1 : -1; });
    run(3, [&] {
      NumericOptions options;
      options.claim = claim;
      options.seed = options_.seed;
      std::string absent;
      const std::optional<Certificate> c = check_numeric(pair.before, pair.after, options, &absent);
      return !c ? -1 : c->held ? 1 : 0;
    });
    run(4, [&] { return certify(pair.before, pair.after, claim, nullptr, options_).ok() ? 1 : 0; });
  }
  const std::vector<RungTimes>& rungs() const { return rungs_; }

 private:
  void run(std::size_t rung, const std::function<int()>& fn) {
    const double from = thread_seconds();
    const int verdict = fn();
    RungTimes& t = rungs_[rung];
    t.seconds.push_back(thread_seconds() - from);
    ++(verdict < 0 ? t.absent : verdict > 0 ? t.held : t.failed);
  }

  CertifyOptions options_;
  std::vector<RungTimes> rungs_;
};

Result<int> bench_verify(Session& session, BenchWords words) {
  const std::string sources = join_path(executable_directory(), "..");
  if (words.paths.empty()) {
    for (const char* part : {"tests/leir/ok", "tests/leir/naive", "src/strategy"}) words.paths.push_back(join_path(sources, part));
  }
  MutationCorpusOptions corpus;
  CAIRN_TRY(corpus.target, load_target(session));
  CAIRN_TRY(corpus.seed, session.settings.number("seed"));
  corpus.steps = words.steps;
  corpus.max_instances = words.max_instances;
  CAIRN_TRY(std::vector<MutationPair> pairs, make_mutation_corpus(words.paths, corpus));
  std::erase_if(pairs, [](const MutationPair& p) { return canonical_hash(p.before) == canonical_hash(p.after); });
  if (words.rows > 0 && pairs.size() > words.rows) pairs.resize(words.rows);
  if (pairs.empty()) return Error{Code::usage, "no row to judge: no program of the paths is small enough and has a step", {}, {}};
  RowTimer timer(corpus.target, corpus.seed, words.numeric_seconds);
  for (const MutationPair& pair : pairs) timer.measure(pair);

  Json rungs = Json::array();
  std::string text = fmt::format("{:<11}{:>10}{:>12}{:>12}{:>12}{:>8}{:>8}{:>8}\n", "rung", "rows/s", "mean ms",
                                 "median ms", "90% ms", "held", "failed", "absent");
  for (const RungTimes& t : timer.rungs()) {
    const double rate = static_cast<double>(pairs.size()) / std::max(1e-9, total_of(t)), median = quantile_of(t, 0.5), most = quantile_of(t, 0.9);
    text += fmt::format("{:<11}{:>10.0f}{:>12.3f}{:>12.3f}{:>12.3f}{:>8}{:>8}{:>8}\n", t.name, rate, 1e3 / rate, median * 1e3,
                        most * 1e3, t.held, t.failed, t.absent);
    rungs.push_back(Json{{"rung", t.name}, {"rows_per_second", rate}, {"median_seconds", median}, {"most_seconds", most},
                         {"held", t.held}, {"failed", t.failed}, {"absent", t.absent}});
  }
  text += fmt::format("{} rows, seed {}, processor time of one core; certify is what a row costs, the others are its parts asked alone\n",
                      pairs.size(), corpus.seed);
  session.answer(Json{{"version", 1}, {"rows", pairs.size()}, {"seed", corpus.seed}, {"rungs", rungs}}, text);
  return 0;
}
}  // namespace

CommandRun setup_bench_verify(CLI::App& app) {
  auto words = std::make_shared<BenchWords>();
  app.add_option("paths", words->paths,
                 "LEIR files, pages with `leir before` blocks, or directories of these (default: the library and the strategies' pages)");
  app.add_option("--steps", words->steps, "rows made by random strategies, a program")->check(CLI::Range(1, 100));
  app.add_option("--rows", words->rows, "judge at most so many (0: all)");
  app.add_option("--max-instances", words->max_instances, "leave out programs with more equation instances");
  app.add_option("--numeric-seconds", words->numeric_seconds, "time limit of the numeric rung")->check(CLI::Range(0.01, 3600.0));
  return [words](Session& session) -> Result<int> { return bench_verify(session, *words); };
}

}  // namespace cairn
