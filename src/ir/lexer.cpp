#include "ir/lexer.h"

#include <charconv>

#include <fmt/core.h>

namespace cairn {

std::string_view Cursor::scan_name() {
  const char* start = p_++;
  while (p_ != end_ && is_lower(*p_)) ++p_;
  return {start, static_cast<std::size_t>(p_ - start)};
}

std::string_view Cursor::scan_word() {
  constexpr std::string_view kSelect = "if_then_else";
  const char* start = p_;
  if (*p_ == 'i' && std::string_view(p_, static_cast<std::size_t>(end_ - p_)).substr(0, kSelect.size()) == kSelect) {
    p_ += kSelect.size();
    return kSelect;
  }
  while (p_ != end_ && (is_lower(*p_) || is_digit(*p_))) ++p_;
  return {start, static_cast<std::size_t>(p_ - start)};
}

NumberToken Cursor::scan_number() {
  NumberToken token;
  const char* start = p_;
  bool overflow = false;
  while (p_ != end_ && is_digit(*p_)) {
    const auto digit = static_cast<std::uint64_t>(*p_ - '0');
    overflow |= __builtin_mul_overflow(token.magnitude, 10u, &token.magnitude);
    overflow |= __builtin_add_overflow(token.magnitude, digit, &token.magnitude);
    ++p_;
  }
  bool real = false;
  if (p_ != end_ && *p_ == '.') {
    real = true;
    ++p_;
    while (p_ != end_ && is_digit(*p_)) ++p_;
  }
  if (const char e = peek(); e == 'e' || e == 'E') {
    const bool sign = peek(1) == '+' || peek(1) == '-';
    if (is_digit(peek(sign ? 2 : 1))) {
      real = true;
      p_ += sign ? 2 : 1;
      while (p_ != end_ && is_digit(*p_)) ++p_;
    }
  }
  token.text = {start, static_cast<std::size_t>(p_ - start)};
  if (real) {
    const auto [rest, error] = std::from_chars(start, p_, token.value);
    const bool fine = error == std::errc() && rest == p_;
    token.kind = fine ? NumberToken::Kind::real : NumberToken::Kind::real_out_of_range;
  } else if (overflow) {
    token.kind = NumberToken::Kind::integer_too_large;
  }
  return token;
}

std::string Cursor::describe() const {
  if (at_end()) return "the end of the text";
  const char c = *p_;
  const char* stop = p_ + 1;
  if (is_upper(c) || is_lower(c)) {
    while (stop != end_ && (is_lower(*stop) || is_digit(*stop)) && stop - p_ < 32) ++stop;
  } else if (is_digit(c)) {
    while (stop != end_ && is_digit(*stop) && stop - p_ < 32) ++stop;
  }
  if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
    return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
  }
  return fmt::format("'{}'", std::string_view(p_, static_cast<std::size_t>(stop - p_)));
}

}  // namespace cairn
