// cairn optimize: the main job. cairn report: renders a run again.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "cli/optimize_report.h"
#include "cli/summary.h"
#include "cli/torch_compare.h"
#include "ir/text.h"
#include "report/report.h"

namespace cairn {

namespace {

struct Written {
  std::string source, launcher, header;
};

Result<Written> write_outputs(const std::string& out, const Loaded& loaded, const SearchRun& run, const CSource& source) {
  Trace trace;
  trace.from = canonical_hash_of(loaded.program);
  trace.actions = run.trace;
  CAIRN_CHECKED(write_file_atomic(join_path(out, "naive.leir"), print_program(loaded.program)));
  CAIRN_CHECKED(write_file_atomic(join_path(out, "best.leir"), print_program(run.best)));
  CAIRN_CHECKED(write_file_atomic(join_path(out, "best.trace"), print_trace(trace)));
  const std::string function = c_function_name(loaded.name);
  const std::string base = join_path(out, function);
  Written written{base + "_kernel.c", base + ".c", base + ".h"};
  CAIRN_CHECKED(write_file_atomic(written.source, source.code));
  CAIRN_CHECKED(write_file_atomic(written.launcher, c_launcher(source, function)));
  CAIRN_CHECKED(write_file_atomic(written.header, c_header(source, function)));
  return written;
}

Result<void> write_report(const std::string& out, const Json& report) {
  CAIRN_CHECKED(write_file_atomic(join_path(out, "report.json"), dump_json_pretty(report) + "\n"));
  CAIRN_CHECKED(write_file_atomic(join_path(out, "report.txt"), render_report_text(report)));
  return write_file_atomic(join_path(out, "report.html"), render_report_html(report));
}

}  // namespace

CommandRun setup_optimize(CLI::App& app) {
  struct Options { std::string file; bool no_torch = false, torch_compile = false; ReportOptions report; };
  auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "module: .py in KernelBench's form, graph.json, or .leir")->required();
  app.add_flag("--no-torch", options->no_torch, "do not time PyTorch beside");
  app.add_flag("--torch-compile", options->torch_compile, "time torch.compile too (its first call takes about a minute; given up after five)");
  app.add_option("--timed-steps", options->report.timed_steps, "programs along the winner's trace that are timed for the report")
      ->check(CLI::Range(0, 1000));
  app.add_option("--certify-seconds", options->report.certify_seconds,
                 "time for certifying and timing the winner's steps; then they keep what needs no time")
      ->check(CLI::NonNegativeNumber)->capture_default_str();
  return [options](Session& session) -> Result<int> {
    std::string out = session.settings.value("out");
    if (out.empty()) {
      const std::string base = basename_of(options->file);
      out = (base.rfind('.') == std::string::npos ? base : base.substr(0, base.rfind('.'))) + ".cairn";
    }
    if (!file_exists(options->file)) return Error{Code::usage, options->file + ": no such file", {}, {}};
    CAIRN_CHECKED(make_directories(out));
    CAIRN_TRY(const Loaded loaded, load_verified(session, options->file, out));
    CAIRN_TRY(SearchRun run, run_search(session, loaded, out, true));
    CLowerOptions lower;
    lower.entry = c_function_name(loaded.name) + "_kernel";
    CAIRN_TRY(const CSource source, lower_c(run.best, run.target, lower));
    CAIRN_TRY(const Written written, write_outputs(out, loaded, run, source));
    std::optional<TorchTimes> torch;
    if (!options->no_torch && loaded.kind == "torch") {
      torch = compare_with_torch(session, loaded, options->file, source, run.target, options->torch_compile);
    }
    CAIRN_TRY(const Json report, make_report(session, loaded, run, source, torch, options->report));
    CAIRN_CHECKED(write_report(out, report));
    std::string text = render_report_text(report) + "\n" + summary_text(run) +
                       fmt::format("\nprogram  {0}/best.leir   trace {0}/best.trace\nsource   {1}, {2}\nreport   {0}/report.html\n",
                                   out, written.source, written.launcher);
    if (run.improved) {
      text += fmt::format("next: open {0}/report.html, or 'cairn trace {0}/naive.leir {0}/best.trace' to see each step\n", out);
    } else {
      text += "no verified improvement within the budget\nnext: give a larger one, for example --budget 1000evals,10min\n";
    }
    Json json = report;
    json["ok"] = run.improved;
    json["files"] = Json{{"program", join_path(out, "best.leir")}, {"trace", join_path(out, "best.trace")},
                         {"source", written.source}, {"launcher", written.launcher}, {"header", written.header},
                         {"report", join_path(out, "report.html")}};
    session.answer(json, text);
    return run.improved ? 0 : 5;
  };
}

CommandRun setup_report(CLI::App& app) {
  struct Options { std::string run, as = "text"; };
  auto options = std::make_shared<Options>();
  app.add_option("run", options->run, "directory that 'cairn optimize' wrote, or its report.json")->required();
  app.add_option("--as", options->as, "text or html")->check(CLI::IsMember({"text", "html"}));
  return [options](Session& session) -> Result<int> {
    const bool file = options->run.size() > 5 && options->run.substr(options->run.size() - 5) == ".json";
    const std::string path = file ? options->run : join_path(options->run, "report.json");
    if (!file_exists(path)) return Error{Code::usage, path + ": no such file", {}, {"give a directory that 'cairn optimize' wrote"}};
    CAIRN_TRY(const std::string text, read_file(path));
    CAIRN_TRY(const Json report, parse_json(text, path));
    CAIRN_CHECKED(check_report(report, path));
    const std::string rendered = options->as == "html" ? render_report_html(report) : render_report_text(report);
    if (const std::string& out = session.settings.value("out"); !out.empty()) CAIRN_CHECKED(write_file_atomic(out, rendered));
    session.answer(report, rendered);
    return 0;
  };
}

}  // namespace cairn
