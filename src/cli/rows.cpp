#include "cli/rows.h"

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <new>
#include <optional>

#include <fmt/core.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "base/text.h"
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

std::vector<TextLine> split_rows(std::string_view text) {
  std::vector<TextLine> rows = split_lines(text);
  std::erase_if(rows, [](const TextLine& line) { return trim(line.text).empty(); });
  return rows;
}

// Answers that workers put in any order and one reader takes in the rows' order.
class Answers {
 public:
  explicit Answers(std::size_t rows) : rows_(rows) {}
  void put(std::size_t row, RowVerdict verdict, std::string line) {
    const std::lock_guard lock(mutex_);
    rows_[row] = {verdict, std::move(line)};
    ready_.notify_one();
  }
  std::pair<RowVerdict, std::string> take(std::size_t row) {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return rows_[row].has_value(); });
    return *std::move(rows_[row]);
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<std::optional<std::pair<RowVerdict, std::string>>> rows_;
};

RowVerdict answer_row(std::string_view line, const std::string& place,
                      const RowJudge& judge, Json& answer) {
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

Result<RowCounts> answer_rows(Session& session, const std::string& path, unsigned jobs, const Json& fields, const RowJudge& judge) {
  return answer_rows(session, path, jobs, fields, judge, nullptr);
}

Result<RowCounts> answer_rows(Session& session, const std::string& path, unsigned jobs, const Json& fields, const RowJudge& judge,
                              const RowCounter& counter) {
  CAIRN_TRY(const std::string text, read_input(path));
  const std::vector<TextLine> rows = split_rows(text);
  Answers answers(rows.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < rows.size(); i = next++) {
      Json answer{{"id", fmt::format("line {}", rows[i].number)}, {"ok", false}};
      answer.update(fields);
      if (interrupted() == 0) {
        const RowVerdict verdict = answer_row(rows[i].text, fmt::format("{}:{}", path, rows[i].number), judge, answer);
        answer["ok"] = verdict == RowVerdict::yes;
        answers.put(i, verdict, dump_json(answer));
      } else {
        answers.put(i, RowVerdict::no, "");
      }
    }
  };
  ThreadPool pool(std::max(1u, jobs));
  for (unsigned i = 0; i < pool.size(); ++i) pool.submit(work);
  RowCounts counts;
  bool printed = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [verdict, line] = answers.take(i);
    if (line.empty()) continue;
    ++counts.rows;
    counts.yes += verdict == RowVerdict::yes ? 1 : 0;
    counts.worst = std::max(counts.worst, verdict);
    if (counter) counter(counts.rows, rows.size(), counts.yes);
    session.print_line(line);
    printed = std::fflush(stdout) == 0;
    if (!printed) {
      next = rows.size();  // the workers end; what they still put nobody takes
      break;
    }
  }
  pool.wait();
  if (!printed) return Error{Code::io, "standard output cannot be written (disk full or closed pipe)", {}, {}};
  if (interrupted() != 0) {
    return Error{Code::interrupted, fmt::format("interrupted after {} of {} rows", counts.rows, rows.size()), {},
                 {"the answers printed so far stand"}};
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
