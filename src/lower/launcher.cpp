// A typed C function over the caller's own pointers, with its header.
#include <fmt/core.h>

#include "lower/c.h"
#include "lower/plan.h"

namespace cairn {

namespace {
bool is_written(Role role) { return role == Role::out || role == Role::io; }

// Types a caller can name without our helpers: f16, bf16 and 8-bit floats travel as their bits.
std::string public_type(Dtype dtype) {
  if (dtype == Dtype::f16) return "uint16_t";
  return c_type(dtype);
}

std::string signature(const CSource& source, const std::string& function) {
  std::string out = fmt::format("int {}(", function);
  for (std::size_t i = 0; i < source.params.size(); ++i) {
    const CParam& p = source.params[i];
    out += fmt::format("{}{}{} *{}", i > 0 ? ", " : "", is_written(p.role) ? "" : "const ", public_type(p.dtype), c_name(p.name));
  }
  if (source.params.empty()) out += "void";
  return out + ")";
}
}  // namespace

std::string c_header(const CSource& source, const std::string& function) {
  std::string guard = function + "_h";
  for (char& c : guard) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string out = fmt::format("#ifndef {0}\n#define {0}\n#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n", guard);
  for (const CParam& p : source.params) {
    std::string shape;
    for (const std::int64_t extent : p.shape) shape += fmt::format("[{}]", extent);
    out += fmt::format("// {} {}: {}{}, dense row-major\n", role_name(p.role), c_name(p.name), dtype_name(p.dtype), shape);
  }
  out += "// Returns 0; -1 if there is no memory; 1 + n if run-time check n fails.";
  for (std::size_t i = 0; i < source.check_texts.size(); ++i) {
    out += fmt::format("\n// check {}: {}", i, source.check_texts[i]);
  }
  out += fmt::format("\n{};\n#ifdef __cplusplus\n}}\n#endif\n#endif\n", signature(source, function));
  return out;
}

std::string c_launcher(const CSource& source, const std::string& function) {
  const std::size_t n = source.params.size();
  std::string out = "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\n";
  out += fmt::format("int {}(void *const *tensors, void *workspace);\n\n", source.entry);
  out += signature(source, function) + " {\n";
  if (n == 0) return out + fmt::format("  return {}(0, 0);\n}}\n", source.entry);
  std::string pointers, bytes, written;
  for (std::size_t i = 0; i < n; ++i) {
    const CParam& p = source.params[i];
    pointers += fmt::format("{}(void *){}", i > 0 ? ", " : "", c_name(p.name));
    bytes += fmt::format("{}{}", i > 0 ? ", " : "", p.bytes);
    written += fmt::format("{}{}", i > 0 ? ", " : "", is_written(p.role) ? 1 : 0);
  }
  out += fmt::format(R"(  enum {{ n = {0} }};
  void *const given[n] = {{{1}}};
  static const size_t bytes[n] = {{{2}}};
  static const char written[n] = {{{3}}};
  void *used[n];
  void *copies[n];
  // A copy stands in for a tensor that is not on a cache line or overlaps one that is written.
  int status = -1;
  size_t made = 0;
  void *workspace = aligned_alloc(64, {4});
  if (workspace == 0) return -1;
  for (size_t i = 0; i < n; ++i) copies[i] = 0;
  for (; made < n; ++made) {{
    const uintptr_t lo = (uintptr_t)given[made], hi = lo + bytes[made];
    int copy = (lo & 63) != 0;
    for (size_t j = 0; j < n; ++j) {{
      const uintptr_t other = (uintptr_t)given[j];
      if (j != made && (written[made] || written[j]) && lo < other + bytes[j] && other < hi) copy = 1;
    }}
    used[made] = given[made];
    if (!copy) continue;
    copies[made] = used[made] = aligned_alloc(64, (bytes[made] + 127) / 64 * 64);
    if (used[made] == 0) goto done;
    memcpy(used[made], given[made], bytes[made]);
  }}
  status = {5}(used, workspace);
  for (size_t i = 0; i < n; ++i) {{
    if (written[i] && used[i] != given[i]) memcpy(given[i], used[i], bytes[i]);
  }}
done:
  for (size_t i = 0; i < n; ++i) free(copies[i]);
  free(workspace);
  return status;
}}
)",
                     n, pointers, bytes, written, (source.workspace_bytes + 127) / 64 * 64, source.entry);
  return out;
}

}  // namespace cairn
