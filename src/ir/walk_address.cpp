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

// Paths of the loops of one name below a nest, pre-order.
void find_loops(const StmtPtr& stmt, std::string_view var, StmtPath& path, std::vector<StmtPath>& out) {
  if (stmt->is_loop() && stmt->var == var) out.push_back(path);
  path.push_back(0);
  for (const StmtPtr& child : stmt->body) {
    find_loops(child, var, path, out);
    ++path.back();
  }
  path.pop_back();
}

std::vector<StmtPath> loops_named(const Body& body, std::uint32_t nest, std::string_view var) {
  std::vector<StmtPath> out;
  StmtPath path{nest};
  find_loops(body[nest], var, path, out);
  return out;
}

// Each name once: programs use the same few in every nest.
void collect_vars(const Body& body, std::vector<std::string_view>& out) {
  for (const StmtPtr& stmt : body) {
    if (stmt->is_loop() && std::find(out.begin(), out.end(), stmt->var) == out.end()) out.push_back(stmt->var);
    collect_vars(stmt->body, out);
  }
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
  const std::vector<StmtPath> all = loops_named(body, path[0], loop->var);
  const auto k = std::find(all.begin(), all.end(), path) - all.begin();
  return k == 0 ? fmt::format("{}.{}", path[0], loop->var) : fmt::format("{}.{}#{}", path[0], loop->var, k);
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
  std::vector<StmtPath> all = loops_named(body, nest, var);
  if (k >= all.size()) {
    return no_site(fmt::format("loop {}: nest {} has {} loop{} named {}", address, nest, all.size(), all.size() == 1 ? "" : "s", var));
  }
  return std::move(all[k]);
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
  std::vector<EquationRef> all = collect_equations(body);
  if (k >= all.size()) return no_site(fmt::format("equation {}: the program has {} equations, s0 first", address, all.size()));
  return std::move(all[k].path);
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
