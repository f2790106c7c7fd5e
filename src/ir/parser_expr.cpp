// Expressions, loosest first: | & comparison-chains + - * / // % unary ** primary.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "ir/parser.h"

namespace cairn {

namespace {
struct Function {
  std::string_view name;
  Op op;
};
constexpr std::array<Function, 18> kFunctions{{
    {"exp", Op::exp},   {"max", Op::max},     {"min", Op::min},     {"if_then_else", Op::select},
    {"sqrt", Op::sqrt}, {"abs", Op::abs},     {"log", Op::log},     {"rsqrt", Op::rsqrt},
    {"erf", Op::erf},   {"tanh", Op::tanh},   {"sin", Op::sin},     {"cos", Op::cos},
    {"floor", Op::floor}, {"ceil", Op::ceil}, {"round", Op::round}, {"sign", Op::sign},
    {"isnan", Op::isnan}, {"xor", Op::bit_xor},
}};
constexpr unsigned kHeightPerDepth = 10;  // an expression tree may be this much higher than the nesting limit
}  // namespace

bool Parser::enter(SourcePos pos) {
  if (++depth_ <= options_.limits.depth) return true;
  return fail(pos, fmt::format("nesting deeper than {}, the limit", options_.limits.depth));
}

bool Parser::count_node(SourcePos pos) {
  if (++nodes_ <= options_.limits.nodes) return true;
  return fail(pos, fmt::format("more than {} expression nodes, the limit", options_.limits.nodes));
}

// Chains build high trees without nesting: recursive walks need the height bounded too.
ExprPtr Parser::build(Op op, ExprPtr a, ExprPtr b, unsigned height_a, SourcePos pos) {
  height_ = std::max(height_a, height_) + 1;
  if (height_ > options_.limits.depth * kHeightPerDepth) {
    fail(pos, fmt::format("expression of more than {} chained operators, the limit", options_.limits.depth * kHeightPerDepth));
    return nullptr;
  }
  if (!count_node(pos)) return nullptr;
  std::vector<ExprPtr> args;
  args.reserve(2);
  args.push_back(std::move(a));
  args.push_back(std::move(b));
  return make_expr(op, std::move(args), pos);
}

// A loop variable that is a whole subscript or argument, the commonest expression by far; null for any other.
ExprPtr Parser::parse_lone_var() {
  std::size_t length = 0;
  while (is_lower(in_.peek(length))) ++length;
  if (length == 0) return nullptr;
  switch (in_.peek(length)) {
    case ',': case '}': case ']': case ')': break;
    default: return nullptr;
  }
  const SourcePos pos = in_.offset();
  const std::string_view word = text_.substr(pos, length);
  if (word == "inf" || word == "nan") return nullptr;
  in_.advance(length);
  height_ = 1;
  return count_node(pos) ? make_var(std::string(word), pos) : nullptr;
}

ExprPtr Parser::parse_or() {
  if (ExprPtr var = parse_lone_var(); var || failed_) return var;
  const SourcePos start = in_.offset();
  if (!enter(start)) return nullptr;
  ExprPtr left = parse_and();
  while (left && (in_.skip_space(), in_.peek() == '|')) {
    const SourcePos pos = in_.offset();
    in_.advance();
    const unsigned height = height_;
    ExprPtr right = parse_and();
    if (!right) return nullptr;
    left = build(Op::logical_or, std::move(left), std::move(right), height, pos);
  }
  --depth_;
  return left;
}

ExprPtr Parser::parse_and() {
  ExprPtr left = parse_comparison();
  while (left && (in_.skip_space(), in_.peek() == '&')) {
    const SourcePos pos = in_.offset();
    in_.advance();
    const unsigned height = height_;
    ExprPtr right = parse_comparison();
    if (!right) return nullptr;
    left = build(Op::logical_and, std::move(left), std::move(right), height, pos);
  }
  return left;
}

// The comparison operator at the cursor, consumed; int_literal for none.
Op Parser::comparison_at_cursor() {
  const char c = in_.peek();
  const bool equals = in_.peek(1) == '=';
  Op op = Op::int_literal;
  switch (c) {
    case '<': op = equals ? Op::le : Op::lt; break;
    case '>': op = equals ? Op::ge : Op::gt; break;
    case '=': op = equals ? Op::eq : Op::int_literal; break;
    case '!': op = equals ? Op::ne : Op::int_literal; break;
    default: return op;
  }
  if (op != Op::int_literal) in_.advance(equals ? 2 : 1);
  return op;
}

// 1<=c<9 means 1<=c & c<9.
ExprPtr Parser::parse_comparison() {
  ExprPtr first = parse_sum();
  if (!first) return nullptr;
  ExprPtr chain;
  for (;;) {
    in_.skip_space();
    const SourcePos pos = in_.offset();
    const Op op = comparison_at_cursor();
    if (op == Op::int_literal) return chain ? chain : first;
    const unsigned height = height_;
    ExprPtr right = parse_sum();
    if (!right) return nullptr;
    const unsigned right_height = height_;
    ExprPtr link = build(op, first, right, height, pos);
    if (link && chain) link = build(Op::logical_and, std::move(chain), std::move(link), height, pos);
    if (!link) return nullptr;
    chain = std::move(link);
    first = std::move(right);
    height_ = std::max(height_, right_height);
  }
}

ExprPtr Parser::parse_sum() {
  ExprPtr left = parse_product();
  while (left) {
    in_.skip_space();
    const char c = in_.peek();
    if (c != '+' && c != '-') break;
    const SourcePos pos = in_.offset();
    in_.advance();
    const unsigned height = height_;
    ExprPtr right = parse_product();
    if (!right) return nullptr;
    left = build(c == '+' ? Op::add : Op::sub, std::move(left), std::move(right), height, pos);
  }
  return left;
}

ExprPtr Parser::parse_product() {
  ExprPtr left = parse_unary();
  while (left) {
    in_.skip_space();
    const SourcePos pos = in_.offset();
    Op op;
    switch (in_.peek()) {
      case '*': op = Op::mul; break;
      case '/': op = in_.peek(1) == '/' ? Op::floor_div : Op::div; break;
      case '%': op = Op::mod; break;
      default: return left;
    }
    in_.advance(op == Op::floor_div ? 2 : 1);
    const unsigned height = height_;
    ExprPtr right = parse_unary();
    if (!right) return nullptr;
    left = build(op, std::move(left), std::move(right), height, pos);
  }
  return left;
}

ExprPtr Parser::parse_unary() {
  in_.skip();
  const char c = in_.peek();
  if (c != '-' && c != '!') return parse_power(false);
  const SourcePos pos = in_.offset();
  in_.advance();
  in_.skip();
  if (!enter(pos)) return nullptr;
  const bool literal = c == '-' && (is_digit(in_.peek()) || in_.peek() == '.');
  ExprPtr operand = literal ? parse_power(true) : parse_unary();
  --depth_;
  if (!operand) return nullptr;
  if (literal && operand->op == Op::int_literal && operand->int_value == INT64_MIN) return operand;
  ++height_;
  if (!count_node(pos)) return nullptr;
  std::vector<ExprPtr> args;
  args.push_back(std::move(operand));
  return make_expr(c == '-' ? Op::neg : Op::logical_not, std::move(args), pos);
}

// ** is right associative and binds tighter than a minus on its left. `negated`: a minus stands before.
ExprPtr Parser::parse_power(bool negated) {
  ExprPtr base = parse_primary(negated);
  if (!base) return nullptr;
  in_.skip_space();
  if (in_.peek() != '*' || in_.peek(1) != '*') return base;
  const SourcePos pos = in_.offset();
  in_.advance(2);
  if (negated && base->op == Op::int_literal && base->int_value == INT64_MIN) {
    fail(base->pos, "9223372036854775808 is beyond a 64-bit integer; expected at most 9223372036854775807");
    return nullptr;
  }
  const unsigned height = height_;
  if (!enter(pos)) return nullptr;
  ExprPtr exponent = parse_unary();
  --depth_;
  if (!exponent) return nullptr;
  return build(Op::pow, std::move(base), std::move(exponent), height, pos);
}

ExprPtr Parser::parse_primary(bool negated) {
  in_.skip();
  const char c = in_.peek();
  if (is_upper(c)) return parse_read();
  if (is_lower(c)) return parse_word();
  if (is_digit(c) || (c == '.' && is_digit(in_.peek(1)))) return parse_number(negated);
  if (c != '(') {
    fail_found("a number, a tensor, a loop variable, a function or '('");
    return nullptr;
  }
  in_.advance();
  ExprPtr inner = parse_or();
  if (!inner) return nullptr;
  in_.skip_space();
  if (!expect(')', "')' or an operator")) return nullptr;
  return inner;
}

// Under a minus, 2^63 is INT64_MIN; it comes back already negated.
ExprPtr Parser::parse_number(bool negated) {
  const SourcePos pos = in_.offset();
  const NumberToken token = in_.scan_number();
  height_ = 1;
  if (!count_node(pos)) return nullptr;
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  switch (token.kind) {
    case NumberToken::Kind::real: return make_float(token.value, pos);
    case NumberToken::Kind::real_out_of_range:
      fail(pos, fmt::format("{} is beyond a 64-bit float", token.text.substr(0, 40)));
      return nullptr;
    case NumberToken::Kind::integer:
      if (token.magnitude < kTop) return make_int(static_cast<std::int64_t>(token.magnitude), pos);
      if (negated && token.magnitude == kTop) return make_int(INT64_MIN, pos);
      break;
    case NumberToken::Kind::integer_too_large: break;
  }
  fail(pos, fmt::format("{} is beyond a 64-bit integer; expected at most 9223372036854775807", token.text.substr(0, 40)));
  return nullptr;
}

ExprPtr Parser::parse_word() {
  const SourcePos pos = in_.offset();
  const std::string_view word = in_.scan_word();
  in_.skip_space();
  if (in_.peek() == '(') return parse_call(word, pos);
  height_ = 1;
  if (!count_node(pos)) return nullptr;
  if (word == "inf") return make_float(__builtin_inf(), pos);
  if (word == "nan") return make_float(__builtin_nan(""), pos);
  for (const char c : word) {
    if (!is_lower(c)) {
      fail(pos, fmt::format("'{}' is not a name; expected a loop variable (letters a to z) or a function", word));
      return nullptr;
    }
  }
  return make_var(std::string(word), pos);
}

ExprPtr Parser::parse_call(std::string_view word, SourcePos pos) {
  if (word == "ifthenelse") word = "if_then_else";
  const auto* row = std::find_if(kFunctions.begin(), kFunctions.end(), [word](const Function& f) { return f.name == word; });
  const std::optional<Dtype> dtype = row == kFunctions.end() ? parse_dtype(word) : std::nullopt;
  if (row == kFunctions.end() && !dtype) {
    fail(pos, fmt::format("'{}' is not a function; expected exp, log, sqrt, max, if_then_else ... or a dtype", word));
    return nullptr;
  }
  in_.advance();
  std::vector<ExprPtr> args;
  if (!parse_arguments(args)) return nullptr;
  const unsigned height = height_ + 1;
  const int arity = dtype ? 1 : op_arity(row->op);
  const bool folds = !dtype && (row->op == Op::max || row->op == Op::min) && args.size() > 2;
  if (!folds && static_cast<int>(args.size()) != arity) {
    fail(pos, fmt::format("{} has {} argument{}; expected {}", word, args.size(), args.size() == 1 ? "" : "s", arity));
    return nullptr;
  }
  if (!count_node(pos)) return nullptr;
  height_ = height;
  if (dtype) return make_cast(*dtype, std::move(args[0]), pos);
  if (!folds) return make_expr(row->op, std::move(args), pos);
  ExprPtr all = args[0];
  for (std::size_t i = 1; all && i < args.size(); ++i) all = build(row->op, std::move(all), args[i], height_, pos);
  return all;
}

// Arguments after '(' up to and with ')'; height_ becomes the highest one's.
bool Parser::parse_arguments(std::vector<ExprPtr>& args) {
  unsigned height = 0;
  do {
    ExprPtr arg = parse_or();
    if (!arg) return false;
    height = std::max(height, height_);
    args.push_back(std::move(arg));
    in_.skip_space();
  } while (in_.eat(','));
  height_ = height;
  return expect(')', "',', ')' or an operator");
}

// An optional _{..} or [..] group; height_ becomes the highest subscript's.
bool Parser::parse_subscripts(std::vector<ExprPtr>& subscripts) {
  height_ = 0;
  char close;
  if (in_.peek() == '[') {
    in_.advance();
    close = ']';
  } else if (in_.peek() == '_') {
    in_.advance();
    in_.skip_space();
    if (!expect('{', "'{' after '_'")) return false;
    close = '}';
  } else {
    return true;
  }
  in_.skip();
  if (in_.eat(close)) return true;  // Step-TP emits empty groups for rank 0
  unsigned height = 0;
  subscripts.reserve(4);
  do {
    ExprPtr subscript = parse_or();
    if (!subscript) return false;
    height = std::max(height, height_);
    subscripts.push_back(std::move(subscript));
    in_.skip_space();
  } while (in_.eat(','));
  height_ = height;
  return expect(close, close == '}' ? "',', '}' or an operator" : "',', ']' or an operator");
}

ExprPtr Parser::parse_read() {
  const SourcePos pos = in_.offset();
  const std::string_view name = in_.scan_name();
  Superscript super;
  in_.skip_space();
  if (in_.peek() == '^' && !parse_superscript(super)) return nullptr;
  if (!mention(name, super, pos)) return nullptr;
  std::vector<ExprPtr> subscripts;
  in_.skip_space();
  if (!parse_subscripts(subscripts)) return nullptr;
  ++height_;
  if (!count_node(pos)) return nullptr;
  return make_read(std::string(name), std::move(subscripts), pos);
}

}  // namespace cairn
