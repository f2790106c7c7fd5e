// The last write before a read. Instances are ordered as executed: for a writer and a reader with c loops in common,
// from late to early: all c loops equal (if the writer's text stands first), then the first c-1 equal and the c-th
// earlier, and so on; the rest as late as the guards allow.
#include <fmt/core.h>

#include <algorithm>

#include "verify/identity/recorder.h"

namespace cairn::identity {

namespace {
constexpr int kMaxTries = 20'000;
constexpr std::int64_t kMaxTable = 1 << 18;

// Loops that two sites share, and whether the first stands before the second in the innermost common body.
struct Order {
  std::size_t common = 0;
  bool first = false;
};
Order order_of(const Site& a, const Site& b) {
  std::size_t i = 0;
  while (i < a.path.size() && i < b.path.size() && a.path[i] == b.path[i]) ++i;
  Order o;
  if (i == a.path.size() || i == b.path.size()) {
    // The same statement, or a test around the other: what stands inside runs after the test.
    o.common = std::min(a.loops.size(), b.loops.size());
    if (i < b.path.size() && i == a.path.size()) o.first = true;
    return o;
  }
  o.common = a.depth_of[i];
  o.first = a.path[i] < b.path[i];
  return o;
}
}  // namespace

bool Recorder::later(const Instance& a, const Instance& b) const {
  const Site& x = code_.equations[a.equation].site;
  const Site& y = code_.equations[b.equation].site;
  const Order o = order_of(x, y);
  for (std::size_t i = 0; i < o.common; ++i) {
    if (a.v[i] != b.v[i]) return a.v[i] > b.v[i];
  }
  return !o.first;
}

bool Recorder::decode(const Equation& e, const std::int64_t* index, std::int64_t* v) const {
  const Linear* const linear = code_.linear.data() + e.linear;
  std::int64_t rest = 0;
  std::size_t i = 0;
  const std::size_t rank = code_.tensors[static_cast<std::size_t>(e.tensor)].shape.size();
  std::size_t repeated = 0;
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (repeated < e.repeated.size() && e.repeated[repeated] == d) {
      ++repeated;
      continue;
    }
    rest = index[d] - linear[d].constant;
    for (std::size_t j = i; j < e.digits.size() && e.digits[j].dimension == d; ++j) {
      if (e.digits[j].reversed) rest += e.digits[j].divisor * (e.site.extents[e.digits[j].loop] - 1);
    }
    if (rest < 0) return false;
    for (; i < e.digits.size() && e.digits[i].dimension == d; ++i) {
      const Digit& digit = e.digits[i];
      std::int64_t at = rest;
      if (digit.divisor != 1) {
        at = rest / digit.divisor;
        rest -= at * digit.divisor;
      } else {
        rest = 0;
      }
      const std::int64_t extent = e.site.extents[digit.loop];
      if (at >= extent) return false;
      v[digit.loop] = digit.reversed ? extent - 1 - at : at;
    }
    if (rest != 0) return false;
  }
  for (const std::uint32_t d : e.repeated) {
    std::int64_t at = linear[d].constant;
    for (const auto& [loop, coefficient] : linear[d].terms) at += coefficient * v[loop];
    if (at != index[d]) return false;
  }
  return true;
}

int Recorder::guard_holds(const Equation& e, const Guard& g, const std::int64_t* v, TermId* term) {
  const Site& site = code_.tests[g.site];
  if (code_.nodes[g.node].plain) return condition(site, g.node, v, term);
  if (!e.keyed) return stop(fmt::format("{} is written by more than 2^48 instances", e.stmt->tensor)), -2;
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < g.loops; ++i) key = key * static_cast<std::uint64_t>(site.extents[i]) + static_cast<std::uint64_t>(v[i]);
  key = key * code_.tests.size() + g.site + 1;
  std::int64_t known = 0;
  if (const std::uint32_t* found = guards_.find(key)) {
    *term = *found;
    return graph_.is_integer(*found, &known) ? (known != 0) : -1;
  }
  if (!enter(e, v, true)) return -2;
  const int holds = condition(site, g.node, v, term);
  --depth_;
  if (holds != -2) guards_.at(key) = holds == -1 ? *term : graph_.boolean(holds != 0);
  return holds;
}

int Recorder::guards_hold(const Equation& e, const std::int64_t* v, TermId* term) {
  *term = kUnwrittenTerm;
  for (const Guard& g : e.site.guards) {
    TermId one = kUnwrittenTerm;
    const int holds = guard_holds(e, g, v, &one);
    if (holds == 0 || holds == -2) return holds;
    if (holds == -1) *term = *term == kUnwrittenTerm ? one : graph_.operation(Op::logical_and, ComputeType::boolean, *term, one);
  }
  return 1;
}

// Moves the free loops that guards depend on down from `upper`, lexicographically, to the last instance that runs.
bool Recorder::descend(const Equation& e, std::int64_t* v, const std::int64_t* upper, std::uint32_t free, Instance* out) {
  std::uint32_t steered = 0;
  for (const Guard& g : e.site.guards) steered |= g.used;
  steered &= free;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    const int holds = guards_hold(e, v, &out->guard);
    if (holds == -2) return false;
    if (holds == 1) {
      std::copy(v, v + e.site.loops.size(), out->v);
      out->equation = e.id;
      return true;
    }
    std::size_t i = e.site.loops.size();
    while (i > 0 && !((steered >> (i - 1) & 1) && v[i - 1] > 0)) {
      --i;
      if (steered >> i & 1) v[i] = upper[i];
    }
    if (i == 0) return false;
    --v[i - 1];
    for (std::size_t j = i; j < e.site.loops.size(); ++j) {
      if (free >> j & 1) v[j] = e.site.extents[j] - 1;  // below an earlier iteration everything is free
    }
    if (++work_ > limit_) return stop("the work limit"), false;
  }
  return stop(fmt::format("the guards of {} leave too many iterations to try", code_.tensors[static_cast<std::size_t>(e.tensor)].tensor->name)), false;
}

bool Recorder::solve(const Equation& e, const Site* reader, const std::int64_t* v, const std::int64_t* fixed, Instance* out) {
  const std::size_t loops = e.site.loops.size();
  const std::uint32_t all = loops >= 32 ? ~0u : (1u << loops) - 1;
  Frame w{}, upper{};
  const auto attempt = [&](std::size_t equal, bool bounded) {
    // The first `equal` loops as the reader's, the next one below it if bounded, the rest free.
    std::uint32_t free = all & ~e.determined;
    for (std::size_t i = 0; i < loops; ++i) {
      const bool determined = e.determined >> i & 1;
      if (i < equal) {
        if (determined && fixed[i] != v[i]) return false;
        w[i] = v[i];
        free &= ~(1u << i);
      } else if (i == equal && bounded) {
        if (determined && fixed[i] >= v[i]) return false;
        w[i] = determined ? fixed[i] : v[i] - 1;
      } else {
        w[i] = determined ? fixed[i] : e.site.extents[i] - 1;
      }
      if (w[i] < 0) return false;
      upper[i] = w[i];
    }
    return descend(e, w, upper, free, out);
  };
  if (reader == nullptr) return attempt(0, false);
  const Order o = order_of(e.site, *reader);
  if (o.first && attempt(o.common, false)) return true;
  for (std::size_t l = o.common; l-- > 0 && !halted();) {
    if (attempt(l, true)) return true;
  }
  return false;
}

bool Recorder::build_table(Equation* e) {
  std::int64_t total = 1;
  e->table.clear();   // of an attempt that got too deep
  e->table_loops.clear();
  for (std::uint32_t i = 0; i < e->site.loops.size(); ++i) {
    if (!(e->determined >> i & 1)) continue;
    e->table_loops.push_back(i);
    total *= std::max<std::int64_t>(1, e->site.extents[i]);
    if (total > kMaxTable) {
      stop(fmt::format("the written subscripts of {} cannot be solved", e->stmt->tensor));
      return false;
    }
  }
  const std::size_t rank = code_.tensors[static_cast<std::size_t>(e->tensor)].shape.size();
  Frame v{};
  for (std::int64_t k = 0; k < total; ++k) {
    std::int64_t rest = k;
    for (std::size_t i = e->table_loops.size(); i-- > 0;) {
      v[e->table_loops[i]] = rest % e->site.extents[e->table_loops[i]];
      rest /= e->site.extents[e->table_loops[i]];
    }
    // An instance that a guard skips may have any subscript.
    TermId term = kUnwrittenTerm;
    bool decided = true;
    for (const Guard& g : e->site.guards) decided = decided && (g.used & ~e->determined) == 0;
    if (decided && guards_hold(*e, v, &term) == 0) continue;
    if (halted()) return false;
    Index index;
    bool inside = true;
    for (std::size_t d = 0; d < rank && inside; ++d) {
      const Linear& l = code_.linear[e->linear + d];
      const TermId at = eval(e->site, l.node, v, kUnwrittenTerm);
      if (halted()) return false;
      if (!graph_.is_integer(at, &index[d])) {
        stop(fmt::format("the place that {} is written at depends on computed values", e->stmt->tensor));
        return false;
      }
      inside = index[d] >= 0 && index[d] < l.extent;
    }
    if (inside) e->table[offset_of(e->tensor, index)].push_back(k);
  }
  return e->table_built = true;
}

bool Recorder::last_of(const Equation& e, const Site* reader, const std::int64_t* v, const std::int64_t* index, Instance* out) {
  if (++work_ > limit_) return stop("the work limit"), false;
  for (const std::int64_t extent : e.site.extents) {
    if (extent <= 0) return false;
  }
  Frame fixed{};
  if (e.by_digits) return decode(e, index, fixed) && solve(e, reader, v, fixed, out);
  Equation* mine = &code_.equations[e.id];
  if (!mine->table_built && !build_table(mine)) return false;
  const auto tuples = mine->table.find(offset_of(e.tensor, index));
  if (tuples == mine->table.end()) return false;
  bool found = false;
  Instance one;
  for (std::size_t k = tuples->second.size(); k-- > 0 && !halted();) {
    std::int64_t rest = tuples->second[k];
    for (std::size_t i = mine->table_loops.size(); i-- > 0;) {
      fixed[mine->table_loops[i]] = rest % e.site.extents[mine->table_loops[i]];
      rest /= e.site.extents[mine->table_loops[i]];
    }
    if (!solve(e, reader, v, fixed, &one)) continue;
    if (!found || later(one, *out)) *out = one;
    found = true;
  }
  return found;
}

bool Recorder::last_in_nest(std::int32_t tensor, std::uint32_t nest, const Site* reader, const std::int64_t* v,
                            const std::int64_t* index, Instance* best) {
  bool found = false;
  Instance one;
  for (const std::uint32_t w : code_.tensors[static_cast<std::size_t>(tensor)].writers) {
    const Equation& e = code_.equations[w];
    if (e.site.nest() != nest) continue;
    const bool has = last_of(e, reader, v, index, found ? &one : best);
    if (halted()) return false;
    if (!has) continue;
    if (found && later(one, *best)) *best = one;
    found = true;
  }
  return found;
}

}  // namespace cairn::identity
