// Random small programs: fast tests, isl and enumeration must agree on every dependence and verdict.
#include <gtest/gtest.h>

#include <set>

#include "analysis/brute_force.h"
#include "base/rng.h"
#include "ir/text.h"

namespace cairn {
namespace {

class Generator {
 public:
  // With `scratch`, two of the tensors are temporaries: what stays inside an iteration may be reordered.
  explicit Generator(Rng& rng, bool scratch = false) : rng_(rng), scratch_(scratch) {}

  // Two sibling nests over i, j (and k inside), several equations, tests, quotients and selects.
  std::string program() {
    extent_i_ = 2 + rng_.below(3);
    extent_j_ = 2 + rng_.below(3);
    if (!scratch_) return "in A^{f32}_{64};out E^{f32}_{64};out F^{f32}_{64,64};out S^{f32};" + nest() + nest();
    return "in A^{f32}_{64};tmp E^{f32,g}_{64};out F^{f32}_{64,64};tmp S^{f32,l};" + nest() + nest();
  }

 private:
  std::string number(std::uint64_t n) { return std::to_string(rng_.below(n)); }
  std::string variable() { return std::string(1, inner_ && rng_.below(4) == 0 ? 'k' : "ij"[rng_.below(2)]); }

  std::string index() {
    if (scratch_ && rng_.below(2) == 0) return rng_.below(2) == 0 ? variable() : number(3);
    switch (rng_.below(9)) {
      case 0: return variable();
      case 1: return variable() + "+" + number(3);
      case 2: return variable() + "*" + std::to_string(2 + rng_.below(3)) + "+" + variable();
      case 3: return "(" + variable() + "*" + std::to_string(1 + rng_.below(4)) + "+" + variable() + ")//" + std::to_string(2 + rng_.below(3));
      case 4: return "(" + variable() + "*3+" + variable() + ")%" + std::to_string(2 + rng_.below(3));
      case 5: return "5-" + variable();
      case 6: return "min(" + variable() + "," + variable() + "+" + number(3) + ")";
      case 7: return "if_then_else(" + condition() + "," + variable() + "," + number(4) + ")";
      default: return number(3);
    }
  }

  std::string condition() {
    const char* ops[] = {"<", "<=", ">", ">=", "==", "!="};
    std::string text = variable() + ops[rng_.below(6)] + (rng_.below(2) == 0 ? variable() : number(4));
    if (rng_.below(5) == 0) text += (rng_.below(2) == 0 ? "&" : "|") + variable() + ops[rng_.below(6)] + number(4);
    return text;
  }

  std::string element(bool write) {
    switch (rng_.below(write ? 3 : 5)) {
      case 0: return "S^{f32}";
      case 1: return "E^{f32}_{" + index() + "}";
      case 2: return "F^{f32}_{" + index() + "," + index() + "}";
      default: return "A^{f32}_{" + index() + "}";
    }
  }

  std::string equation() {
    const std::string target = element(true);
    std::string rhs = element(false);
    if (rng_.below(3) == 0) rhs = "if_then_else(" + condition() + "," + rhs + ",0)";
    switch (rng_.below(4)) {
      case 0: return target + "=" + target + "+A^{f32}_{" + index() + "};";
      case 1: return target + "=" + target + "*A^{f32}_{" + index() + "};";
      default: return target + "=" + rhs + "+1;";
    }
  }

  std::string statements(int depth) {
    std::string text;
    const std::uint64_t n = 1 + rng_.below(scratch_ ? 4 : 2);
    for (std::uint64_t s = 0; s < n; ++s) {
      switch (depth > 0 ? rng_.below(5) : 4) {
        case 0: text += "T^{" + condition() + "}[" + statements(depth - 1) + "];"; break;
        case 1:
          if (!inner_) {
            inner_ = true;
            text += "L^{" + std::to_string(1 + rng_.below(3)) + "}_{k=0}[" + statements(depth - 1) + "];";
            inner_ = false;
            break;
          }
          [[fallthrough]];
        default: text += equation(); break;
      }
    }
    return text;
  }

  std::string nest() {
    return "L^{" + std::to_string(extent_i_) + "}_{i=0}L^{" + std::to_string(extent_j_) + "}_{j=0}[" + statements(2) + "];";
  }

  Rng& rng_;
  std::uint64_t extent_i_ = 2, extent_j_ = 2;
  bool inner_ = false;
  bool scratch_ = false;
};

using Pair = std::pair<std::size_t, std::size_t>;

std::set<Pair> brute_carried(const std::vector<Access>& accesses, std::size_t depth) {
  std::set<Pair> out;
  const std::vector<brute::Instance> all = brute::enumerate(accesses);
  for (const brute::Instance& x : all) {
    for (const brute::Instance& y : all) {
      if (!brute::conflict(accesses, x, y) || x.loops.size() <= depth || y.loops.size() <= depth) continue;
      if (!std::equal(x.loops.begin(), x.loops.begin() + static_cast<std::ptrdiff_t>(depth), y.loops.begin())) continue;
      if (x.loops[depth] < y.loops[depth]) out.insert({x.access, y.access});
    }
  }
  return out;
}

std::size_t index_of(const std::vector<Access>& accesses, const Access& a) {
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& b = accesses[i];
    if (a.path == b.path && a.is_write == b.is_write && a.is_self == b.is_self && a.tensor == b.tensor &&
        a.pos == b.pos && a.conditions.size() == b.conditions.size()) {
      return i;
    }
  }
  ADD_FAILURE() << "an access that the list does not have";
  return 0;
}

std::set<Pair> analysed(const Program& p, const std::vector<Access>& accesses, const StmtPath& loop, bool* certain) {
  std::set<Pair> out;
  for (const Dependence& d : carried_dependences(p, loop)) {
    *certain = *certain && d.certain;
    out.insert({index_of(accesses, d.source), index_of(accesses, d.sink)});
  }
  return out;
}

void expect_verdict(const Legality& v, const brute::Verdict& truth, const std::string& what) {
  EXPECT_EQ(v.ok, truth.ok) << what << ": " << v.reason.message;
  if (v.ok) {
    EXPECT_EQ(v.reorders_reduction, truth.reorders_reduction) << what;
  } else {
    EXPECT_FALSE(v.reason.notes.empty()) << what << ": a refusal gives an example";
  }
}

const auto kPermuted = [](const Access& a, brute::Key key) {
  if (a.path[0] == 0) std::swap(key[1], key[3]);
  return key;
};
const auto kFused = [](const Access&, const brute::Key& key) {
  brute::Key fresh{key[1], key[3], key[0]};
  fresh.insert(fresh.end(), key.begin() + 4, key.end());
  return fresh;
};
const auto kFusedOuter = [](const Access&, const brute::Key& key) {
  brute::Key fresh{key[1], key[0], key[3]};
  fresh.insert(fresh.end(), key.begin() + 4, key.end());
  return fresh;
};
const auto kSwapped = [](const Access&, brute::Key key) {
  key[0] = 1 - key[0];
  return key;
};
const auto kCut = [](const Access& a, const brute::Key& key) {
  brute::Key fresh{key[0], a.path[0] == 0 ? key[4] : 0};
  fresh.insert(fresh.end(), key.begin() + 1, key.end());
  return fresh;
};

TEST(DependenceRandom, FastIslAndEnumerationAgree) {
  const std::uint64_t seed = 4711;
  Rng rng(seed);
  int dependences = 0;
  int refused = 0;
  for (int trial = 0; trial < 250 && !HasFailure(); ++trial) {
    const std::string text = Generator(rng).program();
    const auto parsed = parse_program(text);
    ASSERT_TRUE(parsed.ok()) << text << "\n" << render(parsed.error());
    const Program& p = *parsed;
    SCOPED_TRACE("seed " + std::to_string(seed) + " trial " + std::to_string(trial) + ": " + text);
    for (const StmtPath& loop : {StmtPath{0}, StmtPath{0, 0}, StmtPath{1}, StmtPath{1, 0}}) {
      const std::vector<Access> accesses = collect_accesses(p, loop);
      const std::set<Pair> truth = brute_carried(accesses, loop.size() - 1);
      bool certain = true;
      EXPECT_EQ(analysed(p, accesses, loop, &certain), truth) << "fast, loop depth " << loop.size();
      EXPECT_TRUE(certain);
      if (trial % 10 == 0) {
        set_dependence_mode(DependenceMode::isl_only);
        EXPECT_EQ(analysed(p, accesses, loop, &certain), truth) << "isl, loop depth " << loop.size();
        set_dependence_mode(DependenceMode::automatic);
      }
      dependences += static_cast<int>(truth.size());
    }
    const std::vector<Access> accesses = collect_accesses(p);
    // Keys: nest, i, 0, j, child ... (both nests are two perfect loops).
    expect_verdict(check_permutation(p, {0}, {1, 0}), brute::compare_orders(p, accesses, kPermuted), "permutation");
    const Legality fusion = check_fusion(p, {0}, {1}, {{"i", "i"}, {"j", "j"}});
    expect_verdict(fusion, brute::compare_orders(p, accesses, kFused), "fusion");
    refused += fusion.ok ? 0 : 1;
    expect_verdict(check_fusion(p, {0}, {1}, {{"i", "i"}}), brute::compare_orders(p, accesses, kFusedOuter),
                   "fusion of the outer loop");
    expect_verdict(check_swap(p, {0}, {1}), brute::compare_orders(p, accesses, kSwapped), "swap");
    if (p.body()[0]->body[0]->body.size() == 2) {
      expect_verdict(check_fission(p, {0}, 2, 1), brute::compare_orders(p, accesses, kCut), "fission");
    }
  }
  EXPECT_GT(dependences, 1000);
  EXPECT_GT(refused, 20);
  const DependenceCounters n = dependence_counters();
  RecordProperty("fast", static_cast<int>(n.fast));
  RecordProperty("isl", static_cast<int>(n.isl));
  EXPECT_EQ(n.unknown, 0U);
}

// What is called legal leaves every read its write: with scratch the verdicts are judged by values.
TEST(DependenceRandom, LegalReorderingsKeepTheFlow) {
  const std::uint64_t seed = 815;
  Rng rng(seed);
  int legal = 0;
  int by_scratch = 0;
  for (int trial = 0; trial < 400 && !HasFailure(); ++trial) {
    const std::string text = Generator(rng, true).program();
    const auto parsed = parse_program(text);
    ASSERT_TRUE(parsed.ok()) << text << "\n" << render(parsed.error());
    const Program& p = *parsed;
    SCOPED_TRACE("seed " + std::to_string(seed) + " trial " + std::to_string(trial) + ": " + text);
    const std::vector<Access> accesses = collect_accesses(p);
    const auto check = [&](const Legality& v, const auto& key, const char* what) {
      if (!v.ok || v.reorders_reduction) return;
      ++legal;
      EXPECT_TRUE(brute::same_flow(p, accesses, key)) << what;
      by_scratch += brute::compare_orders(p, accesses, key).ok ? 0 : 1;
    };
    check(check_permutation(p, {0}, {1, 0}), kPermuted, "permutation");
    check(check_fusion(p, {0}, {1}, {{"i", "i"}, {"j", "j"}}), kFused, "fusion");
    check(check_fusion(p, {0}, {1}, {{"i", "i"}}), kFusedOuter, "fusion of the outer loop");
    check(check_swap(p, {0}, {1}), kSwapped, "swap");
    if (p.body()[0]->body[0]->body.size() == 2) check(check_fission(p, {0}, 2, 1), kCut, "fission");
  }
  EXPECT_GT(legal, 100);
  EXPECT_GT(by_scratch, 10);
}

}  // namespace
}  // namespace cairn
