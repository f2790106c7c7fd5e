// The loader calls this before main(), with main's arguments: a program started as a runner never reaches main.
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "eval/runner.h"

namespace {
void enter_runner(int argc, char** argv, char**) {
  if (argc == 3 && std::strcmp(argv[1], cairn::kRunnerArgument) == 0) ::_exit(cairn::runner_main(argv[2]));
}
// After the initialisers of libraries and of this program's other objects where the linker keeps their order;
// the runner itself uses no object with a dynamic initialiser.
[[gnu::section(".init_array"), gnu::used, gnu::retain]] void (*const kHook)(int, char**, char**) = enter_runner;
}  // namespace

namespace cairn {
// Referenced by the evaluator, so that linkers keep this object file.
extern const int kRunnerHookLinked;
const int kRunnerHookLinked = 1;
}  // namespace cairn
