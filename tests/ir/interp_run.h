// Runs program texts for tests: inputs as flat lists, outputs or refusals back.
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "ir/interp.h"
#include "ir/text.h"

namespace cairn::testing {

inline Value floats(Dtype dtype, Shape shape, std::vector<double> values) {
  Value v;
  v.dtype = dtype;
  v.shape = std::move(shape);
  v.floats = std::move(values);
  return v;
}
inline Value ints(Dtype dtype, Shape shape, std::vector<std::int64_t> values) {
  Value v;
  v.dtype = dtype;
  v.shape = std::move(shape);
  v.ints = std::move(values);
  return v;
}

inline Program parse_ok(const std::string& text) {
  Result<Program> p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p ? std::string() : render(p.error()));
  return p ? *std::move(p) : Program();
}

// One run: the outputs, or what was refused ("line:message").
struct Ran {
  ValueMap out;
  std::string refused;
  std::vector<double> floats(const std::string& name) const {
    const auto it = out.find(name);
    return it == out.end() ? std::vector<double>{} : it->second.floats;
  }
  std::vector<std::int64_t> ints(const std::string& name) const {
    const auto it = out.find(name);
    return it == out.end() ? std::vector<std::int64_t>{} : it->second.ints;
  }
};
inline Ran run_text(const std::string& text, const ValueMap& inputs, const InterpOptions& options = {}) {
  const Program p = parse_ok(text);
  Result<ValueMap> r = interpret(p, inputs, options);
  Ran ran;
  if (r) ran.out = *std::move(r);
  else ran.refused = std::to_string(r.error().where.line) + ":" + r.error().message;
  return ran;
}

}  // namespace cairn::testing
