#include "verify/numeric_memo.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/text.h"
#include "ir/walk.h"

namespace cairn {

namespace {
constexpr std::size_t kAtLeast = 4;   // entries: the inputs and runs of one family on two programs

bool has_read(const Expr& e) {
  return e.op == Op::read || std::any_of(e.args.begin(), e.args.end(), [](const ExprPtr& a) { return has_read(*a); });
}

// Does data choose elements? Then what its tensors may hold depends on the subscripts of the whole program.
bool gathers(const Program& program) {
  bool found = false;
  visit_stmts(program.body(), [&found](const Stmt& s, const StmtContext&) {
    if (!s.is_equation() || found) return;
    found = std::any_of(s.subscripts.begin(), s.subscripts.end(), [](const ExprPtr& x) { return has_read(*x); });
    visit_expr(*s.rhs, [&found](const Expr& e) {
      if (e.op == Op::read) found |= std::any_of(e.args.begin(), e.args.end(), [](const ExprPtr& a) { return has_read(*a); });
      return !found;
    });
  });
  return found;
}

std::string print_box(const Box& box) {
  std::string text;
  for (const IndexSet& set : box) {
    text += "|";
    for (const Interval& i : set) text += fmt::format("{}:{} ", i.lo, i.hi);
  }
  return text;
}

std::size_t bytes_of(const Result<ValueMap>& values) {
  std::size_t bytes = 256;
  if (!values) return bytes;
  for (const auto& [name, v] : *values) bytes += v.floats.size() * sizeof(double) + v.ints.size() * sizeof(std::int64_t) + 128;
  return bytes;
}
}  // namespace

NumericMemo::Values NumericMemo::keep(const Digest& key, const std::function<Result<ValueMap>()>& make) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return found->values;
  }
  auto values = std::make_shared<const Result<ValueMap>>(make());
  const std::size_t bytes = bytes_of(*values);
  entries_.push_front({key, bytes, values});
  bytes_ += bytes;
  while (bytes_ > max_bytes_ && entries_.size() > kAtLeast) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  return values;
}

NumericMemo::Inputs NumericMemo::inputs(const Program& program, Family family, std::uint64_t seed, const Slice* slice) {
  std::string text = fmt::format("inputs {} {}\n", family_name(family), seed);
  for (const Tensor& t : program.tensors()) {
    if (t.role == Role::tmp || t.role == Role::out || !t.shape) continue;
    text += fmt::format("{} {} {}", t.name, role_name(t.role), dtype_name(t.dtype));
    for (const std::int64_t extent : *t.shape) text += fmt::format(",{}", extent);
    if (slice != nullptr) {
      const auto wanted = slice->wanted.find(t.name);
      text += wanted == slice->wanted.end() ? " none" : print_box(wanted->second);
    }
    text += "\n";
  }
  if (gathers(program)) text += print_program(program);
  const Digest key = digest_bytes(text);
  return {key, keep(key, [&]() -> Result<ValueMap> { return make_sliced_inputs(program, family, seed, slice); })};
}

NumericMemo::Values NumericMemo::run(const Program& program, const Digest& text, const Inputs& inputs, const InterpOptions& options) {
  std::string key = fmt::format("run {} {} {} {}\n", text.hex(), inputs.key.hex(), options.max_instances, options.max_bytes);
  if (options.sampled != nullptr) {
    for (const auto& [name, box] : *options.sampled) key += name + print_box(box) + "\n";
  }
  return keep(digest_bytes(key), [&] { return interpret(program, **inputs.values, options); });
}

void NumericMemo::note_too_large(int sample, std::uint64_t limit) {
  std::uint64_t& known = too_large_[sample];
  known = std::max(known, limit);
}

bool NumericMemo::is_too_large(int sample, std::uint64_t limit) const {
  const auto it = too_large_.find(sample);
  return it != too_large_.end() && limit <= it->second;
}

}  // namespace cairn
