#include "strategy/cases.h"

#include <algorithm>
#include <filesystem>

namespace cairn::test {
namespace {

bool starts_with(const std::string& s, const std::string& prefix) { return s.compare(0, prefix.size(), prefix) == 0; }

std::string trimmed(std::string s) {
  while (!s.empty() && (s.back() == '\n' || s.back() == ' ')) s.pop_back();
  return s;
}

}  // namespace

std::vector<Block> read_blocks(const std::string& page) {
  std::vector<Block> blocks;
  std::size_t at = 0;
  bool inside = false;
  while (at < page.size()) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    const std::string line = page.substr(at, end - at);
    if (starts_with(line, "```")) {
      if (inside) {
        blocks.back().end = at;
        blocks.back().text = page.substr(blocks.back().begin, at - blocks.back().begin);
      } else {
        blocks.push_back({line.substr(3), "", end + 1, end + 1});
      }
      inside = !inside;
    }
    at = end + 1;
  }
  return blocks;
}

std::vector<Case> read_cases(const std::string& page, std::vector<std::string>* problems) {
  std::vector<Case> cases;
  std::string before;
  std::string action;
  for (const Block& block : read_blocks(page)) {
    const auto line = static_cast<std::size_t>(std::count(page.begin(), page.begin() + static_cast<std::ptrdiff_t>(block.begin), '\n'));
    const auto complain = [&](const std::string& what) { problems->push_back("line " + std::to_string(line) + ": " + what); };
    if (block.info == "leir before") {
      before = block.text;
      action.clear();
    } else if (block.info == "apply") {
      if (before.empty()) complain("apply without leir before");
      action = trimmed(block.text);
    } else if (block.info == "leir after" || starts_with(block.info, "refuses")) {
      if (action.empty()) complain(block.info + " without apply");
      Case one;
      one.line = line;
      one.before = before;
      one.action = action;
      one.refuses = block.info != "leir after";
      (one.refuses ? one.refusal : one.after) = one.refuses ? trimmed(block.text) : block.text;
      one.after_block = block;
      const std::size_t open = block.info.find('(');
      if (one.refuses && open != std::string::npos) one.condition = std::stoi(block.info.substr(open + 1));
      cases.push_back(one);
      action.clear();
    } else {
      complain("a block \"" + block.info + "\" is none of leir before, apply, leir after, refuses");
    }
  }
  return cases;
}

int count_conditions(const std::string& source) {
  int count = 0;
  std::size_t at = 0;
  while (at < source.size() && starts_with(source.substr(at, 2), "//")) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string line = source.substr(at, end - at);
    if (starts_with(line, "// (" + std::to_string(count + 1) + ")")) ++count;
    at = end + 1;
  }
  return count;
}

std::vector<std::string> list_pages() {
  std::vector<std::string> pages;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(CAIRN_SOURCE_DIR) + "/src/strategy")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path().string());
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

}  // namespace cairn::test
