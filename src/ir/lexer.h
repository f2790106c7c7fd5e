// Characters of LEIR text: a cursor over bytes that knows white space, comments, names and numbers.
// `%` is the modulo operator where an operator can stand (after an operand) and a comment everywhere else.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

inline bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Index of a tensor name of one or two letters in a table of kShortNames entries; kShortNames for any other.
inline constexpr std::size_t kShortNames = 26 * 27;
inline std::size_t short_name_index(std::string_view name) {
  if (name.empty() || name.size() > 2 || !is_upper(name[0]) || (name.size() == 2 && !is_lower(name[1]))) return kShortNames;
  const auto first = static_cast<std::size_t>(name[0] - 'A');
  return first * 27 + (name.size() == 2 ? static_cast<std::size_t>(name[1] - 'a') + 1 : 0);
}

// A scanned number: an integer by magnitude, or a double.
struct NumberToken {
  enum class Kind : std::uint8_t { integer, real, integer_too_large, real_out_of_range };
  Kind kind = Kind::integer;
  std::uint64_t magnitude = 0;
  double value = 0;
  std::string_view text;
};

// The cursor. peek() gives '\0' at the end; embedded NUL bytes are told apart by at_end().
class Cursor {
 public:
  explicit Cursor(std::string_view text) : begin_(text.data()), p_(begin_), end_(begin_ + text.size()) {}

  bool at_end() const { return p_ == end_; }
  char peek() const { return p_ == end_ ? '\0' : *p_; }
  char peek(std::size_t ahead) const {
    return static_cast<std::size_t>(end_ - p_) > ahead ? p_[ahead] : '\0';
  }
  std::uint32_t offset() const { return static_cast<std::uint32_t>(p_ - begin_); }
  void seek(std::uint32_t offset) { p_ = begin_ + offset; }
  void advance(std::size_t n = 1) { p_ += n; }

  // Skips white space only (where `%` would be modulo).
  void skip_space() {
    while (p_ != end_ && is_space(*p_)) ++p_;
  }
  // Skips white space and comments.
  void skip() {
    skip_space();
    while (p_ != end_ && *p_ == '%') {
      while (p_ != end_ && *p_ != '\n') ++p_;
      skip_space();
    }
  }
  // Consumes c if it is next.
  bool eat(char c) {
    if (p_ == end_ || *p_ != c) return false;
    ++p_;
    return true;
  }
  // [A-Z][a-z]*; the cursor must stand on a capital.
  std::string_view scan_name();
  // [a-z][a-z0-9]*, or if_then_else; the cursor must stand on a lower-case letter.
  std::string_view scan_word();
  // Digits, a fraction, an exponent; the cursor must stand on a digit, or on '.' before one.
  NumberToken scan_number();
  // The token at the cursor, quoted, for "found ..." messages.
  std::string describe() const;

 private:
  const char* begin_;
  const char* p_;
  const char* end_;
};

}  // namespace cairn
