// A stored decision is the decision that was taken.
#include "memory/decision_json.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace cairn {
namespace {

StoredDecision sample() {
  StoredDecision s;
  s.decision.direction = "fusion";
  s.decision.local = "operator_fusion";
  s.decision.draw = 0.1 + 0.2;
  s.decision.directions = {{"fusion", 0.25, 1.0 / 3, {{"trigger", 0.15}, {"edge 1", -1e-17}}}, {"algebra", -0.5, 2.0 / 3, {}}};
  s.decision.locals = {{"operator_fusion", 1e300, 1, {{"noise", 0.125}}}};
  s.state.task = {"softmax 4k", "softmax", {1, 2.5, -3}};
  s.state.bottleneck = "memory";
  s.state.time_shares = {{"memory", 0.75}, {"compute", 0.25}};
  s.state.directions = {"algebra", kStartNode};
  s.state.locals = {"powsimp", kStartNode};
  s.state.made = {"fuse", "powsimp"};
  s.state.program = {1, ~std::uint64_t{0}};
  s.state.device = {"cpu 9f", "avx512", "cpu"};
  s.state.now = 1'700'000'000;
  s.state.closed = {"launch"};
  s.state.model_picks = true;
  return s;
}

TEST(DecisionJson, ReadsWhatItWrote) {
  const StoredDecision s = sample();
  const std::string text = print_decision(s.decision, s.state);
  const auto read = parse_decision(text);
  ASSERT_TRUE(read.ok()) << render(read.error());
  EXPECT_EQ(print_decision(read->decision, read->state), text);
  EXPECT_EQ(read->decision.draw, s.decision.draw);
  ASSERT_EQ(read->decision.directions.size(), 2u);
  EXPECT_EQ(read->decision.directions[0].probability, 1.0 / 3);
  EXPECT_EQ(read->decision.directions[0].terms[1].value, -1e-17);
  EXPECT_EQ(read->state.program, s.state.program);
  EXPECT_EQ(read->state.task.features, s.state.task.features);
  EXPECT_EQ(read->state.time_shares, s.state.time_shares);
  EXPECT_EQ(read->state.directions, s.state.directions);
  EXPECT_EQ(read->state.device, s.state.device);
  EXPECT_EQ(read->state.closed, s.state.closed);
  EXPECT_EQ(read->state.made, s.state.made);
  EXPECT_TRUE(read->state.model_picks);
}

// The first version knew the last two steps only.
TEST(DecisionJson, ReadsTheFirstVersion) {
  const StoredDecision s = sample();
  Json old = parse_json(print_decision(s.decision, s.state)).value();
  old["version"] = 1;
  old["state"].erase("made");
  const auto read = parse_decision(dump_json(old));
  ASSERT_TRUE(read.ok()) << render(read.error());
  EXPECT_TRUE(read->state.made.empty());
  EXPECT_EQ(read->state.locals, s.state.locals);
}

// Every key is needed, and wrong types are refused.
TEST(DecisionJson, RefusesWhatIsMissingOrNewer) {
  const StoredDecision s = sample();
  const Json whole = parse_json(print_decision(s.decision, s.state)).value();
  EXPECT_NE(parse_decision("{\"version\":3}").error().message.find("found version 3 of a decision"), std::string::npos);
  for (const Json* object : {&whole, &whole["state"]}) {
    for (const auto& [key, value] : object->items()) {
      for (const bool wrong : {false, true}) {
        Json cut = whole;
        Json& place = object == &whole ? cut : cut["state"];
        if (wrong) place[key] = Json(nullptr);
        else place.erase(key);
        const auto read = parse_decision(dump_json(cut));
        ASSERT_FALSE(read.ok()) << key;
        EXPECT_EQ(read.error().code, Code::parse);
        if (wrong && key == "state") continue;   // its own keys are asked for first
        EXPECT_NE(read.error().message.find(key), std::string::npos) << key << ": " << read.error().message;
      }
    }
  }
}

}  // namespace
}  // namespace cairn
