// Terms for people: the outer levels of what an element is computed from.
#include <fmt/core.h>

#include "verify/identity/states.h"

namespace cairn::identity {

namespace {
std::string infix(std::string_view op, const std::string& a, const std::string& b) { return fmt::format("({}{}{})", a, op, b); }
}  // namespace

std::string element_text(const std::string& name, const Shape& shape, std::int64_t offset) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    text = fmt::format("{}{}{}", offset % shape[d], text.empty() ? "" : ",", text);
    offset /= shape[d];
  }
  return text.empty() ? name : fmt::format("{}_{{{}}}", name, text);
}

std::string SharedStates::element(std::uint32_t state, std::int64_t offset) const {
  return element_text(states_[state].name, states_[state].shape, offset);
}

std::string term_text(const TermGraph& graph, const SharedStates& states, TermId id, int depth) {
  const Term& t = graph[id];
  const auto arg = [&](std::uint32_t x) { return term_text(graph, states, x, depth - 1); };
  switch (t.kind) {
    case Kind::unwritten: return "nothing";
    case Kind::input: return states.element(t.a, TermGraph::offset_of(t));
    case Kind::chain: return term_text(graph, states, t.a, depth);
    case Kind::operation:
      if (t.op == Op::int_literal) return fmt::format("{}", TermGraph::integer_of(t));
      if (t.op == Op::float_literal) return fmt::format("{}", graph.literal_of(t).decimal);
      break;
    default: break;
  }
  if (depth <= 0) return "..";
  switch (t.kind) {
    case Kind::round: case Kind::to_int: case Kind::wrap: return fmt::format("{}({})", dtype_name(t.format), arg(t.a));
    case Kind::to_float: return arg(t.a);
    case Kind::to_bool: return infix("!=", arg(t.a), "0");
    default: break;
  }
  switch (t.op) {
    case Op::neg: return "-" + arg(t.a);
    case Op::add: case Op::mul: case Op::div: case Op::pow: case Op::floor_div: case Op::mod: case Op::lt: case Op::le: case Op::eq:
    case Op::ne: case Op::logical_and: case Op::logical_or:
      return infix(op_name(t.op), arg(t.a), arg(t.b));
    default: break;
  }
  std::string text = fmt::format("{}({}", op_name(t.op), arg(t.a));
  if (op_arity(t.op) > 1) text += "," + arg(t.b);
  if (op_arity(t.op) > 2) text += "," + arg(t.c);
  return text + ")";
}

}  // namespace cairn::identity
