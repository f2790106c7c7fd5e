// Elements that a program reads: what strategies that bring in a value may bring in at an equation.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/algebra/prove.h"
#include "ir/walk.h"

namespace cairn {

// A read outside subscripts, and whether an if_then_else or a short-circuit may leave it out.
struct ElementRead {
  ExprPtr read;
  bool guarded = false;
};
std::vector<ElementRead> element_reads(const ExprPtr& value);
// Has the element a value wherever the loops take it: in bounds, of a tensor that is not written first?
bool is_always_there(const Tensor& tensor, const Expr& read, const std::vector<LoopRange>& loops);

// The elements that a program's equations read. Keeps a reference to the program.
class Elements {
 public:
  explicit Elements(const Program& program);
  const std::vector<EquationRef>& equations() const { return equations_; }
  // The place of the right side of an equation, by its number in text order.
  const algebra::Place& place(std::size_t equation);
  // Elements that could be read at the equation: float, of the compute type of what it writes, in bounds, written before.
  // Its own come first, then those of the others in text order, each once, at most `limit`.
  std::vector<ExprPtr> at(std::size_t equation, std::size_t limit = SIZE_MAX);

 private:
  struct Offer {
    algebra::Place place;
    std::vector<ElementRead> reads;
  };
  const Offer& offer(std::size_t equation);

  const Program& program_;
  std::vector<EquationRef> equations_;
  std::vector<Offer> offers_;   // filled when asked for
};

}  // namespace cairn
