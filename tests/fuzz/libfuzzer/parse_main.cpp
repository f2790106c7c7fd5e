// libFuzzer driver: cmake --preset fuzz, then build-fuzz/fuzz_parse tests/leir/ok
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/parse_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string problem = cairn::check_parse_bytes({reinterpret_cast<const char*>(data), size});
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::abort();
  }
  return 0;
}
