// Sliced runs: which equations, elements and iterations a slice wants.
#include <algorithm>

#include "base/check.h"
#include "ir/interp_compile.h"

namespace cairn::interp {

namespace {
// Block axes, and the outermost P: one iteration of these owns its s and l storage (leir.md "Storage").
bool owns_private_storage(const Stmt& loop, int parallel_above) {
  if (loop.kind == LoopKind::P) return parallel_above == 0;
  return loop.kind == LoopKind::B && (loop.var == "bx" || loop.var == "by" || loop.var == "bz");
}
bool is_full(const IndexSet& set, std::int64_t extent) {
  return set.size() == 1 && set[0].lo <= 0 && set[0].hi >= extent - 1;
}
}  // namespace

bool Compiler::wanted(const Body& statements) const {
  if (options_.slice == nullptr) return true;
  return std::any_of(statements.begin(), statements.end(), [this](const StmtPtr& s) {
    return s->is_equation() ? options_.slice->wanted.contains(s->tensor) : wanted(s->body);
  });
}

const Box* Compiler::restricted(const std::string& tensor) const {
  if (options_.slice == nullptr) return nullptr;
  const auto it = options_.slice->wanted.find(tensor);
  return it == options_.slice->wanted.end() ? nullptr : &it->second;
}

std::size_t Compiler::filter(const std::string& tensor) {
  const Box* box = restricted(tensor);
  if (box == nullptr) return 0;
  const Shape& shape = code_.buffers[buffer_of_.find(tensor)->second].shape;
  Filter f;
  f.access = target_.access;
  f.computed = target_.computed;
  f.offset = target_.offset;
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (!is_full((*box)[d], shape[d])) f.dims.push_back({stride, shape[d], (*box)[d]});
    stride *= shape[d];
  }
  if (f.dims.empty()) return 0;
  code_.filters.push_back(std::move(f));
  return emit(Bc::filter, 0, static_cast<std::uint32_t>(code_.filters.size() - 1), 0);
}

void Compiler::collect_prune(const Body& statements, std::vector<std::vector<Pruner::Dim>>* out, bool* bounded) {
  for (const StmtPtr& s : statements) {
    if (!wanted({s})) continue;
    if (s->is_loop()) {
      const bool fresh = ranges_.emplace(s->var, Interval{0, std::max<std::int64_t>(0, s->extent - 1)}).second;
      collect_prune(s->body, out, bounded);
      if (fresh) ranges_.erase(s->var);
      continue;
    }
    if (s->is_test()) {
      collect_prune(s->body, out, bounded);
      continue;
    }
    const Box* box = restricted(s->tensor);
    const auto buffer = buffer_of_.find(s->tensor);
    // What is private to an iteration is no reason to run it: nothing outside sees it.
    if (skip_private_ && buffer != buffer_of_.end() && code_.buffers[buffer->second].tensor->scope != Scope::g &&
        code_.buffers[buffer->second].tensor->role == Role::tmp) {
      continue;
    }
    if (box == nullptr || buffer == buffer_of_.end()) {
      *bounded = false;
      return;
    }
    const Shape& shape = code_.buffers[buffer->second].shape;
    std::vector<Pruner::Dim> dims;
    for (std::size_t d = 0; d < s->subscripts.size() && d < shape.size(); ++d) {
      if (is_full((*box)[d], shape[d])) continue;
      const LinearSubscript linear = linear_subscript(*s->subscripts[d]);
      Pruner::Dim dim;
      dim.lo = dim.hi = linear.constant;
      dim.set = (*box)[d];
      bool usable = linear.ok;
      for (const LinearSubscript::Term& t : linear.terms) {
        const auto var = t.atom->op == Op::loop_var ? var_of_.find(t.atom->name) : var_of_.end();
        if (var != var_of_.end()) {
          dim.terms.emplace_back(var->second, t.coefficient);
          continue;
        }
        const std::optional<Interval> range = interval_of(*t.atom, ranges_);
        std::int64_t a = 0, b = 0;
        usable = usable && range && !__builtin_mul_overflow(range->lo, t.coefficient, &a) &&
                 !__builtin_mul_overflow(range->hi, t.coefficient, &b) &&
                 !__builtin_add_overflow(dim.lo, std::min(a, b), &dim.lo) &&
                 !__builtin_add_overflow(dim.hi, std::max(a, b), &dim.hi);
      }
      if (usable) dims.push_back(std::move(dim));
    }
    if (dims.empty()) *bounded = false;
    out->push_back(std::move(dims));
  }
}

void Compiler::prune(const Stmt& loop, LoopCode* code) {
  if (options_.slice == nullptr) return;
  Pruner pruner;
  bool bounded = true;
  skip_private_ = owns_private_storage(loop, parallel_above_);
  collect_prune(loop.body, &pruner.equations, &bounded);
  bool decides = false;  // does this loop's variable matter
  for (const auto& dims : pruner.equations) {
    for (const Pruner::Dim& d : dims) {
      for (const auto& [reg, coefficient] : d.terms) decides |= reg == code->var && coefficient != 0;
    }
  }
  if (!bounded || !decides) return;
  code_.pruners.push_back(std::move(pruner));
  code->pruner = static_cast<std::uint32_t>(code_.pruners.size());
}

}  // namespace cairn::interp
