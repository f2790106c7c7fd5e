#include "analysis/algebra/identity.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/text.h"
#include "ir/text.h"

namespace cairn::algebra {
namespace {

bool is_integral(const Expr& e) {
  switch (e.op) {
    case Op::int_literal: case Op::loop_var: return true;
    case Op::add: case Op::sub: case Op::mul: case Op::neg: break;
    case Op::pow:
      if (e.args[1]->op != Op::int_literal || e.args[1]->int_value < 0) return false;
      break;
    default: return false;
  }
  return std::all_of(e.args.begin(), e.args.end(), [](const ExprPtr& arg) { return is_integral(*arg); });
}

// Variables of `to` that `from` does not bind.
std::vector<std::string> variables_beyond(const Expr& from, const Expr& to) {
  const std::vector<std::string> bound = variables_of(from);
  std::vector<std::string> out = variables_of(to);
  std::erase_if(out, [&bound](const std::string& v) { return std::find(bound.begin(), bound.end(), v) != bound.end(); });
  return out;
}

// Reads the rows of a table.
class TableReader {
 public:
  Result<std::vector<Identity>> read(std::string_view text) {
    for (const TextLine& at : split_lines(text)) {
      std::string_view line = at.text;
      ++line_;
      line = trim(line.substr(0, line.find("% ") == 0 ? 0 : line.size()));
      if (line.empty() || line[0] == '%') continue;
      if (line[0] == '[') {
        CAIRN_CHECKED(read_section(line));
      } else {
        CAIRN_CHECKED(read_row(line));
      }
    }
    return std::move(rows_);
  }

 private:
  Error fail(std::string message) const { return Error{Code::parse, fmt::format("identities, line {}: {}", line_, message), {}, {}}; }

  Result<void> read_section(std::string_view line) {
    const std::size_t bar = line.find('|');
    if (line.back() != ']' || bar == std::string_view::npos) return fail("found a section that is not [forward | back]");
    forward_ = std::string(trim(line.substr(1, bar - 1)));
    back_ = std::string(trim(line.substr(bar + 1, line.size() - bar - 2)));
    return {};
  }

  Result<void> read_conditions(std::string_view text, std::vector<ExprPtr>* out) {
    int depth = 0;
    std::size_t from = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size()) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (text[i] != ',' || depth != 0) continue;
      }
      CAIRN_TRY(ExprPtr condition, parse_expr(trim(text.substr(from, i - from))));
      out->push_back(std::move(condition));
      from = i + 1;
    }
    return {};
  }

  // Reads the clause that `word` begins and takes it off the end of the row.
  Result<void> cut_conditions(std::string_view word, std::string_view* rest, std::vector<ExprPtr>* out) {
    const std::size_t at = rest->find(word);
    if (at == std::string_view::npos) return {};
    CAIRN_CHECKED(read_conditions(rest->substr(at + word.size()), out));
    *rest = rest->substr(0, at);
    return {};
  }

  Result<void> read_row(std::string_view line) {
    Identity row;
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return fail("found no \"name: \"");
    row.name = std::string(line.substr(0, colon));
    std::string_view rest = line.substr(colon + 2);
    if (rest.size() > 6 && rest.substr(rest.size() - 6) == " exact") {
      row.exact = true;
      rest = rest.substr(0, rest.size() - 6);
    }
    CAIRN_CHECKED(cut_conditions(" back if ", &rest, &row.back_conditions));
    CAIRN_CHECKED(cut_conditions(" forward if ", &rest, &row.forward_conditions));
    CAIRN_CHECKED(cut_conditions(" if ", &rest, &row.conditions));
    std::size_t arrow = std::string_view::npos;
    for (const std::string_view form : {" => ", " -> ", " <- "}) {
      const std::size_t at = rest.find(form);
      if (at == std::string_view::npos) continue;
      arrow = at;
      if (form != " <- ") row.forward = forward_;
      if (form != " -> ") row.back = back_;
    }
    if (arrow == std::string_view::npos) return fail("found no arrow => -> <-");
    if (forward_.empty() || back_.empty()) return fail("found a row before the first section");
    CAIRN_TRY(row.lhs, parse_expr(trim(rest.substr(0, arrow))));
    CAIRN_TRY(row.rhs, parse_expr(trim(rest.substr(arrow + 4))));
    row.forward_conditions.insert(row.forward_conditions.begin(), row.conditions.begin(), row.conditions.end());
    row.back_conditions.insert(row.back_conditions.begin(), row.conditions.begin(), row.conditions.end());
    row.forward_invents = variables_beyond(*row.lhs, *row.rhs);
    row.back_invents = variables_beyond(*row.rhs, *row.lhs);
    row.pair[0] = forward_;
    row.pair[1] = back_;
    row.lhs_ops = ops_of(*row.lhs);
    row.rhs_ops = ops_of(*row.rhs);
    row.integral = is_integral(*row.lhs) && is_integral(*row.rhs);
    for (const Identity& other : rows_) {
      if (other.name == row.name) return fail(fmt::format("the name {} is taken", row.name));
    }
    rows_.push_back(std::move(row));
    return {};
  }

  std::vector<Identity> rows_;
  std::string forward_, back_;
  std::size_t line_ = 0;
};

struct Index {
  std::map<std::string, std::vector<Rule>, std::less<>> of, against;

  Index() {
    std::map<std::string, std::vector<std::string>, std::less<>> opponents;
    for (const Identity& row : identities()) {
      if (!row.forward.empty()) of[row.forward].push_back({&row, false});
      if (!row.back.empty()) of[row.back].push_back({&row, true});
      for (const int side : {0, 1}) {
        std::vector<std::string>& list = opponents[row.pair[side]];
        if (std::find(list.begin(), list.end(), row.pair[1 - side]) == list.end()) list.push_back(row.pair[1 - side]);
      }
    }
    for (const auto& [strategy, others] : opponents) {
      for (const std::string& other : others) against[strategy].insert(against[strategy].end(), of[other].begin(), of[other].end());
    }
  }
};

const Index& index_of_rules() {
  static const Index index;
  return index;
}

const std::vector<Rule>& find_rules(const std::map<std::string, std::vector<Rule>, std::less<>>& map, std::string_view key) {
  static const std::vector<Rule> none;
  const auto found = map.find(key);
  return found == map.end() ? none : found->second;
}

}  // namespace

Result<std::vector<Identity>> parse_identities(std::string_view text) { return TableReader().read(text); }

const std::vector<Identity>& identities() {
  static const std::vector<Identity> table = [] {
    Result<std::vector<Identity>> rows = parse_identities(identities_text());
    CAIRN_CHECK_MSG(rows.ok(), rows.ok() ? std::string() : rows.error().message);
    return *std::move(rows);
  }();
  return table;
}

const std::vector<Rule>& rules_of(std::string_view strategy) { return find_rules(index_of_rules().of, strategy); }
const std::vector<Rule>& rules_against(std::string_view strategy) { return find_rules(index_of_rules().against, strategy); }

std::vector<std::string> variables_of(const Expr& pattern) {
  std::vector<std::string> out;
  visit_expr(pattern, [&out](const Expr& e) {
    if (e.op == Op::loop_var && e.name != "big" && std::find(out.begin(), out.end(), e.name) == out.end()) out.push_back(e.name);
    return true;
  });
  return out;
}

std::uint64_t ops_of(const Expr& e) {
  std::uint64_t ops = 0;
  switch (e.op) {
    case Op::int_literal: case Op::float_literal: case Op::loop_var: case Op::read: return 0;
    case Op::add: case Op::sub: case Op::neg: case Op::mul: break;
    default: ops = std::uint64_t{1} << static_cast<unsigned>(e.op);
  }
  for (const ExprPtr& arg : e.args) ops |= ops_of(*arg);
  return ops;
}

bool is_literal_variable(std::string_view name) { return name == "n" || name == "m" || name == "k"; }

}  // namespace cairn::algebra
