// JSONL files of programs: one answer a row, whatever the row holds.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "ir/text.h"

namespace cairn {

// How a row was answered; the values are the exit codes of cli.md.
enum class RowVerdict : int { yes = 0, no = 1, unreadable = 3, bug = 70 };

// Answers one row, from any thread.
using RowJudge = std::function<Result<RowVerdict>(const Json& row, Json& answer)>;

struct RowCounts {
  std::size_t rows = 0, yes = 0;
  RowVerdict worst = RowVerdict::yes;
};

// Told after each answer: rows answered, all rows, rows answered yes.
using RowCounter = std::function<void(std::size_t done, std::size_t all, std::size_t yes)>;

// Calls judge for each line of `path` (- for stdin) on `jobs` threads and prints one JSON line an answer, {id, ok,
// ...}, in the rows' order. judge fills the answer; an error that it returns, a line that is no JSON object and a
// failed check become `ok` false with a `reason`, and the next row follows. Every answer has the `fields`.
Result<RowCounts> answer_rows(Session& session, const std::string& path, unsigned jobs, const Json& fields,
                              const RowJudge& judge);
Result<RowCounts> answer_rows(Session& session, const std::string& path, unsigned jobs, const Json& fields,
                              const RowJudge& judge, const RowCounter& counter);

// The tensors {name, role, dtype, shape} that a row of a Step-TP corpus keeps beside its bare text; dtypes by
// LEIR's names or PyTorch's (float16, torch.float16).
Result<std::vector<Tensor>> read_known_tensors(const Json& known);

// "automatic", "leir" or "steptp".
Reading parse_reading(const std::string& name);

}  // namespace cairn
