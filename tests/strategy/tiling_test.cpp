// Padded tiles mean what the loops meant, and tiles are joined again, over random extents and sizes.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/compare.h"
#include "strategy/registry.h"

namespace cairn::test {
namespace {

struct Band {
  const char* name;
  std::vector<const char*> loops;
  // Declarations and the nest; {0} {1} {2} are extents, {3} is {0}+{1}.
  const char* text;
  bool pads;   // with tails on all loops
};

const std::vector<Band> kBands = {
    {"product", {"i", "j", "k"},
     "in A^{{f32}}_{{{0},{2}}};in C^{{f32}}_{{{2},{1}}};out D^{{f32}}_{{{0},{1}}};"
     "L^{{{0}}}_{{i=0}}L^{{{1}}}_{{j=0}}L^{{{2}}}_{{k=0}}[D^{{f32,g}}_{{i,j}}=D^{{f32,g}}_{{i,j}}+A^{{f32,g}}_{{i,k}}*C^{{f32,g}}_{{k,j}};];", true},
    {"product_of_integers", {"i", "j", "k"},
     "in A^{{i32}}_{{{2},{0}}};in C^{{i32}}_{{{1},{2}}};out D^{{i32}}_{{{1},{0}}};"
     "L^{{{0}}}_{{i=0}}L^{{{1}}}_{{j=0}}L^{{{2}}}_{{k=0}}[D^{{i32,g}}_{{j,i}}=D^{{i32,g}}_{{j,i}}+A^{{i32,g}}_{{k,i}}*C^{{i32,g}}_{{j,k}};];", true},
    {"sum_that_goes_on", {"i", "j"},
     "in A^{{f32}}_{{{0},{1}}};io D^{{f32}}_{{{0}}};L^{{{0}}}_{{i=0}}L^{{{1}}}_{{j=0}}[D^{{f32,g}}_{{i}}=D^{{f32,g}}_{{i}}+A^{{f32,g}}_{{i,j}};];", true},
    {"convolution", {"i", "j"},
     "in A^{{f32}}_{{{3}}};in C^{{f32}}_{{{1}}};out D^{{f32}}_{{{0}}};"
     "L^{{{0}}}_{{i=0}}L^{{{1}}}_{{j=0}}[D^{{f32,g}}_{{i}}=D^{{f32,g}}_{{i}}+A^{{f32,g}}_{{i+j}}*C^{{f32,g}}_{{j}};];", false},
    {"maximum", {"i", "j"},
     "in A^{{f32}}_{{{0},{1}}};out D^{{f32}}_{{{0}}};L^{{{0}}}_{{i=0}}L^{{{1}}}_{{j=0}}[D^{{f32,g}}_{{i}}=max(D^{{f32,g}}_{{i}},A^{{f32,g}}_{{i,j}});];", false},
    {"read_behind", {"i", "j"},
     "in A^{{f32}}_{{{0},{1}}};out D^{{f32}}_{{{0}}};L^{{{0}}}_{{i=0}}L^{{{1}}}_{{j=0}}[E^{{f32,g}}_{{i}}=E^{{f32,g}}_{{i}}+A^{{f32,g}}_{{i,j}};];"
     "L^{{{0}}}_{{i=0}}[D^{{f32,g}}_{{i}}=exp(E^{{f32,g}}_{{i}});];", true},
};

class Tiles : public ::testing::TestWithParam<Band> {};

TEST_P(Tiles, ArePaddedAndJoined) {
  const Band& band = GetParam();
  const Target target = described_target();
  int padded = 0, refused = 0, uneven = 0, joined = 0, tiled = 0;
  for (std::uint64_t round = 0; round < 40; ++round) {
    Rng rng = Rng(20261130).split(band.name).split(round);
    std::vector<std::int64_t> extents(4);
    for (std::int64_t& extent : extents) extent = 2 + static_cast<std::int64_t>(rng.below(10));
    const Result<Program> program = parse_program(fmt::format(fmt::runtime(band.text), extents[0], extents[1], extents[2], extents[0] + extents[1]));
    ASSERT_TRUE(program.ok()) << render(program.error());
    std::string loops, sizes;
    bool tail = false, splits = false;
    for (std::size_t k = 0; k < band.loops.size(); ++k) {
      const std::int64_t size = 1 + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(extents[k])));
      loops += fmt::format("{}0.{}", k == 0 ? "" : "+", band.loops[k]);
      sizes += fmt::format("{}{}", k == 0 ? "" : "x", size);
      tail = tail || extents[k] % size != 0;
      splits = splits || size < extents[k];
    }
    if (!splits) continue;
    const auto act = [&](const char* how) { return Action{"loop_tiling", Args{{"loops", loops}, {"sizes", sizes}, {"tail", how}}}; };
    const std::string place = fmt::format("{}\n{}", print_action(act("pad")), print_program(*program));
    const Result<Step> guarded = apply_action(*program, target, act("guard"));
    ASSERT_TRUE(guarded.ok()) << place << render(guarded.error());
    ++tiled;
    if (guarded->inverse) {
      ++joined;
      const Result<Step> back = apply_action(guarded->after, target, *guarded->inverse);
      ASSERT_TRUE(back.ok()) << place << print_program(guarded->after) << render(back.error());
      EXPECT_EQ(canonical_hash(back->after), canonical_hash(*program)) << place << print_program(back->after);
    }
    const Result<Step> step = apply_action(*program, target, act("pad"));
    uneven += tail ? 1 : 0;
    if (!step) {
      ++refused;
      EXPECT_NE(render(step.error()).find("(4)"), std::string::npos) << place << render(step.error());
      continue;
    }
    if (tail) ++padded;
    EXPECT_EQ(compare_runs(*program, step->after, step->exactness, round, step->recorded), "") << place << print_program(step->after);
  }
  EXPECT_EQ(joined, tiled) << "tiles that are not joined again";
  EXPECT_GT(uneven, 10);
  EXPECT_EQ(refused == 0, band.pads) << refused << " refused";
  fmt::print("{}: {} of {} uneven tilings padded, {} of {} joined\n", band.name, padded, uneven, joined, tiled);
}

INSTANTIATE_TEST_SUITE_P(Bands, Tiles, ::testing::ValuesIn(kBands), [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace cairn::test
