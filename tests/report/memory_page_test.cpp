#include "report/memory_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "report/memory_page_parts.h"
#include "report/svg.h"

namespace cairn {
namespace {

Json statistics(double tries, double passed, double credit) {
  return {{"tries", tries}, {"passed", passed}, {"failed", tries - passed}, {"improved", passed}, {"gain_mean", credit / 2}, {"gain_trend", 0.0},
      {"credit_mean", credit}};
}

Json with(Json object, const Json& more) {
  object.update(more);
  return object;
}

Json sample_memory() {
  Json locals = Json::array();
  for (const char* name : {"tile", "pad", "reorder", "stage", "swizzle<2>", "split"}) locals.push_back(with({{"name", name}}, statistics(3, 2, 0.2)));
  return {{"memory", "a&b.db"},
          {"rows", 30},
          {"tasks", 2},
          {"runs", 3},
          {"directions",
           {with({{"name", "data_reuse"}, {"intent", "use what is loaded"}, {"locals", locals}}, statistics(18, 12, 0.4)),
            with({{"name", "a<b>&\"c\""}, {"locals", Json::array()}}, statistics(2, 0, 0)),
            with({{"name", "fusion"}, {"locals", {with({{"name", "fuse"}}, statistics(0, 0, 0))}}}, statistics(0, 0, 0))}},
          {"edges",
           {with({{"from", "START"}, {"node", "data_reuse"}, {"rationale", "first <things>"}}, statistics(16, 16, 0.4)),
            with({{"from", "data_reuse"}, {"node", "data_reuse"}}, statistics(4, 2, -0.4)),
            with({{"from", "data_reuse"}, {"node", "a<b>&\"c\""}}, statistics(2, 0, 0)),
            with({{"from", "gone"}, {"node", "fusion"}}, statistics(1, 1, 0.1))}}};
}

Json record(int n, int parent, const char* outcome, double score, const char* name = "") {
  Json json{{"n", n}, {"parent", parent}, {"template", name}, {"actions", Json::array()}, {"outcome", outcome}, {"score", score}};
  if (n > 0) json["actions"] = {"loop_split(loop=0.a<1>, factor=8)", "x()"};
  if (std::string(outcome) == "ok") json["time"] = {{"median", 1e-3}};
  return json;
}

Json sample_run() {
  return {{"header", {{"task", "soft<max>"}, {"algorithm", "beam"}, {"proposer", "memory"}, {"seed", 1}, {"device", "cpu"}}},
          {"records", {record(0, 0, "ok", 0), record(1, 0, "ok", 0.5, "schedule"), record(2, 0, "wrong", 0), record(3, 1, "ok", 0.9), record(4, 1, "ok", -6)}},
          {"end", "evaluations"}};
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}
bool holds(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }
std::string draw_all(const Json& records) { return draw_search_tree(records, pick_drawn(records, records.size())); }

TEST(MemoryPage, DrawsEveryDirectionAndEdge) {
  const std::string graph = draw_memory_graph(sample_memory());
  EXPECT_EQ(count_of(graph, "<g class=\"node "), 4u);   // three directions and START
  EXPECT_EQ(count_of(graph, "<g class=\"edge "), 3u);   // the one from an unknown node has no place
  EXPECT_TRUE(holds(graph, "data-from=\"START\" data-to=\"data_reuse\"><title>START to data_reuse: 16 tries, 16 passed"));
  EXPECT_TRUE(holds(graph, "<g class=\"edge u6\" data-from=\"START\""));
  EXPECT_TRUE(holds(graph, "<g class=\"edge u0\" data-from=\"data_reuse\" data-to=\"data_reuse\""));
  EXPECT_TRUE(holds(graph, "<g class=\"edge u3 none\""));   // nothing passed
  EXPECT_TRUE(holds(graph, "stroke-width=\"7.2\""));        // the most tried edge
  EXPECT_TRUE(holds(graph, "stroke-width=\"4.2\""));        // a quarter of its tries
  EXPECT_EQ(count_of(graph, "<g class=\"local\">"), 4u);
  EXPECT_TRUE(holds(graph, "and 2 more"));
  EXPECT_TRUE(holds(graph, "never tried, 1 locals known"));
}

TEST(MemoryPage, TablesHoldWhatThePictureLeavesOut) {
  const std::string page = render_memory_page(sample_memory(), Json());
  EXPECT_TRUE(holds(page, "<td>gone</td><td>fusion</td>"));
  EXPECT_TRUE(holds(page, "<td>data_reuse</td><td>swizzle&lt;2&gt;</td>"));
  EXPECT_FALSE(holds(page, "id=\"tree\""));
}

TEST(MemoryPage, EscapesEveryName) {
  const std::string page = render_memory_page(sample_memory(), sample_run());
  EXPECT_FALSE(holds(page, "a<b>"));
  EXPECT_FALSE(holds(page, "first <things>"));
  EXPECT_FALSE(holds(page, "swizzle<2>"));
  EXPECT_FALSE(holds(page, "0.a<1>"));
  EXPECT_FALSE(holds(page, "soft<max>"));
  EXPECT_TRUE(holds(page, "data-node=\"a&lt;b&gt;&amp;&quot;c&quot;\""));
  EXPECT_TRUE(holds(page, "a&amp;b.db"));
}

TEST(MemoryPage, NeedsNothingFromOutside) {
  const std::string page = render_memory_page(sample_memory(), sample_run());
  for (const char* outside : {"http:", "https:", "src=", "@import", "url("}) EXPECT_FALSE(holds(page, outside)) << outside;
  EXPECT_EQ(page, render_memory_page(sample_memory(), sample_run()));
}

TEST(MemoryPage, TreeMarksTheBestPath) {
  const Json run = sample_run();
  EXPECT_EQ(best_path(run["records"]), (std::vector<std::size_t>{0, 1, 3}));
  const std::string tree = draw_all(run["records"]);
  EXPECT_EQ(count_of(tree, "<g class=\"proposal"), 5u);
  EXPECT_EQ(count_of(tree, "<g class=\"proposal best\""), 3u);
  EXPECT_EQ(count_of(tree, "<g class=\"proposal failed\""), 1u);
  EXPECT_EQ(count_of(tree, "<path class=\"branch best\""), 2u);
  EXPECT_EQ(count_of(tree, "<path class=\"branch lost\""), 1u);
  EXPECT_EQ(count_of(tree, "<path class=\"branch\""), 1u);
  EXPECT_EQ(count_of(tree, "<polygon"), 1u);                // far slower than naive
  EXPECT_TRUE(holds(tree, ">schedule</text>"));
  EXPECT_TRUE(holds(tree, ">loop_split</text>"));
}

TEST(MemoryPage, EmptyMemoryAndRunsWithoutPassesAreReadable) {
  const std::string nothing = render_memory_page(Json::object(), Json::object());
  EXPECT_TRUE(holds(nothing, "This memory knows no direction."));
  EXPECT_TRUE(holds(nothing, "The journal holds no proposal yet."));
  Json memory = sample_memory();
  memory["rows"] = 0;
  memory["edges"] = Json::array();
  const std::string fresh = render_memory_page(memory, {{"records", {record(0, 0, "crash", 0), record(1, 0, "wrong", 0)}}});
  EXPECT_TRUE(holds(fresh, "Nothing has been tried yet"));
  EXPECT_TRUE(holds(fresh, "No transition has evidence yet."));
  EXPECT_TRUE(holds(fresh, "Nothing has passed in this run."));
  EXPECT_EQ(count_of(fresh, "<g class=\"proposal failed\""), 2u);
  for (const std::string& page : {nothing, fresh}) EXPECT_FALSE(holds(page, "nan") || holds(page, "inf ")) << page;
}

TEST(MemoryPage, BrokenNumbersAndParentsDrawNothingBroken) {
  Json run = sample_run();
  run["records"][1]["score"] = "nan";
  run["records"][3]["parent"] = 9;      // comes later or never: no branch, no endless path
  run["records"][4]["parent"] = 4;
  const std::string tree = draw_all(run["records"]);
  EXPECT_EQ(count_of(tree, "<g class=\"proposal"), 5u);
  EXPECT_FALSE(holds(tree, "nan"));
  EXPECT_EQ(best_path(run["records"]), (std::vector<std::size_t>{3}));
}

TEST(MemoryPage, LabelsOfALongPathDoNotCoverEachOther) {
  Json records = {record(0, 0, "ok", 0)};
  for (int n = 1; n < 60; ++n) records.push_back(record(n, n - 1, "ok", 0.001 * n, n == 59 ? "winner" : "step"));
  const std::string tree = draw_all(records);
  EXPECT_EQ(count_of(tree, "<g class=\"proposal best\""), 60u);
  EXPECT_TRUE(holds(tree, ">winner</text>"));
  const std::size_t labels = count_of(tree, "<text class=\"at");
  EXPECT_GT(labels, 10u);
  EXPECT_LT(labels, 30u);   // two rows, 96 apart
}

// 1,000 proposals: a path of 20 that ends best, ten siblings along each of its steps, the rest a long branch beside that starts
// low, and failures along that.
Json long_run() {
  Json records = {record(0, 0, "ok", 0)};
  int n = 0, on_path = 0, beside = 0;
  for (int step = 1; step <= 20; ++step) {
    const int from = on_path;
    on_path = ++n;
    records.push_back(record(n, from, "ok", 0.1 * step, "step"));
    for (int k = 0; k < 10; ++k) records.push_back(record(++n, from, k % 2 == 0 ? "ok" : "wrong", -0.1, "sibling"));
  }
  while (n < 600) {
    const int from = beside;
    beside = ++n;
    records.push_back(record(n, from, "ok", -1 + 0.001 * n, "beside"));
  }
  while (n < 999) {
    ++n;
    records.push_back(record(n, beside - n % 50, "wrong", 0, "lost"));
  }
  return records;
}

TEST(MemoryPage, AtMostThreeHundredProposalsAreDrawnAndTheBestPathIsAmongThem) {
  const Json records = long_run();
  ASSERT_EQ(records.size(), 1000u);
  const std::vector<bool> drawn = pick_drawn(records, 300);
  EXPECT_LE(std::count(drawn.begin(), drawn.end(), true), 300);
  EXPECT_GE(std::count(drawn.begin(), drawn.end(), true), 290);
  for (const std::size_t k : best_path(records)) EXPECT_TRUE(drawn[k]) << k;
  for (std::size_t k = 0; k < records.size(); ++k) {
    const std::string& name = records[k]["template"].get_ref<const std::string&>();
    EXPECT_TRUE(drawn[k] || name != "sibling") << "a neighbour of the best path: " << k;
    EXPECT_TRUE(!drawn[k] || drawn[records[k]["parent"].get<std::size_t>()]) << "nothing hangs in the air: " << k;
  }
  const std::string page = render_memory_page(sample_memory(), {{"header", Json::object()}, {"records", records}, {"end", "evaluations"}});
  const std::size_t shown = count_of(page, "<g class=\"proposal");
  EXPECT_EQ(shown, static_cast<std::size_t>(std::count(drawn.begin(), drawn.end(), true)));
  EXPECT_EQ(count_of(page, "<g class=\"proposal best\""), 21u);
  EXPECT_TRUE(holds(page, std::to_string(shown) + " of 1000 proposals are drawn")) << shown;
  EXPECT_TRUE(holds(page, " " + std::to_string(1000 - shown) + " are left out."));
  EXPECT_TRUE(holds(page, "1000 records"));
}

TEST(MemoryPage, ABestPathLongerThanThePictureStaysWhole) {
  Json records = {record(0, 0, "ok", 0)};
  for (int n = 1; n < 40; ++n) records.push_back(record(n, n - 1, "ok", 0.01 * n));
  for (int n = 40; n < 60; ++n) records.push_back(record(n, 0, "ok", -0.1));
  const std::vector<bool> drawn = pick_drawn(records, 30);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), true), 40);
  EXPECT_TRUE(drawn[39] && !drawn[40]);
}

TEST(MemoryPage, ShortRunsAreDrawnWhole) {
  const std::string page = render_memory_page(sample_memory(), sample_run());
  EXPECT_FALSE(holds(page, "left-out"));
  EXPECT_EQ(count_of(page, "<g class=\"proposal"), 5u);
}

TEST(MemoryPage, ShortensByCharacters) {
  EXPECT_EQ(shorten("loop_split", 10), "loop_split");
  EXPECT_EQ(shorten("loop_splits", 10), "loop_spli\xe2\x80\xa6");
  EXPECT_EQ(shorten("\xc3\xa4\xc3\xb6\xc3\xbc", 2), "\xc3\xa4\xe2\x80\xa6");
}

TEST(MemoryPage, ScaleIsSymmetric) {
  EXPECT_EQ(utility_class(-1, 1), "u0");
  EXPECT_EQ(utility_class(5, 1), "u6");
  EXPECT_EQ(utility_class(0, 1), "u3");
  for (int k = 0; k <= 100; ++k) {
    const std::string gain = utility_class(0.01 * k, 1), loss = utility_class(-0.01 * k, 1);
    EXPECT_EQ(gain[1] - '3', '3' - loss[1]) << k;
  }
}

TEST(MemoryPage, ScaleGoesByTheRoot) {
  EXPECT_EQ(utility_class(0.02, 1), "u3");
  EXPECT_EQ(utility_class(0.04, 1), "u4");
  EXPECT_EQ(utility_class(0.24, 1), "u4");
  EXPECT_EQ(utility_class(0.26, 1), "u5");
  EXPECT_EQ(utility_class(0.7, 1), "u6");
}

TEST(MemoryPage, AxisHasRoundSpeedUps) {
  using Ticks = std::vector<double>;
  EXPECT_EQ(speedup_ticks(0.15, 23), (Ticks{0.2, 0.5, 1, 2, 5, 10, 20}));
  EXPECT_EQ(speedup_ticks(0.9, 6), (Ticks{1, 2, 5}));
  EXPECT_EQ(speedup_ticks(0.98, 4.9), (Ticks{1, 2, 3, 4}));
  EXPECT_EQ(speedup_ticks(0.9, 1.12), (Ticks{0.9, 0.95, 1, 1.05, 1.1}));
  EXPECT_EQ(speedup_ticks(0.004, 600), (Ticks{0.01, 0.1, 1, 10, 100}));
  for (int k = 1; k < 500; ++k) {   // whatever a run reached: few enough to read, more than one, and one of them is 1
    const double high = std::exp(0.02 * k);
    for (const double low : {std::exp(-0.02), 0.7, 1 / high}) {
      const Ticks ticks = speedup_ticks(low, high);
      EXPECT_EQ(std::count(ticks.begin(), ticks.end(), 1.0), 1) << low << " to " << high;
      EXPECT_TRUE(ticks.size() > 1 && ticks.size() <= 10) << low << " to " << high << ": " << ticks.size();
      EXPECT_TRUE(ticks.front() >= low && ticks.back() <= high);
    }
  }
}

TEST(MemoryPage, BoxesHoldTheirTexts) {
  Json memory = sample_memory();
  for (Json& d : memory["directions"]) {
    d["name"] = "WWWWWWWWWWWWWWWWWWWWWWWW";
    d["tries"] = 123456;
    for (Json& l : d["locals"]) l["name"] = "MMMMMMMMMMMMMMMMMMMMMMMM", l["tries"] = 123456;
  }
  const std::string graph = draw_memory_graph(memory), key = "<rect class=\"box\" width=\"";
  const std::size_t at = graph.find(key);
  ASSERT_NE(at, std::string::npos);
  const double width = std::stod(graph.substr(at + key.size()));
  EXPECT_GT(width, text_width("WWWWWWWWWWWWWWWWWWW", 15, true) + text_width("123456 tries", 12) + 12);
  EXPECT_GT(text_width("W", 10, true), text_width("W", 10));
  EXPECT_GT(text_width("W", 10), text_width("i", 10));
  EXPECT_EQ(text_width("\xc3\xa4", 10), 10);   // a character that the table lacks is as wide as it is high
}

}  // namespace
}  // namespace cairn
