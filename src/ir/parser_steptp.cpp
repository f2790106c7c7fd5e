// The Step-TP reading of promises (leir.md "The Step-TP profile").
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "ir/parser.h"
#include "ir/steptp_hints.h"
#include "ir/subscripts.h"
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

// Loops of a kind for which `which` holds become P with a hint of what they were; their variables are noted.
Body read_as_parallel(const Body& body, LoopKind kind, const std::function<bool(const Stmt&)>& which,
                      const std::function<std::string(const Stmt&)>& hint, std::set<std::string>& vars) {
  return rewrite_stmts(body, [&](const StmtPtr& stmt) -> std::optional<Body> {
    if (!stmt->is_loop() || stmt->kind != kind || !which(*stmt)) return std::nullopt;
    auto loop = std::make_shared<Stmt>(*stmt);
    loop->kind = LoopKind::P;
    loop->axis_hint = hint(*stmt);
    vars.insert(loop->var);
    return Body{std::move(loop)};
  });
}

Body read_axes_as_parallel(const Body& body, std::set<std::string>& axes) {
  return read_as_parallel(body, LoopKind::B, [](const Stmt&) { return true; }, [](const Stmt& loop) { return loop.var; }, axes);
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
bool holds_only_unrolled(const Body& body) {
  return std::all_of(body.begin(), body.end(), [](const StmtPtr& stmt) {
    return (!stmt->is_loop() || stmt->kind == LoopKind::U) && holds_only_unrolled(stmt->body);
  });
}

// A V loop that no unit's lanes can run promises what P promises: Step-TP puts V on any loop.
Body read_lanes(const Body& body, std::set<std::string>& vars) {
  const auto no_lanes = [](const Stmt& loop) { return !holds_only_unrolled(loop.body) || (loop.extent & (loop.extent - 1)) != 0; };
  return read_as_parallel(body, LoopKind::V, no_lanes, [](const Stmt&) { return std::string(kLanesHint); }, vars);
}

// Equations below parallel loops that do not count them: every iteration writes the same values to the same elements of a
// g tensor, which the first may do alone.
class WrittenOnce {
 public:
  WrittenOnce(const Program& program, const StmtPtr& nest, std::set<std::string>* targets) : program_(program), targets_(targets) { count(*nest); }
  Body read(const Body& body) {
    Body out;
    out.reserve(body.size());
    for (const StmtPtr& stmt : body) {
      if (stmt->is_equation()) {
        out.push_back(guard(stmt));
        continue;
      }
      around_.push_back(stmt.get());
      Body inner = read(stmt->body);
      around_.pop_back();
      out.push_back(inner == stmt->body ? stmt : with_body(*stmt, std::move(inner)));
    }
    return out;
  }

 private:
  void count(const Stmt& stmt) {
    std::set<std::string_view> names;
    if (stmt.is_equation()) {
      ++writes_[stmt.tensor];
      for (const ExprPtr& subscript : stmt.subscripts) collect_reads(*subscript, names);
      collect_reads(*stmt.rhs, names);
    }
    if (stmt.is_test()) collect_reads(*stmt.cond, names);
    for (const std::string_view name : names) read_.emplace(name);
    for (const StmtPtr& child : stmt.body) count(*child);
  }
  bool uses(const Stmt& equation, std::size_t loop) const {
    const std::string& var = around_[loop]->var;
    for (std::size_t i = loop + 1; i < around_.size(); ++i) {
      if (around_[i]->is_test() && uses_var(*around_[i]->cond, var)) return true;
    }
    return uses_var(*equation.rhs, var) ||
           subscripts_use(equation.subscripts, var);
  }
  StmtPtr guard(const StmtPtr& equation) const {
    const Tensor* target = program_.find(equation->tensor);
    if (target == nullptr || target->scope != Scope::g || writes_.at(equation->tensor) != 1 || read_.count(equation->tensor) != 0) return equation;
    std::set<std::string_view> names;
    for (const ExprPtr& subscript : equation->subscripts) collect_reads(*subscript, names);
    collect_reads(*equation->rhs, names);
    for (const Stmt* stmt : around_) {
      if (stmt->is_test()) collect_reads(*stmt->cond, names);
    }
    if (std::any_of(names.begin(), names.end(), [this](std::string_view name) { return writes_.count(std::string(name)) != 0; })) return equation;
    StmtPtr guarded = equation;
    for (std::size_t i = around_.size(); i-- > 0;) {
      const bool parallel = around_[i]->is_loop() && (around_[i]->kind == LoopKind::P || around_[i]->kind == LoopKind::B);
      if (!parallel || around_[i]->extent < 2 || uses(*equation, i)) continue;
      auto test = std::make_shared<Stmt>(*make_test(make_expr(Op::eq, {make_var(around_[i]->var), make_int(0)}), Body{guarded}, equation->pos));
      test->axis_hint = kOnceHint;
      guarded = std::move(test);
      targets_->insert(equation->tensor);
    }
    return guarded;
  }

  const Program& program_;
  std::set<std::string>* targets_;
  std::map<std::string, int> writes_;
  std::set<std::string> read_;
  std::vector<const Stmt*> around_;
};

std::string join(const std::set<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}
}  // namespace

void read_steptp_promises(Program& program) {
  Body body;
  std::set<std::string> axes, lanes;
  for (const StmtPtr& nest : program.body()) {
    const Body one = read_lanes({nest}, lanes);
    std::vector<std::string> around;
    Body read = blocks_outermost(one) ? name_axes(one, around) : read_axes_as_parallel(one, axes);
    body.push_back(std::move(read[0]));
  }
  if (!axes.empty()) {
    program.add_note(fmt::format("thread axes without block axes are read as parallel loops: {}", join(axes)));
  }
  if (!lanes.empty()) {
    program.add_note(fmt::format("V loops with loops inside or no power of two are read as parallel loops: {}", join(lanes)));
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
  std::set<std::string> once;
  for (StmtPtr& nest : body) nest = WrittenOnce(program, nest, &once).read({nest})[0];
  if (!once.empty()) {
    program.add_note(fmt::format("written alike by all iterations of a parallel loop, read as by the first: {}", join(once)));
  }
  program.set_body(std::move(body));
}

}  // namespace cairn
