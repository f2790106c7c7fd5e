// cairn strategies, sites, apply, trace.
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "cli/catalogue.h"
#include "cli/certify_trace.h"
#include "cli/load.h"
#include "cli/run_search.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/pairs.h"
#include "strategy/trace.h"

namespace cairn {

namespace {

const char* arg_type_name(ArgType type) {
  switch (type) {
    case ArgType::loop: return "loop";
    case ArgType::equation: return "equation";
    case ArgType::nest: return "nest";
    case ArgType::tensor: return "tensor";
    case ArgType::integer: return "integer";
    case ArgType::integers: return "integers";
    case ArgType::choice: return "choice";
    case ArgType::loops: return "loops";
    case ArgType::text: return "text";
  }
  return "?";
}

Json step_json(const Action& action, const Step& step) {
  Json recorded = Json::array();
  for (const SideCondition& c : step.recorded) recorded.push_back(Json{{"text", c.text}, {"proved", c.proved}});
  Json j{{"action", print_action(action)}, {"class", std::string(exactness_name(step.exactness))},
         {"proved", step.proved}, {"recorded", recorded}, {"hash", canonical_hash(step.after).hex()}};
  if (step.inverse) j["inverse"] = print_action(*step.inverse);
  return j;
}

// The catalogue counts on a described machine, so that every machine prints the same.
Result<int> print_page(Session& session, const std::string& workloads, const std::string& pages) {
  const Target target = described_target();
  CAIRN_TRY(const unsigned jobs, worker_count(session, target));
  CAIRN_TRY(const std::vector<WorkloadState> states, load_workloads(workloads, target));
  CAIRN_TRY(const std::string text, print_catalogue(states, pages, target, jobs));
  session.print(text);
  return 0;
}

Result<int> print_pairs(Session& session, const std::string& workloads) {
  const Target target = described_target();
  CAIRN_TRY(const unsigned jobs, worker_count(session, target));
  CAIRN_TRY(std::vector<WorkloadState> states, load_workloads(workloads, target));
  session.print(derive_pairs(sample_states(states), target, kPairSeed, jobs).print());
  return 0;
}

}  // namespace

CommandRun setup_strategies(CLI::App& app) {
  struct Options { std::string name, page, pairs, pages; };
  auto options = std::make_shared<Options>();
  app.add_option("name", options->name, "one strategy, with its parameters");
  app.add_option("--page", options->page, "write the page of all strategies, counted on the workloads of this directory");
  app.add_option("--pages", options->pages, "directory of the strategies' own pages, for --page");
  app.add_option("--pairs", options->pairs, "derive the pair table on the workloads of this directory");
  return [options](Session& session) -> Result<int> {
    if (!options->page.empty()) return print_page(session, options->page, options->pages);
    if (!options->pairs.empty()) return print_pairs(session, options->pairs);
    const std::string* name = &options->name;
    if (!name->empty() && !find_strategy(*name)) {
      return Error{Code::usage, fmt::format("unknown strategy '{}'", *name), {}, {"'cairn strategies' lists them"}};
    }
    Json rows = Json::array();
    std::string text;
    for (const Strategy* s : all_strategies()) {
      if (!name->empty() && s->name != *name) continue;
      Json params = Json::array();
      for (const Param& p : s->params) {
        Json row{{"name", std::string(p.name)}, {"type", arg_type_name(p.type)}, {"help", std::string(p.help)}};
        if (!p.fallback.empty()) row["default"] = std::string(p.fallback);
        if (!p.choices.empty()) {
          row["choices"] = Json::array();
          for (const auto c : p.choices) row["choices"].push_back(std::string(c));
        }
        params.push_back(std::move(row));
      }
      rows.push_back(Json{{"name", std::string(s->name)}, {"level", std::string(level_name(s->level))},
                          {"direction", std::string(direction_name(s->direction))},
                          {"weakest", std::string(exactness_name(s->weakest))},
                          {"summary", std::string(s->summary)}, {"params", params}});
      text += fmt::format("{:<26} {:<7} {:<14} {:<13} {}\n", s->name, level_name(s->level), direction_name(s->direction),
                          exactness_name(s->weakest), s->summary);
      if (name->empty()) continue;
      for (const Param& p : s->params) {
        text += fmt::format("  {:<10} {:<9} {}{}\n", p.name, arg_type_name(p.type), p.help,
                            p.fallback.empty() ? "" : fmt::format(" (default {})", p.fallback));
      }
    }
    session.answer(rows, text);
    return 0;
  };
}

CommandRun setup_sites(CLI::App& app) {
  struct Options { std::string file, strategy; };
  auto options = std::make_shared<Options>();
  app.add_option("program", options->file, "program")->required();
  app.add_option("--strategy", options->strategy, "only this strategy");
  return [options](Session& session) -> Result<int> {
    if (!options->strategy.empty() && !find_strategy(options->strategy)) {
      return Error{Code::usage, fmt::format("unknown strategy '{}'", options->strategy), {}, {"'cairn strategies' lists them"}};
    }
    CAIRN_TRY(const Loaded loaded, load_verified(session, options->file));
    CAIRN_TRY(const Target target, load_target(session));
    Json rows = Json::array();
    std::string text;
    for (const Strategy* s : all_strategies()) {
      if (!options->strategy.empty() && s->name != options->strategy) continue;
      for (const Args& args : s->sites(loaded.program, target)) {
        const std::string action = print_action(Action{std::string(s->name), args});
        rows.push_back(action);
        text += action + "\n";
      }
    }
    session.answer(Json{{"ok", true}, {"actions", rows}}, text);
    return 0;
  };
}

CommandRun setup_apply(CLI::App& app) {
  struct Options { std::string file, action, profile = "leir"; };
  auto options = std::make_shared<Options>();
  app.add_option("program", options->file, "program")->required();
  app.add_option("action", options->action, "for example 'loop_split(loop=0.i, factor=8)'")->required();
  app.add_option("--profile", options->profile, "leir or short")->check(CLI::IsMember({"leir", "short"}));
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const Loaded loaded, load_verified(session, options->file));
    CAIRN_TRY(const Target target, load_target(session));
    CAIRN_TRY(const Action action, parse_action(options->action));
    CAIRN_TRY(const Step step, apply_action(loaded.program, target, action));
    const std::string text = print_program(step.after, options->profile == "short" ? Profile::short_form : Profile::leir);
    if (const std::string& out = session.settings.value("out"); !out.empty()) CAIRN_CHECKED(write_file_atomic(out, text));
    Json json = step_json(action, step);
    json["ok"] = true;
    json["text"] = text;
    std::string head = fmt::format("% {}: {}\n", print_action(action), exactness_name(step.exactness));
    for (const SideCondition& c : step.recorded) head += fmt::format("% {} {}\n", c.proved ? "proved" : "recorded", c.text);
    session.answer(json, head + text);
    return 0;
  };
}

CommandRun setup_trace(CLI::App& app) {
  struct Options { std::string file, trace; bool programs = false, numeric = false; };
  auto options = std::make_shared<Options>();
  app.add_option("program", options->file, "program the trace starts from")->required();
  app.add_option("trace", options->trace, "trace file")->required();
  app.add_flag("--programs", options->programs, "print the program after each step");
  app.add_flag("--certify", options->numeric, "certify each step, the numeric rung included");
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const Loaded loaded, load_verified(session, options->file));
    CAIRN_TRY(const Target target, load_target(session));
    CAIRN_TRY(const std::string text, read_input(options->trace));
    CAIRN_TRY(const Trace trace, parse_trace(text, options->trace));
    const Digest hash = canonical_hash(loaded.program);
    if (!(trace.from == Digest{}) && !(trace.from == hash)) {
      return Error{Code::usage, fmt::format("{}: trace starts from program {}, {} is {}", options->trace, trace.from.hex(),
                                            options->file, hash.hex()), {}, {"give the program that the trace was made for"}};
    }
    CAIRN_TRY(const Replay replay, replay_trace(loaded.program, target, trace.actions));
    Json rows = Json::array();
    std::string out;
    bool ok = true;
    CertifyOptions certify_options;
    certify_options.target = target;
    TraceCertifier certifier(replay, trace.actions, certify_options, std::numeric_limits<double>::infinity(), session.clock);
    CAIRN_TRY(const Progress::Mode mode, progress_mode(session.settings));
    Progress progress(session.clock, options->numeric ? mode : Progress::Mode::off, "certifying", replay.steps.size());
    for (std::size_t i = 0; i < replay.steps.size(); ++i) {
      const Step& step = replay.steps[i];
      Json row = step_json(trace.actions[i], step);
      out += fmt::format("{:3}  {:<13} {}\n", i + 1, exactness_name(step.exactness), print_action(trace.actions[i]));
      if (options->numeric) {
        progress.update(i, trace.actions[i].strategy);
        const CertificateSet set = certifier.certify_step(i);
        ok &= set.ok();
        CAIRN_TRY(row["certificates"], parse_json(serialize(set)));
        for (const Certificate& c : set.certificates) {
          out += fmt::format("       {} {}{}\n", c.held ? "+" : "-", rung_name(c.rung), c.reason.empty() ? "" : ": " + c.reason);
        }
      }
      if (options->programs) {
        row["text"] = print_program(step.after);
        out += print_program(step.after) + "\n";
      }
      rows.push_back(std::move(row));
    }
    progress.finish(fmt::format("{} steps", rows.size()));
    out += fmt::format("{} steps, ends at {}\n", replay.steps.size(), canonical_hash(replay.programs.back()).hex());
    session.answer(Json{{"ok", ok}, {"steps", rows}, {"hash", canonical_hash(replay.programs.back()).hex()}}, out);
    return ok ? 0 : 1;
  };
}

}  // namespace cairn
