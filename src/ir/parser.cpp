#include "ir/parser.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace cairn {

namespace {
constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);
constexpr std::size_t kMaxConflicts = 100;

std::optional<Role> role_of(std::string_view word) {
  for (const Role role : {Role::in, Role::param, Role::constant, Role::io, Role::out, Role::tmp}) {
    if (role_name(role) == word) return role;
  }
  return std::nullopt;
}
}  // namespace

Parser::Parser(std::string_view text, const ParseOptions& options) : options_(options), text_(text), in_(text) {
  for (const Tensor& tensor : options.known) {
    add_slot(tensor);
    tensors_.back().declared = true;
  }
}

bool Parser::fail(SourcePos pos, std::string message) {
  if (failed_) return false;
  failed_ = true;
  error_pos_ = pos;
  message_ = std::move(message);
  return false;
}

bool Parser::fail_found(std::string_view expected) {
  return fail(in_.offset(), fmt::format("found {}; expected {}", in_.describe(), expected));
}

bool Parser::expect(char c, std::string_view expected) {
  return in_.eat(c) || fail_found(expected);
}

Error Parser::take_error() {
  Program located;
  located.set_source(std::make_shared<const SourceText>(SourceText{options_.file, std::string(text_)}));
  return error_at(located, error_pos_, Code::parse, std::move(message_));
}

std::size_t Parser::find_slot(std::string_view name) const {
  const std::size_t index = short_name_index(name);
  if (index < short_names_.size()) return short_names_[index] == 0 ? kNoSlot : short_names_[index] - 1;
  const auto it = long_names_.find(std::string(name));
  return it == long_names_.end() ? kNoSlot : it->second;
}

void Parser::add_slot(Tensor tensor) {
  const std::size_t index = short_name_index(tensor.name);
  if (index < short_names_.size()) {
    short_names_[index] = static_cast<std::uint32_t>(tensors_.size()) + 1;
  } else {
    long_names_.emplace(tensor.name, tensors_.size());
  }
  tensors_.push_back(std::move(tensor));
  conflicted_.push_back(false);
}

// ^{dtype} or ^{dtype,scope}; the cursor stands on '^'.
bool Parser::parse_superscript(Superscript& out) {
  in_.advance();
  in_.skip_space();
  if (!expect('{', "'{' after '^'")) return false;
  in_.skip();
  const SourcePos pos = in_.offset();
  if (!is_lower(in_.peek())) return fail_found("a dtype (f32, i64, bool ...)");
  const std::string_view word = in_.scan_word();
  const std::optional<Dtype> dtype = parse_dtype(word);
  if (!dtype) return fail(pos, fmt::format("'{}' is not a dtype; expected f32, f64, f16, bf16, i64, i32, bool ...", word));
  out.present = true;
  out.dtype = *dtype;
  in_.skip();
  if (in_.eat(',')) {
    in_.skip();
    out.has_scope = true;
    switch (in_.peek()) {
      case 'g': out.scope = Scope::g; break;
      case 's': out.scope = Scope::s; break;
      case 'l': out.scope = Scope::l; break;
      default: return fail_found("a scope (g, s or l)");
    }
    in_.advance();
    in_.skip();
  }
  return expect('}', out.has_scope ? "'}' after the scope" : "',' or '}' after the dtype");
}

// Enters a tensor at its first mention; later ones must agree for a temporary, or a conflict is recorded.
bool Parser::mention(std::string_view name, const Superscript& super, SourcePos pos) {
  if (lone_expr_) return true;
  const std::size_t slot = find_slot(name);
  if (slot == kNoSlot) {
    if (!super.present) {
      return fail(pos, fmt::format("tensor {} has no dtype; expected a declaration, or ^{{dtype,scope}} at its first mention", name));
    }
    Tensor tensor;
    tensor.name = std::string(name);
    tensor.dtype = super.dtype;
    tensor.scope = super.scope;
    tensor.pos = pos;
    add_slot(std::move(tensor));
    return true;
  }
  if (!super.present) return true;
  const Tensor& tensor = tensors_[slot];
  if (tensor.role != Role::tmp || conflicted_[slot]) return true;
  const bool same = tensor.dtype == super.dtype && (!super.has_scope || tensor.scope == super.scope);
  if (!same && conflicts_.size() < kMaxConflicts) {
    conflicted_[slot] = true;
    conflicts_.push_back({pos, fmt::format("temporary {} is ^{{{},{}}} here and ^{{{},{}}} before; expected one dtype and scope",
                                           name, dtype_name(super.dtype), scope_name(super.has_scope ? super.scope : tensor.scope),
                                           dtype_name(tensor.dtype), scope_name(tensor.scope))});
  }
  return true;
}

bool Parser::parse_extents(Shape& shape) {
  in_.skip();
  char close = '}';
  if (in_.eat('[')) {
    close = ']';
  } else if (in_.eat('_')) {
    in_.skip();
    if (!expect('{', "'{' with the extents")) return false;
  } else {
    return true;  // rank 0
  }
  in_.skip();
  if (in_.eat(close)) return true;
  do {
    if (!parse_extent(shape.emplace_back())) return false;
    in_.skip();
  } while (in_.eat(','));
  return expect(close, close == '}' ? "',' or '}' after an extent" : "',' or ']' after an extent");
}

// ROLE NAME^{dtype[,scope]}[_{extents}]; the cursor stands behind the role.
bool Parser::parse_declaration(Role role) {
  in_.skip();
  Tensor tensor;
  tensor.role = role;
  tensor.declared = true;
  tensor.pos = in_.offset();
  if (!is_upper(in_.peek())) return fail_found("a tensor name (a capital, then small letters)");
  tensor.name = std::string(in_.scan_name());
  in_.skip();
  if (in_.peek() != '^') return fail_found(fmt::format("'^{{dtype}}' after {}", tensor.name));
  Superscript super;
  if (!parse_superscript(super)) return false;
  tensor.dtype = super.dtype;
  tensor.scope = super.scope;
  Shape shape;
  if (!parse_extents(shape)) return false;
  tensor.shape = std::move(shape);
  in_.skip();
  if (!expect(';', "';' after the declaration")) return false;
  const std::size_t slot = find_slot(tensor.name);
  if (slot != kNoSlot) return fail(tensor.pos, fmt::format("tensor {} is declared twice; expected one declaration", tensor.name));
  if (role == Role::constant) {
    const auto digest = options_.const_digests.find(tensor.name);
    if (digest != options_.const_digests.end()) tensor.data = digest->second;
  }
  add_slot(std::move(tensor));
  declared_any_ = true;
  return true;
}

Result<Program> Parser::parse_whole() {
  if (text_.size() > options_.limits.bytes || text_.size() >= kNoPos) {
    return Error{Code::parse, fmt::format("text of {} bytes; expected at most {}", text_.size(), options_.limits.bytes),
                 {options_.file, 0, 0, {}}, {}};
  }
  for (;;) {
    in_.skip();
    if (!is_lower(in_.peek())) break;
    const SourcePos pos = in_.offset();
    const std::string_view word = in_.scan_word();
    const std::optional<Role> role = role_of(word);
    if (!role) {
      in_.seek(pos);
      fail_found("a role (in, param, const, io, out, tmp), a loop or an equation");
      return take_error();
    }
    if (!parse_declaration(*role)) return take_error();
  }
  Body body;
  if (!parse_statements(body, true)) return take_error();
  Program program;
  for (Tensor& tensor : tensors_) program.set_tensor(std::move(tensor));
  program.set_body(std::move(body));
  const bool bare = options_.reading == Reading::automatic && !declared_any_;
  const bool steptp = bare || options_.reading == Reading::steptp;
  for (Conflict& conflict : conflicts_) {
    if (steptp) {   // Step-TP allocates a temporary as its first equation says
      program.add_note(conflict.message + ": read as before");
    } else {
      program.add_conflict(std::move(conflict));
    }
  }
  for (std::string& note : notes_) program.add_note(std::move(note));
  program.set_source(std::make_shared<const SourceText>(SourceText{options_.file, std::string(text_)}));
  if (steptp) read_steptp_promises(program);
  return program;
}

Result<ExprPtr> Parser::parse_lone_expr() {
  lone_expr_ = true;
  ExprPtr expr = parse_or();
  if (expr) {
    in_.skip_space();
    if (!in_.at_end()) fail_found("an operator or the end of the expression");
  }
  if (failed_) return take_error();
  return expr;
}

Result<Program> parse_program(std::string_view text, const ParseOptions& options) {
  return Parser(text, options).parse_whole();
}

Result<ExprPtr> parse_expr(std::string_view text) {
  ParseOptions options;
  options.file = "<expression>";
  return Parser(text, options).parse_lone_expr();
}

}  // namespace cairn
