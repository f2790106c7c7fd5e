// Descriptions of machines as data: printing, parsing, digest, the fixed one for tests, register tiles.
#include "analysis/target.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/json.h"

namespace cairn {

std::vector<Target::RegisterTile> Target::register_tiles(int element_bytes) const {
  std::vector<RegisterTile> tiles;
  if (vector_bytes.empty() || element_bytes <= 0) return tiles;
  const int lanes = *std::max_element(vector_bytes.begin(), vector_bytes.end()) / element_bytes;
  if (lanes < 1) return tiles;
  struct Scored {
    RegisterTile tile;
    double loads;   // operand loads an accumulator update
  };
  std::vector<Scored> scored;
  for (int vectors = 1; vectors <= 4; ++vectors) {
    // Accumulators, one row's vectors and two broadcasts must fit the register file.
    const int rows = (vector_registers - vectors - 2) / vectors;
    for (const int r : {rows, rows / 2 * 2, rows / 4 * 4, 8, 6, 4}) {
      if (r < 1 || r > rows || r * vectors < fma_ports * fma_latency / 2) continue;
      const double loads = static_cast<double>(r + vectors) / (r * vectors);
      const bool known = std::any_of(scored.begin(), scored.end(), [&](const Scored& s) {
        return s.tile.rows == r && s.tile.lanes == vectors * lanes;
      });
      if (!known) scored.push_back({{r, vectors * lanes}, loads});
    }
  }
  std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.loads < b.loads; });
  // The shape that leaves registers for the operands of the next step comes first.
  const RegisterTile usual = vector_registers >= 32 ? RegisterTile{12, 2 * lanes} : RegisterTile{6, 2 * lanes};
  tiles.push_back(usual);
  for (const Scored& s : scored) {
    if (s.tile.rows != usual.rows || s.tile.lanes != usual.lanes) tiles.push_back(s.tile);
  }
  return tiles;
}

Target described_target() {
  Target t;
  t.name = "cpu-avx512-2c";
  t.cores = 2;
  t.vector_bytes = {16, 32, 64};
  t.vector_registers = 32;
  t.ghz = 2.6;
  t.l1_bytes = 48 << 10;
  t.l2_bytes = 2 << 20;
  t.l3_bytes = 32 << 20;
  t.memory_gbs = 20;
  t.core_memory_gbs = 12;
  t.l2_gbs = 80;
  t.l1_gbs = 300;
  t.peak_gflops_f32 = 160;
  t.peak_gflops_f64 = 80;
  return t;
}

namespace {
// The numbers of a target by name, in printing order.
template <class T, class F>
void each_field(T& t, F&& f) {
  f("version", t.version);
  f("cores", t.cores);
  f("vector_registers", t.vector_registers);
  f("fma_ports", t.fma_ports);
  f("fma_latency", t.fma_latency);
  f("ghz", t.ghz);
  f("line_bytes", t.line_bytes);
  f("l1_bytes", t.l1_bytes);
  f("l2_bytes", t.l2_bytes);
  f("l3_bytes", t.l3_bytes);
  f("memory_gbs", t.memory_gbs);
  f("core_memory_gbs", t.core_memory_gbs);
  f("l2_gbs", t.l2_gbs);
  f("l1_gbs", t.l1_gbs);
  f("peak_gflops_f32", t.peak_gflops_f32);
  f("peak_gflops_f64", t.peak_gflops_f64);
  f("parallel_overhead_us", t.parallel_overhead_us);
  f("max_threads_per_block", t.max_threads_per_block);
  f("max_shared_bytes", t.max_shared_bytes);
  f("max_grid_yz", t.max_grid_yz);
}
Error missing(const char* key) {
  return Error{Code::parse, fmt::format("target: {} is missing or not of the right type; measure again", key), {}, {}};
}
}  // namespace

std::string print_target(const Target& target) {
  Json json;
  json["name"] = target.name;
  json["kind"] = target.kind;
  json["measured"] = target.measured;
  json["vector_bytes"] = target.vector_bytes;
  each_field(target, [&json](const char* key, const auto& value) { json[key] = value; });
  return dump_json_pretty(json);
}

Result<Target> parse_target(const std::string& text) {
  CAIRN_TRY(const Json json, parse_json(text, "target"));
  Target t;
  CAIRN_TRY(t.name, get_string(json, "name"));
  CAIRN_TRY(t.kind, get_string(json, "kind"));
  CAIRN_TRY(t.measured, get_bool(json, "measured"));
  const auto widths = json.find("vector_bytes");
  if (widths == json.end() || !widths->is_array() || widths->empty()) return missing("vector_bytes");
  t.vector_bytes.clear();
  for (const Json& w : *widths) {
    if (!w.is_number_integer()) return missing("vector_bytes");
    const int bytes = w.get<int>();
    if (bytes < 4 || bytes > 256 || (bytes & (bytes - 1)) != 0) return missing("vector_bytes");
    t.vector_bytes.push_back(bytes);
  }
  const char* bad = nullptr;
  each_field(t, [&json, &bad](const char* key, auto& value) {
    const auto it = json.find(key);
    using T = std::remove_reference_t<decltype(value)>;
    const bool good = it != json.end() && (std::is_integral_v<T> ? it->is_number_integer() : it->is_number());
    if (good) {
      value = it->template get<T>();
    } else if (bad == nullptr) {
      bad = key;
    }
  });
  if (bad != nullptr) return missing(bad);
  if (t.cores < 1 || t.cores > 4096 || t.line_bytes < 1) return missing("cores");
  return t;
}

Digest target_digest(const Target& target) { return digest_bytes(print_target(target)); }

}  // namespace cairn
