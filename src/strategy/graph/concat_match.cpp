#include "strategy/graph/concat_match.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/flow.h"
#include "ir/interval.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/refuse.h"

namespace cairn {
namespace {

bool is_axis_kind(const Stmt& loop) {
  const bool kind = loop.kind == LoopKind::L || loop.kind == LoopKind::P || loop.kind == LoopKind::U;
  return kind && loop.mark.type == LoopMark::Type::none;
}

constexpr std::size_t kMaxAxisLoops = 8;

template <class T>
std::vector<T> all_equal(std::size_t count, T value) { return std::vector<T>(count, value); }

}  // namespace

ConcatMatcher::ConcatMatcher(const Program& program, std::vector<std::uint32_t> nests, StmtPath axis, bool windows)
    : program_(program), nests_(std::move(nests)), axis_{std::move(axis)}, windows_(windows), spans_(nests_.size(), 0), written_by_(nests_.size()),
      names_(nests_.size()), ranges_(nests_.size()) {}

Error ConcatMatcher::refuse_at(SourcePos pos, int condition, std::string message) const { return refuse(program_, pos, condition, std::move(message)); }

ExprPtr ConcatMatcher::renamed(std::size_t nest, const ExprPtr& e) const {
  const auto changes = [](const auto& name) { return name.second->name != name.first; };
  return nest == 0 || std::none_of(names_[nest].begin(), names_[nest].end(), changes) ? e : substitute_vars(e, names_[nest]);
}

ConcatMatcher::Exprs ConcatMatcher::renamed_all(const Exprs& exprs) const {
  Exprs out;
  for (std::size_t k = 0; k < exprs.size(); ++k) out.push_back(renamed(k, exprs[k]));
  return out;
}

bool ConcatMatcher::uses_axis(const Expr& e) const { return uses_any(e, axis_vars_); }

bool ConcatMatcher::counts_on(const Exprs& e) const {
  for (std::size_t k = 1; k < e.size(); ++k) {
    Substitution shift;
    for (const std::string& var : axis_vars_) shift.emplace_back(var, add_index(make_var(var), make_int(offsets_[k])));
    const ExprPtr wanted = simplify_value(substitute_vars(e[0], shift), ranges_[k], {});
    if (!same_expr(wanted, simplify_value(e[k], ranges_[k], {}))) return false;
  }
  return true;
}

std::optional<ConcatMatcher::Plain> ConcatMatcher::plain_axis(const Exprs& e) const {
  Plain out;
  for (const ExprPtr& one : e) {
    const std::optional<LinearForm> form = linear_form(*one);
    if (!form || form->terms.size() != 1 || form->terms[0].second != 1) return std::nullopt;
    if (!out.var.empty() && form->terms[0].first != out.var) return std::nullopt;
    out.var = form->terms[0].first;
    out.starts.push_back(form->constant);
  }
  return out;
}

Result<void> ConcatMatcher::find_extents() {
  extents_.clear();
  offsets_.clear();
  rows_.clear();
  std::int64_t offset = 0;
  for (const std::uint32_t nest : nests_) {
    for (const StmtPath& at : axis_) {
      StmtPath path{nest};
      path.insert(path.end(), at.begin(), at.end());
      const Stmt* loop = stmt_at(program_.body(), path);
      if (!loop || !loop->is_loop()) return refuse_at(program_.body()[nest]->pos, 1, fmt::format("nest {} has no loop where nest {} has the axis", nest, nests_[0]));
      if (!is_axis_kind(*loop)) {
        return refuse_at(loop->pos, 1, fmt::format("loop {} of the axis has kind {} or a mark; take it back first (kind=L)", loop->var, kind_name(loop->kind)));
      }
      if (&at == &axis_.front()) {
        extents_.push_back(loop->extent);
        offsets_.push_back(offset);
        rows_.push_back({0, loop->extent});
        offset += std::max(loop->extent, spans_[offsets_.size() - 1]);
      } else if (loop->extent != extents_.back()) {
        return refuse_at(loop->pos, 1, fmt::format("loop {} belongs to the axis and has extent {}, not {}", loop->var, loop->extent, extents_.back()));
      }
    }
  }
  return {};
}

// The joined tensor over these windows, made on first need.
Result<std::size_t> ConcatMatcher::add_joined(JoinedTensor tensor) {
  for (std::size_t k = 0; k < joined_.size(); ++k) {
    if (joined_[k].tensors == tensor.tensors && joined_[k].dim == tensor.dim && joined_[k].starts == tensor.starts && joined_[k].stride == tensor.stride) return k;
  }
  const Tensor* first = program_.find(tensor.tensors[0]);
  for (const std::string& name : tensor.tensors) {
    const Tensor* other = program_.find(name);
    if (other->dtype != first->dtype) {
      return refuse_at(tensor.pos, 4, fmt::format("{} holds {}, {} holds {}; joined tensors have one dtype", first->name, dtype_name(first->dtype), name, dtype_name(other->dtype)));
    }
    if (other->scope != Scope::g) {
      return refuse_at(tensor.pos, 4, fmt::format("{} has scope {}; only g tensors can be copied by nests of their own", name, scope_name(other->scope)));
    }
  }
  std::vector<std::string> taken;
  for (const JoinedTensor& one : joined_) taken.push_back(one.name);
  tensor.name = fresh_tensor(program_, taken);
  joined_.push_back(std::move(tensor));
  return joined_.size() - 1;
}

Result<void> ConcatMatcher::collect_write(const Stmts& stmts) {
  const Stmt& first = *stmts[0];
  Written now;
  now.pos = first.pos;
  for (std::size_t k = 0; k < stmts.size(); ++k) {
    now.tensors.push_back(stmts[k]->tensor);
    written_by_[k].insert(stmts[k]->tensor);
  }
  std::vector<std::size_t> axis_dims;
  std::optional<Plain> plain;
  bool on = true;
  for (std::size_t d = 0; d < first.subscripts.size(); ++d) {
    Exprs subs;
    for (const Stmt* s : stmts) subs.push_back(s->subscripts[d]);
    subs = renamed_all(subs);
    if (std::none_of(subs.begin(), subs.end(), [&](const ExprPtr& s) { return uses_axis(*s); })) continue;
    axis_dims.push_back(d);
    on &= counts_on(subs);
    plain = plain_axis(subs);
  }
  const bool one_tensor = now.tensors == all_equal(stmts.size(), first.tensor);
  if (axis_dims.empty()) {
    now.kind = Kind::without_axis;
    for (const auto& [var, path] : scope_) {
      const auto at = std::find(axis_.begin(), axis_.end(), path);
      if (at != axis_.end()) now.loops.insert(static_cast<std::size_t>(at - axis_.begin()));
    }
  } else if (one_tensor && on && !windows_) {
    now.kind = Kind::shared_elements;
  } else {
    if (axis_dims.size() > 1 || !plain) {
      return refuse_at(first.pos, 3, fmt::format("{} is written at a subscript that is not the axis plus a constant, alone", first.tensor));
    }
    CAIRN_TRY(now.joined, add_joined({now.tensors, axis_dims[0], plain->starts, 0, "", true, first.pos}));
  }
  const auto [known, added] = written_.try_emplace(first.tensor, now);
  if (added) return {};
  known->second.loops.insert(now.loops.begin(), now.loops.end());
  if (known->second.kind == now.kind && known->second.tensors == now.tensors && known->second.joined == now.joined) return {};
  if (!disagreement_) disagreement_ = refuse_at(first.pos, 3, fmt::format("the writes of {} do not agree on where the axis is", first.tensor));
  if (now.kind == Kind::copied) known->second = now;
  return {};
}

std::optional<StmtPath> ConcatMatcher::find_more_axis() const {
  std::optional<StmtPath> found;
  const StmtPtr nest = program_.body()[nests_[0]];
  visit_stmts({nest}, [&](const Stmt& stmt, const StmtContext& context) {
    const auto look = [&](const std::string& tensor, const std::vector<ExprPtr>& subscripts) {
      const auto written = written_.find(tensor);
      if (found || written == written_.end() || written->second.kind != Kind::copied) return;
      const std::size_t dim = joined_[written->second.joined].dim;
      const std::optional<LinearForm> form = dim < subscripts.size() ? linear_form(*subscripts[dim]) : std::nullopt;
      if (!form || form->terms.size() != 1) return;
      StmtPath path;   // within the nest
      for (std::size_t depth = 0; depth < context.enclosing.size(); ++depth) {
        if (depth > 0) path.push_back(context.path[depth]);
        const Stmt& loop = *context.enclosing[depth];
        if (loop.is_loop() && loop.var == form->terms[0].first && std::find(axis_.begin(), axis_.end(), path) == axis_.end()) found = path;
      }
    };
    const auto look_in = [&](const Expr& root) {
      visit_expr(root, [&](const Expr& e) {
        if (e.op == Op::read) look(e.name, e.args);
        return true;
      });
    };
    if (stmt.is_test()) look_in(*stmt.cond);
    if (!stmt.is_equation()) return;
    look(stmt.tensor, stmt.subscripts);
    look_in(*stmt.rhs);
  });
  return found;
}

// Temporaries without the axis are filled anew in every iteration of it, and no other statement mentions them.
Result<void> ConcatMatcher::check_without_axis() {
  std::optional<FlowAnalysis> flow;
  for (const auto& [name, written] : written_) {
    if (written.kind != Kind::without_axis) continue;
    for (std::size_t k = 0; k < nests_.size(); ++k) {
      const std::string& tensor = written.tensors[k];
      const Tensor* t = program_.find(tensor);
      std::size_t inside = 0;
      for (std::size_t j = 0; j < nests_.size(); ++j) {
        if (written.tensors[j] == tensor) inside += count_mentions({program_.body()[nests_[j]]}, tensor);
      }
      const bool alone = t->role == Role::tmp && inside == count_mentions(program_.body(), tensor);
      if (!alone) {
        return refuse_at(written.pos, 3, fmt::format("{} is written without the axis as a subscript and is not a temporary of the nest alone; "
                                                     "along a reduction nests cannot be joined", tensor));
      }
      if (windows_ && written.loops.empty()) return refuse_at(written.pos, 3, fmt::format("{} is computed outside the axis; rows cannot be computed again", tensor));
      for (const std::size_t loop : written.loops) {
        StmtPath path{nests_[k]};
        path.insert(path.end(), axis_[loop].begin(), axis_[loop].end());
        const Body loops{shared_at(program_.body(), path)};
        const bool below = count_mentions(loops, tensor) == count_mentions({program_.body()[nests_[k]]}, tensor);
        if (!flow) flow.emplace(program_);
        if (below && flow->private_to(tensor, *stmt_at(program_.body(), path)).holds == Answer::yes) continue;
        return refuse_at(written.pos, 3, fmt::format("{} carries a value from one iteration of the axis to the next", tensor));
      }
    }
  }
  return {};
}

Result<Body> ConcatMatcher::walk_bodies(const std::vector<const Body*>& bodies, StmtPath& path, bool collect) {
  Body out;
  for (std::uint32_t s = 0; s < bodies[0]->size(); ++s) {
    Stmts stmts;
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      if (bodies[k]->size() != bodies[0]->size()) {
        return refuse_at((*bodies[k])[0]->pos, 1, fmt::format("a body of nest {} has {} statements, that of nest {} has {}", nests_[k], bodies[k]->size(), nests_[0], bodies[0]->size()));
      }
      stmts.push_back((*bodies[k])[s].get());
    }
    path.push_back(s);
    Result<StmtPtr> now = walk(stmts, path, collect);
    path.pop_back();
    if (!now) return std::move(now.error());
    if (!collect) out.push_back(*std::move(now));
  }
  return out;
}

Result<StmtPtr> ConcatMatcher::walk(const Stmts& stmts, StmtPath& path, bool collect) {
  const Stmt& first = *stmts[0];
  std::vector<const Body*> bodies;
  const bool axis = std::find(axis_.begin(), axis_.end(), path) != axis_.end();
  for (std::size_t k = 0; k < stmts.size(); ++k) {
    const Stmt& s = *stmts[k];
    bool same = s.type == first.type;
    if (same && s.is_loop()) same = s.kind == first.kind && s.mark == first.mark && (axis || collect || s.extent == first.extent);
    if (same && s.is_equation()) same = s.subscripts.size() == first.subscripts.size();
    if (!same) return refuse_at(s.pos, 1, fmt::format("nest {} has another form here than nest {}: loops besides the axis have equal kinds and extents", nests_[k], nests_[0]));
    bodies.push_back(&s.body);
  }
  if (first.is_equation()) {
    if (!collect) return join_equation(stmts);
    CAIRN_CHECKED(collect_write(stmts));
    return shared_at(program_.body(), StmtPath{nests_[0]});
  }
  ExprPtr cond;
  if (first.is_test() && !collect) {
    Exprs conds;
    for (const Stmt* s : stmts) conds.push_back(s->cond);
    CAIRN_TRY(cond, join(renamed_all(conds)));
  }
  if (first.is_loop()) {
    for (std::size_t k = 0; k < stmts.size(); ++k) {
      names_[k].emplace_back(stmts[k]->var, make_var(first.var));
      ranges_[k].push_back({first.var, stmts[k]->extent});
    }
    scope_.emplace_back(first.var, path);
    if (axis) axis_vars_.push_back(first.var);
  }
  Result<Body> body = walk_bodies(bodies, path, collect);
  if (first.is_loop()) {
    for (std::size_t k = 0; k < stmts.size(); ++k) {
      names_[k].pop_back();
      ranges_[k].pop_back();
    }
    scope_.pop_back();
    if (axis) axis_vars_.pop_back();
  }
  if (!body) return std::move(body.error());
  if (collect) return shared_at(program_.body(), StmtPath{nests_[0]});   // only what is collected counts
  if (first.is_test()) return make_test(cond, *std::move(body), first.pos);
  const std::int64_t extent = axis ? offsets_.back() + extents_.back() : first.extent;
  return with_body(*loop_like(first, first.kind, extent, first.var, first.mark), *std::move(body));
}

Result<StmtPtr> ConcatMatcher::match() {
  Result<StmtPtr> joined = match_once();
  if (!joined || !windows_) return joined;
  CAIRN_TRY(const bool moved, spread());
  return moved ? match_once() : std::move(joined);
}

Result<StmtPtr> ConcatMatcher::match_once() {
  Stmts stmts;
  for (const std::uint32_t nest : nests_) stmts.push_back(program_.body()[nest].get());
  while (true) {
    joined_.clear();
    written_.clear();
    disagreement_.reset();
    CAIRN_CHECKED(find_extents());
    StmtPath path;
    CAIRN_TRY(const StmtPtr form, walk(stmts, path, true));
    const std::optional<StmtPath> more = find_more_axis();
    if (!more || axis_.size() == kMaxAxisLoops) break;
    axis_.push_back(*more);
  }
  if (disagreement_) return *disagreement_;
  if (windows_ && axis_.size() > 1) return refuse_at(stmts[0]->pos, 3, "the axis is more than one loop of the nest");
  CAIRN_CHECKED(check_without_axis());
  StmtPath path;
  return walk(stmts, path, false);
}

}  // namespace cairn
