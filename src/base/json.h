// JSON values (nlohmann ordered_json, fenced here); parsing never throws out of this module.
#pragma once
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace cairn {

using Json = nlohmann::ordered_json;

// Parses one JSON document; refuses with the byte place, bad UTF-8 and trailing text included.
Result<Json> parse_json(std::string_view text, const std::string& file = {});
// Compact one-line text; non-finite numbers become the strings "nan", "inf", "-inf".
std::string dump_json(const Json& value);
// Indented text (2 spaces) for people.
std::string dump_json_pretty(const Json& value);

// Typed look-ups that refuse with the key's name, found and expected types.
Result<std::string> get_string(const Json& object, const char* key);
Result<std::int64_t> get_int(const Json& object, const char* key);
Result<double> get_double(const Json& object, const char* key);
Result<bool> get_bool(const Json& object, const char* key);

}  // namespace cairn
