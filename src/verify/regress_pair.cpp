// The text form of a failure that is replayed (tests/regress).
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "verify/shrink.h"

namespace cairn {

namespace {
Error bad(std::string message) { return Error{Code::parse, "leir-pair: " + std::move(message), {}, {}}; }
}  // namespace

std::string print_regress_pair(const RegressPair& pair) {
  std::string text;
  for (const std::string& remark : pair.remarks) {
    for (std::size_t at = 0; at <= remark.size();) {
      const std::size_t end = std::min(remark.find('\n', at), remark.size());
      text += "% " + remark.substr(at, end - at) + "\n";
      at = end + 1;
    }
  }
  text += fmt::format("claim {}\nexpect {}\n", exactness_name(pair.claim), pair.holds ? "holds" : "refused");
  if (pair.seed != 1) text += fmt::format("seed {}\n", pair.seed);
  if (!pair.action.empty()) text += fmt::format("action {}\n", pair.action);
  for (const auto& [name, values] : pair.inputs) {
    text += "input " + name;
    for (const double x : values) text += std::isnan(x) ? " nan" : std::isinf(x) ? (x > 0 ? " inf" : " -inf") : fmt::format(" {}", x);
    text += "\n";
  }
  const auto program = [&text](const char* word, const std::string& body) {
    text += word;
    text += "\n" + body;
    if (!body.empty() && body.back() != '\n') text += "\n";
  };
  program("before", pair.before);
  if (pair.action.empty()) program("after", pair.after);
  return text;
}

Result<RegressPair> parse_regress_pair(const std::string& text) {
  RegressPair pair;
  std::string* into = nullptr;
  bool claimed = false, expected = false, has_before = false, has_after = false;
  for (const TextLine& at : split_lines(text)) {
    const std::string line(at.text);
    if (line == "before" && !has_before) {
      into = &pair.before;
      has_before = true;
    } else if (line == "after" && has_before && !has_after) {
      into = &pair.after;
      has_after = true;
    } else if (into != nullptr) {
      *into += line + "\n";
    } else if (line.starts_with("% ")) {
      pair.remarks.push_back(line.substr(2));
    } else if (line.starts_with("claim ")) {
      const auto claim = parse_exactness(line.substr(6));
      if (!claim) return bad("unknown class in '" + line + "'");
      pair.claim = *claim;
      claimed = true;
    } else if (line == "expect holds" || line == "expect refused") {
      pair.holds = line == "expect holds";
      expected = true;
    } else if (line.starts_with("seed ")) {
      char* rest = nullptr;
      pair.seed = std::strtoull(line.c_str() + 5, &rest, 10);
      if (*rest != '\0' || rest == line.c_str() + 5) return bad("'" + line + "' has no number");
    } else if (line.starts_with("action ")) {
      pair.action = line.substr(7);
    } else if (line.starts_with("input ")) {
      const std::size_t space = std::min(line.find(' ', 6), line.size());
      pair.inputs.emplace_back(line.substr(6, space - 6), std::vector<double>());
      const char* p = line.c_str() + space;
      for (char* next = nullptr; *p != '\0'; p = next) {
        const double x = std::strtod(p, &next);
        if (next == p) return bad(fmt::format("'{}' in the values of {}, expected numbers", p, pair.inputs.back().first));
        pair.inputs.back().second.push_back(x);
      }
    } else if (!line.empty()) {
      return bad("found '" + line + "', expected a remark, claim, expect, seed, action, input or before");
    }
  }
  if (!claimed || !expected || !has_before) return bad("claim, expect and before are needed");
  if (has_after != pair.action.empty()) return bad("either an action or a program after is needed");
  return pair;
}

Result<ValueMap> regress_inputs(const RegressPair& pair, const Program& program) {
  ValueMap inputs;
  for (const auto& [name, values] : pair.inputs) {
    const Tensor* t = program.find(name);
    if (t == nullptr || t->role == Role::tmp || t->role == Role::out || !t->shape) return bad(fmt::format("{} is no input of the program", name));
    Value v = Value::zeros(t->dtype, *t->shape);
    if (v.size() != static_cast<std::int64_t>(values.size())) return bad(fmt::format("{} has {} elements, found {} values", name, v.size(), values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (v.floats.empty()) v.ints[i] = static_cast<std::int64_t>(values[i]);
      else v.floats[i] = round_to(t->dtype, values[i]);
    }
    inputs.emplace(name, std::move(v));
  }
  return inputs;
}

}  // namespace cairn
