#include "base/interrupt.h"

#include <csignal>

#include <unistd.h>

namespace cairn {

namespace {
volatile std::sig_atomic_t caught_signal = 0;

void on_signal(int number) {
  if (caught_signal != 0) _exit(128 + number);
  caught_signal = number;
}
}  // namespace

void install_interrupt_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: blocking calls return EINTR and see the flag
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupted() { return caught_signal; }
void clear_interrupt() { caught_signal = 0; }

}  // namespace cairn
