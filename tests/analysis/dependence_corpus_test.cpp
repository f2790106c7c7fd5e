// The worked programs and benchmarks: fast tests and isl agree on every loop, and isl is hardly ever needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analysis/dependence.h"
#include "base/file.h"
#include "ir/text.h"

namespace cairn {
namespace {

std::vector<std::pair<std::string, Program>> corpus() {
  std::vector<std::string> files;
  for (const char* folder : {"tests/leir/ok", "bench/programs"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(CAIRN_SOURCE_DIR) + "/" + folder)) {
      if (entry.path().extension() == ".leir") files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::pair<std::string, Program>> programs;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    auto program = text.ok() ? parse_program(*text) : Result<Program>(text.error());
    if (program.ok()) programs.emplace_back(file, *std::move(program));
  }
  return programs;
}

void collect_loops(const Body& body, StmtPath& path, std::vector<StmtPath>* loops) {
  for (std::uint32_t i = 0; i < body.size(); ++i) {
    path.push_back(i);
    if (body[i]->is_loop()) loops->push_back(path);
    collect_loops(body[i]->body, path, loops);
    path.pop_back();
  }
}

std::multiset<std::string> carried(const Program& p, const StmtPath& loop) {
  std::multiset<std::string> out;
  for (const Dependence& d : carried_dependences(p, loop)) {
    out.insert(std::to_string(static_cast<int>(d.kind)) + d.source.tensor + std::to_string(d.source.equation) + "-" +
               std::to_string(d.sink.equation) + (d.certain ? "" : "?"));
  }
  return out;
}

TEST(DependenceCorpus, FastTestsDecideAndAgreeWithIsl) {
  const auto programs = corpus();
  ASSERT_GT(programs.size(), 20U);
  std::uint64_t queries = 0;
  std::uint64_t needed_isl = 0;
  for (const auto& [file, p] : programs) {
    SCOPED_TRACE(file);
    std::vector<StmtPath> loops;
    StmtPath path;
    collect_loops(p.body(), path, &loops);
    std::size_t compared = 0;
    for (const StmtPath& loop : loops) {
      const DependenceCounters before = dependence_counters();
      const auto found = carried(p, loop);
      const DependenceCounters after = dependence_counters();
      queries += after.fast - before.fast + after.isl - before.isl;
      needed_isl += after.isl - before.isl;
      EXPECT_EQ(after.unknown, before.unknown);
      if (++compared > 6) continue;   // isl takes its time
      set_dependence_mode(DependenceMode::isl_only);
      EXPECT_EQ(found, carried(p, loop)) << "loop " << p.body()[loop[0]]->var << " depth " << loop.size();
      set_dependence_mode(DependenceMode::automatic);
    }
  }
  RecordProperty("queries", static_cast<int>(queries));
  RecordProperty("isl", static_cast<int>(needed_isl));
  EXPECT_LE(needed_isl * 100, queries);
}

}  // namespace
}  // namespace cairn
