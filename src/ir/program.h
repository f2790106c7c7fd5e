// A program: declarations and a sequence of statements. An immutable value with shared structure.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "ir/stmt.h"

namespace cairn {

// A tensor of the program. Superscripts in the text of a declared tensor are ignored on reading.
struct Tensor {
  std::string name;
  Role role = Role::tmp;
  Dtype dtype = Dtype::f32;
  Scope scope = Scope::g;
  std::optional<Shape> shape;  // always set for in param const io out; tmp: set if declared
  bool declared = false;
  SourcePos pos = kNoPos;
  Digest data;                 // const: digest of dtype, shape and bytes; enters the program's hash
};

// The text a program was parsed from, for messages.
struct SourceText {
  std::string file;
  std::string text;
};

// Something the parser had to accept but the verifier refuses (a temporary with two dtypes ...).
struct Conflict {
  SourcePos pos = kNoPos;
  std::string message;
};

// The program. Copies share statements; strategies build new ones with with_body_at() and the tensor table.
class Program {
 public:
  Program() = default;
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Body& body() const { return body_; }
  const std::vector<Conflict>& conflicts() const { return conflicts_; }
  const std::vector<std::string>& notes() const { return notes_; }  // what the reader changed (steptp profile)
  const std::shared_ptr<const SourceText>& source() const { return source_; }

  // Tensor by name, or null.
  const Tensor* find(std::string_view name) const;
  // Adds or replaces (by name) a tensor.
  void set_tensor(Tensor tensor);
  void remove_tensor(std::string_view name);
  void set_body(Body body) { body_ = std::move(body); }
  void add_conflict(Conflict conflict) { conflicts_.push_back(std::move(conflict)); }
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  void set_source(std::shared_ptr<const SourceText> source) { source_ = std::move(source); }

 private:
  std::vector<Tensor> tensors_;  // declaration order, then first mention
  std::unordered_map<std::string, std::size_t> index_;
  Body body_;
  std::vector<Conflict> conflicts_;
  std::vector<std::string> notes_;
  std::shared_ptr<const SourceText> source_;
};

// Line, column and line text of a byte offset of the program's source; line 0 if it has none.
Location locate(const Program& program, SourcePos pos);
// An Error at a node of a program.
Error error_at(const Program& program, SourcePos pos, Code code, std::string message);

}  // namespace cairn
