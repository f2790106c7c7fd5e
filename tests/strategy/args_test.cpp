#include "strategy/args.h"

#include <gtest/gtest.h>

#include "strategy/registry.h"
#include "strategy/trace.h"

namespace cairn {
namespace {

TEST(Args, PrintParseRoundTrip) {
  const Result<Action> action = parse_action(" loop_split( loop = 0.i#1 ,factor=8 ) ");
  ASSERT_TRUE(action.ok()) << render(action.error());
  EXPECT_EQ(print_action(*action), "loop_split(loop=0.i#1, factor=8, tail=guard)");
  EXPECT_EQ(*parse_action(print_action(*action)), *action);
  EXPECT_EQ(action->args.get_int("factor"), 8);
  const Result<Action> tiling = parse_action("loop_tiling(loops=0.i+0.j, sizes=12x32)");
  ASSERT_TRUE(tiling.ok());
  EXPECT_EQ(tiling->args.get_ints("sizes"), (std::vector<std::int64_t>{12, 32}));
  EXPECT_EQ(tiling->args.get_list("loops"), (std::vector<std::string>{"0.i", "0.j"}));
}

TEST(Args, RefusesWithAReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"loop_split", "is not an action"},
      {"loop_spilt(loop=0.i)", "there is no strategy loop_spilt"},
      {"loop_split(loop=0.i)", "needs the parameter factor"},
      {"loop_split(loop=0.i, factor=eight)", "is not an integer"},
      {"loop_split(loop=i, factor=8)", "is not a loop address"},
      {"loop_split(loop=0.i, factor=8, tail=round)", "is not one of the choices: guard, peel"},
      {"loop_split(loop=0.i, factor=8, by=2)", "has no parameter by; its parameters are loop, factor, tail"},
      {"loop_split(loop=0.i, factor=8, factor=9)", "factor is given twice"},
      {"loop_split(loop=0.i, 8)", "is not name=value"},
      {"loop_split(loop=0.i, factor=99999999999999999999)", "is not an integer"},
      {"set_storage_scope(tensor=d, scope=l)", "is not a tensor's name"},
  };
  for (const auto& [text, message] : cases) {
    const Result<Action> action = parse_action(text);
    ASSERT_FALSE(action.ok()) << text;
    EXPECT_NE(action.error().message.find(message), std::string::npos) << text << ": " << action.error().message;
    EXPECT_EQ(action.error().code, Code::usage);
  }
}

TEST(Registry, NamesAreUniqueAndParametersDescribed) {
  for (const Strategy* strategy : all_strategies()) {
    EXPECT_EQ(find_strategy(strategy->name), strategy);
    EXPECT_FALSE(strategy->summary.empty());
    EXPECT_FALSE(strategy->params.empty()) << strategy->name;
    for (const Param& param : strategy->params) {
      EXPECT_FALSE(param.help.empty()) << strategy->name << " " << param.name;
      EXPECT_EQ(param.type == ArgType::choice, !param.choices.empty()) << strategy->name << " " << param.name;
    }
  }
}

TEST(Trace, RoundTripAndComments) {
  const std::string text =
      "% cairn trace 1\n% from 00000000000000010000000000000002\n\n% a remark\nloop_split(loop=0.i, factor=8) % why\n";
  const Result<Trace> trace = parse_trace(text);
  ASSERT_TRUE(trace.ok()) << render(trace.error());
  ASSERT_EQ(trace->actions.size(), 1u);
  EXPECT_EQ(trace->from, (Digest{1, 2}));
  const Result<Trace> again = parse_trace(print_trace(*trace));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->actions, trace->actions);
}

TEST(Trace, RefusalsNameTheLine) {
  const Result<Trace> head = parse_trace("% trace\n", "a.trace");
  ASSERT_FALSE(head.ok());
  EXPECT_EQ(head.error().where.line, 1u);
  const Result<Trace> bad = parse_trace("% cairn trace 1\n% from 00000000000000010000000000000002\nloop_split(loop=0.i)\n", "a.trace");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().where.line, 3u);
  EXPECT_EQ(bad.error().where.file, "a.trace");
  EXPECT_FALSE(parse_trace("% cairn trace 1\nloop_split(loop=0.i, factor=2)\n").ok());
  EXPECT_FALSE(parse_trace("").ok());
}

}  // namespace
}  // namespace cairn
