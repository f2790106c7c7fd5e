// What a kernel's process may ask of the system once its object is loaded (Linux seccomp).
#pragma once
#include <string>

namespace cairn {

// Allows memory, threads of this process, time and the ends given; anything else raises SIGSYS. Executable
// memory cannot be made. Returns "seccomp", or "none: why" where the system has no such filter.
std::string enter_sandbox(int command_fd, int reply_fd);

}  // namespace cairn
