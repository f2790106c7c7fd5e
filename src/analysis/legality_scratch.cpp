#include "analysis/legality_scratch.h"

#include <algorithm>

#include "analysis/dependence.h"
#include "analysis/footprint.h"

namespace cairn {

namespace {
bool starts_with(const StmtPath& path, const StmtPath& prefix, std::size_t length) {
  return path.size() >= length && std::equal(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(length), path.begin());
}

// Loops and tests among the first `length` statements of a path.
struct Shared {
  std::size_t loops = 0, tests = 0;
};
Shared shared_of(const Program& program, const StmtPath& path, std::size_t length) {
  Shared out;
  const Body* body = &program.body();
  for (std::size_t i = 0; i < length; ++i) {
    const Stmt& stmt = *(*body)[path[i]];
    out.loops += stmt.is_loop() ? 1 : 0;
    out.tests += stmt.is_test() ? 1 : 0;
    body = &stmt.body;
  }
  return out;
}

std::optional<Footprint> box_below(const Program& program, Access access, std::size_t outer_loops) {
  access.conditions.clear();
  std::vector<std::string> inner;
  for (std::size_t i = outer_loops; i < access.loops.size(); ++i) inner.push_back(access.loops[i]->var);
  return footprint_of(program, {&access}, inner);
}
}  // namespace

bool is_scratch(const Program& program, const std::string& tensor, const std::vector<StmtPath>& scopes) {
  return ScratchTensors(program, scopes).is_scratch(tensor);
}

bool ScratchTensors::is_scratch(const std::string& tensor) {
  const auto [it, added] = known_.try_emplace(tensor, false);
  if (added) it->second = decide(tensor);
  return it->second;
}

bool ScratchTensors::decide(const std::string& tensor) {
  const Tensor* t = program_.find(tensor);
  if (t == nullptr || t->role != Role::tmp) return false;
  if (!accesses_) accesses_ = collect_accesses(program_);
  for (const Access& read : *accesses_) {
    if (read.is_write || read.tensor != tensor) continue;
    const bool covered = std::any_of(accesses_->begin(), accesses_->end(), [&](const Access& write) {
      return write.is_write && write.tensor == tensor && covers(write, read);
    });
    if (!covered) return false;
  }
  return true;
}

bool ScratchTensors::covers(const Access& write, const Access& read) const {
  std::size_t common = 0;
  while (common < write.path.size() && common < read.path.size() && write.path[common] == read.path[common]) ++common;
  if (common == write.path.size() || common == read.path.size() || write.path[common] > read.path[common]) return false;
  // Inside a scope both must be; elsewhere their common body must not hold the scope.
  for (const StmtPath& scope : scopes_) {
    const bool inside = starts_with(read.path, scope, scope.size());
    if (inside ? common < scope.size() : starts_with(scope, read.path, std::min(common, scope.size()))) return false;
  }
  const Shared shared = shared_of(program_, read.path, common);
  if (write.conditions.size() != shared.tests) return false;   // a guard of its own: not every element
  const auto from = box_below(program_, write, shared.loops);
  const auto to = from && from->exact ? box_below(program_, read, shared.loops) : std::nullopt;
  if (!to || to->dims.size() != from->dims.size()) return false;
  for (std::size_t d = 0; d < to->dims.size(); ++d) {
    const ExprPtr gap = simplify_index(make_expr(Op::sub, {to->dims[d].origin, from->dims[d].origin}), {});
    if (gap->op != Op::int_literal || gap->int_value < 0) return false;
    if (gap->int_value + to->dims[d].extent > from->dims[d].extent) return false;
  }
  return true;
}

}  // namespace cairn
