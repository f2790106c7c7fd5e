// Lowering of graphs: golden programs, refusals with their places, the table of operators.
#include "ops/lower_graph.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

#include "analysis/target.h"
#include "base/file.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "ops/emit.h"
#include "verify/verify.h"

namespace cairn {
namespace {

const std::string kData = std::string(CAIRN_SOURCE_DIR) + "/tests/ops/data";

bool updating() { return std::getenv("CAIRN_UPDATE") != nullptr; }

std::vector<std::string> graphs_below(const std::string& directory) {
  std::vector<std::string> out;
  if (!std::filesystem::exists(directory)) return out;  // git keeps no empty folders
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() == ".json" && entry.path().filename() != "programs.json") out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string with_extension(const std::string& path, const char* extension) {
  return std::filesystem::path(path).replace_extension(extension).string();
}

// Every graph shipped with examples, benchmarks and tests has its program beside it.
TEST(LowerGraph, MatchesGoldenPrograms) {
  std::vector<std::string> paths = graphs_below(kData);
  for (const char* directory : {"/examples", "/bench/programs"}) {
    for (std::string& path : graphs_below(CAIRN_SOURCE_DIR + std::string(directory))) paths.push_back(std::move(path));
  }
  ASSERT_GE(paths.size(), 3u);
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const auto graph = read_graph(path);
    ASSERT_TRUE(graph.ok()) << render(graph.error());
    const auto lowered = lower_graph(*graph);
    ASSERT_TRUE(lowered.ok()) << render(lowered.error());
    const std::string text = print_program(lowered->program);
    const std::string golden = with_extension(path, ".leir");
    if (updating()) {
      ASSERT_TRUE(write_file_atomic(golden, text).ok());
    }
    const auto expected = read_file(golden);
    ASSERT_TRUE(expected.ok()) << golden << " is missing; CAIRN_UPDATE=1 writes it";
    EXPECT_EQ(*expected, text);
    const auto again = parse_program(text);
    ASSERT_TRUE(again.ok()) << render(again.error());
    EXPECT_EQ(canonical_hash(*again), canonical_hash(lowered->program));
    const auto checked = check_program(*again, described_target());
    EXPECT_TRUE(checked.ok()) << render(checked.error());
  }
}

TEST(Examples, ReadmeShowsTheProgram) {
  const std::string directory = std::string(CAIRN_SOURCE_DIR) + "/examples/00_hello";
  const auto readme = read_file(directory + "/README.md");
  const auto program = read_file(directory + "/graph.leir");
  ASSERT_TRUE(readme.ok() && program.ok());
  EXPECT_NE(readme->find(*program), std::string::npos);
}

std::string graph_text(const std::string& tensors, const std::string& nodes, const std::string& outputs) {
  return "{\"cairn_graph\": 1, \"name\": \"t\", \"tensors\": {" + tensors + "}, \"nodes\": [" + nodes +
         "], \"outputs\": [" + outputs + "]}";
}

struct Refusal {
  const char* name;
  std::string text;
  const char* message;
};

const std::string kX = R"("x": {"role": "in", "dtype": "f32", "shape": [2, 3]})";

std::string node(const std::string& op, const std::string& args, const std::string& shape = "[2, 3]") {
  return "{\"op\": \"" + op + "\", \"args\": {" + args + "}, \"outputs\": [{\"name\": \"y\", \"dtype\": \"f32\", " +
         "\"shape\": " + shape + "}], \"place\": \"model.py:7\"}";
}

std::vector<Refusal> refusals() {
  const std::string x = R"("self": {"tensor": "x"})";
  return {
      {"no json", "{\"cairn_graph\": 1", "graph.json"},
      {"not an object", "[]", "found array, expected an object"},
      {"version", R"({"cairn_graph": 9})", "cairn_graph: found version 9, this build reads version 1"},
      {"no name", R"({"cairn_graph": 1})", "key 'name' is missing"},
      {"role", graph_text(R"("x": {"role": "out", "dtype": "f32", "shape": []})", "", "\"x\""), "found 'out', expected"},
      {"dtype", graph_text(R"("x": {"role": "in", "dtype": "f33", "shape": []})", "", "\"x\""), "'f33' is not a dtype"},
      {"extent", graph_text(R"("x": {"role": "in", "dtype": "f32", "shape": [-1]})", "", "\"x\""), "non-negative"},
      {"too large", graph_text(R"("x": {"role": "in", "dtype": "f32", "shape": [9223372036854775807, 4]})", "", "\"x\""),
       "overflows 64 bits"},
      {"no values", graph_text(R"("w": {"role": "param", "dtype": "f32", "shape": [2]})", "", "\"w\""), "exactly one of"},
      {"generator", graph_text(R"("w": {"role": "param", "dtype": "f32", "shape": [2], "generator": {"kind": "zeta"}})",
                               "", "\"w\""), "generator 'zeta' is unknown"},
      {"seed", graph_text(R"("w": {"role": "param", "dtype": "f32", "shape": [2], "generator": {"kind": "uniform", )"
                          R"("low": 0, "high": 1, "seed": -1}})", "", "\"w\""), "expected a non-negative integer"},
      {"unknown tensor", graph_text(kX, node("aten.relu.default", R"("self": {"tensor": "z"})"), "\"y\""),
       "tensor 'z' is used before it is defined"},
      {"defined twice", graph_text(kX, node("aten.relu.default", x) + "," + node("aten.relu.default", x), "\"y\""),
       "tensor 'y' is defined twice"},
      {"no outputs", graph_text(kX, "", ""), "at least one tensor name"},
      {"operator", graph_text(kX, node("aten.conv9d.default", x), "\"y\""),
       "model.py:7:1: error: operator aten.conv9d.default is not supported"},
      {"supported list", graph_text(kX, node("aten.conv9d.default", x), "\"y\""), "aten.matmul.default"},
      {"missing argument", graph_text(kX, node("aten.relu.default", ""), "\"y\""), "argument self is missing"},
      {"argument type", graph_text(kX, node("aten.relu.default", "\"self\": 3"), "\"y\""), "self is not a tensor"},
      {"result shape", graph_text(kX, node("aten.permute.default", x + ", \"dims\": [1, 0]"), "\"y\""),
       "result 0 has shape [3, 2], the graph says [2, 3]"},
      {"axis", graph_text(kX, node("aten.softmax.int", x + ", \"dim\": 2"), "\"y\""), "axis 2 is out of range"},
      {"inner extents", graph_text(kX, node("aten.mm.default", x + ", \"mat2\": {\"tensor\": \"x\"}", "[2, 3]"), "\"y\""),
       "the inner extents differ"},
      {"broadcast", graph_text(kX + R"(, "z": {"role": "in", "dtype": "f32", "shape": [2]})",
                               node("aten.add.Tensor", x + R"(, "other": {"tensor": "z"}, "alpha": 1)"), "\"y\""),
       "do not broadcast"},
      {"reshape", graph_text(kX, node("aten.view.default", x, "[7]"), "\"y\""), "number of elements changes"},
      {"dropout", graph_text(kX, node("aten.dropout.default", R"("input": {"tensor": "x"}, "p": 0.5, "train": true)"),
                             "\"y\""), "is random"},
      {"word", graph_text(kX, node("aten.gelu.default", x + ", \"approximate\": \"cubic\""), "\"y\""),
       "argument approximate is 'cubic', expected none or tanh"},
      {"update", R"({"cairn_graph": 1, "name": "t", "tensors": {)" + kX + R"(}, "nodes": [], "outputs": ["x"],
         "updates": [{"tensor": "q", "value": "x"}]})", "'q' is not an input or a parameter"},
  };
}

TEST(LowerGraph, RefusesWithReasonAndPlace) {
  for (const Refusal& refusal : refusals()) {
    SCOPED_TRACE(refusal.name);
    const auto graph = parse_graph(refusal.text, "graph.json");
    const Result<LoweredGraph> lowered = graph.ok() ? lower_graph(*graph) : Result<LoweredGraph>(graph.error());
    ASSERT_FALSE(lowered.ok());
    EXPECT_EQ(exit_code(lowered.error().code), 3);
    EXPECT_NE(render(lowered.error()).find(refusal.message), std::string::npos) << render(lowered.error());
  }
}

// Lowers a damaged text as far as it goes.
void lower_anyhow(const std::string& text) {
  const auto graph = parse_graph(text, "graph.json");
  if (!graph.ok()) return;
  const auto lowered = lower_graph(*graph);
  if (!lowered.ok()) return;
  EXPECT_FALSE(print_program(lowered->program).empty());
}

// A graph cut anywhere, or with a byte changed or lost, is refused or lowered, never a crash.
TEST(LowerGraph, SurvivesDamagedText) {
  for (const std::string& path : graphs_below(kData)) {
    const auto text = read_file(path);
    ASSERT_TRUE(text.ok());
    for (std::size_t at = 0; at < text->size(); at += 7) {
      lower_anyhow(text->substr(0, at));
      lower_anyhow(text->substr(0, at) + "9" + text->substr(at + 1));
      lower_anyhow(text->substr(0, at) + text->substr(at + 1));
    }
  }
}

// Each number of a graph replaced by extreme ones.
TEST(LowerGraph, SurvivesExtremeNumbers) {
  for (const std::string& path : graphs_below(kData)) {
    const auto text = read_file(path);
    ASSERT_TRUE(text.ok());
    for (std::size_t at = 0; at + 1 < text->size(); ++at) {
      const bool starts = std::isdigit((*text)[at]) != 0 && std::isdigit((*text)[at - 1]) == 0;
      if (!starts) continue;
      std::size_t end = at;
      while (std::isdigit((*text)[end]) != 0) ++end;
      for (const char* number : {"0", "-1", "7", "9223372036854775807", "-9223372036854775808", "1152921504606846976"}) {
        lower_anyhow(text->substr(0, at) + number + text->substr(end));
      }
    }
  }
}

// The exporter keeps exactly the operators that the table has.
TEST(Registry, PythonListsTheSameOperators) {
  std::string text;
  for (const std::string& name : supported_ops()) text += name + "\n";
  const std::string path = std::string(CAIRN_SOURCE_DIR) + "/python/cairn/supported_ops.txt";
  if (updating()) {
    ASSERT_TRUE(write_file_atomic(path, text).ok());
  }
  const auto listed = read_file(path);
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(*listed, text) << "CAIRN_UPDATE=1 rewrites it";
}

TEST(Names, FollowTheAlphabets) {
  EXPECT_EQ(tensor_name(0), "A");
  EXPECT_EQ(tensor_name(1), "C");
  EXPECT_EQ(tensor_name(19), "Z");
  EXPECT_EQ(tensor_name(20), "Aa");
  EXPECT_EQ(tensor_name(40), "Ca");
  EXPECT_EQ(loop_name(0), "a");
  EXPECT_EQ(loop_name(18), "w");
  EXPECT_EQ(loop_name(19), "aa");
}

}  // namespace
}  // namespace cairn
