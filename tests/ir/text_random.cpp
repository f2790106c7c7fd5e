// Random trees, as strategies may build them (not only those that the parser builds), survive printing.
#include <array>
#include <limits>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "ir/canon.h"
#include "ir/text.h"

namespace cairn {
namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed) {}

  ExprPtr expr(int depth) {
    if (depth == 0 || rng_.below(8) == 0) return leaf();
    const auto op = static_cast<Op>(static_cast<std::uint64_t>(Op::neg) + rng_.below(36));
    switch (op) {
      case Op::cast: return make_cast(rng_.below(2) == 0 ? Dtype::f16 : Dtype::i64, expr(depth - 1));
      case Op::logical_and:
        if (rng_.below(2) == 0) return chain(depth);
        break;
      default: break;
    }
    std::vector<ExprPtr> args;
    for (int i = 0; i < op_arity(op); ++i) args.push_back(expr(depth - 1));
    return make_expr(op, std::move(args));
  }

  Body body(int depth, const std::string& var) {
    Body out;
    for (std::uint64_t n = 1 + rng_.below(2); n > 0; --n) out.push_back(stmt(depth, var));
    return out;
  }

 private:
  ExprPtr leaf() {
    constexpr std::array<double, 8> kReals{0.5, -0.0, 1.0, 1e-05, 1e300, -2.25, std::numeric_limits<double>::infinity(),
                                           std::numeric_limits<double>::quiet_NaN()};
    constexpr std::array<std::int64_t, 6> kIntegers{0, 1, -1, 7, INT64_MAX, INT64_MIN};
    switch (rng_.below(5)) {
      case 0: return make_float(kReals[rng_.below(kReals.size())]);
      case 1: return make_int(kIntegers[rng_.below(kIntegers.size())]);
      case 2: return make_read("A", {});
      case 3: return make_read("Bc", {make_var("i"), make_int(3)});
      default: return make_var(rng_.below(2) == 0 ? "i" : "tx");
    }
  }

  // a<b & b<c, and such with a strange shape.
  ExprPtr chain(int depth) {
    const ExprPtr middle = expr(depth - 1);
    const auto compare = [this](ExprPtr a, ExprPtr b) {
      return make_expr(static_cast<Op>(static_cast<std::uint64_t>(Op::lt) + rng_.below(6)), {std::move(a), std::move(b)});
    };
    ExprPtr first = compare(expr(depth - 1), middle);
    ExprPtr second = compare(middle, expr(depth - 1));
    if (rng_.below(3) == 0) first = make_expr(Op::logical_and, {expr(1), first});
    if (rng_.below(3) == 0) second = make_expr(Op::logical_and, {second, compare(second->args[1], expr(1))});
    return make_expr(Op::logical_and, {first, second});
  }

  StmtPtr stmt(int depth, const std::string& var) {
    if (depth == 0 || rng_.below(3) == 0) {
      if (rng_.below(3) == 0) return make_equation("A", {}, make_expr(Op::add, {expr(2), make_read("A", {})}));
      return make_equation("Bc", {expr(1), make_var(var)}, expr(3));
    }
    if (rng_.below(4) == 0) return make_test(expr(2), body(depth - 1, var));
    LoopMark mark;
    mark.type = static_cast<LoopMark::Type>(rng_.below(4));
    if (mark.type == LoopMark::Type::count) mark.count = static_cast<std::int64_t>(rng_.below(9));
    const std::string inner = var + static_cast<char>('a' + rng_.below(4));
    return make_loop(static_cast<LoopKind>(rng_.below(6)), static_cast<std::int64_t>(rng_.below(100)), inner,
                     body(depth - 1, inner), mark);
  }

  Rng rng_;
};

TEST(TextRandom, ExpressionsParseBackToTheSameTree) {
  constexpr std::uint64_t kSeed = 41;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  Generator generator(kSeed);
  for (int i = 0; i < 20000; ++i) {
    const ExprPtr expr = generator.expr(4);
    const std::string text = print_expr(*expr);
    const Result<ExprPtr> again = parse_expr(text);
    ASSERT_TRUE(again.ok()) << text << "\n" << render(again.error());
    ASSERT_TRUE(same_expr(*again, expr)) << text << "\n" << print_expr(**again);
  }
}

TEST(TextRandom, ProgramsKeepTheirHashThroughBothProfiles) {
  constexpr std::uint64_t kSeed = 42;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  Generator generator(kSeed);
  for (int i = 0; i < 3000; ++i) {
    Program program;
    Tensor a;
    a.name = "A";
    a.role = Role::io;
    a.declared = true;
    a.shape = Shape{};
    Tensor b;
    b.name = "Bc";
    b.dtype = Dtype::f16;
    b.scope = Scope::l;
    program.set_tensor(a);
    program.set_tensor(b);
    program.set_body(generator.body(4, "i"));
    for (const Profile profile : {Profile::leir, Profile::short_form}) {
      const std::string text = print_program(program, profile);
      const Result<Program> again = parse_program(text);
      ASSERT_TRUE(again.ok()) << text << "\n" << render(again.error());
      ASSERT_EQ(canonical_hash(*again), canonical_hash(program)) << text << "\n" << print_program(*again, profile);
    }
  }
}

}  // namespace
}  // namespace cairn
