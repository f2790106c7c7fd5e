#include "cli/rows.h"

#include <array>
#include <cstdio>
#include <new>

#include <fmt/core.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "cli/load.h"

namespace cairn {

namespace {

constexpr std::pair<const char*, Dtype> kTorchNames[] = {
    {"float64", Dtype::f64}, {"double", Dtype::f64},  {"float32", Dtype::f32},    {"float", Dtype::f32},
    {"float16", Dtype::f16}, {"half", Dtype::f16},    {"bfloat16", Dtype::bf16},  {"float8_e4m3fn", Dtype::f8e4m3fn},
    {"float8_e4m3fnuz", Dtype::f8e4m3fnuz},           {"float8_e5m2", Dtype::f8e5m2},
    {"float8_e5m2fnuz", Dtype::f8e5m2fnuz},           {"int64", Dtype::i64},      {"int32", Dtype::i32},
    {"int16", Dtype::i16},   {"int8", Dtype::i8},     {"uint64", Dtype::u64},     {"uint32", Dtype::u32},
    {"uint16", Dtype::u16},  {"uint8", Dtype::u8},    {"complex64", Dtype::c64},  {"complex128", Dtype::c128}};

std::optional<Dtype> dtype_of(std::string_view name) {
  if (name.substr(0, 6) == "torch.") name.remove_prefix(6);
  for (const auto& [torch, dtype] : kTorchNames) {
    if (name == torch) return dtype;
  }
  return parse_dtype(name);
}

std::optional<Role> role_of(std::string_view name) {
  for (const Role role : {Role::in, Role::param, Role::constant, Role::io, Role::out, Role::tmp}) {
    if (role_name(role) == name) return role;
  }
  return std::nullopt;
}

// A capital and then small letters, as the parser reads names.
bool is_tensor_name(std::string_view name) {
  if (name.empty() || name[0] < 'A' || name[0] > 'Z') return false;
  for (const char c : name.substr(1)) {
    if (c < 'a' || c > 'z') return false;
  }
  return true;
}

RowVerdict answer_row(std::string_view line, const std::string& place,
                      const std::function<Result<RowVerdict>(const Json&, Json&)>& judge, Json& answer) {
  const auto row = parse_json(line, place);
  if (!row.ok() || !row->is_object()) {
    answer["reason"] = row.ok() ? place + ": the line is no JSON object" : place + ": " + row.error().message;
    return RowVerdict::unreadable;
  }
  if (row->contains("id")) answer["id"] = (*row)["id"];
  try {
    Result<RowVerdict> verdict = judge(*row, answer);
    if (verdict.ok()) return *verdict;
    answer["reason"] = render(verdict.error());
    return verdict.error().code == Code::parse ? RowVerdict::unreadable : RowVerdict::no;
  } catch (const InternalError& e) {
    answer["reason"] = std::string("bug: ") + e.what();
    return RowVerdict::bug;
  } catch (const std::bad_alloc&) {
    answer["reason"] = "out of memory";
    return RowVerdict::no;
  }
}

}  // namespace

Result<RowCounts> answer_rows(Session& session, const std::string& path,
                              const std::function<Result<RowVerdict>(const Json& row, Json& answer)>& judge) {
  CAIRN_TRY(const std::string text, read_input(path));
  RowCounts counts;
  std::size_t start = 0, number = 0;
  while (start < text.size()) {
    if (interrupted() != 0) {
      return Error{Code::interrupted, fmt::format("interrupted after {} rows", counts.rows), {}, {"the answers so far stand"}};
    }
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ++counts.rows;
    const std::string place = fmt::format("{}:{}", path, number);
    Json answer{{"id", fmt::format("line {}", number)}, {"ok", false}};
    const RowVerdict verdict = answer_row(line, place, judge, answer);
    answer["ok"] = verdict == RowVerdict::yes;
    counts.yes += verdict == RowVerdict::yes ? 1 : 0;
    counts.worst = std::max(counts.worst, verdict);
    session.print_line(dump_json(answer));
    if (std::fflush(stdout) != 0) return Error{Code::io, "standard output cannot be written (disk full or closed pipe)", {}, {}};
  }
  return counts;
}

Result<std::vector<Tensor>> read_known_tensors(const Json& known) {
  if (!known.is_array()) return Error{Code::parse, "'known' is no list, expected [{name, role, dtype, shape}]", {}, {}};
  std::vector<Tensor> tensors;
  for (const Json& row : known) {
    if (!row.is_object()) return Error{Code::parse, "an entry of 'known' is no object, expected {name, role, dtype, shape}", {}, {}};
    Tensor tensor;
    tensor.declared = true;
    CAIRN_TRY(tensor.name, get_string(row, "name"));
    if (!is_tensor_name(tensor.name)) {
      return Error{Code::parse, fmt::format("known tensor '{}', expected a capital and small letters", tensor.name), {}, {}};
    }
    CAIRN_TRY(const std::string role, get_string(row, "role"));
    CAIRN_TRY(const std::string dtype, get_string(row, "dtype"));
    const auto found_role = role_of(role);
    const auto found_dtype = dtype_of(dtype);
    if (!found_role) return Error{Code::parse, fmt::format("known {}: role '{}', expected in, param, const, io, out or tmp", tensor.name, role), {}, {}};
    if (!found_dtype) return Error{Code::parse, fmt::format("known {}: dtype '{}' is unknown", tensor.name, dtype), {}, {}};
    tensor.role = *found_role;
    tensor.dtype = *found_dtype;
    if (!row.contains("shape") || !row["shape"].is_array()) {
      return Error{Code::parse, fmt::format("known {}: no list 'shape'", tensor.name), {}, {}};
    }
    Shape shape;
    for (const Json& extent : row["shape"]) {
      if (!extent.is_number_integer() || extent.get<std::int64_t>() < 1) {
        return Error{Code::parse, fmt::format("known {}: extent {}, expected a positive integer", tensor.name, dump_json(extent)), {}, {}};
      }
      shape.push_back(extent.get<std::int64_t>());
    }
    tensor.shape = std::move(shape);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Reading parse_reading(const std::string& name) {
  return name == "steptp" ? Reading::steptp : name == "leir" ? Reading::leir : Reading::automatic;
}

}  // namespace cairn
