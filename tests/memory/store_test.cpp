// The memory file keeps what it is given: every field, upserts, queries, snapshots, statistics, pruning.
#include "memory/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "memory/store_rows_make.h"

namespace cairn {
namespace {

class Store : public testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("cairn-store");
    ASSERT_TRUE(scratch.ok()) << render(scratch.error());
    scratch_ = std::make_unique<ScratchDir>(*std::move(scratch));
    path_ = join_path(scratch_->path(), "deep/er/memory.db");
  }
  MemoryStore open(MemoryStore::Mode mode = MemoryStore::Mode::write) {
    auto store = MemoryStore::open(path_, mode);
    if (!store.ok()) throw std::runtime_error(render(store.error()));
    return *std::move(store);
  }
  static std::vector<Evidence> read(const MemoryStore& store, const EvidenceQuery& query = {}) {
    auto rows = store.read(query);
    if (!rows.ok()) throw std::runtime_error(render(rows.error()));
    return *std::move(rows);
  }
  std::unique_ptr<ScratchDir> scratch_;
  std::string path_;
};

std::vector<Evidence> random_rows(std::uint64_t seed, const std::string& run, std::uint64_t count) {
  Rng rng(seed);
  std::vector<Evidence> rows;
  for (std::uint64_t k = 0; k < count; ++k) rows.push_back(random_evidence(rng, run, k));
  return rows;
}

TEST_F(Store, KeepsEveryFieldInTheOrderOfIds) {
  std::vector<Evidence> rows = random_rows(1, "run-a", 300);
  {
    MemoryStore store = open();
    ASSERT_TRUE(store.put(rows).ok());
  }
  std::sort(rows.begin(), rows.end(), [](const Evidence& a, const Evidence& b) { return a.id < b.id; });
  const std::vector<Evidence> found = read(open(MemoryStore::Mode::read));
  ASSERT_EQ(found.size(), rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) EXPECT_EQ(describe(found[k]), describe(rows[k]));
}

TEST_F(Store, ReplacesRowsWithEqualIds) {
  MemoryStore store = open();
  std::vector<Evidence> rows = random_rows(2, "run-a", 20);
  ASSERT_TRUE(store.put(rows).ok());
  rows[3].credit = 0.75;
  rows[3].kind = EvidenceKind::passed;
  ASSERT_TRUE(store.put({rows[3], rows[3]}).ok());
  const std::vector<Evidence> found = read(store);
  ASSERT_EQ(found.size(), 20u);
  const auto it = std::find_if(found.begin(), found.end(), [&](const Evidence& e) { return e.id == rows[3].id; });
  EXPECT_EQ(describe(*it), describe(rows[3]));
}

TEST_F(Store, KeepsCardsRunsAndDecisions) {
  MemoryStore store = open();
  MemoryContent content;
  content.directions = {{"first", "do it once", "traffic", "registers\nspill", {"memory", "launch"}, true}, {"own", "", "", "", {}, false}};
  content.locals = {{"loop_split", "own", "when", "how", "checks", true}, {"my_tile", "data_reuse", "", "", "", false}};
  content.edges = {{"START", "own", "first", "", {"memory"}, true}, {"fusion", "own", "", "spills", {}, false}};
  content.runs = {{"run-a", "mm", "product", "htam", "cpu 9f", "t", ~std::uint64_t{0}, 1'700'000'000, 0}};
  content.evidence = random_rows(3, "run-a", 2);
  std::sort(content.evidence.begin(), content.evidence.end(), [](const Evidence& a, const Evidence& b) { return a.id < b.id; });
  content.decisions = {{"run-a", 1, "{\"a\":1}"}, {"run-a", 2, "{}"}};
  ASSERT_TRUE(store.put(content).ok());
  const auto found = store.snapshot();
  ASSERT_TRUE(found.ok()) << render(found.error());
  EXPECT_EQ(describe(without_built_in(*found)), describe(content));
  EXPECT_EQ(store.decision("run-a", 2).value().document, "{}");
  const auto missing = store.decision("run-a", 7);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "run 'run-a' has no decision 7, found 2 of them from 1 to 2");
  EXPECT_EQ(store.decision("run-b", 1).error().code, Code::no_site);
}

TEST_F(Store, SelectsByEveryFieldOfAQuery) {
  MemoryStore store = open();
  std::vector<Evidence> rows = random_rows(4, "run-a", 150);
  const std::vector<Evidence> more = random_rows(5, "run-b", 150);
  rows.insert(rows.end(), more.begin(), more.end());
  ASSERT_TRUE(store.put(rows).ok());
  const Evidence like = rows[17];
  EvidenceQuery queries[8];
  queries[0].task = like.task.name;
  queries[1].family = "softmax";
  queries[2].run = "run-b";
  queries[3].direction = like.direction;
  queries[4].local = like.local;
  queries[5].newest = like.date;
  queries[6] = {like.task.name, "", "run-a", like.direction, "", like.date};
  queries[7].run = "run-c";
  for (const EvidenceQuery& q : queries) {
    const auto fits = [](const std::string& wanted, const std::string& found) { return wanted.empty() || wanted == found; };
    std::size_t expected = 0;
    for (const Evidence& e : rows) {
      expected += fits(q.task, e.task.name) && fits(q.family, e.task.family) && fits(q.run, e.run) && fits(q.direction, e.direction) &&
                  fits(q.local, e.local) && (q.newest == 0 || e.date <= q.newest);
    }
    EXPECT_EQ(read(store, q).size(), expected);
  }
  EXPECT_EQ(read(store, queries[7]).size(), 0u);
}

TEST_F(Store, WritesAllRowsOrNone) {
  MemoryStore store = open();
  const std::vector<Evidence> good = random_rows(6, "run-a", 5);
  ASSERT_TRUE(store.put(good).ok());
  struct Case { const char* expected; void (*spoil)(Evidence&); };
  const Case cases[] = {
      {"\"gain\" is nan", [](Evidence& e) { e.gain = std::nan(""); }},
      {"\"credit\" is -inf", [](Evidence& e) { e.credit = -std::numeric_limits<double>::infinity(); }},
      {"\"features\" is not finite", [](Evidence& e) { e.task.features = {1, std::nan("")}; }},
      {"\"number\" is 18446744073709551615", [](Evidence& e) { e.number = ~std::uint64_t{0}; }},
      {"\"run\" is empty", [](Evidence& e) { e.run.clear(); }},
      {"\"local\" is empty", [](Evidence& e) { e.local.clear(); }},
      {"\"direction\" is no single word", [](Evidence& e) { e.direction = "ignore what was said"; }},
      {"\"outcome\" is no single word", [](Evidence& e) { e.outcome = std::string(200, 'x'); }},
      {"\"task\" is no line", [](Evidence& e) { e.task.name = "two\nlines"; }},
      {"\"arguments\" is no line", [](Evidence& e) { e.arguments = "\xff\xfe"; }},
      {"\"arguments\" is no line", [](Evidence& e) { e.arguments = "surrogate \xed\xa0\x80"; }},
      {"\"arguments\" is no line", [](Evidence& e) { e.arguments = "overlong \xc0\xaf"; }},
      {"\"arguments\" is no line", [](Evidence& e) { e.arguments = std::string("zero\0byte", 9); }},
      {"\"implementer\" is no line", [](Evidence& e) { e.implementer = std::string(5000, 'x'); }}};
  for (const Case& c : cases) {
    std::vector<Evidence> rows = random_rows(7, "run-b", 3);
    c.spoil(rows[2]);
    const auto put = store.put(rows);
    ASSERT_FALSE(put.ok()) << c.expected;
    EXPECT_EQ(put.error().code, Code::parse);
    EXPECT_NE(put.error().message.find(c.expected), std::string::npos) << put.error().message;
    EXPECT_EQ(read(store).size(), 5u);
  }
}

TEST_F(Store, AReaderOpenedForReadingWritesNothing) {
  open();
  MemoryStore store = open(MemoryStore::Mode::read);
  const auto put = store.put(random_rows(8, "run-a", 1));
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().code, Code::io);
}

TEST_F(Store, CountsNodesAndEdges) {
  MemoryStore store = open();
  std::vector<Evidence> rows = random_rows(9, "run-a", 14);
  const double gains[] = {0.1, 0.2, -0.1, 0, 0.4, 0.3, 0.3, 0.3, 0.3, 0.3, 0.2, 0, 0, 0};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Evidence& e = rows[k];
    e.direction = "fusion";
    e.local = "operator_fusion";
    e.directions = {k % 2 == 0 ? "algebra" : kStartNode, k == 0 ? "parallelism" : ""};
    e.locals = {"powsimp", ""};
    e.gain = gains[k];
    e.credit = gains[k] + 1;
    e.date = static_cast<std::int64_t>(1000 + k);
    e.kind = k < 11 ? EvidenceKind::passed : k == 11 ? EvidenceKind::failed : k == 12 ? EvidenceKind::host : EvidenceKind::inner;
  }
  ASSERT_TRUE(store.put(rows).ok());
  const auto statistics = store.statistics();
  ASSERT_TRUE(statistics.ok()) << render(statistics.error());
  const auto find = [&](const std::string& part, const std::string& origin, const std::string& node, int lag) {
    for (const NodeStatistics& n : *statistics) {
      if (n.part == part && n.origin == origin && n.node == node && n.lag == lag) return n;
    }
    ADD_FAILURE() << part << " " << origin << " " << node << " " << lag;
    return NodeStatistics{};
  };
  const NodeStatistics node = find("direction", "", "fusion", 0);
  EXPECT_EQ(node.tries, 12u);
  EXPECT_EQ(node.passed, 11u);
  EXPECT_EQ(node.failed, 1u);
  EXPECT_EQ(node.improved, 9u);
  EXPECT_NEAR(node.gain_mean, 2.3 / 11, 1e-12);
  EXPECT_NEAR(node.gain_variance, 0.71 / 11 - 2.3 / 11 * 2.3 / 11, 1e-12);
  EXPECT_NEAR(node.gain_trend, 0.22 - 2.3 / 11, 1e-12);   // the oldest passed row is left out of the newest ten
  EXPECT_NEAR(node.credit_mean, 1 + 2.3 / 11, 1e-12);
  EXPECT_EQ(find("local", "", "operator_fusion", 0).tries, 12u);
  EXPECT_EQ(find("direction", "algebra", "fusion", 1).tries, 6u);
  EXPECT_EQ(find("direction", kStartNode, "fusion", 1).failed, 1u);
  EXPECT_EQ(find("direction", "parallelism", "fusion", 2).tries, 1u);
  EXPECT_EQ(find("local", "powsimp", "operator_fusion", 1).passed, 11u);
  EXPECT_EQ(statistics->size(), 6u);
}

TEST_F(Store, CountsTheRowsOfDevices) {
  MemoryStore store = open();
  std::vector<Evidence> rows = random_rows(10, "run-a", 30);
  std::int64_t newest = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    rows[k].device = k < 20 ? DeviceMark{"cpu 9f", "avx512", "cpu"} : DeviceMark{"h200", "sm_90", "gpu"};
    if (k < 20) newest = std::max(newest, rows[k].date);
  }
  ASSERT_TRUE(store.put(rows).ok());
  const auto devices = store.devices();
  ASSERT_TRUE(devices.ok()) << render(devices.error());
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[0].device.fingerprint, "cpu 9f");
  EXPECT_EQ((*devices)[0].rows, 20u);
  EXPECT_EQ((*devices)[0].newest, newest);
  EXPECT_EQ((*devices)[1].device, (DeviceMark{"h200", "sm_90", "gpu"}));
}

TEST_F(Store, PrunesByAgeQueryAndCount) {
  MemoryStore store = open();
  std::vector<Evidence> rows = random_rows(11, "run-a", 40);
  const std::vector<Evidence> more = random_rows(12, "run-b", 40);
  rows.insert(rows.end(), more.begin(), more.end());
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k].date = static_cast<std::int64_t>(1000 + k);
  MemoryContent content;
  content.evidence = rows;
  for (const char* run : {"run-a", "run-b"}) {
    content.runs.push_back({run, "mm", "product", "htam", "cpu", "t", 1, 1000, 2000});
    content.decisions.push_back({run, 1, "{}"});
  }
  ASSERT_TRUE(store.put(content).ok());
  EvidenceQuery of_a;
  of_a.run = "run-a";
  EXPECT_EQ(store.count_prunable(1010, {}, 0).value(), 10u);
  EXPECT_EQ(store.prune(1010, {}, 0).value(), 10u);
  EXPECT_EQ(store.prune(1010, {}, 0).value(), 0u);
  EXPECT_EQ(store.prune(0, {}, ~std::uint64_t{0}).value(), 0u);   // more than there can be: all stay
  EXPECT_EQ(store.count_prunable(0, of_a, 12).value(), 18u);
  EXPECT_EQ(store.prune(0, of_a, 12).value(), 18u);
  std::vector<Evidence> left = read(store, of_a);
  ASSERT_EQ(left.size(), 12u);
  for (const Evidence& e : left) EXPECT_GE(e.date, 1028);
  EXPECT_EQ(store.prune(1030, of_a, 11).value(), 1u);   // the newest eleven stay whatever their age
  EXPECT_EQ(store.prune(0, of_a, 0).value(), 11u);
  const auto after = store.snapshot();
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->evidence.size(), 40u);
  ASSERT_EQ(after->runs.size(), 1u);
  EXPECT_EQ(after->runs[0].id, "run-b");
  ASSERT_EQ(after->decisions.size(), 1u);
  EXPECT_EQ(after->decisions[0].run, "run-b");
}

TEST_F(Store, PruningGivesTheSpaceBack) {
  MemoryStore store = open();
  ASSERT_TRUE(store.put(random_rows(13, "run-a", 5000)).ok());
  ASSERT_EQ(store.prune(0, {}, 10).value(), 4990u);
  const auto bytes = read_file(path_);
  ASSERT_TRUE(bytes.ok());
  EXPECT_LT(bytes->size(), 200'000u);
}

}  // namespace
}  // namespace cairn
