#include "strategy/workloads.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/sequence.h"
#include "verify/verify.h"

namespace cairn {

namespace {

constexpr int kMaxFusions = 40;

// Applies the first site that applies; false if there is none.
bool apply_first(Program* program, const Target& target, std::string_view name) {
  const Strategy* strategy = find_strategy(name);
  for (const Args& args : strategy->sites(*program, target)) {
    Result<Step> step = apply_action(*program, target, {std::string(name), args});
    if (!step) continue;
    *program = std::move(step->after);
    return true;
  }
  return false;
}

Result<Program> read_workload(const std::string& path, const Target& target) {
  CAIRN_TRY(const std::string text, read_file(path));
  ParseOptions options;
  options.file = path;
  CAIRN_TRY(Program program, parse_program(text, options));
  CAIRN_CHECKED(check_program(program, target));
  return program;
}

struct Prepared {
  std::string name, workload;
  int line = 0;
  std::vector<std::string> actions;
};

Result<std::vector<Prepared>> read_states(const std::string& path) {
  std::vector<Prepared> states;
  if (!file_exists(path)) return states;
  CAIRN_TRY(const std::string text, read_file(path));
  int number = 0;
  for (const TextLine& at : split_lines(text)) {
    const std::string_view line = at.text;
    ++number;
    const std::string words(trim(line));
    if (words.empty() || words[0] == '#') continue;
    if (line[0] == ' ') {
      if (states.empty()) return Error{Code::parse, fmt::format("{}:{}: an action before the first 'STATE = WORKLOAD'", path, number), {}, {}};
      states.back().actions.push_back(words);
      continue;
    }
    const std::size_t sign = words.find('=');
    if (sign == std::string::npos) return Error{Code::parse, fmt::format("{}:{}: found '{}', expected 'STATE = WORKLOAD'", path, number, words), {}, {}};
    const std::string_view both = words;
    states.push_back({std::string(trim(both.substr(0, sign))), std::string(trim(both.substr(sign + 1))), number, {}});
  }
  return states;
}

}  // namespace

Program inline_everything(const Program& program, const Target& target) {
  Program now = program;
  while (apply_first(&now, target, "compute_inline")) {
  }
  return now;
}

Program fuse_everything(const Program& program, const Target& target) {
  Program now = inline_everything(program, target);
  for (int k = 0; k < kMaxFusions && apply_first(&now, target, "operator_fusion"); ++k) {
  }
  return now;
}

Result<std::vector<WorkloadState>> load_workloads(const std::string& directory, const Target& target) {
  CAIRN_TRY(std::vector<std::string> names, list_directory(directory));
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".leir"); });
  std::sort(names.begin(), names.end());
  std::vector<WorkloadState> states;
  for (const std::string& name : names) {
    const std::string workload = name.substr(0, name.size() - 5);
    CAIRN_TRY(const Program program, read_workload(join_path(directory, name), target));
    std::vector<Digest> seen;
    const auto add = [&](const char* state, Program made) {
      const Digest hash = canonical_hash(made);
      if (std::find(seen.begin(), seen.end(), hash) != seen.end()) return;
      seen.push_back(hash);
      states.push_back({workload, state, std::move(made)});
    };
    add("imported", program);
    add("inlined", inline_everything(program, target));
    add("fused", fuse_everything(program, target));
  }
  const std::string path = join_path(directory, "states.txt");
  CAIRN_TRY(const std::vector<Prepared> prepared, read_states(path));
  for (const Prepared& state : prepared) {
    const auto from = std::find_if(states.begin(), states.end(), [&](const WorkloadState& s) { return s.workload == state.workload; });
    if (from == states.end()) return Error{Code::parse, fmt::format("{}:{}: there is no workload {}", path, state.line, state.workload), {}, {}};
    Result<Sequence> sequence = apply_sequence(from->program, target, state.actions);
    if (!sequence) {
      Error error = sequence.error();
      error.message = fmt::format("{}:{}: {}", path, state.line, error.message);
      return error;
    }
    states.push_back({state.workload, state.name, std::move(sequence->end)});
  }
  return states;
}

}  // namespace cairn
