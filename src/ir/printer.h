// The printer behind print_program, print_stmt and print_expr (internal to ir).
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ir/lexer.h"
#include "ir/text.h"

namespace cairn {

// Appends LEIR to a string. Without a program tensors print bare: A_{i}.
class Printer {
 public:
  Printer(std::string& out, const Program* program, Profile profile) : out_(out), program_(program), profile_(profile) {}

  void print_declarations();
  void print_statement(const Stmt& stmt);
  void print(const Expr& expr);

 private:
  void print_body(const Body& body);
  void print_head(const Stmt& stmt);
  void print_mark(const LoopMark& mark);
  void print_equation(const Stmt& stmt);
  void print_mention(std::string_view name);
  void print_subscripts(const std::vector<ExprPtr>& subscripts);
  void print_call(std::string_view name, const std::vector<ExprPtr>& args);
  void print_binary(const Expr& expr, int level);
  void print_operand(const Expr& expr, int level, bool right);
  bool print_chain_link(const Expr& expr);
  void print_integer(std::int64_t value);
  void print_real(double value);
  const Tensor* find(std::string_view name);
  bool first_mention(std::string_view name);

  std::string& out_;
  const Program* program_;
  Profile profile_;
  const Expr* swapped_ = nullptr;  // the binary node whose operands change places (self-update rule)
  std::array<const Tensor*, kShortNames> short_names_{};
  std::unordered_set<std::string> mentioned_;
};

// The commutative binary node whose swap brings X, the element a self-update writes, to the front of its
// right side, or null: X stands there already, more than one swap would be needed, or it is no self-update.
const Expr* find_front_swap(const Stmt& equation);

}  // namespace cairn
