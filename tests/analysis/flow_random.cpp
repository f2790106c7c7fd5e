// Differential: box regions, isl and the shadow execution must agree on random programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include <map>
#include <set>

#include "analysis/flow.h"
#include "analysis/promise.h"
#include "ir/interp.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "support/random_program.h"

namespace cairn {
namespace {

constexpr std::uint64_t kSeed = 20261129;
constexpr int kPrograms = 800;

struct Tally {
  int yes = 0, no = 0, unknown = 0;
  void add(Answer a) { ++(a == Answer::yes ? yes : a == Answer::no ? no : unknown); }
};
std::ostream& operator<<(std::ostream& out, const Tally& t) {
  return out << t.yes << " yes, " << t.no << " no, " << t.unknown << " unknown";
}

bool agree(Answer a, Answer exact) { return a == Answer::unknown || a == exact; }

TEST(FlowRandom, EnginesAgree) {
  Rng rng(kSeed);
  std::map<std::string, Tally> tally;
  for (int i = 0; i < kPrograms / 4; ++i) {
    const Program program = random_program(rng);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", program " + std::to_string(i) + ":\n" + print_program(program));
    FlowAnalysis exact(program, FlowMode::concrete_only);
    FlowAnalysis boxes(program, FlowMode::boxes_only);
    FlowAnalysis isl(program, FlowMode::isl_only);
    const std::vector<Access>& accesses = exact.accesses();
    // The shadow execution keeps one problem for an equation, tensor and kind: compare their disjunction.
    bool in_bounds = true;
    std::map<std::pair<std::uint32_t, std::string>, Answer> bound_exact, bound_boxes, read_exact, read_boxes, read_isl;
    const auto join = [](auto& map, const Access& a, Answer v) {
      auto [it, first] = map.try_emplace({a.equation, a.tensor}, v);
      if (first || v == Answer::yes) return;
      it->second = it->second == Answer::no || v == Answer::no ? Answer::no : Answer::unknown;
    };
    for (const Access& a : accesses) {
      for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
        join(bound_exact, a, exact.bounds(a, d).holds);
        const Answer b = boxes.bounds(a, d).holds;
        join(bound_boxes, a, b);
        tally["bounds"].add(b);
        in_bounds &= exact.bounds(a, d).holds == Answer::yes;
      }
    }
    if (!in_bounds) continue;   // one fault hides others
    for (const auto& [key, v] : bound_boxes) EXPECT_TRUE(agree(v, bound_exact[key])) << key.second << " in equation " << key.first;
    for (const Access& a : accesses) {
      if (a.is_write || a.is_self) continue;
      join(read_exact, a, exact.written_before(a).holds);
      const Answer b = boxes.written_before(a).holds;
      const Answer e = isl.written_before(a).holds;
      join(read_boxes, a, b);
      join(read_isl, a, e);
      tally["reads by boxes"].add(b);
      tally["reads by isl"].add(e);
    }
    for (const auto& [key, v] : read_boxes) EXPECT_TRUE(agree(v, read_exact[key])) << "boxes: " << key.second << " in equation " << key.first;
    for (const auto& [key, v] : read_isl) EXPECT_TRUE(agree(v, read_exact[key])) << "isl: " << key.second << " in equation " << key.first;
    const Answer covered = exact.covered("D").holds;
    tally["outputs by boxes"].add(boxes.covered("D").holds);
    EXPECT_TRUE(agree(boxes.covered("D").holds, covered)) << "boxes: coverage of D";
    EXPECT_TRUE(agree(isl.covered("D").holds, covered)) << "isl: coverage of D";
    for (const Access& a : accesses) {
      if (!a.is_self) continue;
      FlowAnalysis automatic(program, FlowMode::automatic);
      const StartVerdict v = automatic.start(a.equation);
      const ConcreteStart c = run_concrete(program).starts[a.equation];
      EXPECT_TRUE(v.provable) << "s" << a.equation;
      if (v.written == Written::always) {
        EXPECT_EQ(c.starts, 0) << "s" << a.equation;
      }
      if (v.written == Written::never) {
        EXPECT_EQ(c.continues, 0) << "s" << a.equation;
      }
      tally["starts"].add(v.written == Written::unknown || (v.written == Written::sometimes && !v.first) ? Answer::unknown : Answer::yes);
    }
    for (const Access& a : accesses) {
      const Tensor* t = program.find(a.tensor);
      if (a.is_write || a.is_self || t->scope == Scope::g || read_exact[{a.equation, a.tensor}] != Answer::yes) continue;
      // One crossing problem an equation and tensor: only a sole read can be compared.
      const auto same = [&](const Access& x) { return !x.is_write && x.equation == a.equation && x.tensor == a.tensor; };
      if (std::count_if(accesses.begin(), accesses.end(), same) != 1) continue;
      const Answer symbolic = boxes.stays_inside(a).holds;
      tally["storage by boxes"].add(symbolic);
      if (symbolic == Answer::yes) {
        EXPECT_EQ(exact.stays_inside(a).holds, Answer::yes) << "storage of " << a.tensor << " in s" << a.equation;
      }
    }
  }
  for (const auto& [what, t] : tally) {
    std::cout << what << ": " << t << "\n";
    EXPECT_GT(t.yes, 10) << what;
  }
}

TEST(FlowRandom, CarriedTensorsAgree) {
  Rng rng(kSeed + 1);
  int loops = 0;
  int doubtful = 0;
  for (int i = 0; i < kPrograms; ++i) {
    const Program program = random_program(rng);
    SCOPED_TRACE("seed " + std::to_string(kSeed + 1) + ", program " + std::to_string(i) + ":\n" + print_program(program));
    const ConcreteFlow flow = run_concrete(program);
    ASSERT_TRUE(flow.decided) << flow.reason;
    const auto bounds = [](const ConcreteProblem& p) { return p.kind == ConcreteProblem::Kind::bounds; };
    if (std::any_of(flow.problems.begin(), flow.problems.end(), bounds)) continue;
    visit_stmts(program.body(), [&](const Stmt& s, const StmtContext& context) {
      if (!s.is_loop()) return;
      const ConcreteCarried exact = run_carried(program, context.path);
      ASSERT_TRUE(exact.decided);
      std::set<std::string> real;
      for (const CarriedTensor& t : exact.carried) real.insert(t.tensor);
      std::map<std::string, bool> claimed;
      for (const Dependence& d : carried_dependences(program, context.path)) claimed[d.source.tensor] |= d.certain;
      for (const std::string& t : real) EXPECT_TRUE(claimed.count(t) > 0) << "loop " << s.var << " carries " << t;
      for (const auto& [t, certain] : claimed) {
        if (certain) {
        EXPECT_TRUE(real.count(t) > 0) << "loop " << s.var << " does not carry " << t;
      }
        doubtful += certain ? 0 : 1;
      }
      ++loops;
    });
  }
  std::cout << loops << " loops, " << doubtful << " doubtful tensors\n";
  EXPECT_GT(loops, 1000);
}

// A loop that may be P gives the same values backwards, whole numbers summing exactly in any order.
TEST(FlowRandom, ParallelLoopsMayRunBackwards) {
  Rng rng(kSeed + 2);
  ValueMap inputs;
  Value a = Value::zeros(Dtype::f64, {8});
  Value c = Value::zeros(Dtype::f64, {5, 6});
  for (double& x : a.floats) x = static_cast<double>(rng.below(9)) - 4;
  for (double& x : c.floats) x = static_cast<double>(rng.below(9)) - 4;
  inputs["A"] = a;
  inputs["C"] = c;
  int reversed = 0;
  int refused = 0;
  for (int i = 0; i < kPrograms; ++i) {
    const Program program = random_program(rng);
    SCOPED_TRACE("seed " + std::to_string(kSeed + 2) + ", program " + std::to_string(i) + ":\n" + print_program(program));
    const Result<ValueMap> before = interpret(program, inputs);
    if (!before.ok()) continue;
    std::vector<StmtPath> loops;
    visit_stmts(program.body(), [&](const Stmt& s, const StmtContext& context) {
      if (s.is_loop() && s.extent > 1) loops.push_back(context.path);
    });
    for (const StmtPath& path : loops) {
      const PromiseVerdict v = check_promise(program, path, LoopKind::P, Target{});
      const auto scans = [](const CarriedChain& x) { return x.scan; };
      if (!v.ok || std::any_of(v.chains.begin(), v.chains.end(), scans)) {
        ++refused;
        EXPECT_TRUE(v.ok || !v.reason.message.empty());
        continue;
      }
      const Stmt& loop = *stmt_at(program.body(), path);
      // A private temporary may end with another iteration's value: only then does nobody read it.
      const ExprPtr back = make_expr(Op::sub, {make_int(loop.extent - 1), make_var(loop.var)});
      Program after = program;
      after.set_body(replace_at(program.body(), path, Body{with_body(loop, substitute_vars(loop.body, {{loop.var, back}}))}));
      Program marked = program;
      Stmt parallel = loop;
      parallel.kind = LoopKind::P;
      marked.set_body(replace_at(program.body(), path, Body{std::make_shared<const Stmt>(parallel)}));
      FlowAnalysis flow(marked);
      bool crosses = false;   // l tensors that leave the loop are refused by the storage rule
      for (const Access& x : flow.accesses()) {
        crosses |= !x.is_write && marked.find(x.tensor)->scope != Scope::g && flow.stays_inside(x).holds != Answer::yes;
      }
      if (crosses) continue;
      const Result<ValueMap> result = interpret(after, inputs);
      ASSERT_TRUE(result.ok()) << "loop " << loop.var << ": " << render(result.error());
      EXPECT_EQ(result->at("D").floats, before->at("D").floats) << "loop " << loop.var;
      ++reversed;
    }
  }
  std::cout << reversed << " loops reversed, " << refused << " refused\n";
  EXPECT_GT(reversed, 100);
}

}  // namespace
}  // namespace cairn
