// The look that all pages share, light and dark.
#pragma once

namespace cairn {

// CSS for a page's <style>; pages append their own rules.
extern const char* const kPageStyle;

}  // namespace cairn
