// Settings that mean the same everywhere, and where each came from: flag, CAIRN_*, --config, the nearest
// cairn.toml, the user's configuration, default (cli.md).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace cairn {

// One known setting; `fallback` is the default as text.
struct SettingRow {
  const char* name;
  const char* fallback;
  const char* help;
};
const std::vector<SettingRow>& known_settings();

struct Setting {
  std::string value;
  std::string source;   // "flag", "CAIRN_SEED", a file's path, "default"
};

class Settings {
 public:
  // Resolves all settings; `flags` holds what the command line gave. Refuses unknown keys and bad files.
  static Result<Settings> resolve(const std::map<std::string, std::string>& flags);
  const Setting& get(const std::string& name) const;
  const std::string& value(const std::string& name) const { return get(name).value; }
  // Unsigned number, or a usage error naming the setting and its source.
  Result<std::uint64_t> number(const std::string& name) const;
  const std::map<std::string, Setting>& all() const { return settings_; }

 private:
  std::map<std::string, Setting> settings_;
};

// $XDG_CACHE_HOME/cairn and $XDG_CONFIG_HOME/cairn with the usual fallbacks.
std::string cache_directory();
std::string config_directory();

}  // namespace cairn
