#include "verify/identity/choices.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "verify/identity/pass.h"

namespace cairn::identity {

namespace {
constexpr int kMaxDepth = 4'000;   // of operations, for the stack

class Resolver {
 public:
  Resolver(TermGraph* graph, std::uint64_t limit) : graph_(*graph), limit_(limit) {}

  bool run(std::vector<TermId>* terms, std::uint64_t* work) {
    if (!find_conditions(reachable(graph_, *terms))) return false;
    std::vector<TermId> resolved;
    for (const TermId t : *terms) resolved.push_back(walk(t, &top_));
    *work += work_;
    if (stopped_ || resolved == *terms) return false;
    *terms = std::move(resolved);
    return true;
  }

 private:
  // What is known at a place, and the terms already seen there.
  struct Context {
    std::map<TermId, bool> known;
    std::uint64_t mask = 0;
    std::unordered_map<TermId, TermId> seen;
    std::map<std::pair<TermId, bool>, std::unique_ptr<Context>> inner;
  };

  static std::uint64_t bit_of(TermId id) { return std::uint64_t{1} << (mix64(id) & 63); }

  // The conditions that more than one choice depends on, and of each term those that it is made of (as bits). False if
  // there is none.
  bool find_conditions(const std::vector<TermId>& order) {
    std::unordered_map<TermId, int> uses;
    for (const TermId id : order) {
      const Term& t = graph_[id];
      if (t.kind != Kind::operation) continue;
      if (t.op == Op::select) uses[t.a] += 2;
      if (t.op != Op::logical_and && t.op != Op::logical_or && t.op != Op::logical_not) continue;
      ++uses[t.a];
      if (t.op != Op::logical_not) ++uses[t.b];
    }
    if (!order.empty()) masks_.resize(order.back() + 1, 0);
    for (const TermId id : order) {
      TermId args[3];
      for (int i = graph_.operands(graph_[id], args); i-- > 0;) masks_[id] |= masks_[args[i]];
      const auto used = uses.find(id);
      if (used == uses.end()) continue;
      masks_[id] |= bit_of(id);
      if (used->second > 2) shared_.insert(id);
    }
    return !shared_.empty();
  }

  // Whether something is learnt from a condition.
  bool tells(TermId condition) const {
    const Term& t = graph_[condition];
    return shared_.contains(condition) || (t.kind == Kind::operation && (t.op == Op::logical_and || t.op == Op::logical_or || t.op == Op::logical_not));
  }
  void learn(Context* c, TermId condition, bool holds) {
    const Term t = graph_[condition];
    c->known[condition] = holds;
    c->mask |= bit_of(condition);
    if (t.kind != Kind::operation) return;
    if (t.op == Op::logical_not) learn(c, t.a, !holds);
    if (t.op == (holds ? Op::logical_and : Op::logical_or)) {
      learn(c, t.a, holds);
      learn(c, t.b, holds);
    }
  }

  Context* enter(Context* outer, TermId condition, bool holds) {
    std::unique_ptr<Context>& inner = outer->inner[{condition, holds}];
    if (!inner) {
      inner = std::make_unique<Context>();
      inner->known = outer->known;
      inner->mask = outer->mask;
      learn(inner.get(), condition, holds);
    }
    return inner.get();
  }

  TermId walk(TermId id, Context* context) {
    const std::uint64_t mask = id < masks_.size() ? masks_[id] : ~std::uint64_t{0};
    if (mask == 0) return id;
    if ((mask & context->mask) == 0) context = &top_;
    if (const auto known = context->known.find(id); known != context->known.end()) return graph_.boolean(known->second);
    if (const auto seen = context->seen.find(id); seen != context->seen.end()) return seen->second;
    if (stopped_ || ++work_ > limit_ || depth_ > kMaxDepth) {
      stopped_ = true;
      return id;
    }
    ++depth_;
    const TermId out = rebuilt(id, context);
    --depth_;
    context->seen.emplace(id, out);
    return out;
  }

  TermId rebuilt(TermId id, Context* context) {
    const Term t = graph_[id];
    TermId args[3] = {0, 0, 0};
    const int n = graph_.operands(t, args);
    if (t.kind == Kind::operation && t.op == Op::select) {
      const TermId condition = walk(t.a, context);
      std::int64_t chosen = 0;
      if (graph_.is_integer(condition, &chosen)) return walk(chosen != 0 ? t.b : t.c, context);
      const bool told = tells(t.a);
      const TermId yes = walk(t.b, told ? enter(context, t.a, true) : context), no = walk(t.c, told ? enter(context, t.a, false) : context);
      return condition == t.a && yes == t.b && no == t.c ? id : graph_.operation(Op::select, t.type, condition, yes, no);
    }
    bool changed = false;
    for (int i = 0; i < n; ++i) {
      const TermId was = args[i];
      args[i] = walk(was, context);
      changed |= args[i] != was;
    }
    if (!changed) return id;
    switch (t.kind) {
      case Kind::operation: return graph_.operation(t.op, t.type, args[0], args[1], args[2]);
      case Kind::chain: return graph_.chain(args[0], t.format, t.b != 0);
      case Kind::to_float: case Kind::to_bool: return graph_.convert(args[0], t.type);
      default: return graph_.round(args[0], t.format, t.type);
    }
  }

  TermGraph& graph_;
  std::uint64_t limit_, work_ = 0;
  bool stopped_ = false;
  int depth_ = 0;
  std::vector<std::uint64_t> masks_;
  std::unordered_set<TermId> shared_;   // conditions
  Context top_;
};
}  // namespace

bool resolve_choices(TermGraph* graph, std::vector<TermId>* terms, std::uint64_t limit, std::uint64_t* work) {
  return Resolver(graph, limit).run(terms, work);
}

}  // namespace cairn::identity
