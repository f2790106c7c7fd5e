// C text of vector types and of helper functions over lanes.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "lower/emitter.h"

namespace cairn {

namespace {
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    out.push_back(text.substr(at, space - at));
    at = space + 1;
  }
  return out;
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Rotation of the lanes by half, written out.
std::string lane_list(int lanes, int shift) {
  std::string out;
  for (int i = 0; i < lanes; ++i) out += fmt::format("{}{}", i > 0 ? ", " : "", (i + shift) % lanes);
  return out;
}

// Body of a helper over V = vector, M = mask, S = scalar suffix of builtins ("f" or ""), N = lanes.
std::string lane_function(const std::string& name, const std::string& suffix, int lanes) {
  const std::string one = "static inline V cairn_" + name + "_V(V x) ";
  const std::string two = "static inline V cairn_" + name + "_V(V a, V b) ";
  const bool integer = suffix == "l";
  const std::string each = "{ for (int i = 0; i < N; ++i) x[i] = ";
  if (name == "select") return "static inline V cairn_select_V(M m, V a, V b) { return (V)((m & (M)a) | (~m & (M)b)); }\n";
  if (name == "max" || name == "min") {
    const std::string order = name == "max" ? "a > b" : "a < b";
    return two + "{ return cairn_select_V(" + (integer ? order : "(" + order + ") | (a != a)") + ", a, b); }\n";
  }
  if (name == "sum" || name == "prod" || name == "top" || name == "bottom") {
    std::string out = "static inline T cairn_" + name + "_V(V x) {\n";
    for (int half = lanes / 2; half > 0; half /= 2) {
      const std::string other = fmt::format("__builtin_shuffle(x, (M){{{}}})", lane_list(lanes, half));
      out += name == "sum" ? "  x = x + " + other + ";\n" : name == "prod" ? "  x = x * " + other + ";\n"
             : "  x = cairn_" + std::string(name == "top" ? "max" : "min") + "_V(x, " + other + ");\n";
    }
    return out + "  return x[0];\n}\n";
  }
  if (name == "fabs") return one + "{ return (V)((M)x & " + (suffix == "f" ? "0x7fffffff" : "0x7fffffffffffffffL") + "); }\n";
  if (name == "sq") return one + "{ return x * x; }\n";
  if (name == "rsqrt") return one + each + "1 / __builtin_sqrtS(x[i]); return x; }\n";
  if (name == "sign") return one + "{ return __builtin_convertvector((x < 0) - (x > 0), V); }\n";
  if (name == "sqrt" || name == "floor" || name == "ceil" || name == "rint") {
    return one + each + "__builtin_" + name + "S(x[i]); return x; }\n";
  }
  if (name == "**") {
    return "static inline V cairn_pow_V(V a, V b) { for (int i = 0; i < N; ++i) a[i] = cairn_powS(a[i], b[i]); return a; }\n";
  }
  return one + each + "cairn_" + name + "S(x[i]); return x; }\n";
}

// Order in which helpers may use each other.
int rank_of(const std::string& name) { return name == "select" ? 0 : name == "max" || name == "min" ? 1 : 2; }
}  // namespace

std::string c_vector_types(const std::set<std::string>& vector_types) {
  std::string out = vector_types.empty() ? "" : "#pragma GCC diagnostic ignored \"-Wpsabi\"\n";
  for (const std::string& row : vector_types) {
    const auto w = words(row);  // name, C type, lanes, bytes of an element
    const int bytes = std::stoi(w[2]) * std::stoi(w[3]);
    out += fmt::format("typedef {0} {1} __attribute__((vector_size({2})));\n"
                       "typedef {0} {1}_u __attribute__((vector_size({2}), aligned({3}), may_alias));\n",
                       w[1], w[0], bytes, w[3]);
  }
  return out;
}

std::string c_vector_helpers(const std::set<std::string>& helpers) {
  std::string out;
  for (int rank = 0; rank < 3; ++rank) {
    for (const std::string& helper : helpers) {
      const auto w = words(helper);
      if (rank == 0 && w[0] == "iota") {
        out += fmt::format("#define cairn_iota_v{0}{1} ((v{0}{1}){{{2}}})\n", w[1], w[2], lane_list(std::stoi(w[1]), 0));
      }
      if (rank == 0 && w[0] == "bf16_store_v") {
        out += replace_all(R"(static inline vNus cairn_bf16_store_vN(vNf x) {
  const vNui u = (vNui)x, nan = (vNui)(x != x);
  return __builtin_convertvector((nan & (u >> 16 | 0x40)) | (~nan & (u + 0x7fff + (u >> 16 & 1)) >> 16), vNus);
}
)", "N", w[1]);
      }
      if (rank == 0 && w[0] == "tf32_store_v") {
        out += replace_all(R"(static inline vNf cairn_tf32_store_vN(vNf x) {
  const vNui u = (vNui)x, nan = (vNui)(x != x);
  return (vNf)((nan & u) | (~nan & (u + 0xfff + (u >> 13 & 1)) & 0xffffe000u));
}
)", "N", w[1]);
      }
      if (w[0] != "lanes" || rank_of(w[1]) != rank) continue;
      const std::string& suffix = w[3];
      std::string text = lane_function(w[1], suffix, std::stoi(w[2]));
      // One capital letter each; none occurs in the templates otherwise.
      std::string filled;
      for (std::size_t i = 0; i < text.size(); ++i) {
        switch (text[i]) {
          case 'V': filled += "v" + w[2] + suffix; break;
          case 'M': filled += "v" + w[2] + (suffix == "f" ? "i" : "l"); break;
          case 'T': filled += suffix == "f" ? "float" : suffix == "d" ? "double" : "int64_t"; break;
          case 'S': filled += suffix == "f" ? "f" : ""; break;
          case 'N': filled += w[2]; break;
          default: filled += text[i];
        }
      }
      out += filled;
    }
  }
  return out;
}

}  // namespace cairn
