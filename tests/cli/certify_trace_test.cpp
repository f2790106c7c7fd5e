// Certifying a trace: what steps share changes nothing, and a time limit leaves what needs no time.
#include "cli/certify_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "ir/text.h"

namespace cairn {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct Traced {
  Program root;
  std::vector<Action> actions;
  Replay replay;
  CertifyOptions options;
};

Traced trace_of(const char* program, const std::vector<const char*>& texts) {
  Traced t;
  t.root = parse_program(program).value();
  t.options.target = described_target();
  for (const char* text : texts) t.actions.push_back(parse_action(text).value());
  auto replay = replay_trace(t.root, t.options.target, t.actions);
  EXPECT_TRUE(replay.ok()) << render(replay.error());
  t.replay = *std::move(replay);
  return t;
}

// Small enough to be interpreted whole, and so large that only samples are.
const char* const kPrograms[] = {
    "in A^{f32}_{24,32};in C^{f32}_{32,40};out D^{f32}_{24,40};\n"
    "L^{24}_{i=0}L^{40}_{j=0}L^{32}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];\n",
    "in A^{f32}_{1024,512};in C^{f32}_{512,768};out D^{f32}_{1024,768};\n"
    "L^{1024}_{i=0}L^{768}_{j=0}L^{512}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];\n"};
const std::vector<const char*> kSteps = {"loop_split(loop=0.i, factor=8, tail=guard)", "loop_split(loop=0.j, factor=8, tail=guard)",
                                         "loop_unrolling(loop=0.k, factor=4, kind=U)"};

std::string fact(const Certificate& c, const std::string& key) {
  for (const auto& [name, value] : c.facts) {
    if (name == key) return value;
  }
  return {};
}

TEST(CertifyTrace, SharingChangesNoCertificate) {
  for (const char* program : kPrograms) {
    const Traced t = trace_of(program, kSteps);
    FakeClock clock;
    TraceCertifier certifier(t.replay, t.actions, t.options, kNoLimit, clock);
    for (std::size_t i = 0; i < t.actions.size(); ++i) {
      const ActionEvidence evidence = evidence_of(t.replay.programs[i], t.options.target, t.actions[i], t.replay.steps[i]);
      const CertificateSet alone = certify(t.replay.programs[i], t.replay.steps[i].after, t.replay.steps[i].exactness, &evidence, t.options);
      const CertificateSet shared = certifier.certify_step(i);
      EXPECT_EQ(serialize(shared), serialize(alone));
      EXPECT_TRUE(shared.ok());
      EXPECT_NE(shared.find(Rung::numeric), nullptr) << serialize(shared);
    }
    EXPECT_EQ(certifier.limited(), 0u);
  }
}

TEST(CertifyTrace, AfterTheLimitStepsKeepWhatNeedsNoTime) {
  const Traced t = trace_of(kPrograms[0], kSteps);
  FakeClock clock;
  TraceCertifier certifier(t.replay, t.actions, t.options, 10, clock);
  EXPECT_NE(certifier.certify_step(0).find(Rung::numeric), nullptr);
  clock.advance(10);
  EXPECT_TRUE(certifier.late());
  const CertificateSet late = certifier.certify_step(1);
  EXPECT_TRUE(late.ok());
  EXPECT_EQ(late.find(Rung::numeric), nullptr);
  EXPECT_EQ(late.find(Rung::identity), nullptr);
  ASSERT_NE(late.find(Rung::legal), nullptr);
  EXPECT_TRUE(late.find(Rung::legal)->held);
  const Certificate* wellformed = late.find(Rung::wellformed);
  ASSERT_NE(wellformed, nullptr);
  EXPECT_EQ(fact(*wellformed, "numeric_absent"), "time limit: 10 s for all steps");
  EXPECT_EQ(fact(*wellformed, "identity_absent"), "time limit: 10 s for all steps");
  EXPECT_EQ(certifier.limited(), 1u);
}

// One row of this chain of products is more than a step's share; one element of its end alone is, too, at a tenth.
TEST(CertifyTrace, AnEarlierStepTellsWhatIsTooLarge) {
  Traced t = trace_of("in A^{f32}_{256,512};in C^{f32}_{512,512};in E^{f32}_{512,64};out D^{f32}_{256,64};\n"
                      "L^{256}_{i=0}L^{512}_{j=0}L^{512}_{k=0}[F^{f32,g}_{i,j}=F^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];\n"
                      "L^{256}_{i=0}L^{64}_{j=0}L^{512}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+F^{f32,g}_{i,k}*E^{f32,g}_{k,j};];\n",
                      {"loop_split(loop=0.i, factor=8, tail=guard)", "loop_split(loop=1.i, factor=8, tail=guard)"});
  FakeClock clock;
  t.options.numeric_seconds = 0.2;   // 666,666 equations a run: one row needs 262,656, three do not fit
  TraceCertifier fits(t.replay, t.actions, t.options, kNoLimit, clock);
  for (std::size_t i = 0; i < 2; ++i) {
    const CertificateSet set = fits.certify_step(i);
    ASSERT_NE(set.find(Rung::numeric), nullptr) << serialize(set);
    EXPECT_EQ(fact(*set.find(Rung::numeric), "shape"), "sampled");
    EXPECT_TRUE(set.find(Rung::numeric)->held);
  }
  t.options.numeric_seconds = 0.02;
  TraceCertifier too_large(t.replay, t.actions, t.options, kNoLimit, clock);
  for (std::size_t i = 0; i < 2; ++i) {
    const CertificateSet set = too_large.certify_step(i);
    EXPECT_EQ(set.find(Rung::numeric), nullptr);
    EXPECT_NE(fact(*set.find(Rung::wellformed), "numeric_absent").find("one element of each output"), std::string::npos);
    EXPECT_TRUE(set.ok());
  }
}

}  // namespace
}  // namespace cairn
