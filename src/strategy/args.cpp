#include "strategy/args.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/text.h"
#include "strategy/registry.h"

namespace cairn {
namespace {

bool is_digits(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> parse_int(std::string_view s) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (code != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> out;
  std::size_t from = 0;
  while (true) {
    const std::size_t at = text.find(separator, from);
    out.emplace_back(text.substr(from, at == std::string_view::npos ? at : at - from));
    if (at == std::string_view::npos) return out;
    from = at + 1;
  }
}

// "0.i", "0.i#1", or a nest's index "0".
bool is_loop_address(std::string_view s) {
  const std::size_t dot = s.find('.');
  if (dot == std::string_view::npos) return is_digits(s);
  if (!is_digits(s.substr(0, dot))) return false;
  std::string_view name = s.substr(dot + 1);
  const std::size_t hash = name.find('#');
  if (hash != std::string_view::npos) {
    if (!is_digits(name.substr(hash + 1))) return false;
    name = name.substr(0, hash);
  }
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_tensor_name(std::string_view s) {
  if (s.empty() || s[0] < 'A' || s[0] > 'Z') return false;
  return std::all_of(s.begin() + 1, s.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

std::string_view form_of(ArgType type) {
  switch (type) {
    case ArgType::loop: return "a loop address such as 0.i or 0.i#1";
    case ArgType::equation: return "an equation such as s3";
    case ArgType::nest: return "a nest's index such as 2";
    case ArgType::tensor: return "a tensor's name such as D";
    case ArgType::integer: return "an integer";
    case ArgType::integers: return "integers such as 12x32x256";
    case ArgType::choice: return "one of the choices";
    case ArgType::loops: return "loop addresses such as 0.i+0.j";
    case ArgType::text: return "text";
  }
  return "text";
}

bool has_form(const Param& param, const std::string& value) {
  switch (param.type) {
    case ArgType::loop: return is_loop_address(value);
    case ArgType::equation: return value.size() > 1 && value[0] == 's' && is_digits(std::string_view(value).substr(1));
    case ArgType::nest: return is_digits(value);
    case ArgType::tensor: return is_tensor_name(value);
    case ArgType::integer: return parse_int(value).has_value();
    case ArgType::integers: {
      const std::vector<std::string> parts = split_at(value, 'x');
      return std::all_of(parts.begin(), parts.end(), [](const std::string& p) { return parse_int(p).has_value(); });
    }
    case ArgType::choice: return std::find(param.choices.begin(), param.choices.end(), value) != param.choices.end();
    case ArgType::loops: {
      const std::vector<std::string> parts = split_at(value, '+');
      return std::all_of(parts.begin(), parts.end(), [](const std::string& p) { return is_loop_address(p); });
    }
    case ArgType::text: return !value.empty();
  }
  return false;
}

std::string join_names(const Strategy& strategy) {
  std::string out;
  for (const Param& param : strategy.params) out += fmt::format("{}{}", out.empty() ? "" : ", ", param.name);
  return out;
}

Error usage(std::string message) { return Error{Code::usage, std::move(message), {}, {}}; }

}  // namespace

const std::string* Args::find(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return &value;
  }
  return nullptr;
}

const std::string& Args::get(std::string_view name) const {
  const std::string* value = find(name);
  CAIRN_CHECK_MSG(value != nullptr, std::string(name));
  return *value;
}

std::int64_t Args::get_int(std::string_view name) const {
  const std::optional<std::int64_t> value = parse_int(get(name));
  CAIRN_CHECK_MSG(value.has_value(), std::string(name));
  return *value;
}

std::vector<std::int64_t> Args::get_ints(std::string_view name) const {
  std::vector<std::int64_t> out;
  for (const std::string& part : split_at(get(name), 'x')) {
    const std::optional<std::int64_t> value = parse_int(part);
    CAIRN_CHECK_MSG(value.has_value(), std::string(name));
    out.push_back(*value);
  }
  return out;
}

std::vector<std::string> Args::get_list(std::string_view name) const { return split_at(get(name), '+'); }

void Args::set(std::string name, std::string value) {
  for (auto& entry : values_) {
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  }
  values_.emplace_back(std::move(name), std::move(value));
}

std::string print_action(const Action& action) {
  std::string out = action.strategy + "(";
  bool first = true;
  for (const auto& [name, value] : action.args.values()) {
    out += fmt::format("{}{}={}", first ? "" : ", ", name, value);
    first = false;
  }
  return out + ")";
}

Result<Args> check_args(const Strategy& strategy, const Args& args) {
  for (const auto& entry : args.values()) {
    const bool known = std::any_of(strategy.params.begin(), strategy.params.end(),
                                   [&](const Param& p) { return p.name == entry.first; });
    if (!known) {
      return usage(fmt::format("{} has no parameter {}; its parameters are {}", strategy.name, entry.first,
                               join_names(strategy)));
    }
  }
  Args out;
  for (const Param& param : strategy.params) {
    const std::string* value = args.find(param.name);
    if (!value) {
      if (param.fallback.empty()) {
        return usage(fmt::format("{} needs the parameter {}: {}", strategy.name, param.name, param.help));
      }
      out.set(std::string(param.name), std::string(param.fallback));
      continue;
    }
    // A default may lie outside the form: it then stands for "none" (loop=-).
    if (*value != param.fallback && !has_form(param, *value)) {
      std::string choices;
      for (const std::string_view choice : param.choices) choices += fmt::format("{}{}", choices.empty() ? ": " : ", ", choice);
      return usage(fmt::format("{}: {}={} is not {}{}", strategy.name, param.name, *value, form_of(param.type), choices));
    }
    out.set(std::string(param.name), *value);
  }
  return out;
}

Result<Action> parse_action(std::string_view text) {
  const std::string_view all = trim(text);
  const std::size_t open = all.find('(');
  if (open == std::string_view::npos || all.back() != ')') {
    return usage(fmt::format("\"{}\" is not an action; write strategy(name=value, ...)", all));
  }
  Action action;
  action.strategy = std::string(trim(all.substr(0, open)));
  const Strategy* strategy = find_strategy(action.strategy);
  if (!strategy) return usage(fmt::format("there is no strategy {}; see the catalogue", action.strategy));
  const std::string_view inner = all.substr(open + 1, all.size() - open - 2);
  std::size_t from = 0;
  int depth = 0;
  Args args;
  for (std::size_t i = 0; i <= inner.size(); ++i) {
    if (i < inner.size()) {
      const char c = inner[i];
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (c != ',' || depth != 0) continue;
    }
    const std::string_view part = trim(inner.substr(from, i - from));
    from = i + 1;
    if (part.empty() && i == inner.size() && args.values().empty()) break;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return usage(fmt::format("{}: \"{}\" is not name=value", action.strategy, part));
    }
    const std::string name(trim(part.substr(0, equals)));
    if (args.find(name)) return usage(fmt::format("{}: {} is given twice", action.strategy, name));
    args.set(name, std::string(trim(part.substr(equals + 1))));
  }
  CAIRN_TRY(action.args, check_args(*strategy, args));
  return action;
}

}  // namespace cairn
