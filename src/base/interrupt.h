// Ctrl-C and SIGTERM: a flag that long work polls.
#pragma once

namespace cairn {

// Installs handlers that set the flag; a second Ctrl-C ends the process at once with 130.
void install_interrupt_handlers();
// Signal number that asked us to stop, or 0.
int interrupted();
void clear_interrupt();

}  // namespace cairn
