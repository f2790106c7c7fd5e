// Compiled integer expressions: subscripts and conditions evaluated millions of times by the shadow execution.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/expr.h"

namespace cairn {

// An integer expression over loop slots: a linear form where it is one, else stack code.
class IndexCode {
 public:
  // slot_of: slot of a loop variable, or -1. nullopt if the expression is not a function of loop variables
  // alone in integer arithmetic (tensor reads, float literals, functions).
  static std::optional<IndexCode> compile(const Expr& expr, const std::function<int(const std::string&)>& slot_of);

  bool linear() const { return code_.empty(); }
  std::int64_t constant() const { return constant_; }
  const std::vector<std::pair<int, std::int64_t>>& terms() const { return terms_; }
  // Value at the loop values `env`; a division by zero sets *fault and gives 0. Wraps like i64.
  std::int64_t eval(const std::int64_t* env, bool* fault) const {
    if (!code_.empty()) return run(env, fault);
    std::int64_t v = constant_;
    for (const auto& [slot, coef] : terms_) v += coef * env[slot];
    return v;
  }
  // this + scale * other, if both are linear.
  void add_scaled(const IndexCode& other, std::int64_t scale);
  // Least and greatest value of a linear form over slots [0, extent), as __int128-safe bounds; nullopt on overflow.
  std::optional<std::pair<std::int64_t, std::int64_t>> range(const std::vector<std::int64_t>& extents) const;

 private:
  struct Ins {
    Op op;
    std::int64_t arg;
  };
  bool emit(const Expr& expr, const std::function<int(const std::string&)>& slot_of, int depth);
  std::int64_t run(const std::int64_t* env, bool* fault) const;
  std::int64_t constant_ = 0;
  std::vector<std::pair<int, std::int64_t>> terms_;
  std::vector<Ins> code_;
};

// Floor division and remainder (b != 0).
constexpr std::int64_t floor_div64(std::int64_t a, std::int64_t b) {
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
constexpr std::int64_t floor_mod64(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const std::int64_t r = a % b;
  return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}

}  // namespace cairn
