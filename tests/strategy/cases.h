// Reads the cases of a strategy's page: fenced blocks `leir before`, `apply`, then `leir after` or `refuses (N)`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cairn::test {

struct Block {
  std::string info;   // the words after the fence
  std::string text;
  std::size_t begin = 0, end = 0;  // bytes of the text in the page
};
struct Case {
  std::size_t line = 0;
  std::string before, action, after, refusal;
  bool refuses = false;
  int condition = 0;      // of `refuses (N)`; 0: none named
  Block after_block;      // for rewriting goldens
};
std::vector<Block> read_blocks(const std::string& page);
// Cases in order; `problems` gets a line for every block out of place.
std::vector<Case> read_cases(const std::string& page, std::vector<std::string>* problems);
// Numbers (1) (2) ... of the comment at the head of a source file.
int count_conditions(const std::string& source);
// Paths of all pages below src/strategy, sorted; and of the source beside a page.
std::vector<std::string> list_pages();

}  // namespace cairn::test
