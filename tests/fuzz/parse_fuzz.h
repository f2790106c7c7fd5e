// The property behind both parse fuzzers.
#pragma once
#include <string>
#include <string_view>

namespace cairn {

// Parses any bytes. If they parse, both profiles must print to text that parses to the same hash and prints the
// same again, and what print_steptp writes must parse. Returns what went wrong, or nothing.
std::string check_parse_bytes(std::string_view bytes);

}  // namespace cairn
