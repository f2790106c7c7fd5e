#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <string>

#include "base/hash.h"
#include "ir/interp_code.h"
#include "ir/mathlib.h"
#include "ir/numbers.h"

namespace cairn::interp {

std::string element_text(const Buffer& b, std::int64_t offset) {
  std::string text;
  for (std::size_t d = b.shape.size(); d-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(1, b.shape[d]);
    text = fmt::format("{}{}{}", offset % extent, text.empty() ? "" : ",", text);
    offset /= extent;
  }
  return b.shape.empty() ? b.tensor->name : fmt::format("{}_{{{}}}", b.tensor->name, text);
}

namespace {
// A failed instruction, described outside the loop.
struct Failure {
  std::size_t at = 0;
  std::int64_t detail = 0;
};

template <class T>
T call(Op op, T x) {
  switch (op) {
    case Op::exp: return math_exp(x);
    case Op::log: return math_log(x);
    case Op::sqrt: return std::sqrt(x);
    case Op::rsqrt: return T(1) / std::sqrt(x);
    case Op::erf: return math_erf(x);
    case Op::tanh: return math_tanh(x);
    case Op::sin: return math_sin(x);
    case Op::cos: return math_cos(x);
    case Op::floor: return std::floor(x);
    case Op::ceil: return std::ceil(x);
    case Op::round: return std::nearbyint(x);
    case Op::sign: return sign_of(x);
    default: return x;
  }
}

class Machine {
 public:
  Machine(Bytecode& code, std::uint64_t seed, std::uint64_t cap) : code_(code), random_(mix64(seed)), cap_(cap) {
    offsets_.resize(code.accesses.size());
    for (const AccessCode& a : code.accesses) {
      Buffer& b = code.buffers[a.buffer];
      Pointers p;
      p.f32 = b.f32.data();
      p.f64 = b.f64.data();
      p.i64 = b.i64.data();
      p.written = b.written.data();
      p.neutral = a.neutral;
      pointers_.push_back(p);
    }
  }
  Result<RunStats> run();

 private:
  struct Pointers {
    float* f32 = nullptr;
    double* f64 = nullptr;
    std::int64_t* i64 = nullptr;
    std::uint8_t* written = nullptr;
    Reg neutral{};
  };
  bool go(Failure* failure);
  Error describe(const Failure& failure) const;
  void place_access(std::uint32_t access, const Reg* regs) {
    const AccessCode& a = code_.accesses[access];
    std::int64_t offset = a.base;
    for (const auto& [reg, coefficient] : a.terms) offset += coefficient * regs[reg].i64;
    offsets_[access] = offset;
  }
  bool is_wanted(const Filter& f, const Reg* regs) const {
    const std::int64_t at = f.computed ? regs[f.offset].i64 : offsets_[f.access];
    for (const Filter::Dim& d : f.dims) {
      if (!contains(d.set, at / d.stride % d.extent)) return false;
    }
    return true;
  }
  // Moves the loop to its first iteration from v on that can write something wanted.
  bool next_live(const LoopCode& l, std::int64_t v, Reg* regs) {
    const Pruner& pruner = code_.pruners[l.pruner - 1];
    for (; v < l.extent; ++v) {
      regs[l.var].i64 = v;
      for (const std::vector<Pruner::Dim>& dims : pruner.equations) {
        bool live = true;
        for (const Pruner::Dim& d : dims) {
          std::int64_t at = 0;
          for (const auto& [reg, coefficient] : d.terms) at += coefficient * regs[reg].i64;
          live = meets(d.set, d.lo + at, d.hi + at);
          if (!live) break;
        }
        if (live) return true;
      }
    }
    return false;
  }
  bool coin() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return (random_ >> 40) & 1;
  }
  // Where the error of a product or quotient itself underflows, its sign is unknown: a coin.
  double residual_of(double result, double error) {
    return result != 0 && std::fabs(result) < 0x1p-960 ? (coin() ? 1.0 : -1.0) : error;
  }
  // `rounded` is the nearest f64 to a value that lies `residual` away: one of its two neighbours, by a coin.
  double jitter(double rounded, double residual) {
    if (residual == 0 || !std::isfinite(rounded) || std::isnan(residual) || coin()) return rounded;
    return std::nextafter(rounded, residual > 0 ? HUGE_VAL : -HUGE_VAL);
  }

  Bytecode& code_;
  std::vector<std::int64_t> offsets_;
  std::vector<Pointers> pointers_;
  std::uint64_t random_;
  std::uint64_t cap_;
  std::uint64_t count_ = 0;
};

Result<RunStats> Machine::run() {
  Failure failure;
  if (!go(&failure)) return describe(failure);
  return RunStats{count_};
}

Error Machine::describe(const Failure& f) const {
  const Insn& in = code_.insns[f.at];
  const Expr* origin = code_.origins[f.at];
  const Program& program = *code_.program;
  const SourcePos pos = origin != nullptr ? origin->pos : kNoPos;
  switch (in.op) {
    case Bc::loop_begin: case Bc::loop_end:
      return error_at(program, code_.loops[in.a].stmt->pos, Code::timeout,
                      fmt::format("more than {} equations to execute", cap_));
    case Bc::offset_first: case Bc::offset_next: {
      const DimCheck& check = code_.checks[in.b];
      const AccessCode& access = code_.accesses[check.access];
      const Buffer& b = code_.buffers[access.buffer];
      return error_at(program, access.expr != nullptr || access.equation == nullptr ? pos : access.equation->pos, Code::run,
                      fmt::format("{} of {} is out of bounds: subscript {} is {}, the extent {}",
                                  access.expr != nullptr ? "a read" : "the write", b.tensor->name, check.dimension + 1,
                                  f.detail, check.extent));
    }
    case Bc::floor_div_i64: case Bc::mod_i64: return error_at(program, pos, Code::run, "integer division by zero");
    case Bc::pow_i64: return error_at(program, pos, Code::run, "negative power of an integer; convert the base, e.g. f32(..)");
    default: {
      const AccessCode& access = code_.accesses[in.a];
      Error e = error_at(program, pos, Code::run,
                         fmt::format("{} is read before any equation has written it",
                                     element_text(code_.buffers[access.buffer], f.detail)));
      e.notes.push_back("write a start first (a self-update whose guard never holds writes nothing)");
      return e;
    }
  }
}

#define CAIRN_FLOAT_PAIR(name, expression)                                                                 \
  case Bc::name##_f32: { using T = float; const T a = r[in.a].f32, b = r[in.b].f32; (void)b; r[in.dst].f32 = expression; break; } \
  case Bc::name##_f64: { using T = double; const T a = r[in.a].f64, b = r[in.b].f64; (void)b; r[in.dst].f64 = expression; break; }
#define CAIRN_FLOAT_TEST(name, expression)                                                                 \
  case Bc::name##_f32: { const float a = r[in.a].f32, b = r[in.b].f32; (void)b; r[in.dst].i64 = expression; break; } \
  case Bc::name##_f64: { const double a = r[in.a].f64, b = r[in.b].f64; (void)b; r[in.dst].i64 = expression; break; }
#define CAIRN_INT(name, expression)                                                                        \
  case Bc::name##_i64: { const std::int64_t a = r[in.a].i64, b = r[in.b].i64; (void)b; r[in.dst].i64 = expression; break; }
#define CAIRN_MEMORY(field)                                                                                \
  case Bc::load_##field: case Bc::load_at_##field: {                                                       \
    const std::int64_t at = in.op == Bc::load_##field ? offset[in.a] : r[in.b].i64;                        \
    if (!pointers[in.a].written[at]) return *failure = {pc, at}, false;                                    \
    r[in.dst].field = pointers[in.a].field[at];                                                            \
    break;                                                                                                 \
  }                                                                                                        \
  case Bc::self_##field: case Bc::self_at_##field: {                                                       \
    const std::int64_t at = in.op == Bc::self_##field ? offset[in.a] : r[in.b].i64;                        \
    r[in.dst].field = pointers[in.a].written[at] ? pointers[in.a].field[at] : pointers[in.a].neutral.field; \
    break;                                                                                                 \
  }                                                                                                        \
  case Bc::store_##field: case Bc::store_at_##field: {                                                     \
    const std::int64_t at = in.op == Bc::store_##field ? offset[in.a] : r[in.b].i64;                       \
    pointers[in.a].field[at] = r[in.dst].field;                                                            \
    pointers[in.a].written[at] = 1;                                                                        \
    break;                                                                                                 \
  }

bool Machine::go(Failure* failure) {
  Reg* const r = code_.registers.data();
  const Insn* const insns = code_.insns.data();
  std::int64_t* const offset = offsets_.data();
  const Pointers* const pointers = pointers_.data();
  for (std::size_t pc = 0;; ++pc) {
    const Insn& in = insns[pc];
    switch (in.op) {
      case Bc::halt: return true;
      case Bc::filter: if (!is_wanted(code_.filters[in.a], r)) pc = in.b - 1; break;
      case Bc::loop_begin: {
        const LoopCode& l = code_.loops[in.a];
        if (l.extent <= 0) {
          pc = in.b - 1;
          break;
        }
        r[l.var].i64 = 0;
        if (l.pruner != 0) {
          if (!next_live(l, 0, r)) {
            pc = in.b - 1;
            break;
          }
          if (++count_ > cap_) return *failure = {pc, 0}, false;
          for (const Step& s : l.accesses) place_access(s.access, r);
          break;
        }
        count_ += l.leaf ? static_cast<std::uint64_t>(l.extent) * static_cast<std::uint64_t>(l.equations) : 1;
        if (count_ > cap_) return *failure = {pc, 0}, false;
        for (const Step& s : l.accesses) place_access(s.access, r);
        break;
      }
      case Bc::loop_end: {
        const LoopCode& l = code_.loops[in.a];
        if (l.pruner != 0) {
          if (!next_live(l, r[l.var].i64 + 1, r)) break;
          if (++count_ > cap_) return *failure = {pc, 0}, false;
          for (const Step& s : l.accesses) place_access(s.access, r);
          pc = in.b - 1;
          break;
        }
        if (++r[l.var].i64 >= l.extent) break;
        for (const Step& s : l.accesses) offset[s.access] += s.step;
        if (!l.leaf && ++count_ > cap_) return *failure = {pc, 0}, false;
        pc = in.b - 1;
        break;
      }
      case Bc::place:
        for (const std::uint32_t access : code_.groups[in.a]) place_access(access, r);
        break;
      case Bc::jump: pc = in.b - 1; break;
      case Bc::jump_if: if (r[in.a].i64) pc = in.b - 1; break;
      case Bc::jump_if_not: if (!r[in.a].i64) pc = in.b - 1; break;
      CAIRN_MEMORY(f32)
      CAIRN_MEMORY(f64)
      CAIRN_MEMORY(i64)
      case Bc::offset_first: case Bc::offset_next: {
        const DimCheck& check = code_.checks[in.b];
        const std::int64_t s = r[in.a].i64;
        if (s < 0 || s >= check.extent) return *failure = {pc, s}, false;
        r[in.dst].i64 = (in.op == Bc::offset_first ? 0 : r[in.dst].i64) + s * check.stride;
        break;
      }
      case Bc::move: r[in.dst] = r[in.a]; break;
      CAIRN_FLOAT_PAIR(add, a + b)
      CAIRN_FLOAT_PAIR(sub, a - b)
      CAIRN_FLOAT_PAIR(mul, a * b)
      CAIRN_FLOAT_PAIR(div, a / b)
      CAIRN_FLOAT_PAIR(neg, -a)
      CAIRN_FLOAT_PAIR(abs, std::fabs(a))
      CAIRN_FLOAT_PAIR(max, max_nan<T>(a, b))
      CAIRN_FLOAT_PAIR(min, min_nan<T>(a, b))
      CAIRN_FLOAT_PAIR(floor_div, floor_div_float<T>(a, b))
      CAIRN_FLOAT_PAIR(mod, mod_float<T>(a, b))
      CAIRN_FLOAT_PAIR(pow, math_pow(a, b))
      case Bc::call_f32: r[in.dst].f32 = call(static_cast<Op>(in.b), r[in.a].f32); break;
      case Bc::call_f64: r[in.dst].f64 = call(static_cast<Op>(in.b), r[in.a].f64); break;
      CAIRN_FLOAT_TEST(lt, a < b)
      CAIRN_FLOAT_TEST(le, a <= b)
      CAIRN_FLOAT_TEST(eq, a == b)
      CAIRN_FLOAT_TEST(ne, a != b)
      CAIRN_FLOAT_TEST(isnan, a != a)
      CAIRN_INT(add, wrap_add(a, b))
      CAIRN_INT(sub, wrap_sub(a, b))
      CAIRN_INT(mul, wrap_mul(a, b))
      CAIRN_INT(neg, wrap_sub(0, a))
      CAIRN_INT(abs, a < 0 ? wrap_sub(0, a) : a)
      CAIRN_INT(sign, (a > 0) - (a < 0))
      CAIRN_INT(max, a > b ? a : b)
      CAIRN_INT(min, a < b ? a : b)
      CAIRN_INT(xor, a ^ b)
      CAIRN_INT(lt, a < b)
      CAIRN_INT(le, a <= b)
      CAIRN_INT(eq, a == b)
      CAIRN_INT(ne, a != b)
      CAIRN_INT(not, a == 0)
      case Bc::floor_div_i64:
        if (r[in.b].i64 == 0) return *failure = {pc, 0}, false;
        r[in.dst].i64 = floor_div_int(r[in.a].i64, r[in.b].i64);
        break;
      case Bc::mod_i64:
        if (r[in.b].i64 == 0) return *failure = {pc, 0}, false;
        r[in.dst].i64 = mod_int(r[in.a].i64, r[in.b].i64);
        break;
      case Bc::pow_i64:
        if (r[in.b].i64 < 0) return *failure = {pc, 0}, false;
        r[in.dst].i64 = pow_int(r[in.a].i64, r[in.b].i64);
        break;
      case Bc::i64_to_f32: r[in.dst].f32 = static_cast<float>(r[in.a].i64); break;
      case Bc::i64_to_f64: r[in.dst].f64 = static_cast<double>(r[in.a].i64); break;
      case Bc::f32_to_f64: r[in.dst].f64 = static_cast<double>(r[in.a].f32); break;
      case Bc::f64_to_f32: r[in.dst].f32 = static_cast<float>(r[in.a].f64); break;
      case Bc::f32_to_bool: r[in.dst].i64 = r[in.a].f32 != 0; break;
      case Bc::f64_to_bool: r[in.dst].i64 = r[in.a].f64 != 0; break;
      case Bc::round_f32:
        r[in.dst].f32 = static_cast<float>(round_to(static_cast<Dtype>(in.b), static_cast<double>(r[in.a].f32)));
        break;
      case Bc::round_f64: r[in.dst].f64 = round_to(static_cast<Dtype>(in.b), r[in.a].f64); break;
      case Bc::to_int_f32: r[in.dst].i64 = to_integer(static_cast<Dtype>(in.b), static_cast<double>(r[in.a].f32)); break;
      case Bc::to_int_f64: r[in.dst].i64 = to_integer(static_cast<Dtype>(in.b), r[in.a].f64); break;
      case Bc::wrap_i64: r[in.dst].i64 = wrap_integer(static_cast<Dtype>(in.b), r[in.a].i64); break;
      case Bc::random_round: r[in.dst].f64 = round_directed(static_cast<Dtype>(in.b), r[in.a].f64, coin()); break;
      case Bc::random_add: case Bc::random_sub: {  // two-sum (Knuth) gives the error of the addition
        const double a = r[in.a].f64, b = in.op == Bc::random_add ? r[in.b].f64 : -r[in.b].f64;
        const double s = a + b, bb = s - a;
        r[in.dst].f64 = jitter(s, (a - (s - bb)) + (b - bb));
        break;
      }
      case Bc::random_mul: {
        const double a = r[in.a].f64, b = r[in.b].f64, p = a * b;
        r[in.dst].f64 = jitter(p, residual_of(p, std::fma(a, b, -p)));
        break;
      }
      case Bc::random_div: {
        const double a = r[in.a].f64, b = r[in.b].f64, q = a / b, rest = std::fma(-q, b, a);
        r[in.dst].f64 = jitter(q, residual_of(q, b < 0 ? -rest : rest));
        break;
      }
      case Bc::random_nudge: {
        const double a = r[in.a].f64;
        r[in.dst].f64 = a == std::nearbyint(a) ? a : jitter(a, coin() ? 1.0 : -1.0);
        break;
      }
    }
  }
}
}  // namespace

Result<RunStats> run(Bytecode& code, std::uint64_t rounding_seed, std::uint64_t max_instances) {
  return Machine(code, rounding_seed, max_instances).run();
}

}  // namespace cairn::interp
