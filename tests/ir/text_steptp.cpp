// Writing the Step-TP profile, and refusing what it cannot say.
#include <gtest/gtest.h>

#include "ir/canon.h"
#include "ir/text.h"
#include "support/leir_files.h"

namespace cairn {
namespace {

std::string write(const std::string& text, Reading reading = Reading::automatic) {
  ParseOptions options;
  options.reading = reading;
  const Result<Program> program = parse_program(text, options);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : render(program.error()));
  if (!program.ok()) return {};
  const Result<std::string> out = print_steptp(*program);
  return out.ok() ? *out : "refused: " + out.error().message;
}

// The right side written for `D = e` over one thread.
std::string expand(const std::string& e) {
  const std::string out = write("in A^{f32}_{4};out D^{f32}_{4};L^{4}_{i=0}[D_{i}=" + e + ";];");
  const std::size_t at = out.find("]=") == std::string::npos ? out.find("}=", out.find("D^{")) : 0;
  return out.rfind("refused", 0) == 0 ? out : out.substr(at + 2, out.size() - at - 6);
}

TEST(TextStepTp, BareBodiesComeBackAsTheyWere) {
  for (const LeirFile& file : load_leir_files("ok")) {
    if (file.name.rfind("steptp_", 0) != 0) continue;
    ParseOptions options;
    options.reading = Reading::steptp;
    const Program program = *parse_program(file.text, options);
    const Result<std::string> body = print_steptp(program);
    ASSERT_TRUE(body.ok()) << render(body.error());
    EXPECT_EQ(file.text.substr(file.text.size() - body->size()), *body) << file.name;
    ParseOptions bare;
    for (const Tensor& tensor : program.tensors()) {
      if (tensor.declared) bare.known.push_back(tensor);
    }
    const Result<Program> again = parse_program(*body, bare);
    ASSERT_TRUE(again.ok()) << render(again.error());
    EXPECT_EQ(canonical_hash(*again), canonical_hash(program)) << file.name;
  }
}

TEST(TextStepTp, NestsGetAThreadAxis) {
  EXPECT_EQ(write("out D^{f32}_{4,8};P^{4}_{i=0}P^{8}_{j=0}[D_{i,j}=i;];"), "B^{4}_{tx=0}P^{8}_{j=0}[D^{f32,g}_{tx,j}=tx;];\n");
  EXPECT_EQ(write("out D^{f32}_{4};L^{9}_{k=0}L^{4}_{i=0}[D_{i}=D_{i}+k;];"),
            "L^{9}_{k=0}B^{4}_{tx=0}[D^{f32,g}_{tx}=D^{f32,g}_{tx}+k;];\n");
  EXPECT_EQ(write("out D^{f32}_{2000,4};L^{2000}_{i=0}L^{4}_{j=0}[D_{i,j}=1;];"),
            "L^{2000}_{i=0}B^{4}_{tx=0}[D^{f32,g}_{i,tx}=1;];\n");
  EXPECT_EQ(write("out D^{f32};L^{4}_{i=0}[D=D+i;];"), "B^{1}_{tx=0}L^{4}_{i=0}[D^{f32,g}=D^{f32,g}+i;];\n");
  EXPECT_EQ(write("out D^{f32};D=1;"), "B^{1}_{tx=0}[D^{f32,g}=1;];\n");
  EXPECT_EQ(write("out D^{f32}_{5};L^{4}_{i=0}[D_{i+1}=D_{i};];"), "B^{1}_{tx=0}L^{4}_{i=0}[D^{f32,g}_{i+1}=D^{f32,g}_{i};];\n");
}

TEST(TextStepTp, MissingFunctionsAreExpanded) {
  EXPECT_EQ(expand("rsqrt(A_{i})"), "1/sqrt(A^{f32,g}_{tx})");
  EXPECT_EQ(expand("tanh(A_{i})"), "1-2/(exp(2*A^{f32,g}_{tx})+1)");
  EXPECT_EQ(expand("sign(A_{i})"), "if_then_else(A^{f32,g}_{tx}>0,1,if_then_else(A^{f32,g}_{tx}<0,-1,0))");
  EXPECT_EQ(expand("if_then_else(isnan(A_{i}),0,1)"), "if_then_else(A^{f32,g}_{tx}!=A^{f32,g}_{tx},0,1)");
  EXPECT_EQ(expand("if_then_else(!(i<2),0,1)"), "if_then_else(if_then_else(tx<2,0,1)==1,0,1)");
  EXPECT_EQ(expand("A_{i}*(i<2)"), "A^{f32,g}_{tx}*if_then_else(tx<2,1,0)");
}

TEST(TextStepTp, RefusesWhatTheProfileLacks) {
  EXPECT_NE(expand("floor(A_{i})").find("function floor"), std::string::npos);
  EXPECT_NE(expand("sin(A_{i})").find("function sin"), std::string::npos);
  EXPECT_NE(expand("f16(A_{i})").find("conversion f16"), std::string::npos);
  EXPECT_NE(expand("nan").find("number nan"), std::string::npos);
  EXPECT_NE(expand("sign(sign(sign(sign(sign(sign(sign(A_{i})))))))").find("nested sign"), std::string::npos);
  EXPECT_NE(write("io D^{f32}_{4};L^{4}_{i=0}[D_{i}=1;];").find("D is io"), std::string::npos);
  EXPECT_NE(write("out D^{f32}_{4};L^{4}_{i=0}T^{i<3}[D_{i}=1;];").find("a test"), std::string::npos);
  EXPECT_NE(write("out D^{f32}_{4};U^{4,2}_{i=0}[D_{i}=1;];").find("mark of loop i"), std::string::npos);
  EXPECT_NE(write("out D^{f32}_{4};B^{4}_{wx=0}[D_{wx}=1;];").find("axis wx"), std::string::npos);
  EXPECT_NE(write("out D^{f32}_{4};M^{4}_{m=0}[D_{m}=1;];").find("loop M over m"), std::string::npos);
}

TEST(TextStepTp, SuffixedAxesBecomeAxesAndComeBack) {
  const std::string text = "B^{4}_{bxa=0}B^{8}_{tx=0}[D^{f32,g}_{bxa,tx}=bxa;];\n";
  const Program program = *parse_program(text);
  EXPECT_EQ(print_program(program), "B^{4}_{bx=0}B^{8}_{tx=0}[D^{f32,g}_{bx,tx}=bx;];\n");
  EXPECT_EQ(*print_steptp(program), text);
  const std::string clash = "B^{4}_{bxa=0}B^{2}_{bxc=0}B^{8}_{tx=0}[D^{f32,g}_{bxa,bxc,tx}=1;];\n";
  EXPECT_EQ(print_program(*parse_program(clash)), "B^{4}_{bx=0}B^{2}_{bxc=0}B^{8}_{tx=0}[D^{f32,g}_{bx,bxc,tx}=1;];\n");
  const std::string inside = "B^{8}_{tx=0}B^{4}_{bya=0}[D^{f32,g}_{bya,tx}=1;];\n";
  EXPECT_EQ(print_program(*parse_program(inside)), "P^{8}_{tx=0}P^{4}_{bya=0}[D^{f32,g}_{bya,tx}=1;];\n");
  EXPECT_EQ(write(inside), inside);
}

TEST(TextStepTp, BlockAxesOutermostAreKept) {
  const std::string text = "B^{4}_{bx=0}B^{8}_{tx=0}[D^{f32,g}_{bx,tx}=1;];\n";
  EXPECT_EQ(write(text), text);
}

TEST(TextStepTp, LanesThatNoUnitHasAreParallelAndComeBack) {
  const std::string text = "B^{4}_{tx=0}V^{4}_{a=0}L^{6}_{c=0}[D^{f32,g}_{tx,a}=c;];\n";
  const Program program = *parse_program(text);
  EXPECT_EQ(print_program(program), "P^{4}_{tx=0}P^{4}_{a=0}L^{6}_{c=0}[D^{f32,g}_{tx,a}=c;];\n");
  EXPECT_EQ(program.notes().size(), 2u);
  EXPECT_EQ(write(text), text);
  const std::string outside = "V^{2}_{h=0}B^{4}_{tx=0}[D^{f32,g}_{h,tx}=1;];\n";
  EXPECT_EQ(write(outside), outside);
  const std::string odd = "B^{4}_{tx=0}V^{6}_{a=0}[D^{f32,g}_{tx,a}=1;];\n";
  EXPECT_EQ(print_program(*parse_program(odd)), "P^{4}_{tx=0}P^{6}_{a=0}[D^{f32,g}_{tx,a}=1;];\n");
  EXPECT_EQ(write(odd), odd);
  const std::string lanes = "B^{4}_{tx=0}V^{4}_{a=0}U^{2}_{c=0}[D^{f32,g}_{tx,a,c}=1;];\n";
  EXPECT_EQ(print_program(*parse_program(lanes)).find("V^{4}_{a=0}"), 12u);
}

TEST(TextStepTp, EqualWritesOfAllIterationsAreTheFirstsAlone) {
  const std::string text = "B^{8}_{tx=0}L^{3}_{a=0}[E^{f32,g}_{tx,a}=1;K^{f32,g}_{a}=a*2;];\n";
  const Program program = *parse_program(text);
  EXPECT_EQ(print_program(program), "P^{8}_{tx=0}L^{3}_{a=0}[E^{f32,g}_{tx,a}=1;T^{tx==0}[K^{f32,g}_{a}=a*2;];];\n");
  EXPECT_EQ(write(text), text);
  // Not where the values differ, where another reads them in the nest, or where they are read from it.
  for (const char* kept : {"B^{8}_{tx=0}L^{3}_{a=0}[K^{f32,g}_{a}=a+tx;];\n", "B^{8}_{tx=0}L^{3}_{a=0}[K^{f32,g}_{a}=a*2;E^{f32,g}_{tx,a}=K^{f32,g}_{a};];\n",
                           "B^{8}_{tx=0}L^{3}_{a=0}[E^{f32,g}_{tx,a}=a;K^{f32,g}_{a}=E^{f32,g}_{0,a};];\n",
                           "B^{8}_{tx=0}L^{3}_{a=0}[K^{f32,g}_{a}=K^{f32,g}_{a}+a;];\n"}) {
    EXPECT_EQ(print_program(*parse_program(kept)).find("T^{"), std::string::npos) << kept;
    EXPECT_EQ(write(kept), kept);
  }
}

}  // namespace
}  // namespace cairn
