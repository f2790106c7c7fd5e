// cairn bench programs: optimises a list of modules from their naive programs and compares each with PyTorch
// eager, interleaved in one process. cairn doctor: what this machine has and lacks.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/process.h"
#include "cli/bench.h"
#include "cli/import_run.h"
#include "cli/run_search.h"
#include "cli/summary.h"
#include "cli/torch_compare.h"

namespace cairn {

namespace {

struct BenchRow {
  std::string name, module;
  double target = 0;
};

Result<std::vector<BenchRow>> read_bench_list(const std::string& directory) {
  const std::string path = join_path(directory, "programs.json");
  CAIRN_TRY(const std::string text, read_file(path));
  CAIRN_TRY(const Json list, parse_json(text, path));
  if (!list.is_array()) return Error{Code::parse, path + ": expected a list of {name, module, target}", {}, {}};
  std::vector<BenchRow> rows;
  for (const Json& item : list) {
    BenchRow row;
    CAIRN_TRY(row.name, get_string(item, "name"));
    CAIRN_TRY(row.module, get_string(item, "module"));
    CAIRN_TRY(row.target, get_double(item, "target"));
    rows.push_back(std::move(row));
  }
  return rows;
}

// Optimises one module; the answer row of `targets`.
Result<Json> bench_one(Session& session, const std::string& directory, const BenchRow& row) {
  const std::string file = join_path(directory, row.module);
  CAIRN_TRY(const ScratchDir scratch, ScratchDir::create("cairn-bench"));
  CAIRN_TRY(const Loaded loaded, load_verified(session, file, scratch.path()));
  CAIRN_TRY(const SearchRun run, run_search(session, loaded, {}));
  CAIRN_TRY(const CSource source, lower_c(run.best, run.target, {}));
  const TorchTimes torch = compare_with_torch(session, loaded, file, source, run.target, false);
  Json answer{{"name", row.name}, {"target", row.target}, {"ratio", Json()}, {"met", false}};
  if (torch.eager_seconds > 0) {
    const double ratio = torch.eager_seconds / torch.ours_seconds;
    answer["ratio"] = ratio;
    answer["met"] = ratio >= row.target;
    answer["eager_seconds"] = torch.eager_seconds;
    answer["ours_seconds"] = torch.ours_seconds;
    answer["max_error"] = torch.max_error;
  }
  answer["over_naive"] = run.naive_seconds / run.best_seconds;
  answer["naive_seconds"] = run.naive_seconds;
  answer["evaluations"] = run.summary.ledger.evaluations;
  answer["search_seconds"] = run.summary.ledger.wall_seconds;
  answer["steps"] = run.trace.size();
  if (!torch.note.empty()) answer["note"] = torch.note;
  return answer;
}

std::string default_bench_directory() { return join_path(executable_directory(), "../bench/programs"); }

CommandRun setup_bench_programs(CLI::App& app) {
  struct Options { std::string directory = default_bench_directory(); std::vector<std::string> only; };
  auto options = std::make_shared<Options>();
  app.add_option("--programs", options->directory, "directory with programs.json and its modules");
  app.add_option("--only", options->only, "names to run");
  return [options](Session& session) -> Result<int> {
    if (session.settings.get("budget").source == "default") session.line.flags["budget"] = "200evals";
    CAIRN_TRY(session.settings, Settings::resolve(session.line.flags));
    CAIRN_TRY(const std::vector<BenchRow> rows, read_bench_list(options->directory));
    Json targets = Json::array();
    std::string text = fmt::format("{:<28} {:>8} {:>8} {:>6} {:>12} {:>12} {:>10}\n", "program", "target", "ratio", "met", "eager", "ours", "x naive");
    bool all_met = true;
    for (const BenchRow& row : rows) {
      if (interrupted() != 0) return Error{Code::interrupted, "interrupted", {}, {}};
      if (!options->only.empty() && std::find(options->only.begin(), options->only.end(), row.name) == options->only.end()) continue;
      CAIRN_TRY(const Json answer, bench_one(session, options->directory, row));
      all_met &= answer["met"].get<bool>();
      const auto seconds = [&](const char* key) { return answer.contains(key) ? format_seconds(answer[key].get<double>()) : "-"; };
      const std::string line = fmt::format("{:<28} {:>8.2f} {:>8} {:>6} {:>12} {:>12} {:>10.1f}\n", row.name, row.target,
                                           answer["ratio"].is_number() ? fmt::format("{:.3f}", answer["ratio"].get<double>()) : "-",
                                           answer["met"].get<bool>() ? "yes" : "no", seconds("eager_seconds"), seconds("ours_seconds"),
                                           answer["over_naive"].get<double>());
      text += line;
      std::fputs(line.c_str(), stderr);
      targets.push_back(answer);
    }
    session.answer(Json{{"version", 1}, {"device", "cpu"}, {"date", session.clock.wall()}, {"targets", targets}}, text);
    return all_met ? 0 : 1;
  };
}

}  // namespace

CommandRun setup_bench(CLI::App& app) {
  app.require_subcommand(1);
  CLI::App* programs = app.add_subcommand("programs", "optimise the listed modules and compare each with PyTorch eager");
  programs->fallthrough();
  CLI::App* mutation = app.add_subcommand("mutation", "damage programs and demand that no certificate is granted");
  mutation->fallthrough();
  CLI::App* strategies = app.add_subcommand("strategies", "time the sites and one application of every strategy; the slowest five");
  strategies->fallthrough();
  CLI::App* memory = app.add_subcommand("memory", "what the memory pays: modes, seeds and settings on a list of tasks");
  memory->fallthrough();
  CLI::App* search = app.add_subcommand("search", "algorithms and proposers on a set of programs under one budget");
  search->fallthrough();
  const CommandRun run_search_bench = setup_bench_search(*search);
  const CommandRun run_memory = setup_bench_memory(*memory);
  CLI::App* verify = app.add_subcommand("verify", "time each rung of the ladder a row: how many rows a second are verified");
  verify->fallthrough();
  const CommandRun run_programs = setup_bench_programs(*programs), run_mutation = setup_bench_mutation(*mutation);
  const CommandRun run_strategies = setup_bench_strategies(*strategies), run_verify = setup_bench_verify(*verify);
  return [=](Session& session) -> Result<int> {
    if (search->parsed()) return run_search_bench(session);
    if (memory->parsed()) return run_memory(session);
    if (verify->parsed()) return run_verify(session);
    return mutation->parsed() ? run_mutation(session) : strategies->parsed() ? run_strategies(session) : run_programs(session);
  };
}

CommandRun setup_doctor(CLI::App& app) {
  auto show_target = std::make_shared<bool>(false);
  app.add_flag("--show-target", *show_target, "print the target as JSON (a file for --target)");
  return [show_target](Session& session) -> Result<int> {
    if (*show_target) {
      CAIRN_TRY(const Target target, load_target(session));
      session.print_line(print_target(target));
      return 0;
    }
    struct Check { std::string name, found; bool needed; };
    std::vector<Check> checks;
    const std::string cc = session.settings.value("cc").empty() ? "cc" : session.settings.value("cc");
    const auto version_of = [](const std::vector<std::string>& argv) -> std::string {
      ProcessSpec spec;
      spec.argv = argv;
      spec.limits.wall_seconds = 60;
      const auto result = run_process(spec);
      if (!result.ok() || !result->succeeded()) return {};
      const std::string text = result->out.empty() ? result->err : result->out;
      return text.substr(0, text.find('\n'));
    };
    checks.push_back({"C compiler", version_of({cc, "--version"}), true});
    const auto python = find_python(session);
    const std::string python_program = python.ok() ? python.value() : std::string();
    checks.push_back({"python", python.ok() ? version_of({python_program, "--version"}) : "", false});
    checks.push_back({"torch", python.ok() ? version_of({python_program, "-c", "import torch; print(torch.__version__)"}) : "", false});
    checks.push_back({"python/cairn", python_path(), false});
    const auto target = load_target(session);
    checks.push_back({"target", target.ok() ? fmt::format("{}: {} cores, {} byte vectors, {:.0f} GFLOP/s f32 a core, {:.1f} GB/s",
                                                          target->name, target->cores, target->vector_bytes.empty() ? 0 : target->vector_bytes.back(),
                                                          target->peak_gflops_f32, target->memory_gbs) : "", true});
    Json json = Json::object();
    std::string text;
    bool ok = true;
    for (const Check& c : checks) {
      json[c.name] = Json{{"found", !c.found.empty()}, {"detail", c.found}};
      ok &= !c.found.empty() || !c.needed;
      text += fmt::format("{} {:<12} {}\n", c.found.empty() ? (c.needed ? "-" : "o") : "+", c.name,
                          c.found.empty() ? (c.needed ? "missing" : "missing (optional: imports of .py need it)") : c.found);
    }
    json["ok"] = ok;
    session.answer(json, text);
    return ok ? 0 : 4;
  };
}

}  // namespace cairn
