// Emits nests: operands are tensors, or views and constants that need no storage.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "ir/self_update.h"

namespace cairn {

// Subscripts, one an axis.
using Index = std::vector<ExprPtr>;

// A value of the graph while it is emitted: its element as an expression over the placeholder variables
// @0, @1, ... (its own axes). A stored tensor reads X_{@0,@1}; a view rearranges; a constant ignores them.
struct Operand {
  Dtype dtype = Dtype::f32;
  Shape shape;
  ExprPtr element;

  std::size_t rank() const { return shape.size(); }
  // The element at the given subscripts (one an axis).
  ExprPtr at(const Index& index) const;
  // The element where the trailing axes of a broadcast result stand at index; axes of extent 1 read 0.
  ExprPtr broadcast_at(const Index& index) const;
};

// The placeholder of axis k.
ExprPtr placeholder(std::size_t axis);
// A view: same elements, new shape, the old subscripts given as expressions over the new placeholders.
Operand make_view(const Operand& source, Shape shape, const Index& old_index);
// A rank-0 or filled constant.
Operand make_constant(Dtype dtype, Shape shape, ExprPtr value);
// The name of the stored tensor that an operand reads as a whole in its own order, or empty.
std::string whole_tensor(const Operand& operand);

// PyTorch's broadcast of shapes, or nullopt.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);

// Names by Step-TP's alphabets: 0 -> "A", 1 -> "C" ...; 0 -> "a", 1 -> "c" ...
std::string tensor_name(std::size_t index);
std::string loop_name(std::size_t index);

// Builds the program: a nest a call.
class Emitter {
 public:
  // Declares a tensor that lives outside, whole.
  Operand declare(Role role, Dtype dtype, const Shape& shape);

  // X_{i..} = element(i..) over the shape; axes of extent 1 get no loop and subscript 0.
  Operand compute(Dtype dtype, const Shape& shape, const std::function<ExprPtr(const Index&)>& element);
  // X_{i..} = X_{i..} op element(i.., r..), starting implicitly; over no points the neutral element is stored,
  // over one point the element itself.
  Operand reduce(UpdateOp op, Dtype dtype, const Shape& shape, const Shape& reduced,
                 const std::function<ExprPtr(const Index&, const Index&)>& element);
  // A fresh tensor written by nests that the caller appends.
  Operand allocate(Dtype dtype, const Shape& shape);
  // Appends target_{subscripts(i..)} = element(i..) over a domain of loops; nothing if the domain is empty.
  void assign(const Operand& target, const Shape& domain,
              const std::function<std::pair<Index, ExprPtr>(const Index&)>& write);
  // The operand itself if it is a whole stored tensor, else a copy of it in a fresh tensor.
  Operand materialise(const Operand& operand);
  // Changes what a stored tensor is to the outside.
  void set_role(const std::string& tensor, Role role);
  // The digest of a constant's values.
  void set_data(const std::string& tensor, const Digest& digest);

  Program take();
  const Program& program() const { return program_; }

 private:
  static Index open_loops(const Shape& domain, std::vector<LoopHeader>& loops);
  void append(const std::vector<LoopHeader>& loops, StmtPtr equation);

  Program program_;
  Body body_;
  std::map<std::string, Shape, std::less<>> shapes_;
  std::size_t names_ = 0;
};

}  // namespace cairn
