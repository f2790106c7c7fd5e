// The rung `rule` without an action: the row of the table of identities by which one equation of a pair differs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verify/certificate.h"

namespace cairn {

// `after` is `before` but for one right side, which a row turns into the other.
struct RowRewrite {
  std::string row;                         // "exp_product", or "exp_product backwards"
  std::string equation;                    // "s3", counted in both programs alike
  std::vector<std::string> bindings;       // "a = A_{i}", in the names of `before`
  std::vector<SideCondition> conditions;   // of the row, and of an algebraic one that nothing overflows; none known to fail
  Exactness exactness = Exactness::algebraic;
};
// Names of loops and temporaries may differ. Nothing where the programs differ in more, where no row leads from one to the
// other, where it would reach across an accumulator or change a type, or where one of its conditions never holds.
std::optional<RowRewrite> find_row(const Program& before, const Program& after);

// The row as a certificate: held, with the row, its match and each condition, proved or recorded.
Certificate row_certificate(const RowRewrite& row);

}  // namespace cairn
