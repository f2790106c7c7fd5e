// Every mention of a tensor in a program, with the loops and conditions it stands under.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.h"

namespace cairn {

// A condition above an access: a T test, or the condition of an if_then_else (negated for its else branch),
// & and | included. It is known to hold (or not to hold, if !holds) when the access is made.
struct Condition {
  ExprPtr cond;
  bool holds = true;
};

struct Access {
  std::uint32_t equation = 0;         // ordinal of the equation in text order
  StmtPath path;                      // of the equation
  const Stmt* stmt = nullptr;
  bool is_write = false;
  bool is_self = false;               // the X on the right of a self-update of X
  bool in_condition = false;          // read inside a condition or a T test
  std::string tensor;
  std::vector<ExprPtr> subscripts;    // bindings (integer l tensors with one definition) already replaced
  std::vector<const Stmt*> loops;     // enclosing loops, outermost first
  std::vector<Condition> conditions;
  SourcePos pos = kNoPos;
};

// All accesses in execution order of one iteration: an equation's reads, then its write. Reads inside
// subscripts (gathers) and T tests are accesses too.
std::vector<Access> collect_accesses(const Program& program);
std::vector<Access> collect_accesses(const Program& program, const StmtPath& under);
// Replaces bindings `Q^{i32,l}=(ty*16+tx)//8;` by their definitions.
ExprPtr expand_bindings(const Program& program, const ExprPtr& expr);

}  // namespace cairn
