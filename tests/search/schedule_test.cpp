// Schedules that share what they begin with are the schedules that share nothing.
#include "search/schedule.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "search/templates.h"

namespace cairn {
namespace {

std::vector<std::string> texts(const std::vector<Action>& actions) {
  std::vector<std::string> list;
  for (const Action& a : actions) list.push_back(print_action(a));
  return list;
}

TEST(Schedule, TheMemoChangesNoChoice) {
  const Target target = described_target();
  for (const char* text : {"in A^{f32}_{64,96};in C^{f32}_{96,128};out D^{f32}_{64,128};\n"
                           "L^{64}_{i=0}L^{128}_{j=0}L^{96}_{k=0}[D^{f32,g}_{i,j}=D^{f32,g}_{i,j}+A^{f32,g}_{i,k}*C^{f32,g}_{k,j};];\n",
                           "in A^{f32}_{64,256};out C^{f32}_{64,256};\n"
                           "L^{64}_{i=0}L^{256}_{j=0}[D^{f32,g}_{i}=max(D^{f32,g}_{i},A^{f32,g}_{i,j});];\n"
                           "L^{64}_{i=0}L^{256}_{j=0}[C^{f32,g}_{i,j}=exp(A^{f32,g}_{i,j}-D^{f32,g}_{i});];\n"}) {
    const Program program = parse_program(text).value();
    for (std::size_t nest = 0; nest < program.body().size(); ++nest) {
      ApplyMemo memo;
      int applied = 0;
      for (const NestChoice& choice : list_choices(program, nest, target)) {
        Schedule alone(program, target), shared(program, target, &memo);
        ASSERT_EQ(apply_choice(alone, nest, choice), apply_choice(shared, nest, choice)) << choice.text();
        EXPECT_EQ(texts(alone.actions()), texts(shared.actions())) << choice.text();
        EXPECT_EQ(print_program(alone.program()), print_program(shared.program())) << choice.text();
        EXPECT_EQ(alone.refusal(), shared.refusal()) << choice.text();
        applied += alone.actions().empty() ? 0 : 1;
      }
      EXPECT_GT(applied, 4);
    }
  }
}

}  // namespace
}  // namespace cairn
