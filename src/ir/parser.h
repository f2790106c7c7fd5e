// The recursive-descent parser behind parse_program (internal to ir).
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/lexer.h"
#include "ir/text.h"

namespace cairn {

// What a tensor's `^{dtype,scope}` said; scope may be left out.
struct Superscript {
  bool present = false;
  Dtype dtype = Dtype::undef;
  bool has_scope = false;
  Scope scope = Scope::g;
};

// Parses one text. Every parse_ function returns null or false after recording one error.
class Parser {
 public:
  Parser(std::string_view text, const ParseOptions& options);

  Result<Program> parse_whole();
  Result<ExprPtr> parse_lone_expr();

 private:
  struct Head {  // one loop or test of a nest's header
    LoopHeader loop;
    ExprPtr test;
    SourcePos pos = kNoPos;
  };
  enum class HeadForm : std::uint8_t { none, loop, short_loop, test };

  // parser.cpp: declarations, the tensor table, errors
  bool parse_declaration(Role role);
  bool parse_extents(Shape& shape);
  bool parse_superscript(Superscript& out);
  bool mention(std::string_view name, const Superscript& super, SourcePos pos);
  std::size_t find_slot(std::string_view name) const;
  void add_slot(Tensor tensor);
  bool fail(SourcePos pos, std::string message);
  bool fail_found(std::string_view expected);
  bool expect(char c, std::string_view expected);
  Error take_error();

  // parser_stmt.cpp
  bool parse_statements(Body& out, bool top);
  bool parse_statement(Body& out);
  bool parse_nest(Body& out);
  bool parse_head(std::vector<Head>& heads, HeadForm form, char kind, SourcePos pos);
  bool parse_mark(LoopMark& mark);
  bool parse_loop_var(std::string& var);
  bool parse_extent(std::int64_t& extent);
  bool parse_equation(Body& out, std::string_view name, SourcePos pos);
  HeadForm head_form(std::string_view name);
  bool head_follows();
  void end_nest();

  // parser_expr.cpp
  ExprPtr parse_lone_var();
  ExprPtr parse_or();
  ExprPtr parse_and();
  ExprPtr parse_comparison();
  ExprPtr parse_sum();
  ExprPtr parse_product();
  ExprPtr parse_unary();
  ExprPtr parse_power(bool negated);
  ExprPtr parse_primary(bool negated);
  ExprPtr parse_number(bool negated);
  ExprPtr parse_word();
  ExprPtr parse_call(std::string_view word, SourcePos pos);
  bool parse_arguments(std::vector<ExprPtr>& args);
  bool parse_subscripts(std::vector<ExprPtr>& subscripts);
  ExprPtr parse_read();
  Op comparison_at_cursor();
  ExprPtr build(Op op, ExprPtr a, ExprPtr b, unsigned height_a, SourcePos pos);
  bool enter(SourcePos pos);
  bool count_node(SourcePos pos);

  const ParseOptions& options_;
  std::string_view text_;
  Cursor in_;
  bool failed_ = false;
  bool lone_expr_ = false;
  std::string message_;
  SourcePos error_pos_ = kNoPos;
  unsigned depth_ = 0;
  unsigned height_ = 0;  // of the expression tree returned last
  std::size_t nodes_ = 0;
  bool declared_any_ = false;

  std::vector<Tensor> tensors_;
  std::vector<bool> conflicted_;
  std::array<std::uint32_t, kShortNames> short_names_{};  // slot + 1 of names of one or two letters
  std::unordered_map<std::string, std::size_t> long_names_;
  std::vector<Conflict> conflicts_;
  std::vector<std::string> notes_;
};

// Reads a bare Step-TP body's promises (docs/leir.md, "The Step-TP profile"): B axes as P unless block axes
// stand outermost, s and l tensors mentioned in more than one top-level statement as g, with notes.
void read_steptp_promises(Program& program);

}  // namespace cairn
