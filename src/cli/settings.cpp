#include "cli/settings.h"

#include <charconv>
#include <climits>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"

namespace cairn {

namespace {

std::string env_name(const std::string& key) {
  std::string name = "CAIRN_";
  for (const char c : key) name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string directory_of(const char* variable, const char* under_home) {
  if (const char* value = std::getenv(variable); value && *value) return join_path(value, "cairn");
  const char* home = std::getenv("HOME");
  return join_path(join_path(home && *home ? home : "/tmp", under_home), "cairn");
}

// The nearest cairn.toml from the working directory upwards, or empty.
std::string nearest_config() {
  char buffer[PATH_MAX];
  if (!getcwd(buffer, sizeof buffer)) return {};
  for (std::string directory = buffer;; directory = dirname_of(directory)) {
    const std::string path = join_path(directory, "cairn.toml");
    if (file_exists(path)) return path;
    if (directory == "/" || directory == ".") return {};
  }
}

Result<std::map<std::string, std::string>> read_config(const std::string& path) {
  CAIRN_TRY(const std::string text, read_file(path));
  std::map<std::string, std::string> values;
  std::istringstream stream(text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(stream);
  } catch (const std::exception& e) {
    return Error{Code::usage, fmt::format("{}: cannot be read as TOML: {}", path, e.what()), {}, {}};
  }
  for (const CLI::ConfigItem& item : items) {
    const std::string key = item.fullname();
    bool known = false;
    for (const SettingRow& row : known_settings()) known |= key == row.name;
    if (!known) {
      return Error{Code::usage, fmt::format("{}: unknown setting '{}'", path, key), {},
                   {"'cairn config' lists the settings"}};
    }
    if (item.inputs.size() != 1) {
      return Error{Code::usage, fmt::format("{}: '{}' has {} values, expected one", path, key, item.inputs.size()), {}, {}};
    }
    values[key] = item.inputs[0];
  }
  return values;
}

}  // namespace

std::string cache_directory() { return directory_of("XDG_CACHE_HOME", ".cache"); }
std::string config_directory() { return directory_of("XDG_CONFIG_HOME", ".config"); }

const std::vector<SettingRow>& known_settings() {
  static const std::vector<SettingRow> rows{
      {"seed", "1", "seed of every random choice"},
      {"jobs", "0", "compile workers; 0 means one a core"},
      {"budget", "200evals,60s", "limit of a search: a list such as 200evals,10min of evals, proposals, compiles, s, min, h, device-s, tokens, usd"},
      {"target", "host", "machine to optimise for: host, described, or a JSON file that 'cairn doctor --show-target' printed"},
      {"device", "cpu", "device that runs candidates: cpu, or simulated, which predicts their times and runs nothing"},
      {"out", "", "file or directory that results are written to"},
      {"algorithm", "beam", "search algorithm: chain, greedy, beam, bfs, dfs, mcts, random, trajectory or evolve"},
      {"proposer", "cost-model", "what proposes moves: cost-model, memory, enumerate or random"},
      {"memory", "", "memory file that searches by it read and write; empty: the user's, off: none"},
      {"memory-mode", "htam", "who decides: htam, flat, flat+, replay, feedback, vanilla, ucb, random, or htam less a part"},
      {"python", "", "python with torch for imports; empty: .venv beside the program or the working directory, then python3"},
      {"cc", "", "C compiler; empty: cc"},
      {"cache", "", "cache directory; empty: the user's"},
      {"progress", "auto", "auto, lines, terminal or off"},
  };
  return rows;
}

Result<Settings> Settings::resolve(const std::map<std::string, std::string>& flags) {
  Settings settings;
  for (const SettingRow& row : known_settings()) settings.settings_[row.name] = {row.fallback, "default"};
  std::vector<std::string> files;
  const std::string user = join_path(config_directory(), "cairn.toml");
  if (file_exists(user)) files.push_back(user);
  if (const std::string near = nearest_config(); !near.empty()) files.push_back(near);
  if (const auto it = flags.find("config"); it != flags.end()) {
    if (!file_exists(it->second)) return Error{Code::usage, fmt::format("--config {}: no such file", it->second), {}, {}};
    files.push_back(it->second);
  }
  for (const std::string& file : files) {
    CAIRN_TRY(const auto values, read_config(file));
    for (const auto& [key, value] : values) settings.settings_[key] = {value, file};
  }
  for (auto& [key, setting] : settings.settings_) {
    const std::string variable = env_name(key);
    if (const char* value = std::getenv(variable.c_str())) setting = {value, variable};
    if (const auto it = flags.find(key); it != flags.end()) setting = {it->second, "flag"};
  }
  return settings;
}

const Setting& Settings::get(const std::string& name) const { return settings_.at(name); }

Result<std::uint64_t> Settings::number(const std::string& name) const {
  const Setting& s = get(name);
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(s.value.data(), s.value.data() + s.value.size(), value);
  if (code != std::errc{} || end != s.value.data() + s.value.size()) {
    return Error{Code::usage, fmt::format("{} is '{}' (from {}), expected a non-negative integer", name, s.value, s.source), {}, {}};
  }
  return value;
}

}  // namespace cairn
