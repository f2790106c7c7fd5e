#include "lower/run_c.h"

#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include <fmt/core.h>

#include "base/check.h"
#include "base/file.h"
#include "base/process.h"
#include "base/rng.h"

namespace cairn::test {

namespace {
struct Format {
  int bits, min_exponent;  // of the mantissa; least normal
};
Format format_of(Dtype d) {
  switch (d) {
    case Dtype::f16: return {10, -14};
    case Dtype::bf16: return {7, -126};
    case Dtype::f8e4m3fn: return {3, -6};
    case Dtype::f8e4m3fnuz: return {3, -7};
    case Dtype::f8e5m2: return {2, -14};
    default: return {2, -15};
  }
}
bool is_fnuz(Dtype d) { return d == Dtype::f8e4m3fnuz || d == Dtype::f8e5m2fnuz; }

std::uint32_t encode_small(Dtype d, double x) {
  const Format f = format_of(d);
  const int width = static_cast<int>(dtype_bytes(d)) * 8;
  const std::uint32_t sign = std::signbit(x) ? 1u << (width - 1) : 0;
  const auto all_ones = ((1u << (width - 1)) - 1) >> f.bits << f.bits;
  if (std::isnan(x)) return is_fnuz(d) ? 128u : d == Dtype::f8e4m3fn ? 127u : all_ones | (1u << (f.bits - 1));
  if (std::isinf(x)) return sign | all_ones;
  if (x == 0) return is_fnuz(d) ? 0 : sign;
  const double size = std::fabs(x);
  const int exponent = std::max(std::ilogb(size), f.min_exponent);
  const auto mantissa = static_cast<std::uint32_t>(std::ldexp(size, f.bits - exponent));
  const bool normal = mantissa >> f.bits != 0;
  return sign | (normal ? (static_cast<std::uint32_t>(exponent - f.min_exponent) << f.bits) + mantissa : mantissa);
}

double decode_small(Dtype d, std::uint32_t code) {
  const Format f = format_of(d);
  const int width = static_cast<int>(dtype_bytes(d)) * 8;
  const bool negative = (code >> (width - 1)) != 0;
  const std::uint32_t rest = code & ((1u << (width - 1)) - 1);
  const std::uint32_t top = ((1u << (width - 1)) - 1) >> f.bits;
  if (is_fnuz(d) ? code == 128 : d == Dtype::f8e4m3fn ? rest == 127 : rest > top << f.bits) return std::nan("");
  double size = 0;
  if (!is_fnuz(d) && d != Dtype::f8e4m3fn && rest == top << f.bits) {
    size = HUGE_VAL;
  } else if (rest >> f.bits == 0) {
    size = std::ldexp(rest, f.min_exponent - f.bits);
  } else {
    const std::uint32_t mantissa = (rest & ((1u << f.bits) - 1)) | (1u << f.bits);
    size = std::ldexp(mantissa, static_cast<int>(rest >> f.bits) - 1 + f.min_exponent - f.bits);
  }
  return negative ? -size : size;
}

template <class T>
void put(std::string* out, T x) {
  out->append(reinterpret_cast<const char*>(&x), sizeof x);
}
template <class T>
T take(const std::string& bytes, std::size_t i) {
  T x;
  std::memcpy(&x, bytes.data() + i * sizeof x, sizeof x);
  return x;
}
}  // namespace

std::string encode_value(const Value& value) {
  std::string out;
  for (std::int64_t i = 0; i < value.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    switch (value.dtype) {
      case Dtype::f64: put(&out, value.floats[at]); continue;
      case Dtype::f32: case Dtype::tf32: put(&out, static_cast<float>(value.floats[at])); continue;
      default: break;
    }
    const auto bits = is_float(value.dtype) ? encode_small(value.dtype, value.floats[at])
                                            : static_cast<std::uint64_t>(value.ints[at]);
    for (std::int64_t b = 0; b < c_bytes(value.dtype); ++b) out += static_cast<char>(bits >> (8 * b) & 255);
  }
  return out;
}

Value decode_value(Dtype dtype, const Shape& shape, const std::string& bytes) {
  Value value = Value::zeros(dtype, shape);
  for (std::int64_t i = 0; i < value.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    switch (dtype) {
      case Dtype::f64: value.floats[at] = take<double>(bytes, at); continue;
      case Dtype::f32: case Dtype::tf32: value.floats[at] = static_cast<double>(take<float>(bytes, at)); continue;
      case Dtype::i64: case Dtype::u64: value.ints[at] = take<std::int64_t>(bytes, at); continue;
      case Dtype::i32: value.ints[at] = take<std::int32_t>(bytes, at); continue;
      case Dtype::u32: value.ints[at] = take<std::uint32_t>(bytes, at); continue;
      case Dtype::i16: value.ints[at] = take<std::int16_t>(bytes, at); continue;
      case Dtype::u16: value.ints[at] = take<std::uint16_t>(bytes, at); continue;
      case Dtype::i8: case Dtype::i4: value.ints[at] = take<std::int8_t>(bytes, at); continue;
      case Dtype::u8: case Dtype::u4: case Dtype::boolean: value.ints[at] = take<std::uint8_t>(bytes, at); continue;
      default: break;
    }
    value.floats[at] = decode_small(dtype, c_bytes(dtype) == 2 ? take<std::uint16_t>(bytes, at) : take<std::uint8_t>(bytes, at));
  }
  return value;
}

namespace {
// Kernels as few translation units: definitions that several of them bring along are kept once.
class Unit {
 public:
  void add(const std::string& code) {
    std::size_t at = 0;
    while (at < code.size()) {
      const std::size_t end = end_of_definition(code, at);
      const std::string chunk = code.substr(at, end - at);
      if (seen_.insert(chunk).second) text_ += chunk;
      at = end;
    }
  }
  const std::string& text() const { return text_; }

 private:
  // Lines up to one where all braces are closed and nothing is continued.
  static std::size_t end_of_definition(const std::string& code, std::size_t at) {
    int depth = 0;
    while (at < code.size()) {
      const std::size_t end = std::min(code.find('\n', at), code.size() - 1) + 1;
      for (std::size_t i = at; i < end; ++i) depth += code[i] == '{' ? 1 : code[i] == '}' ? -1 : 0;
      const bool continued = end >= 2 && code[end - 2] == '\\';
      at = end;
      if (depth == 0 && !continued) break;
    }
    return at;
  }
  std::set<std::string> seen_;
  std::string text_;
};
}  // namespace

Result<std::vector<Outcome>> run_cases(const std::vector<Case>& cases, const std::vector<std::string>& flags) {
  CAIRN_TRY(const ScratchDir scratch, ScratchDir::create("cairn-lower"));
  const std::string directory = scratch.path();
  std::string input, table, declarations;
  ProcessSpec compile;
  compile.argv = {"cc"};
  compile.argv.insert(compile.argv.end(), flags.begin(), flags.end());
  std::array<Unit, 2> units;
  for (const Case& c : cases) {
    const CSource& s = c.source;
    // The math library brings functions that other kernels define for themselves.
    units[s.code.find("CAIRN_MATH_F32") == std::string::npos ? 0 : 1].add(s.code);
    declarations += fmt::format("int {}(void *const *, void *);\n", s.entry);
    table += fmt::format("  {{{}, {}, {{", s.entry, s.workspace_bytes);
    for (const CParam& p : s.params) {
      table += fmt::format("{{{}, {}}}, ", p.bytes, p.role == Role::out || p.role == Role::io ? 1 : 0);
      if (p.role == Role::out) {
        input.append(static_cast<std::size_t>(p.bytes), '\x7f');
      } else {
        const auto it = c.inputs.find(p.name);
        CAIRN_CHECK(it != c.inputs.end());
        input += encode_value(it->second);
      }
    }
    table += fmt::format("}}, {}}},\n", s.params.size());
  }
  const std::string driver = R"(#include <stdio.h>
#include <stdlib.h>
#include <string.h>
)" + declarations + R"(
struct { int (*f)(void *const *, void *); long workspace; struct { long bytes; int out; } p[16]; int n; } table[] = {
)" + table + R"(};
static void *get(long bytes) { void *p; return posix_memalign(&p, 64, bytes) ? 0 : p; }
int main(int argc, char **argv) {
  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
  for (unsigned i = 0; i < sizeof table / sizeof *table; ++i) {
    void *t[16];
    for (int j = 0; j < table[i].n; ++j) {
      t[j] = get(table[i].p[j].bytes);
      if (fread(t[j], 1, table[i].p[j].bytes, in) != (size_t)table[i].p[j].bytes) return 3;
    }
    void *w = get(table[i].workspace + 1);
    memset(w, 0x7f, table[i].workspace);
    int status = table[i].f(t, w);
    fwrite(&status, 4, 1, out);
    for (int j = 0; j < table[i].n; ++j) {
      if (table[i].p[j].out) fwrite(t[j], 1, table[i].p[j].bytes, out);
      free(t[j]);
    }
    free(w);
  }
  return fclose(out) != 0;
}
)";
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::string file = fmt::format("{}/k{}.c", directory, i);
    CAIRN_CHECKED(write_file_atomic(file, units[i].text()));
    compile.argv.push_back(file);
  }
  CAIRN_CHECKED(write_file_atomic(directory + "/main.c", driver));
  CAIRN_CHECKED(write_file_atomic(directory + "/in", input));
  for (const char* more : {"/main.c", "-o", "/run", "-lm"}) compile.argv.push_back(more[0] == '/' ? directory + more : more);
  CAIRN_TRY(const ProcessResult built, run_process(compile));
  if (!built.succeeded()) return Error{Code::compile, built.err, {}, {}};
  ProcessSpec run;
  run.argv = {directory + "/run", directory + "/in", directory + "/out"};
  CAIRN_TRY(const ProcessResult ran, run_process(run));
  if (!ran.succeeded() || ran.err.find("runtime error") != std::string::npos) {
    return Error{Code::run, fmt::format("exit {} signal {}\n{}", ran.exit_status, ran.signal, ran.err), {}, {}};
  }
  CAIRN_TRY(const std::string output, read_file(directory + "/out"));
  std::vector<Outcome> outcomes;
  std::size_t at = 0;
  for (const Case& c : cases) {
    Outcome o;
    std::memcpy(&o.status, output.data() + at, 4);
    at += 4;
    for (const CParam& p : c.source.params) {
      if (p.role != Role::out && p.role != Role::io) continue;
      o.outputs[p.name] = decode_value(p.dtype, p.shape, output.substr(at, static_cast<std::size_t>(p.bytes)));
      at += static_cast<std::size_t>(p.bytes);
    }
    outcomes.push_back(std::move(o));
  }
  return outcomes;
}

ValueMap random_inputs(const Program& program, std::uint64_t seed) {
  ValueMap inputs;
  for (const Tensor& t : program.tensors()) {
    if (t.role == Role::out || t.role == Role::tmp) continue;
    Rng rng = Rng(seed).split(t.name);
    Value v = Value::zeros(t.dtype, *t.shape);
    for (double& x : v.floats) {
      const std::uint64_t special = seed % 3 == 2 ? rng.below(40) : 40;
      x = special == 0   ? std::nan("")
          : special == 1 ? -HUGE_VAL
          : special == 2 ? HUGE_VAL
                         : rng.uniform() * 4 - 2;
      x = round_to(t.dtype, x);
    }
    for (std::int64_t& x : v.ints) x = static_cast<std::int64_t>(rng.below(t.dtype == Dtype::boolean ? 2 : 4));
    inputs[t.name] = std::move(v);
  }
  return inputs;
}

}  // namespace cairn::test
