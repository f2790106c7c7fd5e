// Choices by conditions that are known where they stand (identity rung, internal).
#pragma once
#include <vector>

#include "verify/identity/terms.h"

namespace cairn::identity {

// Makes, at any depth, the choices by a condition that a choice around them decides: if_then_else(c,f(if_then_else(c,a,0)),b)
// is if_then_else(c,f(a),b). TermGraph::operation sees the first few operations only. Replaces `terms` in place; false if
// none changed. Terms walked through are added to *work, none where no condition is shared; nothing changes beyond `limit`.
bool resolve_choices(TermGraph* graph, std::vector<TermId>* terms, std::uint64_t limit, std::uint64_t* work);

}  // namespace cairn::identity
