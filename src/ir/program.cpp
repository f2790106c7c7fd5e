#include "ir/program.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cairn {

const Tensor* Program::find(std::string_view name) const {
  const auto it = index_.find(std::string(name));
  return it == index_.end() ? nullptr : &tensors_[it->second];
}

void Program::set_tensor(Tensor tensor) {
  const auto it = index_.find(tensor.name);
  if (it != index_.end()) {
    tensors_[it->second] = std::move(tensor);
    return;
  }
  index_.emplace(tensor.name, tensors_.size());
  tensors_.push_back(std::move(tensor));
}

void Program::remove_tensor(std::string_view name) {
  const auto it = index_.find(std::string(name));
  if (it == index_.end()) return;
  tensors_.erase(tensors_.begin() + static_cast<std::ptrdiff_t>(it->second));
  index_.clear();
  for (std::size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
}

Location locate(const Program& program, SourcePos pos) {
  Location where;
  if (!program.source()) return where;
  where.file = program.source()->file;
  const std::string& text = program.source()->text;
  if (pos == kNoPos || pos > text.size()) return where;
  where.line = 1;
  std::size_t start = 0;
  while (const void* found = std::memchr(text.data() + start, '\n', pos - start)) {
    start = static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1;
    ++where.line;
  }
  where.column = static_cast<std::uint32_t>(pos - start) + 1;
  const std::size_t end = std::min(text.find('\n', start), text.size());
  where.line_text = text.substr(start, end - start);
  return where;
}

Error error_at(const Program& program, SourcePos pos, Code code, std::string message) {
  return Error{code, std::move(message), locate(program, pos), {}};
}

}  // namespace cairn
