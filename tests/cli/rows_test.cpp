// The rows of JSONL corpora: known tensors as PyTorch names them, and what is refused.
#include "cli/rows.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

Json parsed(const std::string& text) {
  auto json = parse_json(text);
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? json.value() : Json();
}

TEST(Rows, ReadsKnownTensorsWithPyTorchsDtypes) {
  const auto tensors = read_known_tensors(parsed(
      R"([{"name":"A","role":"in","dtype":"float16","shape":[4,8]},{"name":"Bias","role":"const","dtype":"torch.bfloat16","shape":[]},
          {"name":"C","role":"out","dtype":"bool","shape":[2]},{"name":"D","role":"io","dtype":"i32","shape":[1]}])"));
  ASSERT_TRUE(tensors.ok()) << render(tensors.error());
  ASSERT_EQ(tensors->size(), 4u);
  EXPECT_EQ((*tensors)[0].dtype, Dtype::f16);
  EXPECT_EQ((*tensors)[0].shape, (Shape{4, 8}));
  EXPECT_EQ((*tensors)[1].role, Role::constant);
  EXPECT_EQ((*tensors)[1].dtype, Dtype::bf16);
  EXPECT_EQ((*tensors)[1].shape, Shape{});
  EXPECT_EQ((*tensors)[2].dtype, Dtype::boolean);
  EXPECT_EQ((*tensors)[3].dtype, Dtype::i32);
}

TEST(Rows, RefusesKnownTensorsByNameAndReason) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "no list"},
      {R"([1])", "no object"},
      {R"([{"name":"a","role":"in","dtype":"f32","shape":[1]}])", "expected a capital"},
      {R"([{"name":"A","role":"input","dtype":"f32","shape":[1]}])", "role 'input'"},
      {R"([{"name":"A","role":"in","dtype":"float12","shape":[1]}])", "dtype 'float12'"},
      {R"([{"name":"A","role":"in","dtype":"f32","shape":4}])", "no list 'shape'"},
      {R"([{"name":"A","role":"in","dtype":"f32","shape":[0]}])", "extent 0"},
      {R"([{"name":"A","role":"in","dtype":"f32","shape":[2.5]}])", "extent 2.5"}};
  for (const auto& [text, expected] : cases) {
    const auto tensors = read_known_tensors(parsed(text));
    ASSERT_FALSE(tensors.ok()) << text;
    EXPECT_NE(tensors.error().message.find(expected), std::string::npos) << tensors.error().message;
  }
}

}  // namespace
}  // namespace cairn
