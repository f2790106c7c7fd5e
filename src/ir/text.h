// LEIR text: parsing (all profiles are read by one parser) and printing.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "ir/program.h"

namespace cairn {

// Limits on untrusted input; beyond them the parser refuses.
struct ParseLimits {
  std::size_t bytes = 64u << 20;
  unsigned depth = 200;          // nesting of loops, tests and expressions; chained operators: ten times that
  std::size_t nodes = 8'000'000; // expression nodes
};

// How promises are read. automatic: a text without declarations is a bare Step-TP body, any other is LEIR as
// written. steptp: the Step-TP reading for a text with declarations too (B axes as P unless block axes stand
// outermost, s and l tensors that cross top-level nests as g).
enum class Reading { automatic, leir, steptp };

struct ParseOptions {
  std::string file = "<text>";
  Reading reading = Reading::automatic;
  ParseLimits limits;
  // Known tensors of a bare Step-TP body (the corpus keeps them beside the text); declared first.
  std::vector<Tensor> known;
  // Digests of `const` tensors by name (from the .safetensors beside the program).
  std::map<std::string, Digest> const_digests;
};

// Parses LEIR, Step-TP bare bodies and the short form. Syntax errors are Code::parse with a place.
Result<Program> parse_program(std::string_view text, const ParseOptions& options = {});
// Parses one expression (for arguments of actions and rules).
Result<ExprPtr> parse_expr(std::string_view text);

// leir: one nest a line with declarations; short_form: A[i,j], superscript at first mention only,
// `L i<512`; steptp: the public profile, bare body.
enum class Profile { leir, short_form, steptp };

// Prints leir or short_form, which parse back to a program of the same canonical hash.
std::string print_program(const Program& program, Profile profile = Profile::leir);
// steptp refuses what the profile cannot say (tests, M, marks, wx, conversions ...), naming it.
Result<std::string> print_steptp(const Program& program);
std::string print_expr(const Expr& expr, const Program* program = nullptr);
std::string print_stmt(const Stmt& stmt, const Program* program = nullptr);

}  // namespace cairn
