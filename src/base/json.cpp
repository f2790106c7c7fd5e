#include "base/json.h"

#include <cmath>

#include <fmt/core.h>

namespace cairn {

namespace {
constexpr int kMaxDepth = 256;

// Byte where nesting first exceeds kMaxDepth, or npos; keeps recursion over values bounded.
std::size_t find_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      else if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::string_view::npos;
}

Error parse_failure(std::string_view text, const std::string& file, std::size_t byte, const std::string& message) {
  Error error{Code::parse, message, {}, {}};
  error.where.file = file.empty() ? "<json>" : file;
  byte = std::min(byte, text.size());
  const std::size_t newline = text.substr(0, byte).rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  std::uint32_t line = 1;
  for (const char c : text.substr(0, start)) line += c == '\n' ? 1u : 0u;
  error.where.line = line;
  error.where.column = static_cast<std::uint32_t>(byte - start + 1);
  error.where.line_text = std::string(text.substr(start, text.find('\n', start) - start));
  return error;
}

bool has_non_finite(const Json& value) {
  if (value.is_number_float()) return !std::isfinite(value.get<double>());
  if (!value.is_structured()) return false;
  for (const auto& item : value) {
    if (has_non_finite(item)) return true;
  }
  return false;
}

void name_non_finite(Json& value) {
  if (value.is_number_float()) {
    const double x = value.get<double>();
    if (std::isnan(x)) value = "nan";
    else if (std::isinf(x)) value = x > 0 ? "inf" : "-inf";
  } else if (value.is_structured()) {
    for (auto& item : value) name_non_finite(item);
  }
}

std::string dump(const Json& value, int indent) {
  const auto replace = Json::error_handler_t::replace;
  if (!has_non_finite(value)) return value.dump(indent, ' ', false, replace);
  Json copy = value;
  name_non_finite(copy);
  return copy.dump(indent, ' ', false, replace);
}

Error type_error(const Json& object, const char* key, const char* expected) {
  if (!object.is_object()) {
    return {Code::parse, fmt::format("found {}, expected an object with \"{}\"", object.type_name(), key), {}, {}};
  }
  const auto it = object.find(key);
  if (it == object.end()) return {Code::parse, fmt::format("\"{}\" is missing, expected {}", key, expected), {}, {}};
  return {Code::parse, fmt::format("\"{}\" is {}, expected {}", key, it->type_name(), expected), {}, {}};
}

const Json* find_key(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}
}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& file) {
  if (const std::size_t deep = find_too_deep(text); deep != std::string_view::npos) {
    return parse_failure(text, file, deep, fmt::format("nested deeper than {}", kMaxDepth));
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    // The library's message repeats its own name and place before the second colon.
    std::string what = e.what();
    if (const auto at = what.find(": "); at != std::string::npos) what = what.substr(at + 2);
    return parse_failure(text, file, e.byte > 0 ? e.byte - 1 : 0, "not JSON: " + what);
  } catch (const Json::exception& e) {  // a number out of range
    // "[name of the exception] number overflow parsing '1e999'"
    std::string what = e.what();
    if (const auto at = what.find("] "); at != std::string::npos) what = what.substr(at + 2);
    const auto open = what.find('\''), close = what.rfind('\'');
    const std::size_t place = close > open && close != std::string::npos ? text.find(what.substr(open + 1, close - open - 1)) : 0;
    return parse_failure(text, file, place == std::string_view::npos ? 0 : place, "not JSON: " + what);
  }
}

std::string dump_json(const Json& value) { return dump(value, -1); }
std::string dump_json_pretty(const Json& value) { return dump(value, 2); }

Result<std::string> get_string(const Json& object, const char* key) {
  const Json* v = find_key(object, key);
  if (v == nullptr || !v->is_string()) return type_error(object, key, "a string");
  return v->get<std::string>();
}
Result<std::int64_t> get_int(const Json& object, const char* key) {
  const Json* v = find_key(object, key);
  if (v == nullptr || !v->is_number_integer()) return type_error(object, key, "an integer");
  if (v->is_number_unsigned() && v->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    return type_error(object, key, "an integer of 64 bits with sign");
  }
  return v->get<std::int64_t>();
}
Result<double> get_double(const Json& object, const char* key) {
  const Json* v = find_key(object, key);
  if (v != nullptr && v->is_string()) {  // what dump_json makes of non-finite numbers
    const auto& s = v->get_ref<const std::string&>();
    if (s == "nan") return std::nan("");
    if (s == "inf") return HUGE_VAL;
    if (s == "-inf") return -HUGE_VAL;
  }
  if (v == nullptr || !v->is_number()) return type_error(object, key, "a number");
  return v->get<double>();
}
Result<bool> get_bool(const Json& object, const char* key) {
  const Json* v = find_key(object, key);
  if (v == nullptr || !v->is_boolean()) return type_error(object, key, "true or false");
  return v->get<bool>();
}

}  // namespace cairn
