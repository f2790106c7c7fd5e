// Files of program pairs: "## FIELD | FIELD ..." heads a pair, "--" stands between its two programs.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "ir/text.h"

namespace cairn {

struct PairText {
  std::vector<std::string> fields;   // as many as were asked for; missing ones are empty
  std::string before, after;
};

// The program of a text; fails the calling test on error.
inline Program parse_ok(const std::string& text) {
  Result<Program> p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p ? std::string() : render(p.error()));
  return p ? *std::move(p) : Program();
}

// The pairs of tests/verify/data/NAME, in order.
inline std::vector<PairText> load_pair_file(const std::string& name, std::size_t fields) {
  const Result<std::string> text = read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/verify/data/" + name);
  EXPECT_TRUE(text.ok());
  std::vector<PairText> pairs;
  std::string* into = nullptr;
  for (std::size_t at = 0; text.ok() && at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    const std::string line = text->substr(at, end - at);
    at = end + 1;
    if (line.starts_with("## ")) {
      PairText pair;
      for (std::size_t from = 3; from <= line.size();) {
        const std::size_t bar = std::min(line.find(" |", from), line.size());
        pair.fields.emplace_back(trim(std::string_view(line).substr(from, bar - from)));
        from = bar + 2;
      }
      pair.fields.resize(fields);
      pairs.push_back(std::move(pair));
      into = &pairs.back().before;
    } else if (line == "--") {
      into = &pairs.back().after;
    } else if (into != nullptr) {
      *into += line + "\n";
    }
  }
  return pairs;
}

}  // namespace cairn
