// The version of this build.
#pragma once

namespace cairn {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace cairn
