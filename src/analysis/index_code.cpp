#include "analysis/index_code.h"

#include <algorithm>

namespace cairn {

namespace {
constexpr int kMaxStack = 48;

std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrap_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t wrap_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

std::int64_t int_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t v = 1;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(exponent, 64); ++i) v = wrap_mul(v, base);
  return v;
}

// Linear form of an expression, or false.
bool linear_of(const Expr& e, const std::function<int(const std::string&)>& slot_of, std::int64_t scale,
               std::vector<std::pair<int, std::int64_t>>* terms, std::int64_t* constant) {
  switch (e.op) {
    case Op::int_literal: *constant = wrap_add(*constant, wrap_mul(scale, e.int_value)); return true;
    case Op::loop_var: {
      const int slot = slot_of(e.name);
      if (slot < 0) return false;
      for (auto& [s, c] : *terms) {
        if (s == slot) {
          c = wrap_add(c, scale);
          return true;
        }
      }
      terms->emplace_back(slot, scale);
      return true;
    }
    case Op::neg: return linear_of(*e.args[0], slot_of, wrap_sub(0, scale), terms, constant);
    case Op::add:
    case Op::sub:
      return linear_of(*e.args[0], slot_of, scale, terms, constant) &&
             linear_of(*e.args[1], slot_of, e.op == Op::add ? scale : wrap_sub(0, scale), terms, constant);
    case Op::mul:
      if (e.args[0]->op == Op::int_literal) {
        return linear_of(*e.args[1], slot_of, wrap_mul(scale, e.args[0]->int_value), terms, constant);
      }
      if (e.args[1]->op == Op::int_literal) {
        return linear_of(*e.args[0], slot_of, wrap_mul(scale, e.args[1]->int_value), terms, constant);
      }
      return false;
    default: return false;
  }
}
}  // namespace

std::optional<IndexCode> IndexCode::compile(const Expr& expr, const std::function<int(const std::string&)>& slot_of) {
  IndexCode code;
  if (linear_of(expr, slot_of, 1, &code.terms_, &code.constant_)) {
    std::erase_if(code.terms_, [](const auto& t) { return t.second == 0; });
    return code;
  }
  code.terms_.clear();
  code.constant_ = 0;
  if (!code.emit(expr, slot_of, 0)) return std::nullopt;
  return code;
}

void IndexCode::add_scaled(const IndexCode& other, std::int64_t scale) {
  constant_ = wrap_add(constant_, wrap_mul(other.constant_, scale));
  for (const auto& [slot, coef] : other.terms_) {
    const auto it = std::find_if(terms_.begin(), terms_.end(), [s = slot](const auto& t) { return t.first == s; });
    if (it != terms_.end()) {
      it->second = wrap_add(it->second, wrap_mul(coef, scale));
    } else {
      terms_.emplace_back(slot, wrap_mul(coef, scale));
    }
  }
}

std::optional<std::pair<std::int64_t, std::int64_t>> IndexCode::range(const std::vector<std::int64_t>& extents) const {
  std::int64_t lo = constant_;
  std::int64_t hi = constant_;
  for (const auto& [slot, coef] : terms_) {
    std::int64_t span = 0;
    if (__builtin_mul_overflow(coef, extents[static_cast<std::size_t>(slot)] - 1, &span)) return std::nullopt;
    if (__builtin_add_overflow(span < 0 ? lo : hi, span, span < 0 ? &lo : &hi)) return std::nullopt;
  }
  return std::make_pair(lo, hi);
}

bool IndexCode::emit(const Expr& e, const std::function<int(const std::string&)>& slot_of, int depth) {
  if (depth > kMaxStack - 4) return false;
  switch (e.op) {
    case Op::int_literal: code_.push_back({e.op, e.int_value}); return true;
    case Op::loop_var: {
      const int slot = slot_of(e.name);
      if (slot < 0) return false;
      code_.push_back({e.op, slot});
      return true;
    }
    case Op::neg: case Op::add: case Op::sub: case Op::mul: case Op::floor_div: case Op::mod: case Op::pow:
    case Op::lt: case Op::le: case Op::gt: case Op::ge: case Op::eq: case Op::ne: case Op::logical_and:
    case Op::logical_or: case Op::logical_not: case Op::select: case Op::abs: case Op::max: case Op::min:
    case Op::bit_xor: case Op::sign: {
      int k = 0;
      for (const ExprPtr& arg : e.args) {
        if (!emit(*arg, slot_of, depth + k++)) return false;
      }
      code_.push_back({e.op, 0});
      return true;
    }
    case Op::cast:
      if (e.dtype != Dtype::i64) return false;
      return emit(*e.args[0], slot_of, depth);
    default: return false;
  }
}

std::int64_t IndexCode::run(const std::int64_t* env, bool* fault) const {
  std::int64_t stack[kMaxStack];
  int n = 0;
  for (const Ins& ins : code_) {
    switch (ins.op) {
      case Op::int_literal: stack[n++] = ins.arg; continue;
      case Op::loop_var: stack[n++] = env[ins.arg]; continue;
      case Op::neg: stack[n - 1] = wrap_sub(0, stack[n - 1]); continue;
      case Op::logical_not: stack[n - 1] = stack[n - 1] == 0; continue;
      case Op::abs: stack[n - 1] = stack[n - 1] < 0 ? wrap_sub(0, stack[n - 1]) : stack[n - 1]; continue;
      case Op::sign: stack[n - 1] = (stack[n - 1] > 0) - (stack[n - 1] < 0); continue;
      case Op::select:
        n -= 2;
        stack[n - 1] = stack[n - 1] != 0 ? stack[n] : stack[n + 1];
        continue;
      default: break;
    }
    const std::int64_t b = stack[--n];
    std::int64_t& a = stack[n - 1];
    switch (ins.op) {
      case Op::add: a = wrap_add(a, b); break;
      case Op::sub: a = wrap_sub(a, b); break;
      case Op::mul: a = wrap_mul(a, b); break;
      case Op::floor_div:
      case Op::mod:
        if (b == 0) {
          *fault = true;
          a = 0;
        } else {
          a = ins.op == Op::mod ? floor_mod64(a, b) : floor_div64(a, b);
        }
        break;
      case Op::pow:
        if (b < 0) *fault = true;
        a = int_power(a, b);
        break;
      case Op::lt: a = a < b; break;
      case Op::le: a = a <= b; break;
      case Op::gt: a = a > b; break;
      case Op::ge: a = a >= b; break;
      case Op::eq: a = a == b; break;
      case Op::ne: a = a != b; break;
      case Op::logical_and: a = a != 0 && b != 0; break;
      case Op::logical_or: a = a != 0 || b != 0; break;
      case Op::max: a = std::max(a, b); break;
      case Op::min: a = std::min(a, b); break;
      case Op::bit_xor: a ^= b; break;
      default: *fault = true; break;
    }
  }
  return stack[0];
}

}  // namespace cairn
