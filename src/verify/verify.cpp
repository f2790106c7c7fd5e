#include "verify/verify.h"

#include <fmt/core.h>

#include <algorithm>

#include "verify/rules/rules.h"

namespace cairn {

bool VerifyReport::ok() const { return first_refusal() == nullptr; }

const Finding* VerifyReport::first_refusal() const {
  for (const Finding& f : findings) {
    if (f.kind == Finding::Kind::refused) return &f;
  }
  return nullptr;
}

void refuse(VerifyReport& report, int rule, Error error) {
  error.code = Code::verify;
  report.findings.push_back({Finding::Kind::refused, rule, std::move(error)});
}

void refuse(VerifyFacts& facts, VerifyReport& report, int rule, SourcePos pos, std::string message, std::string note) {
  Error error = error_at(facts.program(), pos, Code::verify, std::move(message));
  if (!note.empty()) error.notes.push_back(std::move(note));
  refuse(report, rule, std::move(error));
}

const std::vector<Rule>& verifier_rules() {
  static const std::vector<Rule> rules{
      {1, "names", "every tensor is declared or written, every variable in an expression is bound by a loop around it, and no name is declared twice or "
                   "used in two ways", check_names, true},
      {2, "variables", "a loop variable is not reused along one path", check_variables, true},
      {3, "roles", "in, param and const tensors are never written", check_roles, false},
      {4, "arity", "every mention of a tensor has as many subscripts as the tensor has dimensions", check_arity, true},
      {5, "dtypes", "dtypes are supported, subscripts are integers, tests are conditions, and each right side can be computed in its target's type",
       check_dtypes, true},
      {6, "sizes", "loop and tensor extents are positive, and sizes in elements and bytes fit 63 bits", check_sizes, true},
      {7, "bounds", "every subscript stays inside its dimension under the conditions above it, and no subscript divides by zero; what depends on data "
                    "becomes a run-time check", check_bounds, false},
      {8, "outputs", "every element of every out tensor is written", check_outputs, false},
      {9, "reads", "no element is read before it is written", check_reads, false},
      {10, "starts", "which instances of a self-update start from the neutral element is provable", check_starts, false},
      {11, "scatter", "a subscript that depends on data stands on the left only in serial loops or in a self-update", check_scatter, true},
      {12, "parallel", "a P loop carries no dependence except reductions and scans", check_parallel, false},
      {13, "vector", "a V loop carries no dependence except reductions and scans", check_vector, false},
      {14, "lanes", "a V loop is innermost or holds only U loops, has a power-of-two extent of whole vectors, and an access of unit stride",
       check_lanes, false},
      {15, "axes", "B loops are named bx by bz tx ty tz wx gx, nest blocks outside threads, and no axis nests in itself", check_axes, true},
      {16, "threads", "a B loop carries no dependence except reductions and scans", check_threads, false},
      {17, "storage", "every read of an s or l element sees a write of the same kernel and block or thread", check_storage_rule, false},
      {18, "owners", "an l tensor is owned by the thread axes that subscript it; over the others it is scratch or replicated", check_owners, false},
      {19, "barriers", "no barrier stands under a test that varies between threads", check_barriers, false},
      {20, "matrix", "M loops stand innermost under a wx or gx, in shapes and dtypes of the matrix unit", check_matrix, false},
      {21, "pipeline", "a pipelined loop leads with a copy stage that writes s tensors from g, and has at least two stages", check_pipeline, false},
      {22, "kernels", "inside one kernel no dependence joins two blocks, except reductions into g tensors that the kernel does not read", check_kernels, false},
      {23, "resident", "a resident loop L^{n,g} stands around block axes and inside no other", check_resident, false},
      {24, "marks", "marks stand only where they mean something: U^{n,count}, L^{n,stages}, L^{n,g}, B^{n,a}", check_marks, false},
      {25, "limits", "threads, grid axes, shared bytes and vector widths stay within the target", check_limits, false},
  };
  return rules;
}

VerifyReport verify_program(const Program& program, const Target& target) {
  VerifyReport report;
  VerifyFacts facts(program, target);
  for (const Rule& rule : verifier_rules()) {
    const std::size_t before = report.findings.size();
    rule.check(facts, report);
    const bool refused = std::any_of(report.findings.begin() + static_cast<std::ptrdiff_t>(before), report.findings.end(),
                                     [](const Finding& f) { return f.kind == Finding::Kind::refused; });
    if (refused && rule.gate) break;
  }
  return report;
}

Result<void> check_program(const Program& program, const Target& target) {
  const VerifyReport report = verify_program(program, target);
  const Finding* f = report.first_refusal();
  if (f == nullptr) return {};
  Error error = f->error;
  for (const Rule& rule : verifier_rules()) {
    if (rule.number == f->rule) error.message = fmt::format("rule {} ({}): {}", rule.number, rule.name, error.message);
  }
  return error;
}

}  // namespace cairn
