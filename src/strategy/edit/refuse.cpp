#include "strategy/edit/refuse.h"

#include <fmt/core.h>

#include <utility>

namespace cairn {

Error refuse(const Program& program, SourcePos pos, int condition, std::string message) {
  Error error = error_at(program, pos, Code::illegal, std::move(message));
  error.notes.push_back(fmt::format("legality condition ({})", condition));
  return error;
}

Error refuse_because(Error reason, int condition, std::string_view prefix) {
  if (!prefix.empty()) reason.message = fmt::format("{}: {}", prefix, reason.message);
  reason.code = Code::illegal;
  reason.notes.push_back(fmt::format("legality condition ({})", condition));
  return reason;
}

Error no_site(const Program& program, SourcePos pos, std::string message) {
  return error_at(program, pos, Code::no_site, std::move(message));
}

std::vector<std::string> conditions_up_to(int count) {
  std::vector<std::string> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 1; i <= count; ++i) out.push_back(fmt::format("({})", i));
  return out;
}

}  // namespace cairn
