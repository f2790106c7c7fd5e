#include "strategy/sequence.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ir/walk.h"
#include "strategy/edit/band.h"

namespace cairn {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads digits from `at` on.
std::size_t read_number(std::string_view text, std::size_t* at) {
  std::size_t value = 0;
  while (*at < text.size() && is_digit(text[*at]) && value < 100000) value = value * 10 + static_cast<std::size_t>(text[(*at)++] - '0');
  return value;
}

// `$K.N` becomes the name; refuses lines that made no such name.
Result<std::string> fill_names(std::string_view line, const std::vector<std::vector<std::string>>& created) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] != '$') {
      out += line[at++];
      continue;
    }
    const std::size_t from = at++;
    const std::size_t step = read_number(line, &at);
    std::size_t name = 0;
    const bool dotted = at + 1 < line.size() && line[at] == '.' && is_digit(line[at + 1]);
    if (dotted) {
      ++at;
      name = read_number(line, &at);
    }
    if (!dotted || step == 0 || step > created.size() || name >= created[step - 1].size()) {
      return Error{Code::no_site, fmt::format("{} names nothing: line {} created {} names", line.substr(from, at - from), step,
                                              step == 0 || step > created.size() ? 0 : created[step - 1].size()), {}, {}};
    }
    out += created[step - 1][name];
  }
  return out;
}

}  // namespace

Result<Sequence> apply_sequence(const Program& program, const Target& target, const std::vector<std::string>& lines) {
  Sequence sequence;
  sequence.end = program;
  std::vector<std::vector<std::string>> created;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    std::string_view line = lines[k];
    const bool optional = !line.empty() && line[0] == '?';
    if (optional) line.remove_prefix(1);
    created.emplace_back();
    const auto run = [&]() -> Result<Step> {
      CAIRN_TRY(const std::string text, fill_names(line, created));
      CAIRN_TRY(Action action, parse_action(text));
      CAIRN_TRY(Step step, apply_action(sequence.end, target, action));
      sequence.actions.push_back(std::move(action));
      return step;
    };
    Result<Step> step = run();
    if (!step) {
      if (optional && step.error().code != Code::usage) {
        sequence.skipped.push_back(fmt::format("line {}: {}", k + 1, step.error().message));
        continue;
      }
      Error error = std::move(step.error());
      error.message = fmt::format("line {} ({}): {}", k + 1, line, error.message);
      return error;
    }
    created.back() = step->created;
    sequence.end = step->after;
    sequence.exactness = std::max(sequence.exactness, step->exactness);
    sequence.steps.push_back(*std::move(step));
  }
  return sequence;
}

std::vector<std::string> find_loops_named(const Program& program, std::string_view var) {
  std::vector<std::string> out;
  for (const StmtPath& path : collect_loops(program.body())) {
    if (stmt_at(program.body(), path)->var == var) out.push_back(loop_address(program.body(), path));
  }
  return out;
}

}  // namespace cairn
