// Processor time: what work cost, whoever else uses the machine.
#pragma once

namespace cairn {

// Seconds of processor time that the calling thread has used (CLOCK_THREAD_CPUTIME_ID).
double thread_seconds();

}  // namespace cairn
