// cairn bench mutation: damages programs in every known way and demands that the ladder notices.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "cli/bench.h"
#include "cli/load.h"
#include "cli/mutation_corpus.h"

namespace cairn {

namespace {
struct MutationWords {
  std::vector<std::string> paths, only;
  std::size_t per_operator = 1, stride = 1, steps = 1;
  std::int64_t max_instances = 100'000;
  int inputs = 64;
  double seconds = 0, numeric_seconds = 5;
  bool list = false, judge_equal = false;
};

Result<int> list_damage(Session& session) {
  Json list = Json::array();
  std::string text;
  for (const DamageOperator& op : damage_operators()) {
    list.push_back(Json{{"name", std::string(op.name)}, {"kind", std::string(damage_kind_name(op.kind))}, {"sentence", std::string(op.sentence)}});
    text += fmt::format("{:<27} {:<10} {}\n", op.name, damage_kind_name(op.kind), op.sentence);
  }
  session.answer(Json{{"version", 1}, {"operators", list}}, text);
  return 0;
}

Result<int> bench_mutation(Session& session, MutationWords words) {
  if (words.list) return list_damage(session);
  for (const std::string& name : words.only) {
    if (find_damage_operator(name) == nullptr) {
      return Error{Code::usage, fmt::format("no kind of damage is called '{}'", name), {}, {"cairn bench mutation --list names them"}};
    }
  }
  const std::string sources = join_path(executable_directory(), "..");
  if (words.paths.empty()) {
    for (const char* part : {"tests/leir/ok", "tests/leir/naive", "tests/mutation/programs", "src/strategy"}) words.paths.push_back(join_path(sources, part));
  }
  MutationCorpusOptions corpus;
  CAIRN_TRY(corpus.target, load_target(session));
  CAIRN_TRY(corpus.seed, session.settings.number("seed"));
  corpus.steps = words.steps;
  corpus.max_instances = words.max_instances;
  CAIRN_TRY(const std::vector<MutationPair> pairs, make_mutation_corpus(words.paths, corpus));
  MutationOptions options;
  options.target = corpus.target;
  options.seed = corpus.seed;
  options.per_operator = words.per_operator;
  options.stride = words.stride;
  options.only = words.only;
  options.inputs = words.inputs;
  options.numeric_seconds = words.numeric_seconds;
  options.seconds = words.seconds;
  options.judge_equal = words.judge_equal;
  options.now = [&session] { return session.clock.now(); };
  CAIRN_TRY(options.jobs, worker_count(session, corpus.target));
  const MutationReport report = run_mutation(pairs, options);
  CAIRN_TRY(const Json json, parse_json(mutation_json(report)));
  session.answer(json, mutation_text(report));
  return report.missed == 0 ? 0 : 1;
}
}  // namespace

CommandRun setup_bench_mutation(CLI::App& app) {
  auto words = std::make_shared<MutationWords>();
  app.add_option("paths", words->paths,
                 "LEIR files, pages with `leir before` blocks, or directories of these (default: the library and the strategies' pages)");
  app.add_option("--only", words->only, "kinds of damage, by name");
  app.add_option("--per-operator", words->per_operator, "damaged programs of one kind a pair")->check(CLI::Range(1, 1000));
  app.add_option("--stride", words->stride, "every pair gets every n-th kind")->check(CLI::Range(1, 1000));
  app.add_option("--steps", words->steps, "pairs made by random strategies, a program")->check(CLI::Range(0, 100));
  app.add_option("--max-instances", words->max_instances, "leave out programs with more equation instances");
  app.add_option("--inputs", words->inputs, "inputs on which programs are run to find out whether they differ")->check(CLI::Range(1, 1000));
  app.add_option("--seconds", words->seconds, "start no pair later than this (0: no limit)");
  app.add_option("--numeric-seconds", words->numeric_seconds, "time limit of the numeric rung")->check(CLI::Range(0.01, 3600.0));
  app.add_flag("--judge-equal", words->judge_equal, "also judge damage that changes nothing, to count refusals");
  app.add_flag("--list", words->list, "name the kinds of damage");
  return [words](Session& session) -> Result<int> { return bench_mutation(session, *words); };
}

}  // namespace cairn
