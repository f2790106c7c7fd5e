#include "strategy/graph/split_copies.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "ir/interval.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/order.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/write_domain.h"

namespace cairn {
namespace {

// The nest with a tensor's mentions renamed, subscripts counted from `lo`.
StmtPtr redirected(const StmtPtr& nest, const std::string& from, const std::string& to, const std::vector<std::int64_t>& lo) {
  std::vector<LoopRange> none;
  const auto shift = [&](std::vector<ExprPtr> subs, const std::vector<LoopRange>& ranges) {
    for (std::size_t d = 0; d < subs.size(); ++d) {
      if (lo[d] != 0) subs[d] = simplify_index(sub_index(subs[d], make_int(lo[d])), ranges);
    }
    return subs;
  };
  Body body = rewrite_ranged({nest}, none, [&](const ExprPtr& e, const std::vector<LoopRange>& ranges) {
    return rewrite_expr(e, [&](const ExprPtr& x) -> ExprPtr { return x->op == Op::read && x->name == from ? make_read(to, shift(x->args, ranges), x->pos) : nullptr; });
  });
  body = rewrite_stmts(body, [&](const StmtPtr& s) -> std::optional<Body> {
    if (!s->is_equation() || s->tensor != from) return std::nullopt;
    return Body{make_equation(to, shift(s->subscripts, {}), s->rhs, s->pos)};
  });
  return body[0];
}

}  // namespace

const Result<std::map<std::string, Shape, std::less<>>>& SplitFacts::shapes() {
  if (!shapes_) shapes_ = infer_shapes(program_);
  return *shapes_;
}

bool SplitFacts::is_complete_before(const std::string& tensor, std::uint32_t nest) {
  constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  const auto [found, asked] = complete_from_.try_emplace(tensor, kNever);
  if (asked) {
    std::uint32_t from = 0, first_read = kNever;
    for (const Access& access : flow_.accesses()) {
      if (access.tensor != tensor) continue;
      if (access.is_write) from = std::max(from, access.path[0] + 1);
      if (!access.is_write && !access.is_self) first_read = std::min(first_read, access.path[0]);
    }
    if (from <= first_read && flow_.covered(tensor).holds == Answer::yes) found->second = from;
  }
  return nest >= found->second;
}

bool SplitFacts::is_alone_in(const std::string& tensor, std::uint32_t nest) {
  const auto [found, asked] = mentioned_in_.try_emplace(tensor);
  for (std::uint32_t k = 0; asked && k < program_.body().size(); ++k) {
    if (mentions_below(*program_.body()[k], tensor)) found->second.push_back(k);
  }
  return found->second == std::vector<std::uint32_t>{nest};
}

SplitCopies::SplitCopies(const Program& program, SplitFacts& facts, std::uint32_t nest, std::string axis, std::vector<std::int64_t> extents,
                         std::vector<StmtPtr> parts)
    : program_(program), facts_(facts), nest_(nest), axis_(std::move(axis)), extents_(std::move(extents)), parts_(std::move(parts)), origins_(parts_.size(), 0) {}

SplitCopies::SplitCopies(const Program& program, SplitFacts& facts, std::uint32_t nest, std::string axis, std::vector<std::int64_t> extents)
    : SplitCopies(program, facts, nest, std::move(axis), std::move(extents), {}) {
  only_ask_ = true;
  parts_.assign(extents_.size(), program.body()[nest]);
  for (std::size_t part = 0; part < extents_.size(); ++part) origins_.push_back(part == 0 ? 0 : origins_.back() + extents_[part - 1]);
}

std::vector<SplitCopies::Mention> SplitCopies::mentions_of(std::size_t part) const {
  std::vector<Mention> out;
  visit_stmts({parts_[part]}, [&](const Stmt& stmt, const StmtContext& context) {
    if (stmt.is_loop()) return;
    VarRanges around;
    for (const Stmt* above : context.enclosing) {
      if (above->is_loop()) around[above->var] = {0, above->extent - 1};
    }
    if (const auto axis = around.find(axis_); axis != around.end()) axis->second = {origins_[part], origins_[part] + extents_[part] - 1};
    const auto ranges = std::make_shared<const VarRanges>(std::move(around));
    const auto look = [&](const auto& self, const Expr& e) -> void {
      if (e.op == Op::read) out.push_back({&e.name, &e.args, ranges, false});
      for (const ExprPtr& arg : e.args) self(self, *arg);
    };
    if (stmt.is_test()) look(look, *stmt.cond);
    if (!stmt.is_equation()) return;
    for (const ExprPtr& s : stmt.subscripts) look(look, *s);
    look(look, *stmt.rhs);
    out.push_back({&stmt.tensor, &stmt.subscripts, ranges, true});
  });
  return out;
}

const std::string& SplitCopies::var(std::size_t k) {
  while (vars_.size() <= k) vars_.push_back(only_ask_ ? "?" + std::to_string(k) : fresh_var(program_, vars_));
  return vars_[k];
}

std::string SplitCopies::make_temporary(const Tensor& like) {
  if (only_ask_) {
    made_.push_back(like);
    return like.name;
  }
  std::vector<std::string> taken;
  for (const Tensor& tensor : made_) taken.push_back(tensor.name);
  Tensor tensor;
  tensor.name = fresh_tensor(program_, taken);
  tensor.dtype = like.dtype;
  made_.push_back(tensor);
  return tensor.name;
}

Result<SplitCopies::Window> SplitCopies::window_of(const std::vector<Mention>& mentions, const Tensor& tensor, const Shape& shape) const {
  std::vector<std::optional<Interval>> hull(shape.size());
  std::vector<bool> moves(shape.size(), false), affine(shape.size(), true);
  for (const Mention& mention : mentions) {
    const std::vector<ExprPtr>& subs = *mention.subscripts;
    for (std::size_t d = 0; *mention.tensor == tensor.name && d < subs.size(); ++d) {
      moves[d] = moves[d] || uses_var(*subs[d], axis_);
      const std::optional<Interval> range = linear_form(*subs[d]) ? interval_of(*subs[d], *mention.ranges) : std::nullopt;
      affine[d] = affine[d] && range;
      if (range) hull[d] = hull[d] ? Interval{std::min(hull[d]->lo, range->lo), std::max(hull[d]->hi, range->hi)} : *range;
    }
  }
  Window window;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    Interval range{0, shape[d] - 1};
    if (moves[d]) {
      if (!affine[d] || !hull[d]) return refuse(program_, tensor.pos, 3, fmt::format("subscript {} of {} is not affine in {}", d, tensor.name, axis_));
      range = {std::max(range.lo, hull[d]->lo), std::min(range.hi, hull[d]->hi)};
    }
    if (range.lo > range.hi) return refuse(program_, tensor.pos, 3, fmt::format("a part reads no element of {}", tensor.name));
    window.lo.push_back(range.lo);
    window.extent.push_back(range.hi - range.lo + 1);
  }
  return window;
}

Result<void> SplitCopies::copy_inputs() {
  std::set<std::string> written, moving;
  std::vector<std::string> inputs;
  std::vector<std::vector<Mention>> mentions;
  for (std::size_t part = 0; part < parts_.size(); ++part) mentions.push_back(mentions_of(part));
  for (const Mention& mention : mentions[0]) {
    if (mention.write) written.insert(*mention.tensor);
    const bool moves = subscripts_use(*mention.subscripts, axis_);
    if (moves && moving.insert(*mention.tensor).second) inputs.push_back(*mention.tensor);
  }
  std::erase_if(inputs, [&](const std::string& name) { return written.contains(name); });
  if (inputs.empty()) return refuse(program_, program_.body()[nest_]->pos, 3, fmt::format("no operand has loop {} in a subscript", axis_));
  if (!facts_.shapes()) return facts_.shapes().error();
  const auto& shapes = *facts_.shapes();
  for (const std::string& name : inputs) {
    const Tensor& tensor = *program_.find(name);
    if (tensor.scope != Scope::g) return refuse(program_, tensor.pos, 3, fmt::format("{} has scope {}; only g tensors can be copied by nests of their own", name, scope_name(tensor.scope)));
    const Shape& shape = shapes.find(name)->second;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      CAIRN_TRY(const Window window, window_of(mentions[part], tensor, shape));
      const std::string copy = make_temporary(tensor);
      if (only_ask_) continue;
      std::vector<LoopHeader> loops;
      std::vector<ExprPtr> from, to;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        to.push_back(make_int(0));
        if (window.extent[d] > 1) {
          loops.push_back({LoopKind::L, window.extent[d], var(d), {}});
          to.back() = make_var(var(d));
        }
        from.push_back(to.back()->op == Op::int_literal ? make_int(window.lo[d]) : add_index(to.back(), make_int(window.lo[d])));
      }
      before_.push_back(wrap_loops(loops, {make_equation(copy, std::move(to), make_read(name, std::move(from)))})[0]);
      parts_[part] = redirected(parts_[part], name, copy, window.lo);
      mentions[part] = mentions_of(part);
    }
    if (tensor.role == Role::tmp && !facts_.is_complete_before(name, nest_)) to_check_.emplace_back(name, 3);
  }
  return {};
}

// The equation that alone writes a tensor in the nest, as it stands in the first part.
const Stmt* SplitCopies::single_write(const std::string& tensor) const {
  const Stmt* found = nullptr;
  for (const EquationRef& ref : collect_equations({parts_[0]})) {
    if (ref.equation->tensor != tensor) continue;
    if (found) return nullptr;
    found = ref.equation;
  }
  return found;
}

Result<void> SplitCopies::copy_results() {
  std::vector<std::string> results;
  for (const EquationRef& ref : collect_equations({program_.body()[nest_]})) {
    if (std::find(results.begin(), results.end(), ref.equation->tensor) == results.end()) results.push_back(ref.equation->tensor);
  }
  for (const std::string& tensor : results) CAIRN_CHECKED(copy_result(tensor));
  if (made_.empty()) return refuse(program_, program_.body()[nest_]->pos, 4, "the nest writes only temporaries of its own");
  return {};
}

Result<void> SplitCopies::copy_result(const std::string& tensor) {
  const Tensor& t = *program_.find(tensor);
  const Body whole{program_.body()[nest_]};
  const bool alone = t.role == Role::tmp && facts_.is_alone_in(tensor, nest_);
  // Where the axis stands, and from which element on, in each part.
  std::optional<std::size_t> dim;
  std::vector<std::int64_t> starts;
  bool spatial = true, without = true;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    std::optional<std::int64_t> start;
    for (const Mention& mention : mentions_of(part)) {
      if (*mention.tensor != tensor) continue;
      const std::vector<ExprPtr>& subs = *mention.subscripts;
      std::size_t axes = 0;
      for (std::size_t d = 0; d < subs.size(); ++d) {
        if (!uses_var(*subs[d], axis_)) continue;
        ++axes;
        const std::optional<LinearForm> form = linear_form(*subs[d]);
        const bool plain = form && form->terms.size() == 1 && form->terms[0].second == 1;
        spatial &= plain && dim.value_or(d) == d && start.value_or(form->constant) == form->constant;
        if (!plain) continue;
        dim = d;
        start = form->constant;
      }
      spatial &= axes == 1;
      without &= axes == 0;
    }
    if (start) starts.push_back(*start);
  }
  if (alone && without) return {};
  if (t.scope != Scope::g) return refuse(program_, t.pos, 4, fmt::format("{} has scope {}; only g tensors can be copied by nests of their own", tensor, scope_name(t.scope)));
  if (spatial && starts.size() == parts_.size()) {
    bool prior = t.role == Role::io;
    for (std::uint32_t k = 0; k < nest_; ++k) prior |= writes_below(*program_.body()[k], tensor);
    if (prior && reads_below(*whole[0], tensor)) return refuse(program_, t.pos, 4, fmt::format("{} may go on from values it had before the nest", tensor));
    return copy_back(tensor, *dim, starts);
  }
  const Stmt* equation = single_write(tensor);
  const std::optional<SelfUpdate> update = equation ? match_self_update(*equation) : std::nullopt;
  const bool divides = update && update->op == UpdateOp::mul && std::any_of(update->others.begin(), update->others.end(), [](const auto& o) { return o.inverse; });
  if (!without || !update || divides || count_mentions(whole, tensor) != 1) {
    return refuse(program_, t.pos, 4, fmt::format("{} neither has loop {} in one subscript, plain, nor is it reduced along it by one self-update alone", tensor, axis_));
  }
  return combine(tensor, *equation, *update);
}

Result<void> SplitCopies::copy_back(const std::string& tensor, std::size_t dim, const std::vector<std::int64_t>& starts) {
  const Tensor& t = *program_.find(tensor);
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const std::string own = make_temporary(t);
    Body copies;
    std::optional<Error> failed;
    bool tests = false;
    visit_stmts({parts_[part]}, [&](const Stmt& stmt, const StmtContext& context) {
      if (!stmt.is_equation() || stmt.tensor != tensor) return;
      const WriteDomain domain = write_domain(stmt, context.enclosing, [this](std::size_t k) { return var(k); });
      const bool index = std::all_of(stmt.subscripts.begin(), stmt.subscripts.end(), [](const ExprPtr& s) { return is_index_expr(*s); });
      if (domain.data_test || !index) failed = refuse(program_, stmt.pos, 4, fmt::format("where {} is written depends on data", tensor));
      tests |= domain.dropped_test;
      if (only_ask_) return;
      std::vector<ExprPtr> to, from;
      for (std::size_t d = 0; d < stmt.subscripts.size(); ++d) {
        to.push_back(substitute_vars(stmt.subscripts[d], domain.names));
        from.push_back(d == dim ? simplify_index(sub_index(to.back(), make_int(starts[part])), {}) : to.back());
      }
      const Body body = wrap_domain(domain, {make_equation(tensor, std::move(to), make_read(own, std::move(from)))});
      if (std::none_of(copies.begin(), copies.end(), [&](const StmtPtr& s) { return same_stmt(*s, *body[0]); })) copies.push_back(body[0]);
    });
    if (failed) return *failed;
    if (tests) to_check_.emplace_back(own, 4);
    if (only_ask_) continue;
    std::vector<std::int64_t> lo(t.shape ? t.shape->size() : 64, 0);
    lo[dim] = starts[part];
    parts_[part] = redirected(parts_[part], tensor, own, lo);
    after_.insert(after_.end(), copies.begin(), copies.end());
  }
  return {};
}

Result<void> SplitCopies::combine(const std::string& tensor, const Stmt& equation, const SelfUpdate& update) {
  const Tensor& t = *program_.find(tensor);
  static constexpr Op kOps[] = {Op::add, Op::mul, Op::max, Op::min};
  const Op op = kOps[static_cast<std::size_t>(update.op)];
  std::optional<WriteDomain> domain;
  visit_stmts({parts_[0]}, [&](const Stmt& stmt, const StmtContext& context) {
    if (&stmt == &equation) domain = write_domain(stmt, context.enclosing, [this](std::size_t k) { return var(k); });
  });
  const bool index = std::all_of(equation.subscripts.begin(), equation.subscripts.end(), [](const ExprPtr& s) { return is_index_expr(*s); });
  if (!domain || domain->data_test || !index) return refuse(program_, equation.pos, 4, fmt::format("where {} is written depends on data", tensor));
  std::vector<ExprPtr> subs;
  for (const ExprPtr& s : equation.subscripts) subs.push_back(substitute_vars(s, domain->names));
  if (!writes_once(*domain, subs)) {
    return refuse(program_, equation.pos, 4, fmt::format("an element of {} may be written in several iterations, its parts would be added as often", tensor));
  }
  ExprPtr sum;
  const std::vector<std::int64_t> lo(subs.size(), 0);
  for (StmtPtr& part : parts_) {
    const std::string own = make_temporary(t);
    if (domain->dropped_test || !domain->tests.empty()) to_check_.emplace_back(own, 4);
    if (only_ask_) continue;
    part = redirected(part, tensor, own, lo);
    const ExprPtr value = make_read(own, subs);
    sum = sum ? make_expr(op, {sum, value}) : value;
  }
  exactness_ = std::max(exactness_, class_of_reduction(update.op, t.dtype));
  if (only_ask_) return {};
  after_.push_back(wrap_domain(*domain, {make_equation(tensor, subs, make_expr(op, {make_read(tensor, subs), sum}))})[0]);
  return {};
}

Body SplitCopies::statements() const {
  Body out = before_;
  out.insert(out.end(), parts_.begin(), parts_.end());
  out.insert(out.end(), after_.begin(), after_.end());
  return out;
}

}  // namespace cairn
