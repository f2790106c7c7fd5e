// What the subscripts of a read or of an equation's left side say of a loop.
#pragma once
#include <string_view>
#include <vector>

#include "ir/expr.h"

namespace cairn {

// Does any subscript depend on the variable? An equation whose left side does keeps one element an iteration of that loop.
bool subscripts_use(const std::vector<ExprPtr>& subscripts, std::string_view var);
// Is any subscript the variable itself?
bool subscripts_name(const std::vector<ExprPtr>& subscripts, std::string_view var);

}  // namespace cairn
