// Parsing: shapes of trees, leniencies of the Step-TP texts, tensor tables.
#include <gtest/gtest.h>

#include "ir/text.h"

namespace cairn {
namespace {

Program parse(std::string_view text, const ParseOptions& options = {}) {
  Result<Program> program = parse_program(text, options);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : render(program.error()));
  return program.ok() ? *std::move(program) : Program();
}

std::string reprint(std::string_view text) { return print_program(parse(text)); }

std::string reprint_expr(std::string_view text) {
  const Result<ExprPtr> expr = parse_expr(text);
  return expr.ok() ? print_expr(**expr) : render(expr.error());
}

TEST(TextParse, SoftmaxKeepsItsText) {
  const std::string text =
      "in A^{f32}_{4,8};\nout C^{f32}_{4,8};\n"
      "L^{4}_{i=0}L^{8}_{j=0}[D^{f32,g}_{i}=max(D^{f32,g}_{i},A^{f32,g}_{i,j});];\n"
      "L^{4}_{i=0}L^{8}_{j=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+exp(A^{f32,g}_{i,j}-D^{f32,g}_{i});];\n"
      "L^{4}_{i=0}L^{8}_{j=0}[C^{f32,g}_{i,j}=exp(A^{f32,g}_{i,j}-D^{f32,g}_{i})/E^{f32,g}_{i};];\n";
  EXPECT_EQ(reprint(text), text);
}

TEST(TextParse, PrecedenceAndLiterals) {
  for (const char* text : {"-2**2", "(-2)**2", "2**i", "a**(b+1)", "a-(b-c)", "a-b-c", "a*(b/c)", "-9223372036854775808",
                           "1<=c<9", "1<=c<9&1<=d<9", "a<b|c<d&e<f", "(a<b|c<d)&e<f", "!(a<b)", "a!=-100", "1e-05", "0.5",
                           "-inf", "nan", "a*(-b)", "-a*b", "-(a+b)", "a//2%3", "(ty*16+tx)%8*4+v", "xor(a,2**d)", "f16(a)",
                           "if_then_else(a<b,a,b)", "(a<b)==(c<d)", "1.0", "a<b<c<d", "a<b&b<c<d", "a**(-1)", "-(-a)"}) {
    EXPECT_EQ(reprint_expr(text), text);
  }
  EXPECT_EQ(reprint_expr(" a % 8 * 4 "), "a%8*4");
  EXPECT_EQ(reprint_expr("a<b&b<c"), "a<b<c");
  EXPECT_EQ(reprint_expr("a**b**c"), "a**(b**c)");
  EXPECT_EQ(reprint_expr("max(a,b,c)"), "max(max(a,b),c)");
  EXPECT_EQ(reprint_expr("--5"), "5");
  const Result<ExprPtr> power = parse_expr("-2**2");
  ASSERT_TRUE(power.ok());
  EXPECT_EQ((*power)->op, Op::neg);
}

TEST(TextParse, LoopsTestsAndTensorsOfTheSameLetter) {
  const std::string text =
      "in T^{f32}_{8};\nout M^{f32}_{8};\n"
      "L^{8,3}_{i=0}T^{i<5}[M^{f32,g}_{i}=T^{f32,g}_{i};];\n"
      "B^{8,a}_{bx=0}[L^{f32,l}=0;M^{16}_{m=0}[L^{f32,l}=L^{f32,l}+1;];T^{(f)}[L^{f32,l}=2;];];\n"
      "M^{f32,g}_{0}=1;\n";
  EXPECT_EQ(reprint(text), text);
}

TEST(TextParse, SelfUpdatePrintsItsTensorFirst) {
  const std::string head = "out D^{f32};\nin A^{f32};\nin C^{f32};\n";
  const auto rhs = [&head](const std::string& text) {
    const std::string out = reprint(head + "D=" + text + ";");
    const std::size_t at = out.rfind("D^{f32,g}=");
    return out.substr(at + 10, out.size() - at - 12);
  };
  EXPECT_EQ(rhs("A+D"), "D^{f32,g}+A^{f32,g}");
  EXPECT_EQ(rhs("A+C+D"), "D^{f32,g}+(A^{f32,g}+C^{f32,g})");
  EXPECT_EQ(rhs("A+D+C"), "D^{f32,g}+A^{f32,g}+C^{f32,g}");
  EXPECT_EQ(rhs("A+(C+D)"), "A^{f32,g}+(C^{f32,g}+D^{f32,g})");
  EXPECT_EQ(rhs("A-D"), "A^{f32,g}-D^{f32,g}");
  EXPECT_EQ(rhs("max(A,D)"), "max(D^{f32,g},A^{f32,g})");
  EXPECT_EQ(rhs("max(A,D+1)"), "max(A^{f32,g},D^{f32,g}+1)");
  EXPECT_EQ(rhs("A*C*D/2"), "D^{f32,g}*(A^{f32,g}*C^{f32,g})/2");
  EXPECT_EQ(rhs("D*A+D"), "D^{f32,g}*A^{f32,g}+D^{f32,g}");
}

TEST(TextParse, ZeroLoopNestsAndMissingSemicolons) {
  EXPECT_EQ(reprint("[A^{f32,g}=1;C^{f32,g}=2;];"), "A^{f32,g}=1;\nC^{f32,g}=2;\n");
  EXPECT_EQ(reprint("L^{4}_{a=0}[X^{f32,g}_{a}=0;]L^{3}_{c=0}[X^{f32,g}_{a}=X^{f32,g}_{a}+1;];"),
            "L^{4}_{a=0}[X^{f32,g}_{a}=0;L^{3}_{c=0}[X^{f32,g}_{a}=X^{f32,g}_{a}+1;];];\n");
}

TEST(TextParse, BareBodyReadsThreadAxesAsParallel) {
  const Program program = parse("B^{4}_{tx=0}[S^{f32,s}_{tx}=1;];B^{4}_{bx=0}B^{4}_{tx=0}[O^{f32,l}=S^{f32,s}_{tx};];");
  EXPECT_EQ(print_program(program),
            "P^{4}_{tx=0}[S^{f32,g}_{tx}=1;];\nB^{4}_{bx=0}B^{4}_{tx=0}[O^{f32,l}=S^{f32,g}_{tx};];\n");
  EXPECT_EQ(program.body()[0]->axis_hint, "tx");
  EXPECT_EQ(program.notes().size(), 2u);
}

TEST(TextParse, DeclaredTextKeepsThreadAxes) {
  const std::string text = "out D^{f32}_{4};\nB^{4}_{tx=0}[D^{f32,g}_{tx}=1;];\n";
  EXPECT_EQ(reprint(text), text);
  ParseOptions options;
  options.reading = Reading::steptp;
  EXPECT_EQ(parse(text, options).body()[0]->kind, LoopKind::P);
}

TEST(TextParse, KnownTensorsIgnoreSuperscripts) {
  ParseOptions options;
  Tensor a;
  a.name = "A";
  a.role = Role::in;
  a.dtype = Dtype::f16;
  a.shape = Shape{4};
  options.known = {a};
  const Program program = parse("L^{4}_{i=0}[D^{f32,g}_{i}=A^{f32,s}_{i};];", options);
  EXPECT_EQ(program.find("A")->dtype, Dtype::f16);
  EXPECT_TRUE(program.conflicts().empty());
}

TEST(TextParse, TemporaryOfTwoDtypesIsAConflict) {
  const char* text = "L^{4}_{i=0}[D^{f32,g}_{i}=1;];\nL^{4}_{i=0}[E^{f32,g}_{i}=D^{f64,l}_{i};];";
  ParseOptions options;
  options.reading = Reading::leir;
  const Program program = parse(text, options);
  ASSERT_EQ(program.conflicts().size(), 1u);
  EXPECT_EQ(locate(program, program.conflicts()[0].pos).line, 2u);
  // Step-TP's reading takes what its first equation says.
  const Program bare = parse(text);
  EXPECT_TRUE(bare.conflicts().empty());
  ASSERT_EQ(bare.notes().size(), 1u);
  EXPECT_EQ(bare.find("D")->dtype, Dtype::f32);
}

TEST(TextParse, ShortFormReadsBack) {
  const std::string text =
      "in A^{f32}_{4,8};\nL^{4}_{i=0}U^{8,4}_{j=0}T^{j<5}[D^{f32,l}_{i}=max(D^{f32,l}_{i},A^{f32,g}_{i,j});];\n";
  const std::string brief = print_program(parse(text), Profile::short_form);
  EXPECT_EQ(brief, "in A^{f32}[4,8];\nL i<4 U j<8,4 T^{j<5}[D^{f32,l}[i]=max(D[i],A[i,j]);];\n");
  EXPECT_EQ(reprint(brief), text);
}

TEST(TextParse, LimitsRefuse) {
  const auto message = [](std::string_view text, ParseLimits limits) {
    ParseOptions options;
    options.limits = limits;
    const Result<Program> program = parse_program(text, options);
    return program.ok() ? std::string() : program.error().message;
  };
  const std::string_view text = "A^{f32,g}=1+(2+3);";
  EXPECT_EQ(message(text, {}), "");
  EXPECT_EQ(message(text, {.bytes = 10}), "text of 18 bytes; expected at most 10");
  EXPECT_EQ(message(text, {.depth = 1}), "nesting deeper than 1, the limit");
  EXPECT_EQ(message(text, {.nodes = 4}), "more than 4 expression nodes, the limit");
}

TEST(TextParse, CommentsAndModulo) {
  EXPECT_EQ(reprint("% head\nL^{9}_{i=0}[ % body\n D^{f32,g}_{i%3}=i%2; % tail\n]; % end"),
            "L^{9}_{i=0}[D^{f32,g}_{i%3}=i%2;];\n");
}

}  // namespace
}  // namespace cairn
