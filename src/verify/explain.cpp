#include "verify/explain.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/walk.h"
#include "verify/budget.h"

namespace cairn {

void Explainer::begin(const ValueMap& inputs, std::uint64_t max_instances) {
  inputs_ = &inputs;
  max_instances_ = max_instances;
  for (Side* side : {&before_, &after_}) {
    side->ran = false;
    side->values.reset();
  }
}

const std::vector<double>* Explainer::marks(Side* side, const std::string& output) {
  if (!side->tried) {
    side->tried = true;
    if (Result<MarkedProgram> marked = mark_program(*side->program)) side->marked = *std::move(marked);
    if (side->marked && side->boxes != nullptr) {
      side->wanted = *side->boxes;
      for (const auto& [name, mark] : side->marked->marks) {
        if (const auto box = side->boxes->find(name); box != side->boxes->end()) side->wanted[mark] = box->second;
      }
      Result<Slice> slice = backward_slice(side->marked->program, side->wanted);
      if (slice) side->slice = *std::move(slice);
      else side->marked.reset();
      side->sliced = true;
    }
  }
  if (!side->marked) return nullptr;
  if (!side->ran) {
    side->ran = true;
    InterpOptions options;
    options.max_instances = max_instances_;
    if (side->sliced) {
      options.slice = &side->slice;
      options.sampled = &side->wanted;
    }
    if (Result<ValueMap> values = interpret(side->marked->program, *inputs_, options)) side->values = *std::move(values);
  }
  const auto mark = side->marked->marks.find(output);
  if (!side->values || mark == side->marked->marks.end()) return nullptr;
  const auto value = side->values->find(mark->second);
  return value == side->values->end() ? nullptr : &value->second.floats;
}

void Explainer::explain(const std::string& output, std::vector<std::size_t>* failing, std::set<std::string>* conditions) {
  const std::vector<double>* after = marks(&after_, output);
  const std::vector<double>* before = marks(&before_, output);
  std::set<std::pair<const Side*, std::int64_t>> found;
  std::erase_if(*failing, [&](std::size_t i) {
    if (after != nullptr && i < after->size() && (*after)[i] > 0) return found.emplace(&after_, static_cast<std::int64_t>((*after)[i])), true;
    if (before != nullptr && i < before->size() && (*before)[i] > 0) return found.emplace(&before_, static_cast<std::int64_t>((*before)[i])), true;
    return false;
  });
  for (const auto& [side, id] : found) {
    const auto text = side->marked->conditions.find(id);
    if (text != side->marked->conditions.end()) conditions->insert(fmt::format("{} {}", side == &after_ ? "after" : "before", text->second));
  }
}

std::string changed_sum(const Program& before, const Program& after) {
  const std::vector<EquationRef> old = collect_equations(before.body());
  std::size_t k = 0;
  for (const EquationRef& ref : collect_equations(after.body())) {
    bool sums = false;
    visit_expr(*ref.equation->rhs, [&](const Expr& e) {
      sums |= e.op == Op::add || e.op == Op::sub;
      return e.op != Op::read;
    });
    const auto same = [&](const EquationRef& o) { return same_stmt(*o.equation, *ref.equation); };
    if (sums && std::none_of(old.begin(), old.end(), same)) return fmt::format("s{}", k);
    ++k;
  }
  return {};
}

bool keeps_precision(const Program& before, const Program& after) {
  const auto coarsest = [](const Program& program) {
    double u = 0;
    for (const Tensor& t : program.tensors()) {
      const bool written = t.role == Role::tmp || t.role == Role::out || t.role == Role::io;
      if (!written || !is_float(t.dtype)) continue;
      u = std::max(u, t.role == Role::tmp ? unit_roundoff(t.dtype) : unit_roundoff(compute_type(t.dtype) == ComputeType::f64 ? Dtype::f64 : Dtype::f32));
    }
    for (const EquationRef& ref : collect_equations(program.body())) {
      visit_expr(*ref.equation->rhs, [&u](const Expr& e) {
        if (e.op == Op::cast && is_float(e.dtype)) u = std::max(u, unit_roundoff(e.dtype));
        return true;
      });
    }
    return u;
  };
  return coarsest(after) <= coarsest(before);
}

bool same_float_types(const Program& before, const Program& after) {
  const auto types = [](const Program& program) {
    std::set<Dtype> found;
    for (const Tensor& t : program.tensors()) {
      const bool written = t.role == Role::tmp || t.role == Role::out || t.role == Role::io;
      if (written && is_float(t.dtype)) found.insert(t.dtype);
    }
    for (const EquationRef& ref : collect_equations(program.body())) {
      visit_expr(*ref.equation->rhs, [&found](const Expr& e) {
        if (e.op == Op::cast && is_float(e.dtype)) found.insert(e.dtype);
        return true;
      });
    }
    return found;
  };
  return types(before) == types(after);
}

}  // namespace cairn
