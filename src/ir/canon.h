// Canonical hash: equal for programs that differ only by names of loops and temporaries, by the operand
// order of + * max min == !=, and by text positions. Declared tensors count by name, role, dtype, scope, shape
// and, for const, data; loops by kind, extent and mark.
#pragma once
#include "base/hash.h"
#include "ir/program.h"

namespace cairn {

// Temporaries are numbered by the first equation that writes them (those never written, by first mention), loop
// variables by the depth of their binder.
Digest canonical_hash(const Program& program);
// The same for one top-level statement, for memoising per-nest work: includes what the nest uses of the
// tensor table (dtype, scope, shape, role), with temporaries by name.
Digest nest_hash(const Program& program, const Stmt& nest);

}  // namespace cairn
