// The worked programs of tests/leir/ok compute what their naive twins in tests/leir/naive compute.
#include <cmath>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "ir/interp.h"
#include "ir/text.h"
#include "support/leir_files.h"

namespace cairn {
namespace {

// Normal floats; integers are class numbers, some of them ignored (-100).
ValueMap random_inputs(const Program& program, Rng& rng) {
  ValueMap out;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role == Role::tmp || tensor.role == Role::out) continue;
    Value value = Value::zeros(tensor.dtype, *tensor.shape);
    for (double& x : value.floats) x = round_to(tensor.dtype, rng.normal());
    for (std::int64_t& x : value.ints) x = rng.below(4) == 0 ? -100 : static_cast<std::int64_t>(rng.below(10));
    out[tensor.name] = std::move(value);
  }
  return out;
}

double tolerance(const std::string& name) {
  if (name == "worked_d_flash_attention") return 2e-3;  // probabilities are stored in f16
  if (name == "worked_b_gemm_mma") return 1e-4;         // the low halves' product is dropped
  return 2e-5;
}

TEST(TextWorked, AgreeWithTheirNaiveTwins) {
  constexpr std::uint64_t kSeed = 5;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  Rng rng(kSeed);
  const std::vector<LeirFile> worked = load_leir_files("ok");
  const std::vector<LeirFile> naive = load_leir_files("naive");
  ASSERT_GE(naive.size(), 17u);
  for (const LeirFile& twin : naive) {
    SCOPED_TRACE(twin.name);
    const auto file = std::find_if(worked.begin(), worked.end(), [&twin](const LeirFile& f) { return f.name == twin.name; });
    ASSERT_NE(file, worked.end());
    const Result<Program> a = parse_program(file->text);
    const Result<Program> b = parse_program(twin.text);
    ASSERT_TRUE(a.ok() && b.ok()) << (a.ok() ? render(b.error()) : render(a.error()));
    const ValueMap inputs = random_inputs(*a, rng);
    const Result<ValueMap> left = interpret(*a, inputs);
    const Result<ValueMap> right = interpret(*b, inputs);
    ASSERT_TRUE(left.ok()) << render(left.error());
    ASSERT_TRUE(right.ok()) << render(right.error());
    ASSERT_FALSE(left->empty());
    for (const auto& [name, value] : *left) {
      const Value& other = right->at(name);
      ASSERT_EQ(value.shape, other.shape) << name;
      EXPECT_EQ(value.ints, other.ints) << name;
      for (std::size_t i = 0; i < value.floats.size(); ++i) {
        ASSERT_NEAR(value.floats[i], other.floats[i], tolerance(twin.name) * (1 + std::abs(other.floats[i]))) << name << ' ' << i;
      }
    }
  }
}

}  // namespace
}  // namespace cairn
