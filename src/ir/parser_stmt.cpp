// Statements: nests of loops and tests, equations.
#include <fmt/core.h>

#include "ir/parser.h"

namespace cairn {

namespace {
std::optional<LoopKind> loop_kind(char c) {
  switch (c) {
    case 'L': return LoopKind::L;
    case 'P': return LoopKind::P;
    case 'V': return LoopKind::V;
    case 'U': return LoopKind::U;
    case 'B': return LoopKind::B;
    case 'M': return LoopKind::M;
    default: return std::nullopt;
  }
}
}  // namespace

bool Parser::parse_statements(Body& out, bool top) {
  for (;;) {
    in_.skip();
    if (in_.at_end() || in_.peek() == ']') {
      if (top == in_.at_end()) return true;
      return top ? fail(in_.offset(), "found ']' without an open '['; expected a loop or an equation")
                 : fail_found("']', a loop or an equation");
    }
    if (!parse_statement(out)) return false;
  }
}

// After a nest's ']' a ';' follows, or nothing before an enclosing ']' and the end of the text.
void Parser::end_nest() {
  in_.skip();
  in_.eat(';');
}

bool Parser::parse_statement(Body& out) {
  const SourcePos pos = in_.offset();
  const char c = in_.peek();
  if (c == '[') {  // zero loops: the statements join the enclosing body
    in_.advance();
    if (!enter(pos) || !parse_statements(out, false)) return false;
    --depth_;
    in_.advance();
    end_nest();
    return true;
  }
  if (!is_upper(c)) {
    if (is_lower(c)) {
      const std::string_view word = in_.scan_word();
      in_.seek(pos);
      if (word == "in" || word == "param" || word == "const" || word == "io" || word == "out" || word == "tmp") {
        return fail(pos, fmt::format("declaration '{}' after the first statement; expected declarations first", word));
      }
    }
    return fail_found("a loop, a test, an equation or '['");
  }
  const std::string_view name = in_.scan_name();
  if (head_form(name) == HeadForm::none) return parse_equation(out, name, pos);
  in_.seek(pos);
  return parse_nest(out);
}

// Tells a loop or test from a tensor, the cursor standing behind the name; moves nothing but white space.
Parser::HeadForm Parser::head_form(std::string_view name) {
  in_.skip_space();
  const SourcePos here = in_.offset();
  HeadForm form = HeadForm::none;
  if (in_.peek() == '^') {
    in_.advance();
    in_.skip_space();
    if (in_.eat('{')) {
      in_.skip();
      if (is_digit(in_.peek())) {
        while (is_digit(in_.peek())) in_.advance();
        in_.skip_space();
        const char after = in_.peek();
        if (name != "T" || after == ',' || after == '}') form = HeadForm::loop;
      } else if (is_lower(in_.peek())) {
        const std::string_view word = in_.scan_word();
        in_.skip_space();
        if ((in_.peek() == ',' || in_.peek() == '}') && parse_dtype(word)) {
          in_.seek(here);
          return HeadForm::none;
        }
      }
      if (form == HeadForm::none && name == "T") form = HeadForm::test;
    }
  } else if (name.size() == 1 && is_lower(in_.peek()) && loop_kind(name[0])) {
    form = HeadForm::short_loop;
  }
  in_.seek(here);
  return form;
}

// Whether a loop or test stands at the cursor.
bool Parser::head_follows() {
  if (!is_upper(in_.peek())) return false;
  const SourcePos here = in_.offset();
  const HeadForm form = head_form(in_.scan_name());
  in_.seek(here);
  return form != HeadForm::none;
}

bool Parser::parse_nest(Body& out) {
  std::vector<Head> heads;
  for (;;) {
    in_.skip();
    const SourcePos pos = in_.offset();
    if (in_.peek() == '[') break;
    if (!is_upper(in_.peek())) return fail_found("another loop or '['");
    const std::string_view name = in_.scan_name();
    const HeadForm form = head_form(name);
    if (form == HeadForm::none) {
      in_.seek(pos);
      return fail_found("another loop, a test or '[' before the body");
    }
    if (name.size() != 1) return fail(pos, fmt::format("'{}' is not a loop kind; expected L, P, V, U, B or M", name));
    if (!enter(pos) || !parse_head(heads, form, name[0], pos)) return false;
  }
  in_.advance();
  Body body;
  if (!parse_statements(body, false)) return false;
  in_.advance();
  in_.skip();
  // Step-TP leaves the ';' out before loops that belong inside: L1[E;]L2[..]; is L1[E;L2[..];];
  if (head_follows()) {
    constexpr std::size_t kMaxNotes = 100;
    if (notes_.size() < kMaxNotes) notes_.push_back(fmt::format("a nest after ']' without ';' is read as part of the body before it (byte {})", in_.offset()));
    if (!parse_nest(body)) return false;
  } else {
    end_nest();
  }
  depth_ -= static_cast<unsigned>(heads.size());
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) {
    StmtPtr stmt = head->test ? make_test(std::move(head->test), std::move(body), head->pos)
                              : make_loop(head->loop.kind, head->loop.extent, std::move(head->loop.var), std::move(body),
                                          head->loop.mark, head->pos);
    body = Body();
    body.push_back(std::move(stmt));
  }
  out.push_back(std::move(body[0]));
  return true;
}

// K^{extent[,mark]}_{var=0}, K var<extent[,mark], or T^{cond}; the cursor stands behind the letter.
bool Parser::parse_head(std::vector<Head>& heads, HeadForm form, char kind, SourcePos pos) {
  Head& head = heads.emplace_back();
  head.pos = pos;
  if (form == HeadForm::test) {
    in_.skip_space();
    in_.advance();  // ^
    in_.skip_space();
    in_.advance();  // {
    head.test = parse_or();
    if (!head.test) return false;
    in_.skip_space();
    return expect('}', "'}' or an operator");
  }
  const std::optional<LoopKind> found = loop_kind(kind);
  if (!found) return fail(pos, fmt::format("'{}' is not a loop kind; expected L, P, V, U, B or M", kind));
  head.loop.kind = *found;
  if (form == HeadForm::short_loop) {
    if (!parse_loop_var(head.loop.var)) return false;
    in_.skip();
    if (!expect('<', "'<' after the loop variable")) return false;
    return parse_extent(head.loop.extent) && parse_mark(head.loop.mark);
  }
  in_.skip_space();
  in_.advance();  // ^
  in_.skip_space();
  in_.advance();  // {
  if (!parse_extent(head.loop.extent) || !parse_mark(head.loop.mark)) return false;
  in_.skip();
  if (!expect('}', "',' or '}' after the extent")) return false;
  in_.skip();
  if (!expect('_', "'_{' with the loop variable")) return false;
  in_.skip();
  if (!expect('{', "'{' with the loop variable")) return false;
  if (!parse_loop_var(head.loop.var)) return false;
  in_.skip();
  if (!expect('=', "'=0' after the loop variable")) return false;
  in_.skip();
  const SourcePos start = in_.offset();
  if (!is_digit(in_.peek())) return fail_found("0, where every loop starts");
  const NumberToken number = in_.scan_number();
  if (number.kind != NumberToken::Kind::integer || number.magnitude != 0) {
    return fail(start, fmt::format("loop starts at {}; expected 0", number.text.substr(0, 40)));
  }
  in_.skip();
  return expect('}', "'}'");
}

bool Parser::parse_loop_var(std::string& var) {
  in_.skip();
  const SourcePos pos = in_.offset();
  if (!is_lower(in_.peek())) return fail_found("a loop variable (letters a to z)");
  const std::string_view word = in_.scan_word();
  for (const char c : word) {
    if (!is_lower(c)) return fail(pos, fmt::format("'{}' is not a loop variable; expected letters a to z", word));
  }
  if (word == "inf" || word == "nan") return fail(pos, fmt::format("'{}' is a number; expected a loop variable", word));
  var = std::string(word);
  return true;
}

bool Parser::parse_extent(std::int64_t& extent) {
  in_.skip();
  const SourcePos pos = in_.offset();
  if (!is_digit(in_.peek())) return fail_found("an extent");
  const NumberToken number = in_.scan_number();
  if (number.kind == NumberToken::Kind::integer && number.magnitude <= INT64_MAX) {
    extent = static_cast<std::int64_t>(number.magnitude);
    return true;
  }
  return fail(pos, fmt::format("extent {} is not a 64-bit integer", number.text.substr(0, 40)));
}

bool Parser::parse_mark(LoopMark& mark) {
  in_.skip();
  if (!in_.eat(',')) return true;
  in_.skip();
  if (is_digit(in_.peek())) {
    mark.type = LoopMark::Type::count;
    return parse_extent(mark.count);
  }
  if (in_.eat('g')) {
    mark.type = LoopMark::Type::grid;
  } else if (in_.eat('a')) {
    mark.type = LoopMark::Type::atomics;
  } else {
    return fail_found("a loop mark (a number, g or a)");
  }
  return true;
}

bool Parser::parse_equation(Body& out, std::string_view name, SourcePos pos) {
  Superscript super;
  in_.skip_space();
  if (in_.peek() == '^' && !parse_superscript(super)) return false;
  if (!mention(name, super, pos)) return false;
  std::vector<ExprPtr> subscripts;
  in_.skip_space();
  if (!parse_subscripts(subscripts)) return false;
  in_.skip();
  if (!expect('=', subscripts.empty() ? "'=', '_{' or '['" : "'='")) return false;
  ExprPtr rhs = parse_or();
  if (!rhs) return false;
  in_.skip_space();
  if (!expect(';', "';' or an operator")) return false;
  out.push_back(make_equation(std::string(name), std::move(subscripts), std::move(rhs), pos));
  return true;
}

}  // namespace cairn
