#include "strategy/compare.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace cairn::test {
namespace {

bool same_bits(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool close(double a, double b, double scale) {
  if (same_bits(a, b)) return true;
  return std::fabs(a - b) <= 1e-9 * std::max({scale, std::fabs(a), std::fabs(b)});
}

}  // namespace

ValueMap random_inputs(const Program& program, std::uint64_t seed) {
  ValueMap inputs;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role == Role::out || tensor.role == Role::tmp) continue;
    Rng rng = Rng(seed).split(tensor.name);
    Value value = Value::zeros(tensor.dtype, *tensor.shape);
    for (double& x : value.floats) x = round_to(tensor.dtype, rng.normal());
    for (std::int64_t& x : value.ints) x = static_cast<std::int64_t>(rng.below(tensor.dtype == Dtype::boolean ? 2 : 4));
    inputs[tensor.name] = std::move(value);
  }
  return inputs;
}

std::string compare_runs(const Program& before, const Program& after, Exactness claim, std::uint64_t seed) {
  InterpOptions options;
  options.in_f64 = claim != Exactness::exact;
  const ValueMap inputs = random_inputs(before, seed);
  const Result<ValueMap> a = interpret(before, inputs, options);
  const Result<ValueMap> b = interpret(after, inputs, options);
  if (!a) return "before: " + render(a.error());
  if (!b) return "after: " + render(b.error());
  for (const auto& [name, old] : *a) {
    const auto found = b->find(name);
    if (found == b->end()) return fmt::format("{} is missing after the step", name);
    const Value& now = found->second;
    if (now.shape != old.shape || now.dtype != old.dtype) return fmt::format("{} changed its shape or dtype", name);
    if (now.ints != old.ints) return fmt::format("{} differs", name);
    double scale = 0;
    for (const double x : old.floats) scale = std::isfinite(x) ? std::max(scale, std::fabs(x)) : scale;
    for (std::size_t i = 0; i < old.floats.size(); ++i) {
      const double x = old.floats[i], y = now.floats[i];
      const bool ok = claim == Exactness::exact ? same_bits(x, y) : close(x, y, scale);
      if (!ok) return fmt::format("{}[{}] was {:.17g}, is {:.17g} ({})", name, i, x, y, exactness_name(claim));
    }
  }
  return "";
}

Program read_program(const std::string& text, const std::string& file) {
  ParseOptions options;
  options.file = file;
  Result<Program> program = parse_program(text, options);
  EXPECT_TRUE(program.ok()) << (program ? "" : render(program.error())) << "\n" << text;
  if (!program) return {};
  const Result<void> verified = check_program(*program, described_target());
  EXPECT_TRUE(verified.ok()) << (verified ? "" : render(verified.error())) << "\n" << text;
  return *std::move(program);
}

}  // namespace cairn::test
