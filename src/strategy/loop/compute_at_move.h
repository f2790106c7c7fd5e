// What compute_at moves, and the program after the move.
#pragma once
#include <optional>
#include <vector>

#include "ir/self_update.h"
#include "strategy/edit/stage.h"
#include "strategy/strategy.h"

namespace cairn {

// The statement that computes a temporary.
struct Producer {
  const Tensor* tensor = nullptr;
  StmtPath path;                       // the statement
  std::vector<ExprPtr> subscripts;     // of every mention in it
  std::optional<UpdateOp> start;
};
// Where it goes: the box of elements that one iteration of the loop there reads.
struct Moved {
  StagePlace place;
  StageBox box;
  Scope scope = Scope::l;
};
// The program with the producer's nest in front of the first use; names of the loops of an added start go to `step`.
Program move_producer(const Program& program, const Producer& producer, const Moved& moved, const Shape& shape, Step* step);

}  // namespace cairn
