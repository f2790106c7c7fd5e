// What a machine can do: data, printable, part of every cache key (cpu.md "Target").
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace cairn {

// A described machine. kind "cpu" now; a GPU target extends it by version.
struct Target {
  int version = 1;
  std::string name;                     // e.g. "cpu-avx512-2c"
  std::string kind = "cpu";
  int cores = 1;
  std::vector<int> vector_bytes = {16}; // widths that V may use, ascending (e.g. 16 32 64)
  int vector_registers = 16;
  int fma_ports = 2;                    // vector FMAs started a cycle
  int fma_latency = 4;                  // cycles
  double ghz = 2.0;
  std::int64_t line_bytes = 64;
  std::int64_t l1_bytes = 32 << 10;     // of one core
  std::int64_t l2_bytes = 1 << 20;      // of one core
  std::int64_t l3_bytes = 8 << 20;      // shared
  double memory_gbs = 10;               // measured copy bandwidth, all cores, 1e9 bytes/s
  double core_memory_gbs = 6;           // of one core
  double l2_gbs = 60, l1_gbs = 200;     // of one core
  double peak_gflops_f32 = 50;          // of one core, measured FMA rate
  double peak_gflops_f64 = 25;
  double parallel_overhead_us = 5;      // entering and leaving one parallel region
  std::int64_t max_threads_per_block = 1024, max_shared_bytes = 232448, max_grid_yz = 65535;
  bool measured = false;

  // Register tiles (rows x vectors) of a micro-kernel for an element size, best first.
  struct RegisterTile { int rows; int lanes; };
  std::vector<RegisterTile> register_tiles(int element_bytes) const;
};

// Measures this machine (about 2 s), or refuses with environment.
Result<Target> measure_cpu_target();
// The measured target of this machine, cached in the user's cache directory; measured on first use.
Result<Target> host_target();
// A fixed description for tests and golden files: 2 cores, AVX-512.
Target described_target();
std::string print_target(const Target& target);   // JSON text, stable key order
Result<Target> parse_target(const std::string& json);
Digest target_digest(const Target& target);

}  // namespace cairn
