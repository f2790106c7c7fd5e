// Bugs throw InternalError: caught only by the search worker (drops the candidate) and main (exit 70).
#pragma once
#include <stdexcept>
#include <string>

namespace cairn {

// A broken invariant of ours; never used for bad input.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& note);

}  // namespace cairn

#define CAIRN_CHECK(cond) \
  ((cond) ? void(0) : ::cairn::fail_check(#cond, __FILE__, __LINE__, {}))
#define CAIRN_CHECK_MSG(cond, note) \
  ((cond) ? void(0) : ::cairn::fail_check(#cond, __FILE__, __LINE__, (note)))
