// Reads what a shared object imports, exports and runs on loading (ELF64, little endian).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn {

struct ObjectFacts {
  std::vector<std::string> imports;   // undefined dynamic symbols, sorted
  std::vector<std::string> exports;   // defined global dynamic symbols, sorted
  std::vector<std::string> libraries; // DT_NEEDED
  std::size_t initializers = 0;       // functions run by dlopen, the compiler's own one included
};
// Refuses with Code::compile what is no shared object or has offsets outside the file.
Result<ObjectFacts> read_object(std::string_view bytes);

// The gate: a kernel may import only memory, arithmetic and OpenMP functions, may export nothing that a system
// library exports, and runs nothing on loading. Refuses with Code::compile, naming the symbol.
Result<void> check_object(const ObjectFacts& facts, const std::string& entry);

}  // namespace cairn
