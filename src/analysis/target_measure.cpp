// Measures this machine with a small C program built by the host compiler, and keeps the result.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/core.h>

#include "analysis/target.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace cairn {

namespace {
// Prints `name value` lines. Each rate is the best of several short runs: other work on the machine only
// slows a run down. Bandwidths count bytes read and written.
constexpr const char* kMeasure = R"C(
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __AVX512F__
#define BYTES 64
#define REGISTERS 32
#elif defined(__AVX2__)
#define BYTES 32
#define REGISTERS 16
#elif defined(__aarch64__)
#define BYTES 16
#define REGISTERS 32
#else
#define BYTES 16
#define REGISTERS 16
#endif
typedef float vf __attribute__((vector_size(BYTES)));
typedef double vd __attribute__((vector_size(BYTES)));
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static volatile double sink;
static volatile uint64_t seed = 88172645463325252ull;
// A chain of dependent one-cycle operations, two a step.
static double cycles(long n) {
  uint64_t x = seed;
  const double t = now();
  for (long i = 0; i < n; ++i) {
    x ^= x >> 7; x ^= x >> 9; x ^= x >> 11; x ^= x >> 5;
  }
  const double used = now() - t;
  sink = (double)x;
  return 8.0 * (double)n / used;
}
#define PEAK(name, type, scalar) \
  static double name(long n) { \
    type a[12]; \
    const scalar m = (scalar)(0.999 + 1e-9 * (double)(seed & 1)), c = (scalar)1e-3; \
    for (int i = 0; i < 12; ++i) a[i] = (type){} + (scalar)i; \
    const double t = now(); \
    for (long k = 0; k < n; ++k) { \
      a[0] = a[0] * m + c; a[1] = a[1] * m + c; a[2] = a[2] * m + c; a[3] = a[3] * m + c; \
      a[4] = a[4] * m + c; a[5] = a[5] * m + c; a[6] = a[6] * m + c; a[7] = a[7] * m + c; \
      a[8] = a[8] * m + c; a[9] = a[9] * m + c; a[10] = a[10] * m + c; a[11] = a[11] * m + c; \
    } \
    const double used = now() - t; \
    for (int i = 0; i < 12; ++i) sink = (double)a[i][0]; \
    return 24.0 * (double)(BYTES / sizeof(scalar)) * (double)n / used; \
  }
PEAK(peak32, vf, float)
PEAK(peak64, vd, double)
static double chain(long n) {
  vf a = {};
  const float m = 0.999f + 1e-9f * (float)(seed & 1);
  const double t = now();
  for (long k = 0; k < n; ++k) { a = a * m + 1e-3f; a = a * m + 1e-3f; a = a * m + 1e-3f; a = a * m + 1e-3f; }
  const double used = now() - t;
  sink = (double)a[0];
  return used / (4.0 * (double)n);
}
static double read_rate(const char *p, long bytes, long times) {
  vf s[8] = {};
  const double t = now();
  for (long r = 0; r < times; ++r) {
    for (long i = 0; i < bytes; i += 8 * BYTES) {
      for (int j = 0; j < 8; ++j) s[j] += *(const vf *)(p + i + j * BYTES);
    }
    __asm__ volatile("" ::: "memory");
  }
  const double used = now() - t;
  for (int j = 0; j < 8; ++j) sink = (double)s[j][0];
  return (double)bytes * (double)times / used;
}
#define BEST(out, tries, call) do { double best_ = 0; \
  for (int i_ = 0; i_ < tries; ++i_) { const double x_ = (call); if (x_ > best_) best_ = x_; } out = best_; } while (0)
int main(int argc, char **argv) {
  const long l1 = atol(argv[1]), l2 = atol(argv[2]), big = atol(argv[3]);
  const int cores = atoi(argv[4]);
  (void)argc;
  double x;
  printf("vector_bytes %d\nvector_registers %d\n", BYTES, REGISTERS);
  double hz;
  BEST(hz, 20, cycles(500000));
  printf("hz %g\n", hz);
  BEST(x, 20, peak32(400000));
  printf("peak32 %g\n", x);
  BEST(x, 20, peak64(400000));
  printf("peak64 %g\n", x);
  BEST(x, 20, 1.0 / chain(200000));
  printf("latency %g\n", hz / x);
  char *a = aligned_alloc(64, (size_t)big), *b = aligned_alloc(64, (size_t)big);
  if (a == 0 || b == 0) return 1;
  memset(a, 0, (size_t)big);
  memset(b, 0, (size_t)big);
  BEST(x, 20, read_rate(a, l1 / 2 / 4096 * 4096, 2000));
  printf("l1 %g\n", x);
  BEST(x, 20, read_rate(a, l2 / 2 / 4096 * 4096, 30));
  printf("l2 %g\n", x);
  double best = 0, best_all = 0, region = 1;
  for (int i = 0; i < 4; ++i) {
    double t = now();
    memcpy(b, a, (size_t)big);
    t = now() - t;
    if (2.0 * (double)big / t > best) best = 2.0 * (double)big / t;
    t = now();
    #pragma omp parallel for schedule(static) num_threads(cores)
    for (int c = 0; c < cores; ++c) {
      const size_t lo = (size_t)big / (size_t)cores * (size_t)c;
      memcpy(b + lo, a + lo, (size_t)big / (size_t)cores);
    }
    t = now() - t;
    if (2.0 * (double)big / t > best_all) best_all = 2.0 * (double)big / t;
  }
  for (int i = 0; i < 200; ++i) {
    const double t = now();
    #pragma omp parallel for schedule(static) num_threads(cores)
    for (int c = 0; c < cores; ++c) a[c * 64] = 1;
    const double used = now() - t;
    if (used < region) region = used;
  }
  printf("memory1 %g\nmemory %g\nregion %g\n", best, best_all > best ? best_all : best, region);
  return 0;
}
)C";

std::int64_t cache_bytes(int name, std::int64_t fallback) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : fallback;
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

double rounded(double x) { return std::round(x * 10) / 10; }

std::string cache_file(int cores) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::string base = cache != nullptr && cache[0] == '/' ? cache
                           : home != nullptr                   ? std::string(home) + "/.cache"
                                                               : std::string("/tmp");
  // One file a processor model, number of cores and version of what is measured.
  std::string model;
  if (const auto info = read_file("/proc/cpuinfo"); info.ok()) {
    const std::size_t at = info->find("model name");
    if (at != std::string::npos) model = info->substr(at, info->find('\n', at) - at);
    const std::size_t flags = info->find("flags");
    if (flags != std::string::npos) model += info->substr(flags, info->find('\n', flags) - flags);
  }
  const Digest key = digest_bytes(fmt::format("{}|{}|{}", model, cores, kMeasure));
  return fmt::format("{}/cairn/target-{}.json", base, key.hex().substr(0, 16));
}
}  // namespace

Result<Target> measure_cpu_target() {
  Target t;
  t.cores = usable_cores();
  t.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, t.l1_bytes);
  t.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, t.l2_bytes);
  t.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, std::max(t.l3_bytes, t.l2_bytes));
  t.line_bytes = cache_bytes(_SC_LEVEL1_DCACHE_LINESIZE, t.line_bytes);
  CAIRN_TRY(const ScratchDir scratch, ScratchDir::create("cairn-target"));
  const std::string source = scratch.path() + "/measure.c", binary = scratch.path() + "/measure";
  CAIRN_CHECKED(write_file_atomic(source, kMeasure));
  ProcessSpec compile;
  compile.argv = {"cc", "-O3", "-march=native", "-fopenmp", "-std=gnu11", "-ffp-contract=fast", source, "-o", binary};
  CAIRN_TRY(const ProcessResult built, run_process(compile));
  if (!built.succeeded()) {
    return Error{Code::environment, "the host C compiler cannot build the measuring program; install gcc", {}, {built.err}};
  }
  ProcessSpec run;
  run.argv = {binary, fmt::format("{}", t.l1_bytes), fmt::format("{}", t.l2_bytes), fmt::format("{}", 128 << 20),
              fmt::format("{}", t.cores)};
  CAIRN_TRY(const ProcessResult ran, run_process(run));
  if (!ran.succeeded()) {
    return Error{Code::environment, "the measuring program failed; is there 300 MB of free memory?", {}, {ran.err}};
  }
  std::map<std::string, double> got;
  for (const TextLine& line : split_lines(ran.out)) {
    const std::size_t space = line.text.find(' ');
    if (space == std::string_view::npos) continue;
    got[std::string(line.text.substr(0, space))] = std::strtod(std::string(line.text.substr(space)).c_str(), nullptr);
  }
  for (const char* name : {"vector_bytes", "vector_registers", "hz", "peak32", "peak64", "latency", "l1", "l2", "memory1", "memory", "region"}) {
    if (!(got[name] > 0)) return Error{Code::environment, fmt::format("the measuring program gave no {}", name), {}, {}};
  }
  t.vector_bytes.clear();
  for (int bytes = 16; bytes <= static_cast<int>(got["vector_bytes"]); bytes *= 2) t.vector_bytes.push_back(bytes);
  t.vector_registers = static_cast<int>(got["vector_registers"]);
  t.ghz = rounded(got["hz"] * 1e-9);
  t.peak_gflops_f32 = rounded(got["peak32"] * 1e-9);
  t.peak_gflops_f64 = rounded(got["peak64"] * 1e-9);
  t.fma_latency = std::clamp(static_cast<int>(std::lround(got["latency"])), 1, 16);
  const double a_port = 2.0 * got["vector_bytes"] / 4 * got["hz"];
  t.fma_ports = std::clamp(static_cast<int>(std::lround(got["peak32"] / a_port)), 1, 4);
  t.l1_gbs = rounded(got["l1"] * 1e-9);
  t.l2_gbs = rounded(got["l2"] * 1e-9);
  t.core_memory_gbs = rounded(got["memory1"] * 1e-9);
  t.memory_gbs = rounded(got["memory"] * 1e-9);
  // A region that other processes delay says nothing about this machine.
  t.parallel_overhead_us = std::clamp(rounded(got["region"] * 1e6), 0.5, 20.0);
  const int widest = t.vector_bytes.back();
  t.name = fmt::format("cpu-{}-{}c", widest == 64 ? "avx512" : widest == 32 ? "avx2" : "v128", t.cores);
  t.measured = true;
  return t;
}

Result<Target> host_target() {
  const std::string path = cache_file(usable_cores());
  if (const auto text = read_file(path); text.ok()) {
    if (auto target = parse_target(*text); target.ok() && target->measured) return target;
  }
  CAIRN_TRY(Target target, measure_cpu_target());
  // A cache that cannot be written costs a second measurement, no more.
  if (make_directories(dirname_of(path)).ok()) (void)write_file_atomic(path, print_target(target)).ok();
  return target;
}

}  // namespace cairn
