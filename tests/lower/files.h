// Files of the lowering tests.
#pragma once
#include <dirent.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cairn::test {

// Names without suffix of the .leir files in a directory, sorted.
inline std::vector<std::string> leir_files(const std::string& directory) {
  std::vector<std::string> names;
  if (DIR* d = opendir(directory.c_str())) {
    while (const dirent* entry = readdir(d)) {
      const std::string name = entry->d_name;
      if (name.ends_with(".leir")) names.push_back(name.substr(0, name.size() - 5));
    }
    closedir(d);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cairn::test
