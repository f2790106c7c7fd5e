// Arguments of actions: typed by the strategy's parameter list; print and parse.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cairn {

// What an argument is: drives parsing, help, docs and search moves.
enum class ArgType : std::uint8_t {
  loop,       // "0.i"    (walk.h addresses)
  equation,   // "s3"
  nest,       // "2"
  tensor,     // "D"
  integer,    // "8"
  integers,   // "12x32x256" (one per loop)
  choice,     // one of Param::choices
  loops,      // "0.i+0.j"
  text,       // expression or name
};
struct Param {
  std::string_view name;
  ArgType type;
  std::string_view help;
  std::vector<std::string_view> choices;  // choice
  std::string_view fallback;              // default; empty: required
};

// name=value pairs in the strategy's parameter order; values as text.
class Args {
 public:
  Args() = default;
  Args(std::initializer_list<std::pair<std::string, std::string>> values) : values_(values) {}
  const std::string* find(std::string_view name) const;
  const std::string& get(std::string_view name) const;      // CHECKs that it is there
  std::int64_t get_int(std::string_view name) const;
  std::vector<std::int64_t> get_ints(std::string_view name) const;
  std::vector<std::string> get_list(std::string_view name) const;  // split at '+'
  void set(std::string name, std::string value);
  void add(std::string name, std::string value) { values_.emplace_back(std::move(name), std::move(value)); }  // not there yet
  void reserve(std::size_t count) { values_.reserve(count); }
  const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }
  friend bool operator==(const Args&, const Args&) = default;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// One move: `loop_split(loop=0.i, factor=8, tail=guard)`.
struct Action {
  std::string strategy;
  Args args;
  friend bool operator==(const Action&, const Action&) = default;
};
std::string print_action(const Action& action);
// Parses the text form; checks names and types against the registry, fills defaults.
Result<Action> parse_action(std::string_view text);

}  // namespace cairn
