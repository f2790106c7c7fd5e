// Refusals of reorderings: which dependence would be reversed, with an example.
#pragma once
#include <string>
#include <vector>

#include "analysis/dependence.h"
#include "analysis/dependence_pairs.h"
#include "analysis/legality_scratch.h"

namespace cairn {

Legality refuse(const Program& program, SourcePos pos, std::string message);
// "s2 writes E before s3 reads it, for example ..." with an example of iterations from the relations.
Legality refuse_pair(const Program& program, const std::string& what, const Access& a, const Access& b,
                     const std::vector<PairRelation>& relations);
// Judges one question about a pair: nothing if it can not touch or the tensor is scratch, a mark if it is one
// reduction, a refusal otherwise. True if refused.
struct Judge {
  const Program& program;
  PairFinder& finder;
  ScratchTensors& scratch;
  Legality verdict;
  bool refuses(const std::string& what, const PairFinder::Pair& pair, const std::vector<PairRelation>& relations);
};

}  // namespace cairn
