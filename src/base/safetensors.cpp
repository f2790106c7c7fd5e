#include "base/safetensors.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/core.h>

#include "base/file.h"
#include "base/json.h"

namespace cairn {

namespace {
constexpr std::uint64_t kMaxHeader = 100u << 20;

// Bytes an element of a file's dtype takes; 0 if the name is unknown.
std::uint64_t element_bytes(const std::string& dtype) {
  static constexpr std::pair<const char*, std::uint64_t> kSizes[] = {
      {"F64", 8}, {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4}, {"U32", 4}, {"F16", 2}, {"BF16", 2},
      {"I16", 2}, {"U16", 2}, {"I8", 1}, {"U8", 1}, {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  for (const auto& [name, size] : kSizes) {
    if (dtype == name) return size;
  }
  return 0;
}

Error bad(const std::string& path, const std::string& message) {
  Error error{Code::parse, "not a safetensors file: " + message, {}, {}};
  error.where.file = path;
  return error;
}

// Bytes of a tensor, or nullopt on overflow or a negative extent.
std::optional<std::uint64_t> byte_count(const std::vector<std::int64_t>& shape, std::uint64_t size) {
  std::uint64_t total = size;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(total, static_cast<std::uint64_t>(extent), &total)) return std::nullopt;
  }
  return total;
}

struct Span {
  std::uint64_t begin = 0, end = 0;
  std::string name;
};

Result<Span> read_entry(const std::string& path, const std::string& name, const Json& entry, TensorData* tensor) {
  auto dtype = get_string(entry, "dtype");
  if (!dtype.ok()) return bad(path, fmt::format("tensor {}: {}", name, dtype.error().message));
  tensor->dtype = *dtype;
  const std::uint64_t size = element_bytes(*dtype);
  if (size == 0) return bad(path, fmt::format("tensor {} has the unknown dtype {}", name, *dtype));
  const auto shape = entry.find("shape");
  const auto offsets = entry.find("data_offsets");
  if (shape == entry.end() || !shape->is_array() || offsets == entry.end() || !offsets->is_array() ||
      offsets->size() != 2) {
    return bad(path, fmt::format("tensor {} needs \"shape\" and two \"data_offsets\"", name));
  }
  for (const auto& extent : *shape) {
    if (!extent.is_number_unsigned()) return bad(path, fmt::format("tensor {} has an extent that is no count", name));
    tensor->shape.push_back(extent.get<std::int64_t>());
  }
  if (!(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
    return bad(path, fmt::format("tensor {} has offsets that are no counts", name));
  }
  const Span span{(*offsets)[0].get<std::uint64_t>(), (*offsets)[1].get<std::uint64_t>(), name};
  const auto expected = byte_count(tensor->shape, size);
  if (!expected || span.end < span.begin || span.end - span.begin != *expected) {
    return bad(path, fmt::format("tensor {} spans bytes {} to {}, which its shape and dtype do not fill", name,
                                 span.begin, span.end));
  }
  return span;
}
}  // namespace

Result<std::map<std::string, TensorData>> read_safetensors(const std::string& path) {
  CAIRN_TRY(const std::string bytes, read_file(path));
  if (bytes.size() < 8) return bad(path, fmt::format("{} bytes, expected at least 8", bytes.size()));
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), 8);
  if (header_size > kMaxHeader || header_size > bytes.size() - 8) {
    return bad(path, fmt::format("header of {} bytes in a file of {}", header_size, bytes.size()));
  }
  const std::string_view text = std::string_view(bytes).substr(8, header_size);
  CAIRN_TRY(const Json checked, parse_json(text, path));
  // A second parse sees every key, which the parsed value no longer tells.
  std::set<std::string> seen;
  std::string repeated;
  [[maybe_unused]] const Json again = Json::parse(text, [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key && depth == 1 && !seen.insert(value.get<std::string>()).second) {
      repeated = value.get<std::string>();
    }
    return true;
  });
  if (!repeated.empty()) return bad(path, fmt::format("tensor {} occurs twice", repeated));
  if (!checked.is_object()) return bad(path, "the header is no object");
  const std::string_view data = std::string_view(bytes).substr(8 + header_size);
  std::map<std::string, TensorData> tensors;
  std::vector<Span> spans;
  for (const auto& [name, entry] : checked.items()) {
    if (name == "__metadata__") continue;
    TensorData tensor;
    CAIRN_TRY(Span span, read_entry(path, name, entry, &tensor));
    if (span.end > data.size()) {
      return bad(path, fmt::format("tensor {} ends at byte {} of {}", name, span.end, data.size()));
    }
    tensor.bytes = std::string(data.substr(span.begin, span.end - span.begin));
    spans.push_back(std::move(span));
    tensors.emplace(name, std::move(tensor));
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t end = 0;
  for (const Span& span : spans) {
    if (span.begin != end) {
      return bad(path, fmt::format("tensor {} starts at byte {}, expected {} ({})", span.name, span.begin, end,
                                   span.begin < end ? "overlap" : "hole"));
    }
    end = span.end;
  }
  if (end != data.size()) return bad(path, fmt::format("{} bytes after the last tensor", data.size() - end));
  return tensors;
}

Result<void> write_safetensors(const std::string& path, const std::map<std::string, TensorData>& tensors) {
  Json header = Json::object();
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto size = byte_count(tensor.shape, element_bytes(tensor.dtype));
    if (element_bytes(tensor.dtype) == 0 || !size || *size != tensor.bytes.size()) {
      return Error{Code::usage, fmt::format("tensor {} has {} bytes, which its shape and dtype {} do not fill", name,
                                            tensor.bytes.size(), tensor.dtype), {}, {}};
    }
    header[name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + *size}}};
    offset += *size;
  }
  std::string text = dump_json(header);
  text.append((8 - text.size() % 8) % 8, ' ');  // the format aligns the data
  const std::uint64_t header_size = text.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &header_size, 8);
  bytes += text;
  bytes.reserve(bytes.size() + offset);
  for (const auto& [name, tensor] : tensors) bytes += tensor.bytes;
  return write_file_atomic(path, bytes);
}

}  // namespace cairn
