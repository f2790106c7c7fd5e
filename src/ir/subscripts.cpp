#include "ir/subscripts.h"

#include <algorithm>

namespace cairn {

bool subscripts_use(const std::vector<ExprPtr>& subscripts, std::string_view var) {
  return std::any_of(subscripts.begin(), subscripts.end(), [var](const ExprPtr& s) { return uses_var(*s, var); });
}

bool subscripts_name(const std::vector<ExprPtr>& subscripts, std::string_view var) {
  return std::any_of(subscripts.begin(), subscripts.end(), [var](const ExprPtr& s) { return s->op == Op::loop_var && s->name == var; });
}

}  // namespace cairn
