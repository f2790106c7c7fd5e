#include "strategy/graph/concat_copies.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "analysis/dependence.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/write_domain.h"

namespace cairn {

const std::string& ConcatCopies::var(std::size_t k) {
  while (vars_.size() <= k) vars_.push_back(fresh_var(program_, vars_));
  return vars_[k];
}

Result<void> ConcatCopies::check(const JoinedTensor& joined) const {
  const Shape& first = shapes_.at(joined.tensors[0]);
  for (std::size_t k = 0; k < joined.tensors.size(); ++k) {
    const Shape& shape = shapes_.at(joined.tensors[k]);
    bool same = shape.size() == first.size();
    for (std::size_t d = 0; same && d < shape.size(); ++d) same = d == joined.dim || shape[d] == first[d];
    if (!same) return refuse(program_, joined.pos, 4, fmt::format("{} and {} differ in shape off the axis", joined.tensors[0], joined.tensors[k]));
    if (joined.stride != 0) continue;
    const std::int64_t start = joined.starts[k], end = start + match_.extents()[k];
    if (start < 0 || end > shape[joined.dim]) {
      return refuse(program_, joined.pos, 4, fmt::format("elements {} to {} of {} along the axis are not all there (it has {})", start, end - 1, joined.tensors[k], shape[joined.dim]));
    }
  }
  return {};
}

bool ConcatCopies::has_prior(const JoinedTensor& joined, std::size_t k) const {
  const std::string& tensor = joined.tensors[k];
  const bool io = program_.find(tensor)->role == Role::io;
  const std::uint32_t nest = group_.nests[k];
  if (!reads_below(*original_[nest], tensor)) return false;
  std::vector<Access> reads = collect_accesses(program_, {nest});
  std::erase_if(reads, [&](const Access& a) { return a.is_write || a.tensor != tensor; });
  for (std::uint32_t before = 0; before < nest && !io; ++before) {
    if (!writes_below(*original_[before], tensor)) continue;
    for (const Access& write : collect_accesses(program_, {before})) {
      if (!write.is_write || write.tensor != tensor) continue;
      if (std::any_of(reads.begin(), reads.end(), [&](const Access& read) { return may_touch(program_, write, read, {}) != Answer::no; })) return true;
    }
  }
  return io;
}

// Elements [to, to + extent) of the joined tensor along the axis, from `source` at `from` on, or zero.
StmtPtr ConcatCopies::move(const JoinedTensor& joined, std::int64_t from, std::int64_t to, std::int64_t extent, const Shape& shape, const std::string* source) {
  std::vector<ExprPtr> read, write;
  std::vector<LoopHeader> loops;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t count = d == joined.dim ? extent : shape[d];
    ExprPtr at = make_int(0);
    if (count > 1) {
      loops.push_back({LoopKind::L, count, var(d), {}});
      at = make_var(var(d));
    }
    const auto plus = [&](std::int64_t c) { return at->op == Op::int_literal ? make_int(c) : add_index(at, make_int(c)); };
    read.push_back(d == joined.dim ? plus(from) : at);
    write.push_back(d == joined.dim ? plus(to) : at);
  }
  ExprPtr value = source ? make_read(*source, std::move(read)) : make_int(0);
  if (!source && program_.find(joined.tensors[0])->dtype == Dtype::boolean) value = make_expr(Op::lt, {make_int(0), make_int(0)});
  return wrap_loops(loops, {make_equation(joined.name, std::move(write), std::move(value))})[0];
}

StmtPtr ConcatCopies::copy(const JoinedTensor& joined, std::size_t k) {
  const Shape& shape = shapes_.at(joined.tensors[k]);
  if (joined.stride == 0) return move(joined, joined.starts[k], match_.offsets()[k], match_.extents()[k], shape, &joined.tensors[k]);
  return move(joined, 0, joined.stride * match_.offsets()[k], shape[joined.dim], shape, &joined.tensors[k]);
}

StmtPtr ConcatCopies::fill(const JoinedTensor& joined, std::size_t k) {
  if (joined.stride == 0 || k + 1 == joined.tensors.size()) return nullptr;
  const Shape& shape = shapes_.at(joined.tensors[k]);
  const std::int64_t end = joined.stride * match_.offsets()[k] + shape[joined.dim], next = joined.stride * match_.offsets()[k + 1];
  return end < next ? move(joined, 0, end, next - end, shape, nullptr) : nullptr;
}

Result<Body> ConcatCopies::slices(const JoinedTensor& joined, std::size_t k, const ConcatMatcher::Rows& rows) {
  Body out;
  std::optional<Error> failed;
  visit_stmts({original_[group_.nests[k]]}, [&](const Stmt& stmt, const StmtContext& context) {
    if (failed || !stmt.is_equation() || stmt.tensor != joined.tensors[k]) return;
    WriteDomain domain = write_domain(stmt, context.enclosing, [this](std::size_t n) { return var(n); });
    if (domain.data_test) failed = refuse(program_, domain.data_test->pos, 3, fmt::format("{} is written under a test that reads a tensor", stmt.tensor));
    dropped_test_ |= domain.dropped_test;
    std::vector<ExprPtr> to, from;
    for (std::size_t d = 0; d < stmt.subscripts.size(); ++d) {
      to.push_back(substitute_vars(stmt.subscripts[d], domain.names));
      from.push_back(to.back());
      if (d != joined.dim) continue;
      const LinearForm form = *linear_form(*to.back());
      from.back() = add_index(make_var(form.terms[0].first), make_int(match_.offsets()[k]));
      if (rows.lo == 0 && rows.hi == match_.extents()[k]) continue;
      // Only these iterations of the axis.
      for (LoopHeader& loop : domain.loops) {
        if (loop.var != form.terms[0].first) continue;
        loop.extent = rows.hi - rows.lo;
        const Substitution shift{{loop.var, add_index(make_var(loop.var), make_int(rows.lo))}};
        to.back() = simplify_index(substitute_vars(to.back(), shift), {});
        from.back() = simplify_index(substitute_vars(from.back(), shift), {});
        for (ExprPtr& test : domain.tests) test = substitute_vars(test, shift);
      }
    }
    const Body body = wrap_domain(domain, {make_equation(stmt.tensor, std::move(to), make_read(joined.name, std::move(from)))});
    if (std::none_of(out.begin(), out.end(), [&](const StmtPtr& s) { return same_stmt(*s, *body[0]); })) out.push_back(body[0]);
  });
  if (failed) return *failed;
  return out;
}

bool ConcatCopies::stays_inside(const std::string& tensor, std::size_t k) const {
  return program_.find(tensor)->role == Role::tmp && count_mentions({original_[group_.nests[k]]}, tensor) == count_mentions(original_, tensor);
}

Program ConcatCopies::finish(const Gathered& gathered, const Body& before, const StmtPtr& joined, const Body& after) const {
  const Body& all = gathered.program.body();
  const auto first = all.begin() + gathered.first;
  Body body(all.begin(), first);
  body.insert(body.end(), before.begin(), before.end());
  body.push_back(joined);
  body.insert(body.end(), after.begin(), after.end());
  body.insert(body.end(), first + static_cast<std::ptrdiff_t>(group_.nests.size()), all.end());
  Program out = program_;
  out.set_body(std::move(body));
  for (const JoinedTensor& one : match_.joined()) {
    Tensor made;
    made.name = one.name;
    made.dtype = program_.find(one.tensors[0])->dtype;
    out.set_tensor(std::move(made));
  }
  for (const Tensor& tensor : program_.tensors()) {
    if (tensor.role == Role::tmp && count_mentions(out.body(), tensor.name) == 0) out.remove_tensor(tensor.name);
  }
  return out;
}

}  // namespace cairn
