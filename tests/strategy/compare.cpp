#include "strategy/compare.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/hash.h"
#include "base/rng.h"
#include "ir/text.h"
#include "ir/typing.h"
#include "ir/walk.h"
#include "verify/perturb.h"
#include "verify/verify.h"

namespace cairn::test {
namespace {

bool same_bits(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool close(double a, double b, double scale) {
  if (same_bits(a, b)) return true;
  return std::fabs(a - b) <= 1e-9 * std::max({scale, std::fabs(a), std::fabs(b)});
}

// `program` with an output that counts the instances in which a condition fails; its name, empty if nothing is to count.
std::string count_failures(Program* program, const SideCondition& one) {
  if (one.proved || !one.evaluable) return "";
  const std::size_t at = one.text.find(" at s"), under = one.text.find(" if ");
  EXPECT_NE(at, std::string::npos) << one.text;
  if (at == std::string::npos) return "";
  const std::string place = one.text.substr(at + 4, under == std::string::npos ? under : under - at - 4);
  const Result<ExprPtr> condition = parse_expr(one.text.substr(0, at));
  const Result<ExprPtr> guard = under == std::string::npos ? condition : parse_expr(one.text.substr(under + 4));
  const Result<StmtPath> path = find_equation(program->body(), place);
  EXPECT_TRUE(condition.ok() && guard.ok() && path.ok()) << one.text;
  if (!condition || !guard || !path) return "";
  ExprPtr failed = make_expr(Op::select, {*condition, make_int(0), make_int(1)});
  if (under != std::string::npos) failed = make_expr(Op::select, {*guard, failed, make_int(0)});
  Tensor count;
  count.name = fresh_tensor(*program);
  count.role = Role::out;
  count.dtype = Dtype::f64;
  count.shape = Shape{};
  count.declared = true;
  const auto equation = std::make_shared<const Stmt>(*stmt_at(program->body(), *path));
  Body both{equation, make_equation(count.name, {}, operator_add(make_read(count.name, {}), failed))};
  if (!reads_tensor(**condition, equation->tensor)) std::swap(both[0], both[1]);
  Body body = replace_at(program->body(), *path, both);
  // The place may be under a test that never holds.
  body.insert(body.begin(), make_equation(count.name, {}, make_int(0)));
  program->set_body(std::move(body));
  program->set_tensor(count);
  return count.name;
}

// Inputs of ever milder kinds: normal, positive, positive and close to 1.
ValueMap make_milder(ValueMap inputs, int kind) {
  if (kind == 0) return inputs;
  for (auto& [name, value] : inputs) {
    for (double& x : value.floats) x = round_to(value.dtype, kind == 1 ? std::fabs(x) + 0.25 : 1 + 0.25 * std::tanh(x));
  }
  return inputs;
}

bool all_hold(const Program& before, const ValueMap& inputs, const std::vector<SideCondition>& recorded) {
  for (const SideCondition& one : recorded) {
    Program counted = before;
    const std::string name = count_failures(&counted, one);
    if (name.empty()) continue;
    InterpOptions options;
    options.in_f64 = true;
    const Result<ValueMap> run = interpret(counted, inputs, options);
    EXPECT_TRUE(run.ok()) << (run ? "" : render(run.error())) << one.text << print_program(counted);
    if (!run || run->at(name).floats[0] != 0) return false;
  }
  return true;
}

// Whether the outputs of a program hang on comparisons of floats, whose outcome rounding may turn.
bool compares_floats(const Program& program) {
  bool found = false;
  const std::function<void(const Body&)> walk = [&](const Body& body) {
    for (const StmtPtr& s : body) {
      if (!s->is_equation()) walk(s->body);
      const ExprPtr& e = s->is_equation() ? s->rhs : s->cond;
      if (!e) continue;
      visit_expr(*e, [&](const Expr& x) {
        found |= is_comparison(x.op) && !(is_integer_expr(program, *x.args[0]) && is_integer_expr(program, *x.args[1]));
        return true;
      });
    }
  };
  walk(program.body());
  return found;
}

constexpr int kTurns = 8;           // runs with other roundings
constexpr double kTurned = 4e-6;    // what those roundings, of f32, change elsewhere

// Values of an element of `before` under other roundings: where a comparison is a tie, `after` may have any of them.
std::vector<std::vector<double>> turned_values(const Program& before, const ValueMap& inputs, const std::string& output, std::uint64_t seed) {
  std::vector<std::vector<double>> runs;
  if (!compares_floats(before)) return runs;
  for (std::uint64_t k = 0; k < kTurns; ++k) {
    InterpOptions options;
    options.in_f64 = true;
    const Result<ValueMap> run = interpret(perturb_operations(before, combine64(seed, k), true), inputs, options);
    if (run) runs.push_back(run->at(output).floats);
  }
  return runs;
}

int left_out = 0;

}  // namespace

int runs_without_inputs() { return left_out; }

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

std::string compare_runs(const Program& before, const Program& after, Exactness claim, std::uint64_t seed,
                         const std::vector<SideCondition>& recorded) {
  InterpOptions options;
  options.in_f64 = claim != Exactness::exact;
  ValueMap inputs = random_inputs(before, seed);
  const ValueMap normal = inputs;
  for (int kind = 1; claim == Exactness::algebraic && !all_hold(before, inputs, recorded); ++kind) {
    if (kind == 3) {
      ++left_out;
      return "";
    }
    inputs = make_milder(normal, kind);
  }
  const Result<ValueMap> a = interpret(before, inputs, options);
  const Result<ValueMap> b = interpret(after, inputs, options);
  if (!a) return "before: " + render(a.error());
  if (!b) return "after: " + render(b.error());
  const bool conditional = claim == Exactness::algebraic && std::any_of(recorded.begin(), recorded.end(), [](const SideCondition& c) { return !c.proved; });
  for (const auto& [name, old] : *a) {
    const auto found = b->find(name);
    if (found == b->end()) return fmt::format("{} is missing after the step", name);
    const Value& now = found->second;
    if (now.shape != old.shape || now.dtype != old.dtype) return fmt::format("{} changed its shape or dtype", name);
    if (now.ints != old.ints) return fmt::format("{} differs", name);
    // What cancels to nothing keeps the rounding of its operands, which an identity or another order moves.
    double scale = claim == Exactness::exact ? 0 : 1e-3;
    for (const double x : old.floats) scale = std::isfinite(x) ? std::max(scale, std::fabs(x)) : scale;
    for (std::size_t i = 0; i < old.floats.size(); ++i) {
      const double x = old.floats[i], y = now.floats[i];
      // 0/0 and inf-inf have no value over the reals, which is where an identity under conditions holds.
      if (conditional && std::isnan(x)) continue;
      bool ok = claim == Exactness::exact ? same_bits(x, y) : close(x, y, scale);
      if (!ok && claim == Exactness::algebraic) {
        for (const std::vector<double>& run : turned_values(before, inputs, name, seed)) ok |= std::fabs(run[i] - y) <= kTurned * std::max(scale, std::fabs(y));
      }
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
