// Lowering to readable C for the host compiler (cpu.md "Lowering").
#pragma once
#include <string>
#include <vector>

#include "analysis/target.h"
#include "ir/program.h"

namespace cairn {

struct CLowerOptions {
  std::string entry = "cairn_kernel";
  bool checks = true;        // run-time checks the verifier asked for
  bool header_comment = true;
};
// One tensor argument, in declaration order of the program's non-temporaries.
struct CParam {
  std::string name;
  Role role = Role::in;
  Dtype dtype = Dtype::f32;
  Shape shape;
  std::int64_t bytes = 0;
};
// Generated code. Entry: `int NAME(void *const *tensors, void *workspace)`; tensors in `params` order, dense
// row-major, 64-byte aligned; workspace 64-byte aligned of workspace_bytes (temporaries). Returns 0, or
// 1 + the index of the run-time check that failed.
struct CSource {
  std::string code;
  std::string entry;
  std::vector<CParam> params;
  std::int64_t workspace_bytes = 0;
  std::vector<std::string> check_texts;  // what each run-time check says
  std::vector<std::string> notes;        // local arrays not in registers, checks, fallbacks
};
Result<CSource> lower_c(const Program& program, const Target& target, const CLowerOptions& options = {});
// A plain C header and a launcher source with one typed function over the caller's pointers, which allocates the workspace and
// copies when tensors overlap.
std::string c_header(const CSource& source, const std::string& function);
std::string c_launcher(const CSource& source, const std::string& function);
// Bytes an element takes in C (bool and 4-bit integers one byte).
std::int64_t c_bytes(Dtype dtype);
// Flags every build uses; `exact` turns contraction off.
std::vector<std::string> c_flags(const Target& target, bool exact);

}  // namespace cairn
