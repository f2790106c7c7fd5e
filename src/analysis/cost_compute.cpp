// Instruction counts: issue slots, loads, latency of accumulator chains, register pressure (cpu.md "Cost model").
#include <algorithm>
#include <cmath>

#include "analysis/affine.h"
#include "analysis/cost_internal.h"
#include "ir/self_update.h"
#include "ir/subscripts.h"
#include "ir/typing.h"

namespace cairn::cost {

namespace {

// Issue slots of one node in vector instructions, from the operation counts of mathlib's functions and the
// throughput of divisions on current x86 cores.
double slots_of(Op op) {
  switch (op) {
    case Op::div: case Op::sqrt: return 8;
    case Op::rsqrt: return 12;
    case Op::exp: return 16;
    case Op::log: case Op::tanh: return 24;
    case Op::erf: case Op::sin: case Op::cos: case Op::pow: return 36;
    case Op::floor_div: case Op::mod: return 20;
    case Op::max: case Op::min: return 3;  // NaN rule: compare and blend
    case Op::select: case Op::logical_and: case Op::logical_or: return 1;
    case Op::cast: return 2;
    case Op::int_literal: case Op::float_literal: case Op::loop_var: case Op::read: return 0;
    default: return 1;
  }
}

bool is_flop(Op op) {
  switch (op) {
    case Op::add: case Op::sub: case Op::mul: case Op::div: case Op::exp: case Op::log: case Op::sqrt: case Op::rsqrt:
    case Op::erf: case Op::tanh: case Op::sin: case Op::cos: case Op::pow: case Op::max: case Op::min: return true;
    default: return false;
  }
}

void count_node(const Program& program, const Expr& e, Arithmetic* total) {
  if (e.op == Op::read) return;  // subscripts are address arithmetic
  total->issue += slots_of(e.op);
  if (is_flop(e.op) && !is_integer_expr(program, e)) total->flops += 1;
  // a*b+c issues once
  if (e.op == Op::add || e.op == Op::sub) {
    if (e.args[0]->op == Op::mul || e.args[1]->op == Op::mul) total->issue -= 1;
  }
  for (const ExprPtr& arg : e.args) count_node(program, *arg, total);
}

struct Band {
  const Stmt* serial = nullptr;        // innermost loop that is neither U nor V
  std::vector<const Stmt*> unrolled;   // U (and M) loops inside it
  const Stmt* vector = nullptr;        // V loop inside it
  double outer_trips = 1;              // executions of the serial loop
};

Band find_band(const std::vector<const Stmt*>& enclosing) {
  Band band;
  std::size_t serial_at = enclosing.size();
  for (std::size_t i = enclosing.size(); i-- > 0;) {
    const Stmt& s = *enclosing[i];
    if (!s.is_loop()) continue;
    if (s.kind == LoopKind::V) {
      band.vector = &s;
    } else if ((s.kind == LoopKind::U && s.mark.type != LoopMark::Type::count) || s.kind == LoopKind::M) {
      band.unrolled.push_back(&s);
    } else {
      serial_at = i;
      band.serial = &s;
      break;
    }
  }
  for (std::size_t i = 0; i < serial_at && i < enclosing.size(); ++i) {
    if (enclosing[i]->is_loop()) band.outer_trips *= static_cast<double>(enclosing[i]->extent);
  }
  return band;
}

}  // namespace

Arithmetic count_arithmetic(const Program& program, const Expr& rhs, ComputeType) {
  Arithmetic total;
  count_node(program, rhs, &total);
  return total;
}

std::optional<std::int64_t> stride_of(const std::vector<ExprPtr>& subscripts, const Shape& shape,
                                      const std::string& var) {
  std::int64_t stride = 0, step = 1;
  if (subscripts.size() != shape.size()) return std::nullopt;
  for (std::size_t d = subscripts.size(); d-- > 0;) {
    if (uses_var(*subscripts[d], var)) {
      const auto form = linear_form(*subscripts[d]);
      if (!form) return std::nullopt;
      stride += form->coefficient(var) * step;
    }
    if (__builtin_mul_overflow(step, shape[d], &step)) return std::nullopt;
  }
  return stride;
}

EquationCost cost_of_equation(const Program& program, const Stmt& equation, const std::vector<const Stmt*>& enclosing,
                              const Target& target) {
  const Tensor* written = program.find(equation.tensor);
  const Dtype dtype = written ? written->dtype : Dtype::f32;
  const ComputeType type = compute_type(dtype);
  const double lane_bytes = type == ComputeType::f32 ? 4 : 8;
  const double lanes = std::max(1.0, target.vector_bytes.empty() ? 1.0 : target.vector_bytes.back() / lane_bytes);
  const Band band = find_band(enclosing);
  const double serial_trips = band.serial ? static_cast<double>(band.serial->extent) : 1;

  const Arithmetic arithmetic = count_arithmetic(program, *equation.rhs, type);
  const auto self = match_self_update(equation);
  const auto shape_of = [&](const std::string& name) -> Shape {
    const Tensor* t = program.find(name);
    return t && t->shape ? *t->shape : Shape{};
  };
  // Vectors a V loop becomes; scalar code: 1.
  const double vector_extent = band.vector ? static_cast<double>(band.vector->extent) : 1;
  const double vectors = band.vector ? std::ceil(vector_extent / lanes) : 1;
  const std::string step_var = band.vector ? band.vector->var : band.serial ? band.serial->var : std::string{};
  const auto depends_product = [&](const std::vector<ExprPtr>& subs) {
    double n = 1;
    for (const Stmt* u : band.unrolled) {
      if (subscripts_use(subs, u->var)) n *= static_cast<double>(u->extent);
    }
    return n;
  };
  const auto in_registers = [&](const Tensor* t, const std::vector<ExprPtr>& subs) {
    if (!t || t->scope != Scope::l) return false;
    for (const ExprPtr& s : subs) {
      bool only_constant = true;
      visit_expr(*s, [&](const Expr& e) {
        if (e.op == Op::loop_var) {
          const bool fixed = (band.vector && band.vector->var == e.name) ||
                             std::any_of(band.unrolled.begin(), band.unrolled.end(), [&](const Stmt* u) { return u->var == e.name; });
          only_constant &= fixed;
        }
        return only_constant;
      });
      if (!only_constant) return false;
    }
    return true;
  };

  double unroll = 1;
  for (const Stmt* u : band.unrolled) unroll *= static_cast<double>(u->extent);
  double loads = 0, strided = 0;
  bool unit_everywhere = true;
  const auto note_access = [&](const std::string& name, const std::vector<ExprPtr>& subs, bool store) {
    const Tensor* t = program.find(name);
    if (in_registers(t, subs)) return 0.0;
    const double copies = depends_product(subs);
    const bool moves = !step_var.empty() && subscripts_use(subs, step_var);
    const Shape shape = shape_of(name);
    const auto stride = moves && !shape.empty() ? stride_of(subs, shape, step_var) : std::optional<std::int64_t>(moves ? 1 : 0);
    const bool unit = stride && (*stride == 1 || *stride == 0);
    unit_everywhere &= unit && !(store && stride && *stride == 0);
    if (!band.vector) return copies;
    if (moves && !unit) {
      strided += copies * vector_extent;
      return copies * vector_extent;
    }
    return copies * (moves ? vectors : 1);
  };
  visit_expr(*equation.rhs, [&](const Expr& e) {
    if (e.op == Op::read) {
      const bool is_target = self && &e == self->self;
      if (!is_target) {
        const double n = note_access(e.name, e.args, false);
        const bool invariant = band.serial && !subscripts_use(e.args, band.serial->var);
        loads += invariant ? n / serial_trips : n;
      }
      return false;
    }
    return true;
  });
  const bool accumulates = self && band.serial && !subscripts_use(equation.subscripts, band.serial->var) &&
                           (!band.vector || subscripts_use(equation.subscripts, band.vector->var));
  const bool reduces_lanes = self && band.vector && !subscripts_use(equation.subscripts, band.vector->var);
  double stores = note_access(equation.tensor, equation.subscripts, true);
  if (self && !accumulates && !reduces_lanes && stores > 0) loads += stores;
  if (accumulates || reduces_lanes) stores /= serial_trips;

  double issue = arithmetic.issue * unroll * vectors;
  if (!band.vector) {
    // The host compiler vectorises simple unit-stride loops by itself, at about half the rate.
    const bool carried = self && (accumulates || !band.serial);
    if (unit_everywhere && !carried && band.serial && band.serial->extent >= 16) {
      const double factor = std::max(1.0, lanes * 0.4);
      issue /= factor;
      loads /= factor;
      stores /= factor;
    }
  }
  // Register pressure: accumulators and one operand row must fit.
  double spills = 0;
  if (self && band.vector && accumulates) {
    const double accumulators = depends_product(equation.subscripts) * vectors;
    const double needed = accumulators + vectors + 1;
    if (needed > target.vector_registers) spills = 2 * (needed - target.vector_registers);
  }
  EquationCost cost;
  const double ports = std::max(1, target.fma_ports);
  double cycles = std::max({issue / ports, (loads + spills) / 2, stores + spills / 2});
  const double chain = arithmetic.issue > 0 ? target.fma_latency : 1;
  if (accumulates && cycles < chain) {
    cycles = chain;
    cost.latency_bound = true;
  }
  if (reduces_lanes) cycles = std::max(cycles, chain * std::max(1.0, unroll) / std::max(1.0, vectors));
  cycles += strided * 0.5 + (band.serial ? 1.0 / (1 + unroll * vectors / 4) : 0);
  cost.cycles = cycles * serial_trips * band.outer_trips;
  cost.flops = arithmetic.flops * unroll * vector_extent * serial_trips * band.outer_trips;
  return cost;
}

}  // namespace cairn::cost
