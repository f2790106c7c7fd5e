// Options that are counts.
#pragma once
#include <CLI/CLI.hpp>

namespace cairn {

// Accepts decimal digits up to 2^63 - 1: a count that reads as a negative number or wraps would select other rows than were meant.
CLI::Validator whole_number();

}  // namespace cairn
