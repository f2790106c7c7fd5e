// Parameter values and their files.
#include "ops/params.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "base/file.h"
#include "ops/tensor_data.h"

namespace cairn {
namespace {

// The same three numbers are asserted on the Python side (python/tests/test_import.py).
TEST(Params, UniformGeneratorHasFixedBits) {
  const Generator generator{Generator::Kind::uniform, -1, 1, 7};
  EXPECT_EQ(generate_uniform(generator, 0), 0.44301629066467285);
  EXPECT_EQ(generate_uniform(generator, 1), -0.6882119178771973);
  EXPECT_EQ(generate_uniform(generator, 1000000), -0.37153661251068115);
}

Value sample(Dtype dtype) {
  Value value = Value::zeros(dtype, {2, 3});
  const double inf = std::numeric_limits<double>::infinity();
  if (is_float(dtype)) value.floats = {1.5, -0.0, inf, -inf, std::nan(""), std::ldexp(1.0, -14)};
  if (!is_float(dtype)) value.ints = {0, 1, 1, 0, 1, 1};
  return value;
}

TEST(TensorData, RoundTripsEveryDtype) {
  for (Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i64, Dtype::i32, Dtype::i16, Dtype::i8,
                      Dtype::u8, Dtype::boolean}) {
    SCOPED_TRACE(std::string(dtype_name(dtype)));
    const Value value = sample(dtype);
    const auto raw = tensor_of_value(value);
    ASSERT_TRUE(raw.ok());
    EXPECT_EQ(static_cast<std::int64_t>(raw->bytes.size()), 6 * dtype_bytes(dtype));
    const auto back = value_of_tensor(*raw, "file");
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->ints, value.ints);
    ASSERT_EQ(back->floats.size(), value.floats.size());
    for (std::size_t k = 0; k < value.floats.size(); ++k) {
      EXPECT_TRUE(back->floats[k] == value.floats[k] || std::isnan(value.floats[k])) << k;
      EXPECT_EQ(std::isnan(back->floats[k]), std::isnan(value.floats[k]));
    }
  }
}

// Every finite half survives decoding and encoding.
TEST(TensorData, KeepsEveryHalf) {
  TensorData all{"F16", {65536}, {}};
  for (int bits = 0; bits < 65536; ++bits) {
    all.bytes.push_back(static_cast<char>(bits & 255));
    all.bytes.push_back(static_cast<char>(bits >> 8));
  }
  const auto value = value_of_tensor(all, "file");
  ASSERT_TRUE(value.ok());
  const auto back = tensor_of_value(*value);
  ASSERT_TRUE(back.ok());
  for (std::size_t bits = 0; bits < 65536; ++bits) {
    if ((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0) continue;  // NaN payloads are not kept
    ASSERT_EQ(back->bytes.substr(2 * bits, 2), all.bytes.substr(2 * bits, 2)) << bits;
  }
}

TEST(TensorData, RefusesForeignDtypesAndSizes) {
  EXPECT_FALSE(value_of_tensor({"F8_E4M3", {1}, "x"}, "file").ok());
  EXPECT_FALSE(value_of_tensor({"F32", {2}, "1234"}, "file").ok());
}

TEST(Params, RefusesMissingAndMisshapenWeights) {
  const auto scratch = ScratchDir::create();
  ASSERT_TRUE(scratch.ok());
  const auto raw = tensor_of_value(sample(Dtype::f32));
  ASSERT_TRUE(raw.ok());
  ASSERT_TRUE(write_safetensors(join_path(scratch->path(), "w.safetensors"), {{"w", *raw}}).ok());
  Graph graph;
  graph.weights = "w.safetensors";
  GraphTensor tensor;
  tensor.name = "weight";
  tensor.role = Role::param;
  tensor.shape = {2, 3};
  tensor.key = "w";
  graph.tensors = {tensor};
  const auto loaded = load_graph_values(graph, scratch->path());
  ASSERT_TRUE(loaded.ok()) << render(loaded.error());
  EXPECT_EQ(loaded->at("weight").floats[0], 1.5);
  graph.tensors[0].shape = {3, 2};
  EXPECT_FALSE(load_graph_values(graph, scratch->path()).ok());
  graph.tensors[0].key = "v";
  EXPECT_FALSE(load_graph_values(graph, scratch->path()).ok());
  graph.weights = "none.safetensors";
  EXPECT_FALSE(load_graph_values(graph, scratch->path()).ok());
}

}  // namespace
}  // namespace cairn
