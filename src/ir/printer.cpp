#include "ir/printer.h"

#include <charconv>
#include <cmath>

#include "base/check.h"

namespace cairn {

namespace {
constexpr std::string_view kKinds = "LPVUBM";

// T^{7} would read as a loop and T^{f} could read as a tensor's dtype.
bool needs_parentheses(const Expr& cond) {
  return cond.op == Op::loop_var || (cond.op == Op::int_literal && cond.int_value >= 0);
}
}  // namespace

const Tensor* Printer::find(std::string_view name) {
  if (program_ == nullptr) return nullptr;
  const std::size_t index = short_name_index(name);
  if (index >= short_names_.size()) return program_->find(name);
  if (short_names_[index] == nullptr) short_names_[index] = program_->find(name);
  return short_names_[index];
}

bool Printer::first_mention(std::string_view name) { return mentioned_.emplace(name).second; }

void Printer::print_integer(std::int64_t value) {
  if (value >= 0 && value < 10) {
    out_ += static_cast<char>('0' + value);
    return;
  }
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out_.append(buffer, end);
}

// The shortest text that reads back to the same double, and as a float.
void Printer::print_real(double value) {
  if (std::isnan(value)) {
    out_ += "nan";
    return;
  }
  if (std::isinf(value)) {
    out_ += value < 0 ? "-inf" : "inf";
    return;
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  out_ += text;
  if (text.find_first_of(".e") == std::string_view::npos) out_ += ".0";
}

void Printer::print_mention(std::string_view name) {
  out_ += name;
  const Tensor* tensor = find(name);
  if (tensor == nullptr) return;
  if (profile_ == Profile::short_form) {
    if (tensor->declared || !first_mention(name)) return;
    out_ += "^{";
    out_ += dtype_name(tensor->dtype);
    if (tensor->scope != Scope::g) {
      out_ += ',';
      out_ += scope_name(tensor->scope);
    }
    out_ += '}';
    return;
  }
  out_ += "^{";
  out_ += dtype_name(tensor->dtype);
  out_ += ',';
  out_ += scope_name(tensor->scope);
  out_ += '}';
}

void Printer::print_subscripts(const std::vector<ExprPtr>& subscripts) {
  if (subscripts.empty()) return;
  const bool brackets = profile_ == Profile::short_form;
  out_ += brackets ? "[" : "_{";
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    if (i > 0) out_ += ',';
    print(*subscripts[i]);
  }
  out_ += brackets ? ']' : '}';
}

void Printer::print_declarations() {
  for (const Tensor& tensor : program_->tensors()) {
    if (!tensor.declared) continue;
    out_ += role_name(tensor.role);
    out_ += ' ';
    out_ += tensor.name;
    out_ += "^{";
    out_ += dtype_name(tensor.dtype);
    if (tensor.role == Role::tmp || tensor.scope != Scope::g) {
      out_ += ',';
      out_ += scope_name(tensor.scope);
    }
    out_ += '}';
    if (tensor.shape && !tensor.shape->empty()) {
      const bool brackets = profile_ == Profile::short_form;
      out_ += brackets ? "[" : "_{";
      for (std::size_t i = 0; i < tensor.shape->size(); ++i) {
        if (i > 0) out_ += ',';
        print_integer((*tensor.shape)[i]);
      }
      out_ += brackets ? ']' : '}';
    }
    out_ += ";\n";
  }
}

void Printer::print_mark(const LoopMark& mark) {
  switch (mark.type) {
    case LoopMark::Type::none: return;
    case LoopMark::Type::count:
      out_ += ',';
      print_integer(mark.count);
      return;
    case LoopMark::Type::grid: out_ += ",g"; return;
    case LoopMark::Type::atomics: out_ += ",a"; return;
  }
}

void Printer::print_head(const Stmt& stmt) {
  if (stmt.is_test()) {
    out_ += "T^{";
    const bool parentheses = needs_parentheses(*stmt.cond);
    if (parentheses) out_ += '(';
    print(*stmt.cond);
    if (parentheses) out_ += ')';
    out_ += '}';
    return;
  }
  out_ += kKinds[static_cast<std::size_t>(stmt.kind)];
  if (profile_ == Profile::short_form) {
    out_ += ' ';
    out_ += stmt.var;
    out_ += '<';
    print_integer(stmt.extent);
    print_mark(stmt.mark);
    return;
  }
  out_ += "^{";
  print_integer(stmt.extent);
  print_mark(stmt.mark);
  out_ += "}_{";
  out_ += stmt.var;
  out_ += "=0}";
}

// A loop or test whose body is one loop or test continues the header without brackets.
void Printer::print_statement(const Stmt& stmt) {
  if (stmt.is_equation()) {
    print_equation(stmt);
    return;
  }
  const Stmt* inner = &stmt;
  for (;;) {
    print_head(*inner);
    if (inner->body.size() != 1 || inner->body[0]->is_equation()) break;
    inner = inner->body[0].get();
    if (profile_ == Profile::short_form) out_ += ' ';
  }
  out_ += '[';
  print_body(inner->body);
  out_ += "];";
}

void Printer::print_body(const Body& body) {
  for (const StmtPtr& stmt : body) print_statement(*stmt);
}

void Printer::print_equation(const Stmt& stmt) {
  print_mention(stmt.tensor);
  print_subscripts(stmt.subscripts);
  out_ += '=';
  swapped_ = find_front_swap(stmt);
  print(*stmt.rhs);
  swapped_ = nullptr;
  out_ += ';';
}

std::string print_program(const Program& program, Profile profile) {
  std::string out;
  CAIRN_CHECK_MSG(profile != Profile::steptp, "print_steptp() prints the steptp profile: it can refuse");
  Printer printer(out, &program, profile);
  printer.print_declarations();
  for (const StmtPtr& nest : program.body()) {
    printer.print_statement(*nest);
    out += '\n';
  }
  return out;
}

std::string print_expr(const Expr& expr, const Program* program) {
  std::string out;
  Printer(out, program, Profile::leir).print(expr);
  return out;
}

std::string print_stmt(const Stmt& stmt, const Program* program) {
  std::string out;
  Printer(out, program, Profile::leir).print_statement(stmt);
  return out;
}

}  // namespace cairn
