// Steps that must declare an inverse, and which; that it leads back is checked of every step (property, pages).
#include <gtest/gtest.h>

#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/registry.h"

namespace cairn::test {
namespace {

struct InverseCase {
  const char* name;
  const char* program;
  const char* action;
  const char* inverse;   // empty: none
};

const std::vector<InverseCase> kCases = {
    {"tiles_with_tails", "in A^{f32}_{5,9};out D^{f32}_{9,5};L^{5}_{i=0}L^{9}_{j=0}[D^{f32,g}_{j,i}=A^{f32,g}_{i,j};];",
     "loop_tiling(loops=0.i+0.j, sizes=2x3)", "loop_tiling(loops=0.i+0.a+0.j+0.c, sizes=5x9, tail=join)"},
    {"tiles_of_parallel_loops", "in A^{f32}_{6,9};out D^{f32}_{9,6};P^{6}_{i=0}L^{9}_{j=0}[D^{f32,g}_{j,i}=A^{f32,g}_{i,j};];",
     "loop_tiling(loops=0.i+0.j, sizes=2x3)", ""},
    {"a_producer_of_own_elements",
     "in A^{f32}_{8,6};out D^{f32}_{8};L^{8}_{i=0}L^{6}_{j=0}[E^{f32,g}_{i,j}=exp(A^{f32,g}_{i,j});];"
     "L^{8}_{i=0}L^{6}_{j=0}[D^{f32,g}_{i}=D^{f32,g}_{i}+E^{f32,g}_{i,j};];",
     "compute_at(tensor=E, loop=1.i, scope=g)", "operator_fission(loop=0.i, cut=s1)"},
    {"a_producer_with_a_halo",
     "in A^{f32}_{9};out D^{f32}_{8};L^{9}_{i=0}[E^{f32,g}_{i}=exp(A^{f32,g}_{i});];L^{8}_{i=0}[D^{f32,g}_{i}=E^{f32,g}_{i}+E^{f32,g}_{i+1};];",
     "compute_at(tensor=E, loop=1.i, scope=g)", ""},
    {"a_value_of_one_iteration",
     "in A^{f32}_{8,6};out D^{f32}_{8,6};L^{8}_{i=0}L^{6}_{j=0}[E^{f32,g}_{i,j}=A^{f32,g}_{i,j}*2;D^{f32,g}_{i,j}=E^{f32,g}_{i,j}+1;];",
     "scalar_replace(tensor=E, dims=1x0)", "scalar_replace(tensor=E, dims=0x1, loops=0.i+0.j)"},
    {"an_element_for_each_iteration",
     "in A^{f32}_{8,6};out D^{f32}_{8,6};L^{8}_{i=0}L^{6}_{j=0}[E^{f32,g}=A^{f32,g}_{i,j}*2;D^{f32,g}_{i,j}=E^{f32,g}+1;];",
     "scalar_replace(tensor=E, dims=0, loops=0.j)", "scalar_replace(tensor=E, dims=0, loops=-)"},
    {"a_start_that_had_to_be_written",
     "in A^{f32}_{8,6};out D^{f32}_{8};L^{8}_{i=0}[L^{6}_{k=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+A^{f32,g}_{i,k};];D^{f32,g}_{i}=E^{f32,g}_{i}*2;];",
     "scalar_replace(tensor=E, dims=0)", ""},
    {"partial_results", "in A^{f32}_{4,24};out D^{f32}_{4};L^{4}_{i=0}L^{24}_{k=0}[D^{f32,g}_{i}=D^{f32,g}_{i}+A^{f32,g}_{i,k};];",
     "reduction_factorization(loop=0.k, factor=6, place=0.i)", "reduction_factorization(loop=1.k, equation=s1, factor=0, place=-)"},
    {"partial_maxima_with_a_tail", "in A^{f32}_{10,3};out D^{f32}_{3};L^{10}_{k=0}L^{3}_{j=0}[D^{f32,g}_{j}=max(D^{f32,g}_{j},A^{f32,g}_{k,j});];",
     "reduction_factorization(loop=0.k, factor=4)", "reduction_factorization(loop=1.k, equation=s1, factor=0, place=-)"},
    {"partial_results_joined",
     "in A^{f32}_{24};out D^{f32};L^{4}_{k=0}[C^{f32,g}_{k}=0;];L^{4}_{k=0}L^{6}_{a=0}[C^{f32,g}_{k}=C^{f32,g}_{k}+A^{f32,g}_{k*6+a};];"
     "L^{4}_{k=0}[D^{f32,g}=D^{f32,g}+C^{f32,g}_{k};];",
     "reduction_factorization(loop=1.k, equation=s1, factor=0)", "reduction_factorization(loop=0.k, equation=-, factor=6, place=0.k)"},
    {"a_history", "in A^{f32}_{4,8};out D^{f32}_{4};L^{8}_{j=0}L^{4}_{i=0}[D^{f32,g}_{i}=max(A^{f32,g}_{i,j},D^{f32,g}_{i});];",
     "normal_loop_max_to_prefix_max(equation=s0)", "normal_loop_max_to_prefix_max(equation=s0, mode=final)"},
    {"a_history_under_a_test", "in A^{f32}_{4,8};out D^{f32}_{4};L^{4}_{i=0}L^{8}_{j=0}T^{j<=i}[D^{f32,g}_{i}=max(D^{f32,g}_{i},A^{f32,g}_{i,j});];",
     "normal_loop_max_to_prefix_max(equation=s0)", ""},
    {"an_online_pass",
     "in A^{f32}_{4,8};out D^{f32}_{4};L^{4}_{i=0}L^{8}_{j=0}[M^{f32,g}_{i}=max(M^{f32,g}_{i},A^{f32,g}_{i,j});];"
     "L^{4}_{i=0}L^{8}_{j=0}[S^{f32,g}_{i}=S^{f32,g}_{i}+exp(A^{f32,g}_{i,j}-M^{f32,g}_{i});];L^{4}_{i=0}[D^{f32,g}_{i}=log(S^{f32,g}_{i})+M^{f32,g}_{i};];",
     "online_softmax(equation=s1)", "online_softmax(equation=s5, mode=apart)"},
    {"an_online_pass_under_a_mask",
     "in A^{f32}_{4,8};out D^{f32}_{4};L^{4}_{i=0}L^{8}_{j=0}T^{j<=i}[M^{f32,g}_{i}=max(M^{f32,g}_{i},A^{f32,g}_{i,j});];"
     "L^{4}_{i=0}L^{8}_{j=0}T^{j<=i}[S^{f32,g}_{i}=S^{f32,g}_{i}+exp(A^{f32,g}_{i,j}-M^{f32,g}_{i});];L^{4}_{i=0}[D^{f32,g}_{i}=log(S^{f32,g}_{i})+M^{f32,g}_{i};];",
     "online_softmax(equation=s1)", ""},
};

class Inverse : public ::testing::TestWithParam<InverseCase> {};

TEST_P(Inverse, IsDeclaredAndLeadsBack) {
  const Target target = described_target();
  const Result<Program> program = parse_program(GetParam().program);
  ASSERT_TRUE(program.ok()) << render(program.error());
  const Result<Action> action = parse_action(GetParam().action);
  ASSERT_TRUE(action.ok()) << render(action.error());
  const Result<Step> step = apply_action(*program, target, *action);
  ASSERT_TRUE(step.ok()) << render(step.error());
  EXPECT_EQ(step->inverse ? print_action(*step->inverse) : "", GetParam().inverse) << print_program(step->after);
  if (!step->inverse) return;
  const Result<Step> back = apply_action(step->after, target, *step->inverse);
  ASSERT_TRUE(back.ok()) << render(back.error());
  EXPECT_EQ(canonical_hash(back->after), canonical_hash(*program)) << print_program(back->after);
}

INSTANTIATE_TEST_SUITE_P(Cases, Inverse, ::testing::ValuesIn(kCases), [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace cairn::test
