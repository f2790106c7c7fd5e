// The Step-TP reading of promises (leir.md "The Step-TP profile").
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "ir/parser.h"
#include "ir/walk.h"

namespace cairn {

namespace {
bool is_axis(std::string_view var, char first) {
  return var.size() >= 2 && var[0] == first && var[1] >= 'x' && var[1] <= 'z';
}

// Whether every outermost B loop below is a block axis.
bool blocks_outermost(const Body& body) {
  return std::all_of(body.begin(), body.end(), [](const StmtPtr& stmt) {
    if (stmt->is_loop() && stmt->kind == LoopKind::B) return is_axis(stmt->var, 'b');
    return blocks_outermost(stmt->body);
  });
}

Body read_axes_as_parallel(const Body& body, std::set<std::string>& axes) {
  Body out;
  out.reserve(body.size());
  for (const StmtPtr& stmt : body) {
    if (stmt->is_equation()) {
      out.push_back(stmt);
      continue;
    }
    StmtPtr copy = with_body(*stmt, read_axes_as_parallel(stmt->body, axes));
    if (copy->is_loop() && copy->kind == LoopKind::B) {
      auto loop = std::make_shared<Stmt>(*copy);
      loop->kind = LoopKind::P;
      loop->axis_hint = loop->var;
      axes.insert(loop->var);
      copy = std::move(loop);
    }
    out.push_back(std::move(copy));
  }
  return out;
}

bool binds(const Body& body, std::string_view var) {
  return std::any_of(body.begin(), body.end(), [var](const StmtPtr& stmt) {
    return (stmt->is_loop() && stmt->var == var) || binds(stmt->body, var);
  });
}

// Step-TP names an axis "bxa" after the loop "a" it bound: the loop becomes "bx" where no other loop around or
// inside it has that name.
Body name_axes(const Body& body, std::vector<std::string>& around) {
  Body out;
  out.reserve(body.size());
  for (const StmtPtr& stmt : body) {
    if (stmt->is_equation()) {
      out.push_back(stmt);
      continue;
    }
    StmtPtr node = stmt;
    const bool suffixed = stmt->is_loop() && stmt->kind == LoopKind::B && stmt->var.size() > 2 &&
                          (is_axis(stmt->var, 'b') || is_axis(stmt->var, 't'));
    if (suffixed) {
      const std::string axis = stmt->var.substr(0, 2);
      if (std::find(around.begin(), around.end(), axis) == around.end() && !binds(stmt->body, axis)) {
        auto named = std::make_shared<Stmt>(*rename_loop_var(stmt, axis));
        named->axis_hint = stmt->var;
        node = std::move(named);
      }
    }
    around.push_back(node->var);
    Body inner = name_axes(node->body, around);
    around.pop_back();
    out.push_back(inner == node->body ? node : with_body(*node, std::move(inner)));
  }
  return out;
}

void collect_reads(const Expr& expr, std::set<std::string_view>& names) {
  if (expr.op == Op::read) names.insert(expr.name);
  for (const ExprPtr& arg : expr.args) collect_reads(*arg, names);
}

void collect_mentions(const Stmt& stmt, std::set<std::string_view>& names) {
  if (stmt.is_equation()) {
    names.insert(stmt.tensor);
    for (const ExprPtr& subscript : stmt.subscripts) collect_reads(*subscript, names);
    collect_reads(*stmt.rhs, names);
  }
  if (stmt.is_test()) collect_reads(*stmt.cond, names);
  for (const StmtPtr& child : stmt.body) collect_mentions(*child, names);
}
}  // namespace

void read_steptp_promises(Program& program) {
  Body body;
  std::set<std::string> axes;
  for (const StmtPtr& nest : program.body()) {
    const Body one{nest};
    std::vector<std::string> around;
    Body read = blocks_outermost(one) ? name_axes(one, around) : read_axes_as_parallel(one, axes);
    body.push_back(std::move(read[0]));
  }
  if (!axes.empty()) {
    std::string list;
    for (const std::string& axis : axes) list += (list.empty() ? "" : ", ") + axis;
    program.add_note(fmt::format("thread axes without block axes are read as parallel loops: {}", list));
  }
  std::set<std::string_view> seen;
  std::set<std::string> crossing;
  for (const StmtPtr& nest : body) {
    std::set<std::string_view> here;
    collect_mentions(*nest, here);
    for (const std::string_view name : here) {
      if (!seen.insert(name).second) crossing.emplace(name);
    }
  }
  for (const std::string& name : crossing) {
    const Tensor* tensor = program.find(name);
    if (tensor == nullptr || tensor->role != Role::tmp || tensor->scope == Scope::g) continue;
    program.add_note(fmt::format("{} is ^{{{},{}}} but crosses nests: read as g", name, dtype_name(tensor->dtype),
                                 scope_name(tensor->scope)));
    Tensor moved = *tensor;
    moved.scope = Scope::g;
    program.set_tensor(std::move(moved));
  }
  program.set_body(std::move(body));
}

}  // namespace cairn
