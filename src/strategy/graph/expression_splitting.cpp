// expression_splitting: a subexpression becomes its own nest and temporary.
//
//   L_i L_j [ D_{i,j}=exp(A_{i,j}-M_{i})/S_{i} ]  =>  L_i L_j [ E_{i,j}=exp(A_{i,j}-M_{i}) ]  L_i L_j [ D_{i,j}=E_{i,j}/S_{i} ]
//
// `part` is the text of the subexpression; every equal occurrence in the equation under the same guards reads the
// temporary. Its nest stands before the outermost statement around the equation in which no operand is written (at
// the innermost, before the equation itself) and has the loops that the part and its guards use; the temporary is
// subscripted by exactly these variables, and by the lanes of a V loop around both. T tests and conditions of
// if_then_else go along.
//
// Legal when
// (1) the part is an operation, not the whole right side, no condition, not made of loop variables and literals alone,
//     and does not read the tensor that the equation writes (an accumulator chain stays in one piece),
// (2) no matrix-unit loop is around the equation,
// (3) a guard that goes along compares in the type it had.
// The temporary has the type the part was computed in, so nothing is rounded again: exact.
#include <fmt/core.h>

#include "ir/walk.h"
#include "strategy/edit/extract.h"
#include "strategy/edit/refuse.h"
#include "strategy/strategy.h"

namespace cairn {
namespace {

constexpr ExtractRules kRules{1, 1, 3};

bool same_conditions(const std::vector<Condition>& a, const std::vector<Condition>& b) {
  for (const Condition& wanted : a) {
    bool found = false;
    for (const Condition& there : b) found |= wanted.holds == there.holds && same_expr(wanted.cond, there.cond);
    if (!found) return false;
  }
  return true;
}

// Operands of the part and of its guards.
std::vector<std::string> operands_of(const Program& program, const Part& part) {
  std::vector<std::string> out;
  add_operands(*part.expr, &out);
  for (const Condition& guard : guards_of(program, {part.path[0]}, part)) add_operands(*guard.cond, &out);
  return out;
}

// The outermost statement around the equation (or it) in which nothing writes an operand.
StmtPath place_of(const Program& program, const Part& part) {
  const std::vector<std::string> operands = operands_of(program, part);
  for (std::size_t n = 1; n < part.path.size(); ++n) {
    const StmtPath at(part.path.begin(), part.path.begin() + static_cast<std::ptrdiff_t>(n));
    if (keeps_operands(program, at, at.back(), operands, nullptr)) return at;
  }
  return part.path;
}

Result<Extraction> plan_split(const Program& program, const Part& part, const std::vector<Part>& all) {
  const SourcePos pos = part.equation->pos;
  if (part.ordinal == 0) return refuse(program, pos, 1, fmt::format("{} is the whole right side", part_text(part)));
  if (in_matrix_unit(program, part.path)) return refuse(program, pos, 2, "the equation belongs to the matrix unit");
  std::vector<PartUse> uses;
  for (const Part& other : all) {
    if (other.type == part.type && same_expr(other.expr, part.expr) && same_conditions(part.conditions, other.conditions)) uses.push_back({other, {}});
  }
  return plan_extraction(program, place_of(program, part), part, std::move(uses), false, kRules);
}

std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  for (const EquationRef& ref : collect_equations(program.body())) {
    const std::vector<Part> parts = list_parts(program, ref.path);
    if (parts.empty()) continue;
    const std::string address = equation_address(program.body(), ref.path);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      bool again = false;
      for (std::size_t j = 0; j < k; ++j) again |= same_expr(parts[j].expr, parts[k].expr);
      if (again || !plan_split(program, parts[k], parts)) continue;
      out.push_back(Args{{"equation", address}, {"part", part_text(parts[k])}});
    }
  }
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(const StmtPath path, find_equation(program.body(), args.get("equation")));
  CAIRN_TRY(const Part part, find_part(program, path, args.get("part"), 1));
  CAIRN_TRY(const Extraction plan, plan_split(program, part, list_parts(program, path)));
  return build_extraction(program, target, plan, 3);
}

}  // namespace

extern const Strategy strategy_expression_splitting{
    "expression_splitting", Level::graph, Direction::fusion, Exactness::exact,
    "a subexpression becomes its own nest and temporary",
    {{"equation", ArgType::equation, "the equation to split", {}, ""},
     {"part", ArgType::text, "the subexpression, such as exp(A_{i,j}-M_{i})", {}, ""}},
    list_sites, apply};

}  // namespace cairn
