// Refusing is data: Result<T> carries a value or an Error; bugs throw InternalError (check.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cairn {

// The closed set of error codes; exit_code() maps each to one exit code of the command line.
enum class Code : std::uint8_t {
  usage,        // the command's words are off
  illegal,      // a strategy or a promise is refused by analysis
  no_site,      // an action names a place that the program does not have
  parse,        // text that is not LEIR, JSON, ...
  verify,       // parsed, but a verifier rule refuses it
  compile,      // the host compiler refused generated code
  run,          // generated code crashed or broke a gate
  mismatch,     // results differ by more than the budget
  timeout,      // a limit in time ran out
  io,           // files, disk
  environment,  // a tool, package or device is missing
  remote,       // an endpoint failed
  interrupted,  // Ctrl-C or SIGTERM
};

// A place in a text: 1-based line and column; line 0 means "no place known".
struct Location {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string line_text;  // the source line, for the caret; may be empty
};

// A refusal: what was found and expected, where, and what to do next (notes).
struct Error {
  Code code = Code::usage;
  std::string message;
  Location where;
  std::vector<std::string> notes;
};

// Name of a code as printed in JSON and messages, e.g. "no_site".
const char* code_name(Code code);
// The process exit code of cli.md for an error that reaches main.
int exit_code(Code code);
// `file:line:col: error: message`, the line and a caret, then the notes; no trailing newline.
std::string render(const Error& error);

// A value or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}        // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}    // NOLINT(google-explicit-constructor)
  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  Error& error() { return *error_; }
  const Error& error() const { return *error_; }

 private:
  std::optional<T> value_;
  std::optional<Error> error_;
};

// Success without a value.
struct Unit {};
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Unit) {}                                      // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}    // NOLINT(google-explicit-constructor)
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  Error& error() { return *error_; }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

#define CAIRN_CONCAT_(a, b) a##b
#define CAIRN_CONCAT(a, b) CAIRN_CONCAT_(a, b)
#define CAIRN_TRY_(tmp, lhs, ...)            \
  auto tmp = (__VA_ARGS__);                  \
  if (!tmp.ok()) return std::move(tmp.error()); \
  lhs = *std::move(tmp)
// CAIRN_TRY(auto x, f()): x gets the value, or the enclosing function returns the error.
#define CAIRN_TRY(lhs, ...) CAIRN_TRY_(CAIRN_CONCAT(cairn_try_, __LINE__), lhs, __VA_ARGS__)
// CAIRN_CHECKED(f()): for Result<void>.
#define CAIRN_CHECKED(...)                                                            \
  do {                                                                                \
    auto cairn_checked_ = (__VA_ARGS__);                                              \
    if (!cairn_checked_.ok()) return std::move(cairn_checked_.error());               \
  } while (false)

}  // namespace cairn
