#include "analysis/footprint.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <set>

#include "analysis/brute_force.h"
#include "base/rng.h"
#include "ir/text.h"

namespace cairn {
namespace {

Program parse(const std::string& text) {
  auto p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : render(p.error()));
  return p.ok() ? *p : Program{};
}

// "a*12:12 c*256:256 exact injective" of the reads (or writes) of a tensor.
std::string box(const Program& p, const std::string& tensor, const std::vector<std::string>& inner) {
  const std::vector<Access> accesses = collect_accesses(p);
  std::vector<const Access*> mine;
  for (const Access& a : accesses) {
    if (a.tensor == tensor) mine.push_back(&a);
  }
  const auto f = footprint_of(p, mine, inner);
  if (!f) return "none";
  std::string text;
  for (const BoxDim& d : f->dims) text += print_expr(*d.origin) + ":" + std::to_string(d.extent) + " ";
  const bool apart = std::all_of(mine.begin(), mine.end(), [&](const Access* a) { return touches_apart(*a, inner); });
  return text + (f->exact ? "exact" : "padded") + (apart ? " injective" : "");
}

TEST(Footprint, TilesOfAMatmul) {
  const Program p = parse(
      "in A^{f32}_{96,512};in C^{f32}_{512,64};out D^{f32}_{96,64};"
      "L^{8}_{a=0}L^{2}_{b=0}L^{2}_{c=0}L^{256}_{k=0}L^{12}_{i=0}L^{32}_{j=0}[D^{f32}_{a*12+i,b*32+j}="
      "D^{f32}_{a*12+i,b*32+j}+A^{f32}_{a*12+i,c*256+k}*C^{f32}_{c*256+k,b*32+j};];");
  EXPECT_EQ(box(p, "A", {"k", "i", "j"}), "a*12:12 c*256:256 exact");
  EXPECT_EQ(box(p, "A", {"k", "i"}), "a*12:12 c*256:256 exact injective");
  EXPECT_EQ(box(p, "C", {"k", "i", "j"}), "c*256:256 b*32:32 exact");
  EXPECT_EQ(box(p, "D", {"i", "j"}), "a*12:12 b*32:32 exact injective");
  EXPECT_EQ(box(p, "A", {"a", "b", "c", "k", "i", "j"}), "0:96 0:512 exact");
}

TEST(Footprint, WindowsStridesAndGuards) {
  const Program p = parse(
      "in A^{f32}_{64,64};out D^{f32}_{16,16};"
      "L^{16}_{i=0}L^{16}_{j=0}L^{3}_{r=0}L^{3}_{s=0}[D^{f32}_{i,j}=D^{f32}_{i,j}+A^{f32}_{i*2+r,j+s*4};];");
  EXPECT_EQ(box(p, "A", {"r", "s"}), "i*2:3 j:9 padded injective");
  EXPECT_EQ(box(p, "A", {"i", "r", "s"}), "0:33 j:9 padded");
  const Program guarded = parse(
      "in A^{f32}_{10};out D^{f32}_{10};L^{3}_{a=0}L^{4}_{i=0}T^{a*4+i<10}[D^{f32}_{a*4+i}=A^{f32}_{a*4+i};];");
  EXPECT_EQ(box(guarded, "A", {"i"}), "a*4:4 padded injective");
  const Program shifted = parse(
      "in A^{f32}_{40};out D^{f32}_{8,4};L^{8}_{a=0}L^{4}_{i=0}[D^{f32}_{a,i}=A^{f32}_{a*4+i+1}+A^{f32}_{a*4+i}-A^{f32}_{a*4+3-i};];");
  EXPECT_EQ(box(shifted, "A", {"i"}), "a*4:5 padded injective");
}

TEST(Footprint, QuotientsAndRefusals) {
  const Program p = parse(
      "in A^{f32}_{64,64};in C^{f32}_{64};out D^{f32}_{64,8};"
      "L^{64}_{f=0}L^{8}_{i=0}[D^{f32}_{f,i}=A^{f32}_{f//8,f%8*8+i}+C^{f32}_{f*i//64};];");
  EXPECT_EQ(box(p, "A", {"i"}), "f//8:1 f%8*8:8 exact injective");
  EXPECT_EQ(box(p, "A", {"f", "i"}), "0:8 0:64 padded injective");
  EXPECT_EQ(box(p, "C", {"i"}), "none");
  const Program mixed = parse("in A^{f32}_{64};out D^{f32}_{8,4};L^{8}_{a=0}L^{4}_{i=0}[D^{f32}_{a,i}=A^{f32}_{(a*4+i)//3};];");
  EXPECT_EQ(box(mixed, "A", {"i"}), "a+a//3:2 padded");
  const Program two = parse("in A^{f32}_{64};out D^{f32}_{8,8};L^{8}_{a=0}L^{8}_{i=0}[D^{f32}_{a,i}=A^{f32}_{a+i}+A^{f32}_{i};];");
  EXPECT_EQ(box(two, "A", {"i"}), "none");
}

TEST(Footprint, CoversEveryTouchedElement) {
  const std::uint64_t seed = 31;
  Rng rng(seed);
  int boxes = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const auto var = [&] { return std::string(1, "abij"[rng.below(4)]); };
    const auto index = [&]() -> std::string {
      const std::string sum = var() + "*" + std::to_string(1 + rng.below(5)) + "+" + var();
      switch (rng.below(4)) {
        case 0: return "(" + sum + ")//" + std::to_string(1 + rng.below(4)) + "+" + var();
        case 1: return "(" + sum + ")%" + std::to_string(1 + rng.below(5));
        default: return sum + "-" + std::to_string(rng.below(3));
      }
    };
    const std::string text = "in A^{f32}_{99,99};out D^{f32}_{3,3,4,4};L^{3}_{a=0}L^{3}_{b=0}L^{4}_{i=0}L^{4}_{j=0}[D^{f32}_{a,b,i,j}=A^{f32}_{" +
                             index() + "," + index() + "};];";
    SCOPED_TRACE("seed " + std::to_string(seed) + " trial " + std::to_string(trial) + " " + text);
    const Program p = parse(text);
    const std::vector<Access> all = collect_accesses(p);
    const std::vector<Access> reads{all[0]};
    const std::vector<std::string> inner{"i", "j"};
    const auto f = footprint_of(p, {&reads[0]}, inner);
    if (!f) continue;
    ++boxes;
    std::map<std::vector<std::int64_t>, std::multiset<std::vector<std::int64_t>>> touched;   // by outer values
    for (const brute::Instance& x : brute::enumerate(reads)) {
      brute::Env env{{"a", x.loops[0]}, {"b", x.loops[1]}};
      std::vector<std::int64_t> place;
      for (std::size_t d = 0; d < 2; ++d) {
        place.push_back(x.element[d] - brute::evaluate(*f->dims[d].origin, env));
        ASSERT_TRUE(place[d] >= 0 && place[d] < f->dims[d].extent);
      }
      touched[{x.loops[0], x.loops[1]}].insert(place);
    }
    bool distinct = true;
    for (const auto& [outer, places] : touched) {
      const std::set<std::vector<std::int64_t>> unique(places.begin(), places.end());
      distinct = distinct && unique.size() == places.size();
      if (f->exact) {
        ASSERT_EQ(static_cast<std::int64_t>(unique.size()), f->dims[0].extent * f->dims[1].extent);
      }
    }
    ASSERT_EQ(touches_apart(reads[0], inner), distinct);
  }
  EXPECT_GT(boxes, 100);
}

}  // namespace
}  // namespace cairn
