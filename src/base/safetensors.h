// The safetensors format: 8-byte little-endian header length, JSON header, raw bytes.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace cairn {

// One tensor of a file: dtype as in the file ("F32", "BF16", "I64", "BOOL" ...), row-major bytes.
struct TensorData {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

// Reads a whole file; refuses bad headers, overlapping or out-of-range offsets, duplicate keys.
Result<std::map<std::string, TensorData>> read_safetensors(const std::string& path);
// Writes atomically, names sorted.
Result<void> write_safetensors(const std::string& path, const std::map<std::string, TensorData>& tensors);

}  // namespace cairn
