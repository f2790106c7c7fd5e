// What an operator family sees of one node: typed arguments, results, and errors placed in the user's code.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/emit.h"
#include "ops/graph.h"

namespace cairn {

using Operands = std::map<std::string, Operand, std::less<>>;

// A scalar argument: an integer, a float or a bool as PyTorch's Scalar.
struct Scalar {
  bool integral = false;
  double number = 0;
  std::int64_t integer = 0;
};

// One operator call being emitted.
class Call {
 public:
  Call(Emitter& emitter, const GraphNode& node, Operands& values) : emit(emitter), node_(node), values_(values) {}

  const GraphNode& node() const { return node_; }
  // An error at the node: "operator: message".
  Error error(const std::string& message) const;

  // Arguments; refuse when missing, null or of another type. has() is false for null and missing.
  bool has(std::string_view name) const;
  Result<Operand> tensor(std::string_view name) const;
  Result<std::vector<Operand>> tensors(std::string_view name) const;
  // Null entries stay null.
  Result<std::vector<std::optional<Operand>>> maybe_tensors(std::string_view name) const;
  // Integers are clamped to +-2**60, so that sums with extents stay within 64 bits.
  Result<std::int64_t> integer(std::string_view name) const;
  Result<double> number(std::string_view name) const;
  Result<Scalar> scalar(std::string_view name) const;
  Result<std::vector<std::int64_t>> integers(std::string_view name) const;
  Result<bool> flag(std::string_view name) const;
  Result<std::string> text(std::string_view name) const;
  // Which of the words a string argument is.
  Result<std::size_t> choice(std::string_view name, std::initializer_list<std::string_view> words) const;
  // An axis of a tensor of the given rank, negative counted from the end; rank 0 has axis 0 as PyTorch says.
  Result<std::size_t> axis(std::string_view name, std::size_t rank) const;
  // Distinct axes, sorted; null or an empty list means all of them.
  Result<std::vector<std::size_t>> axes(std::string_view name, std::size_t rank) const;
  Result<std::size_t> check_axis(std::int64_t axis, std::size_t rank) const;

  // Results. The dtype that PyTorch gave result i, its shape, and whether something uses it.
  std::size_t result_count() const { return node_.outputs.size(); }
  bool wanted(std::size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].name.empty(); }
  Dtype dtype(std::size_t i = 0) const;
  const Shape& shape(std::size_t i = 0) const;
  // Gives result i its value; refuses a shape or dtype other than the graph says.
  Result<void> finish(const Operand& value, std::size_t i = 0);
  // Result 0 computed by one nest over its shape.
  Result<void> finish_compute(const std::function<ExprPtr(const Index&)>& element);

  Emitter& emit;

 private:
  Result<const Arg*> find(std::string_view name, const char* wanted) const;
  Result<Operand> operand(const Arg& arg, std::string_view name) const;

  const GraphNode& node_;
  Operands& values_;
};

// One row of the table of operators.
struct OpEntry {
  std::string_view name;  // "aten.relu.default"
  Result<void> (*emit)(Call&);
};

}  // namespace cairn
