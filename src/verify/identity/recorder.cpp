#include "verify/identity/recorder.h"

#include <fmt/core.h>

#include <algorithm>

namespace cairn::identity {

namespace {
constexpr int kMaxDepth = 600;   // of reads within reads, before the innermost is evaluated first
bool is_float_type(ComputeType type) { return type == ComputeType::f32 || type == ComputeType::f64; }

// The neutral element that a self-update starts from.
TermId neutral_term(TermGraph& graph, UpdateOp op, Dtype dtype) {
  const ExprPtr e = neutral_element(op, dtype);
  const ComputeType type = compute_type(dtype);
  if (!is_float_type(type)) return graph.integer(e->int_value);
  const double value = e->op == Op::int_literal ? static_cast<double>(e->int_value) : e->float_value;
  return graph.literal(value, value, type);
}
}  // namespace

Recorder::Recorder(Prepared* code, const StateTable& table, const SharedStates& shared, TermGraph* graph)
    : code_(*code), table_(table), shared_(shared), graph_(*graph) {
  for (const std::vector<Digest>& row : table.rows()) {
    for (const Digest& state : row) fresh_.push_back(shared.number_of(state));
  }
}

std::string Recorder::place(std::int32_t tensor, const std::int64_t* index) const {
  const TensorInfo& t = code_.tensors[static_cast<std::size_t>(tensor)];
  std::string text;
  for (std::size_t d = 0; d < t.shape.size(); ++d) text += fmt::format("{}{}", d ? "," : "", index[d]);
  return text.empty() ? t.tensor->name : fmt::format("{}_{{{}}}", t.tensor->name, text);
}

TermId Recorder::element(std::int32_t tensor, std::uint32_t nest, const std::int64_t* index) {
  deep_ = false;
  depth_ = 0;
  TermId result = before_nest(tensor, nest, index);
  std::vector<Pending> stack;
  while (deep_ && reason_.empty()) {
    stack.push_back(pending_);
    while (!stack.empty() && reason_.empty()) {
      deep_ = false;
      depth_ = 0;
      evaluate(stack.back());
      if (deep_) stack.push_back(pending_);
      else stack.pop_back();
      if (++work_ > limit_) stop("the work limit");
    }
    if (!reason_.empty()) break;
    deep_ = false;
    depth_ = 0;
    result = before_nest(tensor, nest, index);
  }
  return result;
}

void Recorder::evaluate(const Pending& p) {
  const Equation& e = code_.equations[p.equation];
  Instance one;
  one.equation = p.equation;
  std::copy(p.v, p.v + kMaxLoops, one.v);
  Index at{};
  if (guards_hold(e, p.v, &one.guard) != 1 || p.guards || !subscripts(e.site, e.linear, e.stmt->subscripts.size(), p.v, at, nullptr)) return;
  value(one, at);
}

bool Recorder::enter(const Equation& e, const std::int64_t* v, bool guards) {
  if (++depth_ <= kMaxDepth) return true;
  --depth_;
  deep_ = true;
  pending_.equation = e.id;
  pending_.guards = guards;
  std::copy(v, v + kMaxLoops, pending_.v);
  return false;
}

TermId Recorder::leaf(std::uint32_t state, std::int32_t tensor, const std::int64_t* index) {
  const Dtype d = code_.tensors[static_cast<std::size_t>(tensor)].tensor->dtype;
  const std::int64_t offset = offset_of(tensor, index);
  const ComputeType type = compute_type(d);
  if (const Value* v = shared_.concrete(state)) {
    const auto i = static_cast<std::size_t>(offset);
    if (!is_float(d)) return type == ComputeType::boolean ? graph_.boolean(v->ints[i] != 0) : graph_.integer(v->ints[i]);
    return graph_.literal(v->floats[i], v->floats[i], type);
  }
  return graph_.input(state, offset, type, is_float(d) ? d : Dtype::f64);
}

TermId Recorder::before_nest(std::int32_t tensor, std::uint32_t nest, const std::int64_t* index) {
  const TensorInfo& t = code_.tensors[static_cast<std::size_t>(tensor)];
  std::uint32_t state = fresh_at(nest, tensor);
  if (state != 0) return ++work_, leaf(state, tensor, index);
  const std::uint64_t key =
      (static_cast<std::uint64_t>(offset_of(tensor, index)) * (table_.nests() + 1) + nest) * code_.tensors.size() + static_cast<std::uint64_t>(tensor) + 1;
  if (const std::uint32_t* known = states_.find(key)) return *known;
  TermId result = kUnwrittenTerm;
  for (std::size_t k = t.writing_nests.size(); k-- > 0;) {
    const std::uint32_t n = t.writing_nests[k];
    if (n >= nest) continue;
    state = fresh_at(n + 1, tensor);
    if (state != 0) {
      result = leaf(state, tensor, index);
      break;
    }
    Instance one;
    const bool found = last_in_nest(tensor, n, nullptr, nullptr, index, &one);
    if (halted()) return kUnwrittenTerm;
    if (!found) continue;
    result = value(one, index);
    if (halted()) return kUnwrittenTerm;
    break;
  }
  if (result == kUnwrittenTerm) {
    state = fresh_at(0, tensor);
    if (state != 0) result = leaf(state, tensor, index);
  }
  if (result != kUnwrittenTerm) states_.at(key) = result;
  return result;
}

TermId Recorder::read(const Site& site, const std::int64_t* v, std::int32_t tensor, const std::int64_t* index) {
  if (++work_ > limit_) return stop("the work limit"), kUnwrittenTerm;
  const TensorInfo& t = code_.tensors[static_cast<std::size_t>(tensor)];
  if (!t.writing_nests.empty() && std::binary_search(t.writing_nests.begin(), t.writing_nests.end(), site.nest())) {
    Instance one;
    const bool found = last_in_nest(tensor, site.nest(), &site, v, index, &one);
    if (halted()) return kUnwrittenTerm;
    if (found) return value(one, index);
  }
  return before_nest(tensor, site.nest(), index);
}

// What an instance leaves in its element: where a guard depends on data, a choice between new and prior value.
TermId Recorder::value(const Instance& one, const std::int64_t* index) {
  const Equation& e = code_.equations[one.equation];
  if (one.guard == kUnwrittenTerm) return instance(e, one.v, index);
  const std::uint64_t key = key_of(e, one.v);
  if (const std::uint32_t* known = e.keyed ? guarded_.find(key) : nullptr) return *known;
  if (!enter(e, one.v, false)) return kUnwrittenTerm;
  const TermId fresh = instance(e, one.v, index);
  const TermId prior = halted() ? kUnwrittenTerm : read(e.site, one.v, e.tensor, index);
  --depth_;
  if (halted()) return kUnwrittenTerm;
  const Dtype dtype = code_.tensors[static_cast<std::size_t>(e.tensor)].tensor->dtype;
  return guarded_.at(key) = graph_.operation(Op::select, compute_type(dtype), one.guard, fresh, prior);
}

// The prior value of a self-update, its neutral element where nothing was written.
TermId Recorder::started(const Equation& e, TermId prior) {
  const Dtype d = code_.tensors[static_cast<std::size_t>(e.tensor)].tensor->dtype;
  if (prior == kUnwrittenTerm) return neutral_term(graph_, e.op, d);
  const Term t = graph_[prior];
  if (t.kind == Kind::operation && t.op == Op::select) {
    const TermId rest = started(e, t.c);
    return rest == t.c ? prior : graph_.operation(Op::select, t.type, t.a, t.b, rest);
  }
  return prior;
}

TermId Recorder::instance(const Equation& e, const std::int64_t* v, const std::int64_t* index) {
  if (!e.keyed) return stop(fmt::format("{} is written by more than 2^48 instances", e.stmt->tensor)), kUnwrittenTerm;
  const std::uint64_t key = key_of(e, v);
  if (const std::uint32_t* known = instances_.find(key)) return *known;
  if (++work_ > limit_) return stop("the work limit"), kUnwrittenTerm;
  if (!enter(e, v, false)) return kUnwrittenTerm;
  TermId result = kUnwrittenTerm;
  if (e.run_from < kMaxLoops) {
    result = run(e, v, index);
  } else if (e.update) {
    TermId prior = read(e.site, v, e.tensor, index);
    if (!halted()) prior = started(e, prior);
    if (!halted()) result = apply(e, v, prior);
  } else {
    result = apply(e, v, kUnwrittenTerm);
  }
  --depth_;
  if (halted()) return kUnwrittenTerm;
  instances_.at(key) = result;
  return result;
}

// An accumulation that this equation alone makes: from its first iteration, or from one already known, up to v.
TermId Recorder::run(const Equation& e, const std::int64_t* v, const std::int64_t* index) {
  const std::size_t loops = e.site.loops.size();
  Frame w{};
  std::copy(v, v + loops, w);
  std::vector<std::size_t> free;
  std::uint64_t count = 1, wanted = 0;
  for (std::size_t i = e.run_from; i < loops; ++i) {
    if (e.determined >> i & 1) continue;
    free.push_back(i);
    count *= static_cast<std::uint64_t>(e.site.extents[i]);
    wanted = wanted * static_cast<std::uint64_t>(e.site.extents[i]) + static_cast<std::uint64_t>(v[i]);
  }
  const auto place_at = [&](std::uint64_t k) {
    for (std::size_t i = free.size(); i-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(e.site.extents[free[i]]);
      w[free[i]] = static_cast<std::int64_t>(k % extent);
      k /= extent;
    }
  };
  TermId acc = kUnwrittenTerm;
  std::uint64_t k = 0;
  bool resumed = false;
  const bool decided = std::all_of(e.site.guards.begin(), e.site.guards.end(), [this](const Guard& g) { return code_.nodes[g.node].plain; });
  if (decided && (e.read_in_run || wanted + 1 < count)) {
    for (std::uint64_t back = wanted; back > 0 && wanted - back < 64; --back) {
      place_at(back - 1);
      if (const std::uint32_t* known = instances_.find(key_of(e, w))) {
        acc = *known;
        k = back;
        resumed = true;
        break;
      }
    }
  }
  if (!resumed) {
    place_at(0);
    acc = read(e.site, w, e.tensor, index);
    if (halted()) return kUnwrittenTerm;
    acc = started(e, acc);
  }
  place_at(k);
  for (; k <= wanted; ++k) {
    TermId guard = kUnwrittenTerm;
    const int holds = e.site.guards.empty() ? 1 : guards_hold(e, w, &guard);
    if (holds == -2) return kUnwrittenTerm;
    if (holds == 1) {
      const TermId next = apply(e, w, acc);
      if (halted()) return kUnwrittenTerm;
      acc = guard == kUnwrittenTerm || k == wanted ? next : graph_.operation(Op::select, graph_[next].type, guard, next, acc);
      if (e.read_in_run && decided) instances_.at(key_of(e, w)) = acc;
    }
    if (++work_ > limit_) return stop("the work limit"), kUnwrittenTerm;
    for (std::size_t i = free.size(); i-- > 0;) {
      if (++w[free[i]] < e.site.extents[free[i]]) break;
      w[free[i]] = 0;
    }
  }
  return acc;
}

TermId Recorder::join_partials(TermId id, Op op, Dtype dtype) {
  const Term t = graph_[id];
  if (t.kind != Kind::operation || t.op != op) return graph_.chain(id, dtype, true);
  return graph_.operation(op, t.type, join_partials(t.a, op, dtype), join_partials(t.b, op, dtype));
}

// The value that an instance stores.
TermId Recorder::apply(const Equation& e, const std::int64_t* v, TermId self) {
  const TensorInfo& t = code_.tensors[static_cast<std::size_t>(e.tensor)];
  if (e.narrow && self != kUnwrittenTerm) self = graph_.chain(self, t.tensor->dtype);
  TermId result = eval(e.site, e.rhs, v, self);
  if (halted()) return kUnwrittenTerm;
  const Dtype d = t.tensor->dtype;
  // Joining partial results of its own dtype, an accumulator goes on: their roundings are of one chain.
  if (e.joins_partial) result = join_partials(result, e.op == UpdateOp::mul ? Op::mul : Op::add, d);
  if (d == Dtype::f32 || d == Dtype::f64 || d == Dtype::boolean) return result;
  return graph_.round(result, d, compute_type(d));
}

bool Recorder::subscripts(const Site& site, std::uint32_t linear, std::size_t rank, const std::int64_t* v, std::int64_t* index,
                          const Expr* expr) {
  for (std::size_t d = 0; d < rank; ++d) {
    const Linear& l = code_.linear[linear + d];
    std::int64_t at = l.constant;
    if (l.affine) {
      for (const auto& [loop, coefficient] : l.terms) at += coefficient * v[loop];
    } else if (!code_.nodes[l.node].plain || !plain_value(code_, l.node, v, &at)) {
      const TermId term = eval(site, l.node, v, kUnwrittenTerm);
      if (halted()) return false;
      if (!graph_.is_integer(term, &at)) {
        stop(fmt::format("a subscript of {} depends on computed values", expr != nullptr ? expr->name : "a write"));
        return false;
      }
    }
    if (at < 0 || at >= l.extent) {
      stop(fmt::format("a read of {} is out of bounds: subscript {} is {}, the extent {}", expr != nullptr ? expr->name : "?", d + 1, at, l.extent), true);
      return false;
    }
    index[d] = at;
  }
  return true;
}

int Recorder::condition(const Site& site, std::uint32_t node, const std::int64_t* v, TermId* term) {
  std::int64_t known = 0;
  if (code_.nodes[node].plain && plain_value(code_, node, v, &known)) return known != 0;
  *term = eval(site, node, v, kUnwrittenTerm);
  if (halted()) return -2;
  return graph_.is_integer(*term, &known) ? (known != 0) : -1;
}

TermId Recorder::eval_read(const Site& site, const Node& n, const std::int64_t* v, TermId self) {
  if (n.self) return self;
  Index index{};
  if (!subscripts(site, n.linear, n.count, v, index, n.expr)) return kUnwrittenTerm;
  const TermId result = read(site, v, n.tensor, index);
  if (halted()) return kUnwrittenTerm;
  if (result == kUnwrittenTerm) stop(fmt::format("{} is read before any equation has written it", place(n.tensor, index)), true);
  return result;
}

TermId Recorder::eval_lazy(const Site& site, const Node& n, const std::int64_t* v, TermId self) {
  const std::uint32_t* const args = code_.operands.data() + n.first;
  TermId term = kUnwrittenTerm;
  const int first = condition(site, args[0], v, &term);
  if (first == -2) return kUnwrittenTerm;
  if (n.op == Op::select) {
    if (first >= 0) return eval(site, args[first ? 1 : 2], v, self);
    const TermId yes = eval(site, args[1], v, self);
    if (halted()) return kUnwrittenTerm;
    const TermId no = eval(site, args[2], v, self);
    return halted() ? kUnwrittenTerm : graph_.operation(Op::select, n.type, term, yes, no);
  }
  if (n.op == Op::logical_not) return first >= 0 ? graph_.boolean(first == 0) : graph_.operation(n.op, n.type, term);
  if (first >= 0 && (first != 0) == (n.op == Op::logical_or)) return graph_.boolean(first != 0);
  TermId other = kUnwrittenTerm;
  const int second = condition(site, args[1], v, &other);
  if (second == -2) return kUnwrittenTerm;
  if (second >= 0) other = graph_.boolean(second != 0);
  return first >= 0 ? other : graph_.operation(n.op, n.type, term, other);
}

TermId Recorder::eval(const Site& site, std::uint32_t node, const std::int64_t* v, TermId self) {
  const Node& n = code_.nodes[node];
  std::int64_t known = 0;
  if (n.plain && plain_value(code_, node, v, &known)) {
    return n.type == ComputeType::boolean ? graph_.boolean(known != 0) : graph_.integer(known);
  }
  if (++work_ > limit_) return stop("the work limit"), kUnwrittenTerm;
  const std::uint32_t* const args = code_.operands.data() + n.first;
  if (n.form == TypedExpr::Form::node) {
    switch (n.op) {
      case Op::float_literal: return graph_.literal(n.number, n.decimal, n.type);
      case Op::int_literal: return graph_.integer(n.integer);
      case Op::read: return eval_read(site, n, v, self);
      case Op::select: case Op::logical_and: case Op::logical_or: case Op::logical_not: return eval_lazy(site, n, v, self);
      default: break;
    }
  }
  const TermId a = eval(site, args[0], v, self);
  if (halted()) return kUnwrittenTerm;
  if (n.form == TypedExpr::Form::convert) return graph_.convert(a, n.type);
  if (n.form == TypedExpr::Form::round) return graph_.round(a, n.storage, n.type);
  TermId b = kUnwrittenTerm;
  if (n.count > 1) {
    b = args[1] == args[0] ? a : eval(site, args[1], v, self);
    if (halted()) return kUnwrittenTerm;
  }
  const TermId result = graph_.operation(n.op, n.type, a, b);
  if (n.op == Op::div || n.op == Op::rsqrt) {
    const TermId divisor = n.op == Op::div ? b : a;
    if (std::uint32_t& seen = divisors_.at(divisor); seen == 0) {
      seen = 1;
      divisions_.push_back({divisor, n.expr});
    }
  }
  return result;
}

}  // namespace cairn::identity
