// Addresses of loops and equations, and fresh names.
#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "base/check.h"
#include "ir/walk.h"

namespace cairn {

namespace {
constexpr std::string_view kTensorLetters = "ACDEFGHIJKMNOQRSWXYZ";
constexpr std::string_view kVarLetters = "acdfghijklmnopqrsuw";

// The index-th word over an alphabet: one letter, then two, ... (bijective numeration).
std::string nth_word(std::size_t index, std::string_view letters) {
  std::string word;
  for (std::size_t n = index + 1; n > 0; n = (n - 1) / letters.size()) {
    word.insert(word.begin(), letters[(n - 1) % letters.size()]);
  }
  return word;
}

bool parse_index(std::string_view text, std::uint32_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

Error no_site(std::string message) { return Error{Code::no_site, std::move(message), {}, {}}; }

// Loops of one name in a nest, itself included.
std::size_t count_loops(const Stmt& stmt, std::string_view var) {
  std::size_t count = stmt.is_loop() && stmt.var == var ? 1 : 0;
  for (const StmtPtr& child : stmt.body) count += count_loops(*child, var);
  return count;
}

// Extends the path of `stmt` to the loop of this name that `skip` others precede in pre-order; false if there are fewer.
bool extend_to_loop(const Stmt& stmt, std::string_view var, std::size_t* skip, StmtPath* path) {
  if (stmt.is_loop() && stmt.var == var && (*skip)-- == 0) return true;
  path->push_back(0);
  for (const StmtPtr& child : stmt.body) {
    if (extend_to_loop(*child, var, skip, path)) return true;
    ++path->back();
  }
  path->pop_back();
  return false;
}

// Each name once: programs use the same few in every nest.
void collect_vars(const Body& body, std::vector<std::string_view>& out) {
  for (const StmtPtr& stmt : body) {
    if (stmt->is_loop() && std::find(out.begin(), out.end(), stmt->var) == out.end()) out.push_back(stmt->var);
    collect_vars(stmt->body, out);
  }
}

// Extends the path of what holds `body` to the equation that `skip` others precede in text order; false if there are fewer.
bool extend_to_equation(const Body& body, std::size_t* skip, StmtPath* path) {
  path->push_back(0);
  for (const StmtPtr& stmt : body) {
    if (stmt->is_equation() ? (*skip)-- == 0 : extend_to_equation(stmt->body, skip, path)) return true;
    ++path->back();
  }
  path->pop_back();
  return false;
}

// Equations below `body` that stand before `path` in text order.
std::size_t count_before(const Body& body, const StmtPath& path, std::size_t depth) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < body.size() && (depth >= path.size() || k <= path[depth]); ++k) {
    const bool on = depth < path.size() && k == path[depth];
    if (on && depth + 1 == path.size()) return count;
    count += body[k]->is_equation() ? 1 : count_before(body[k]->body, on ? path : StmtPath{}, on ? depth + 1 : 0);
  }
  return count;
}
}  // namespace

std::string loop_address(const Body& body, const StmtPath& path) {
  const Stmt* loop = stmt_at(body, path);
  CAIRN_CHECK(loop != nullptr && loop->is_loop());
  std::size_t before = 0;
  const Stmt* above = body[path[0]].get();
  for (std::size_t depth = 1; depth < path.size(); ++depth) {
    if (above->is_loop() && above->var == loop->var) ++before;
    for (std::size_t k = 0; k < path[depth]; ++k) before += count_loops(*above->body[k], loop->var);
    above = above->body[path[depth]].get();
  }
  std::string out = std::to_string(path[0]) + "." + loop->var;
  if (before > 0) out += "#" + std::to_string(before);
  return out;
}

Result<StmtPath> find_loop(const Body& body, std::string_view address) {
  const std::size_t dot = address.find('.');
  const std::size_t mark = std::min(address.find('#'), address.size());
  std::uint32_t nest = 0;
  std::uint32_t k = 0;
  if (dot == std::string_view::npos || dot > mark || !parse_index(address.substr(0, dot), &nest) ||
      (mark < address.size() && !parse_index(address.substr(mark + 1), &k))) {
    return no_site(fmt::format("'{}' is not a loop; expected NEST.VAR or NEST.VAR#K, as 0.i or 2.k#1", address));
  }
  if (nest >= body.size()) {
    return no_site(fmt::format("loop {}: the program has {} top-level statements, numbered from 0", address, body.size()));
  }
  const std::string_view var = address.substr(dot + 1, mark - dot - 1);
  StmtPath path{nest};
  std::size_t skip = k;
  if (extend_to_loop(*body[nest], var, &skip, &path)) return path;
  const std::size_t count = count_loops(*body[nest], var);
  return no_site(fmt::format("loop {}: nest {} has {} loop{} named {}", address, nest, count, count == 1 ? "" : "s", var));
}

std::string equation_address(const Body& body, const StmtPath& path) {
  const Stmt* equation = stmt_at(body, path);
  CAIRN_CHECK_MSG(equation != nullptr && equation->is_equation(), "equation_address: path is an equation");
  return fmt::format("s{}", count_before(body, path, 0));
}

Result<StmtPath> find_equation(const Body& body, std::string_view address) {
  std::uint32_t k = 0;
  if (address.size() < 2 || address[0] != 's' || !parse_index(address.substr(1), &k)) {
    return no_site(fmt::format("'{}' is not an equation; expected sK, as s0", address));
  }
  StmtPath path;
  std::size_t skip = k;
  if (extend_to_equation(body, &skip, &path)) return path;
  return no_site(fmt::format("equation {}: the program has {} equations, s0 first", address, count_before(body, {static_cast<std::uint32_t>(body.size())}, 0)));
}

std::string fresh_tensor(const Program& program, const std::vector<std::string>& also_taken) {
  for (std::size_t i = 0;; ++i) {
    std::string name = nth_word(i, kTensorLetters);
    for (std::size_t c = 1; c < name.size(); ++c) name[c] = static_cast<char>(name[c] - 'A' + 'a');
    if (program.find(name) != nullptr) continue;
    if (std::find(also_taken.begin(), also_taken.end(), name) == also_taken.end()) return name;
  }
}

std::string fresh_var(const Program& program, const std::vector<std::string>& also_taken) {
  std::vector<std::string_view> taken{"as", "if", "in", "is", "or", "inf", "nan"};  // words of Python and of LEIR
  taken.insert(taken.end(), also_taken.begin(), also_taken.end());
  collect_vars(program.body(), taken);
  for (std::size_t i = 0;; ++i) {
    std::string name = nth_word(i, kVarLetters);
    if (std::find(taken.begin(), taken.end(), name) == taken.end()) return name;
  }
}

}  // namespace cairn
