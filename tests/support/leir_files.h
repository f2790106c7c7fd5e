// The LEIR data files of the tests, by folder under tests/leir.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"

namespace cairn {

struct LeirFile {
  std::string name;  // without folder and extension
  std::string text;
};

// All *.leir files of tests/leir/FOLDER, sorted by name.
inline std::vector<LeirFile> load_leir_files(const std::string& folder) {
  std::vector<LeirFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(CAIRN_SOURCE_DIR) + "/tests/leir/" + folder)) {
    if (entry.path().extension() != ".leir") continue;
    Result<std::string> text = read_file(entry.path().string());
    files.push_back({entry.path().stem().string(), text.ok() ? *std::move(text) : std::string()});
  }
  std::sort(files.begin(), files.end(), [](const LeirFile& a, const LeirFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace cairn
