#include "strategy/trace.h"

#include <fmt/core.h>

#include <utility>

#include "base/text.h"
#include "ir/canon.h"

namespace cairn {
namespace {

constexpr std::string_view kFirstLine = "% cairn trace 1";
constexpr std::string_view kFrom = "% from ";

std::string_view trim_line(std::string_view s) {
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  return s;
}

// The line without its comment; inside an action's arguments % is the operator.
std::string_view without_comment(std::string_view line) {
  int depth = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '(') ++depth;
    if (line[i] == ')') --depth;
    if (line[i] == '%' && depth <= 0) return line.substr(0, i);
  }
  return line;
}

Error at_line(const std::string& file, std::uint32_t line, std::string_view text, std::string message) {
  return Error{Code::parse, std::move(message), Location{file, line, 1, std::string(text)}, {}};
}

}  // namespace

std::string print_trace(const Trace& trace) {
  std::string out = fmt::format("{}\n{}{}\n", kFirstLine, kFrom, trace.from.hex());
  for (const Action& action : trace.actions) out += print_action(action) + "\n";
  return out;
}

Result<Trace> parse_trace(std::string_view text, const std::string& file) {
  Trace trace;
  std::uint32_t number = 0;
  bool from_seen = false;
  for (const TextLine& at : split_lines(text)) {
    const std::string_view raw = at.text;
    ++number;
    const std::string_view line = trim_line(raw);
    if (number == 1) {
      if (line != kFirstLine) {
        return at_line(file, 1, raw, fmt::format("found \"{}\", expected the first line \"{}\"", line, kFirstLine));
      }
      continue;
    }
    if (!from_seen && line.substr(0, kFrom.size()) == kFrom) {
      if (!parse_digest(line.substr(kFrom.size()), &trace.from)) {
        return at_line(file, number, raw, "the hash after \"% from\" is not 32 hexadecimal digits");
      }
      from_seen = true;
      continue;
    }
    const std::string_view code = trim_line(without_comment(line));
    if (code.empty()) continue;
    Result<Action> action = parse_action(code);
    if (!action) return at_line(file, number, raw, std::move(action.error().message));
    trace.actions.push_back(*std::move(action));
  }
  if (!from_seen) return at_line(file, number, "", "the line \"% from HASH\" is missing");
  return trace;
}

Result<Replay> replay_trace(const Program& start, const Target& target, const std::vector<Action>& actions) {
  Replay replay;
  replay.programs.push_back(start);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    Result<Step> step = apply_action(replay.programs.back(), target, actions[i]);
    if (!step) {
      Error error = std::move(step.error());
      error.message = fmt::format("step {} ({}): {}", i + 1, print_action(actions[i]), error.message);
      return error;
    }
    replay.programs.push_back(step->after);
    replay.steps.push_back(*std::move(step));
  }
  return replay;
}

}  // namespace cairn
