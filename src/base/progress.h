// Progress of long work: rate, time left, best so far; drawn on a terminal, plain lines elsewhere.
#pragma once
#include <cstdint>
#include <string>

#include "base/clock.h"

namespace cairn {

// Prints to stderr at most a few times a second; mode off prints nothing, automatic draws on a terminal and prints lines
// elsewhere, the first after two seconds.
class Progress {
 public:
  enum class Mode { off, lines, terminal, automatic };
  Progress(Clock& clock, Mode mode, std::string title, std::uint64_t total);
  ~Progress();
  // done of total units; note is free text ("best 3.1x").
  void update(std::uint64_t done, const std::string& note);
  // Says what the work waits for, after what was done last.
  void wait(const std::string& what);
  void finish(const std::string& note);

 private:
  Clock& clock_;
  Mode mode_;
  std::string title_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  double start_ = 0;
  double last_ = -1;
  bool drawn_ = false;
  bool finished_ = false;
};

}  // namespace cairn
