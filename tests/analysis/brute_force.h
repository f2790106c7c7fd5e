// Dependences by enumeration: every instance of every access, in execution order.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/dependence.h"

namespace cairn::brute {

using Env = std::map<std::string, std::int64_t, std::less<>>;

inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

// Value of an integer expression or condition without tensor reads.
inline std::int64_t evaluate(const Expr& e, const Env& env) {
  const auto arg = [&](std::size_t i) { return evaluate(*e.args[i], env); };
  switch (e.op) {
    case Op::int_literal: return e.int_value;
    case Op::loop_var: return env.at(e.name);
    case Op::neg: return -arg(0);
    case Op::add: return arg(0) + arg(1);
    case Op::sub: return arg(0) - arg(1);
    case Op::mul: return arg(0) * arg(1);
    case Op::floor_div: return floor_div(arg(0), arg(1));
    case Op::mod: return arg(0) - floor_div(arg(0), arg(1)) * arg(1);
    case Op::min: return std::min(arg(0), arg(1));
    case Op::max: return std::max(arg(0), arg(1));
    case Op::bit_xor: return arg(0) ^ arg(1);
    case Op::lt: return arg(0) < arg(1);
    case Op::le: return arg(0) <= arg(1);
    case Op::gt: return arg(0) > arg(1);
    case Op::ge: return arg(0) >= arg(1);
    case Op::eq: return arg(0) == arg(1);
    case Op::ne: return arg(0) != arg(1);
    case Op::logical_and: return (arg(0) != 0 && arg(1) != 0) ? 1 : 0;
    case Op::logical_or: return (arg(0) != 0 || arg(1) != 0) ? 1 : 0;
    case Op::logical_not: return arg(0) == 0 ? 1 : 0;
    case Op::select: return arg(0) != 0 ? arg(1) : arg(2);
    default: ADD_FAILURE() << "unexpected operator"; return INT64_MIN;
  }
}

struct Instance {
  std::size_t access = 0;               // index in the list enumerated
  std::vector<std::int64_t> loops;      // values, outermost first
  std::vector<std::int64_t> element;
};

// All instances of the accesses whose conditions hold.
inline std::vector<Instance> enumerate(const std::vector<Access>& accesses) {
  std::vector<Instance> out;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& a = accesses[i];
    std::vector<std::int64_t> values(a.loops.size(), 0);
    bool empty = false;
    for (const Stmt* loop : a.loops) empty = empty || loop->extent <= 0;
    while (!empty) {
      Env env;
      for (std::size_t l = 0; l < values.size(); ++l) env[a.loops[l]->var] = values[l];
      bool runs = true;
      for (const Condition& c : a.conditions) runs = runs && (evaluate(*c.cond, env) != 0) == c.holds;
      if (runs) {
        Instance x{i, values, {}};
        for (const ExprPtr& s : a.subscripts) x.element.push_back(evaluate(*s, env));
        out.push_back(std::move(x));
      }
      std::size_t l = values.size();
      while (l > 0 && ++values[l - 1] == a.loops[l - 1]->extent) values[--l] = 0;
      if (l == 0) break;
    }
  }
  return out;
}

inline bool conflict(const std::vector<Access>& accesses, const Instance& x, const Instance& y) {
  const Access& a = accesses[x.access];
  const Access& b = accesses[y.access];
  return (a.is_write || b.is_write) && a.tensor == b.tensor && x.element == y.element;
}

// Execution order: child index, loop value, child index ... and the place in the equation last.
using Key = std::vector<std::int64_t>;
inline Key order_key(const Program& program, const Access& a, const Instance& x) {
  Key key;
  const Body* body = &program.body();
  std::size_t loop = 0;
  for (const std::uint32_t index : a.path) {
    const Stmt& s = *(*body)[index];
    key.push_back(index);
    if (s.is_loop()) key.push_back(loop < x.loops.size() ? x.loops[loop] : 0);
    loop += s.is_loop() ? 1 : 0;
    body = &s.body;
  }
  key.push_back(static_cast<std::int64_t>(x.access));
  return key;
}

struct Verdict {
  bool ok = true;
  bool reorders_reduction = false;
};

// Compares all pairs of conflicting instances in the old and the new order.
template <class NewKey>
Verdict compare_orders(const Program& program, const std::vector<Access>& accesses, NewKey&& new_key) {
  const std::vector<Instance> all = enumerate(accesses);
  std::vector<Key> before;
  std::vector<Key> after;
  for (const Instance& x : all) {
    before.push_back(order_key(program, accesses[x.access], x));
    after.push_back(new_key(accesses[x.access], before.back()));
  }
  Verdict verdict;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (!conflict(accesses, all[i], all[j]) || !(before[i] < before[j]) || !(after[j] < after[i])) continue;
      const auto op = update_of(accesses[all[i].access]);
      if (op && op == update_of(accesses[all[j].access])) {
        verdict.reorders_reduction = true;
      } else {
        verdict.ok = false;
      }
    }
  }
  return verdict;
}

// Which write each read sees (0: none), by read, and the last write of each element of a tensor that is no
// temporary, when the instances run in the order of the keys.
using Flow = std::map<std::pair<std::size_t, std::string>, std::size_t>;
inline Flow flow_of(const Program& program, const std::vector<Access>& accesses, const std::vector<Instance>& all,
                    const std::vector<Key>& keys) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::map<std::string, std::size_t> last;
  Flow flow;
  for (const std::size_t i : order) {
    const Access& a = accesses[all[i].access];
    std::string element = a.tensor;
    for (const std::int64_t e : all[i].element) element += "," + std::to_string(e);
    if (a.is_write) {
      last[element] = i + 1;
    } else {
      flow[{i + 1, ""}] = last[element];
    }
  }
  for (const auto& [element, write] : last) {
    const std::string tensor = element.substr(0, element.find(','));
    if (program.find(tensor) != nullptr && program.find(tensor)->role != Role::tmp) flow[{0, element}] = write;
  }
  return flow;
}

// Does every read see the same write in the new order, and does every result come from the same one?
template <class NewKey>
bool same_flow(const Program& program, const std::vector<Access>& accesses, NewKey&& new_key) {
  const std::vector<Instance> all = enumerate(accesses);
  std::vector<Key> before;
  std::vector<Key> after;
  for (const Instance& x : all) {
    before.push_back(order_key(program, accesses[x.access], x));
    after.push_back(new_key(accesses[x.access], before.back()));
  }
  return flow_of(program, accesses, all, before) == flow_of(program, accesses, all, after);
}

}  // namespace cairn::brute
