#include "cli/memory_tasks.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "base/file.h"
#include "base/json.h"
#include "ir/text.h"
#include "search/state_summary.h"

namespace cairn {

namespace {

using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

Result<std::int64_t> value_of(std::string_view word, const Sizes& sizes) {
  const auto it = std::find_if(sizes.begin(), sizes.end(), [&](const auto& size) { return size.first == word; });
  if (it != sizes.end()) return it->second;
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc{} || end != word.data() + word.size()) return Error{Code::parse, fmt::format("'{}' is neither a number nor a size", word), {}, {}};
  return value;
}

// A sum with + and - of products.
Result<std::int64_t> evaluate(std::string_view text, const Sizes& sizes) {
  std::int64_t sum = 0, sign = 1;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("+-", begin), text.size());
    std::int64_t product = 1;
    for (std::size_t at = begin; at <= end;) {
      const std::size_t stop = std::min({text.find('*', at), end, text.size()});
      CAIRN_TRY(const std::int64_t factor, value_of(text.substr(at, stop - at), sizes));
      product *= factor;
      at = stop + 1;
    }
    sum += sign * product;
    sign = end < text.size() && text[end] == '-' ? -1 : 1;
    begin = end + 1;
  }
  return sum;
}

Result<MemoryTask> make_task(const std::string& name, const std::string& family, const std::string& text, const Json& names, const Json& values, bool test) {
  MemoryTask task;
  task.family = family;
  task.test = test;
  if (!values.is_array() || values.size() != names.size()) {
    return Error{Code::parse, fmt::format("{}: {} sizes, expected {}", name, values.is_array() ? values.size() : 0, names.size()), {}, {}};
  }
  Sizes sizes;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (!names[k].is_string() || !values[k].is_number_integer() || values[k].get<std::int64_t>() < 1) {
      return Error{Code::parse, fmt::format("{}: size {} is {}, expected a positive integer", name, k, dump_json(values[k])), {}, {}};
    }
    sizes.emplace_back(names[k].get<std::string>(), values[k].get<std::int64_t>());
    task.name += fmt::format("{}{}", k == 0 ? name + "-" : "x", sizes.back().second);
  }
  CAIRN_TRY(const std::string filled, fill_template(text, sizes));
  ParseOptions options;
  options.file = task.name;
  CAIRN_TRY(task.program, parse_program(filled, options));
  if (const std::string found = family_of(task.program); found != family) {
    return Error{Code::parse, fmt::format("{}: the program is of family {}, the list says {}", task.name, found, family), {}, {}};
  }
  return task;
}

}  // namespace

Result<std::string> fill_template(const std::string& text, const Sizes& sizes) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '@') {
      out += text[i++];
      continue;
    }
    const std::size_t end = text.find('@', i + 1);
    if (end == std::string::npos) return Error{Code::parse, fmt::format("byte {}: '@' without its partner", i), {}, {}};
    CAIRN_TRY(const std::int64_t value, evaluate(std::string_view(text).substr(i + 1, end - i - 1), sizes));
    out += std::to_string(value);
    i = end + 1;
  }
  return out;
}

Result<std::vector<MemoryTask>> load_memory_tasks(const std::string& directory) {
  const std::string path = join_path(directory, "tasks.json");
  CAIRN_TRY(const std::string text, read_file(path));
  CAIRN_TRY(const Json list, parse_json(text, path));
  if (!list.is_array()) return Error{Code::parse, path + ": expected a list of {template, family, sizes, memory, test}", {}, {}};
  std::vector<MemoryTask> tasks;
  for (const Json& item : list) {
    CAIRN_TRY(const std::string name, get_string(item, "template"));
    CAIRN_TRY(const std::string family, get_string(item, "family"));
    CAIRN_TRY(const std::string body, read_file(join_path(directory, "templates/" + name + ".leir")));
    for (const char* part : {"memory", "test"}) {
      if (!item.contains(part) || !item[part].is_array() || !item.contains("sizes") || !item["sizes"].is_array()) {
        return Error{Code::parse, fmt::format("{}: {}: expected lists 'sizes', 'memory' and 'test'", path, name), {}, {}};
      }
      for (const Json& values : item[part]) {
        CAIRN_TRY(MemoryTask task, make_task(name, family, body, item["sizes"], values, std::string_view(part) == "test"));
        tasks.push_back(std::move(task));
      }
    }
  }
  return tasks;
}

}  // namespace cairn
