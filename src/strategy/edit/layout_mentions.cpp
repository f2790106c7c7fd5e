#include <fmt/core.h>

#include <algorithm>

#include "strategy/edit/layout.h"

namespace cairn {
namespace {

ExprPtr rewrite_reads(const ExprPtr& e, const std::vector<LoopRange>& loops, const MentionRewrite& rewrite) {
  if (!rewrite.reads || !reads_tensor(*e, rewrite.from)) return e;
  return rewrite_expr(e, [&](const ExprPtr& node) -> ExprPtr {
    if (node->op != Op::read || node->name != rewrite.from) return nullptr;
    return make_read(rewrite.to, rewrite.subscripts(node->args, loops), node->pos);
  });
}

std::string swap_order(std::size_t rank, std::size_t dim) {   // dimension `dim` moves to the last place
  std::string out;
  for (std::size_t d = 0; d < rank; ++d) {
    if (d != dim) out += fmt::format("{}x", d);
  }
  return out + std::to_string(dim);
}

// A factor for a dimension: the vector width where it divides, else the smallest divisor, else (if uneven blocks are
// welcome) the width.
std::int64_t factor_for(std::int64_t extent, std::int64_t lanes) {
  for (std::int64_t f = lanes; f >= 4; f /= 2) {
    if (f < extent && extent % f == 0) return f;
  }
  for (std::int64_t f = 2; f < extent && f <= 16; ++f) {
    if (extent % f == 0) return f;
  }
  return extent > lanes ? lanes : 0;
}

}  // namespace

Body rewrite_mentions(const Body& body, std::vector<LoopRange>& loops, const MentionRewrite& rewrite) {
  Body out;
  out.reserve(body.size());
  bool changed = false;
  for (const StmtPtr& stmt : body) {
    StmtPtr now = stmt;
    if (stmt->is_equation()) {
      const bool target = rewrite.writes && stmt->tensor == rewrite.from;
      std::vector<ExprPtr> subscripts;
      subscripts.reserve(stmt->subscripts.size());
      for (const ExprPtr& s : stmt->subscripts) subscripts.push_back(rewrite_reads(s, loops, rewrite));
      ExprPtr rhs = rewrite_reads(stmt->rhs, loops, rewrite);
      if (target) subscripts = rewrite.subscripts(subscripts, loops);
      if (target || rhs != stmt->rhs || subscripts != stmt->subscripts) {
        now = make_equation(target ? rewrite.to : stmt->tensor, std::move(subscripts), std::move(rhs), stmt->pos);
      }
    } else {
      if (stmt->is_loop()) loops.push_back({stmt->var, stmt->extent});
      Body below = rewrite_mentions(stmt->body, loops, rewrite);
      if (stmt->is_loop()) loops.pop_back();
      const ExprPtr cond = stmt->is_test() ? rewrite_reads(stmt->cond, loops, rewrite) : nullptr;
      if (stmt->is_test() && (cond != stmt->cond || below != stmt->body)) {
        now = make_test(cond, std::move(below), stmt->pos);
      } else if (stmt->is_loop() && below != stmt->body) {
        now = with_body(*stmt, std::move(below));
      }
    }
    changed |= now != stmt;
    out.push_back(std::move(now));
  }
  return changed ? out : body;
}

std::vector<std::string> layout_candidates(const Shape& shape, std::int64_t lanes, bool in_place, bool shared) {
  std::vector<std::string> out;
  const std::size_t rank = shape.size();
  for (std::size_t d = 0; d + 1 < rank; ++d) {
    if (shape[d] > 1) out.push_back("transpose:" + swap_order(rank, d));
  }
  for (std::size_t d = 0; d < rank; ++d) {
    if (const std::int64_t f = factor_for(shape[d], lanes)) out.push_back(fmt::format("split:{}:{}", d, f));
  }
  for (std::size_t d = 0; d + 1 < rank; ++d) {
    if (shape[d] > 1 && shape[d + 1] > 1) out.push_back(fmt::format("merge:{}", d));
  }
  if (rank > 2) out.emplace_back("flatten");
  if (rank < 2) return out;
  const std::size_t row = rank - 2, col = rank - 1;
  if (in_place && shape[row] > 1 && shape[col] % 2 == 0) out.push_back(fmt::format("pad:{}:1", col));
  const std::int64_t wide = factor_for(shape[col], lanes), tall = factor_for(shape[row], lanes);
  std::string before;
  for (std::size_t d = 0; d < row; ++d) before += fmt::format("{}x", d);
  if (wide != 0) out.push_back(fmt::format("split:{}:{}+transpose:{}{}x{}x{}", col, wide, before, col, row, col + 1));
  if (wide != 0 && tall != 0) {
    out.push_back(fmt::format("split:{}:{}+split:{}:{}+transpose:{}{}x{}x{}x{}", row, tall, col + 1, wide, before, row, row + 2, row + 1, row + 3));
  }
  std::int64_t width = 8;
  while (width > 1 && (shape[col] % width != 0 || width > shape[row])) width /= 2;
  if (in_place && shared && width > 1) out.push_back(fmt::format("xor:{}:{}:{}", col, row, width));
  return out;
}

}  // namespace cairn
