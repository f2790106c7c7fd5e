#include "eval/reference_c.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "eval/reference_expr.h"
#include "eval/reference_prelude.h"
#include "ir/interval.h"
#include "ir/self_update.h"
#include "ir/typing.h"
#include "ir/walk.h"

namespace cairn {

namespace {
constexpr std::int64_t kTile = 16;

// A nest that is a chain of loops and tests around one equation.
struct Chain {
  std::vector<const Stmt*> loops;
  std::vector<const Stmt*> tests;
  const Stmt* equation = nullptr;
};
std::optional<Chain> match_chain(const Stmt& nest) {
  Chain chain;
  const Stmt* at = &nest;
  while (!at->is_equation()) {
    (at->is_loop() ? chain.loops : chain.tests).push_back(at);
    if (at->body.size() != 1) return std::nullopt;
    at = at->body[0].get();
  }
  chain.equation = at;
  return chain;
}

// Loop variables that subscript the target, if every subscript is a literal or a variable of its own.
std::optional<std::vector<std::string>> plain_subscripts(const Stmt& equation) {
  std::vector<std::string> vars;
  for (const ExprPtr& s : equation.subscripts) {
    if (s->op == Op::int_literal) continue;
    if (s->op != Op::loop_var || std::find(vars.begin(), vars.end(), s->name) != vars.end()) return std::nullopt;
    vars.push_back(s->name);
  }
  return vars;
}

class Emitter {
 public:
  Emitter(const Program& program, ShapeMap shapes) : program_(program), shapes_(std::move(shapes)), expr_(program, shapes_) {}

  Result<ReferenceSource> emit() {
    find_starts();
    line(0, std::string(reference_prelude()));
    line(0, fmt::format("int {}(void *const *tensors, void *workspace) {{", kReferenceEntry));
    ReferenceSource source;
    source.runs = count_runs();
    source.operations = count_operations(program_.body());
    constexpr double kElement = 4;   // operations that making, storing and comparing an element is worth
    for (const Tensor& t : program_.tensors()) {
      if (t.role != Role::tmp) source.operations += kElement * static_cast<double>(element_count(shapes_.find(t.name)->second).value_or(0));
    }
    std::size_t index = 0;
    for (const Tensor& t : program_.tensors()) {
      const char* type = is_float(t.dtype) ? "double" : "i64";
      const std::int64_t count = element_count(shapes_.find(t.name)->second).value_or(0);
      if (t.role != Role::tmp) {
        line(1, fmt::format("{} *restrict t_{} = tensors[{}];", type, t.name, index++));
      } else {
        line(1, fmt::format("{} *restrict t_{} = (void *)((char *)workspace + {});", type, t.name, source.workspace_bytes));
        source.workspace_bytes += (count * 8 + 63) / 64 * 64;
      }
      if (const auto it = flags_.find(t.name); it != flags_.end()) {
        line(1, fmt::format("unsigned char *restrict w_{} = (void *)((char *)workspace + {});", t.name, source.workspace_bytes));
        line(1, fmt::format("memset(w_{}, 0, {});", t.name, count));
        source.workspace_bytes += (count + 63) / 64 * 64;
      }
    }
    line(1, "static u64 calls;");
    line(1, "seed = ++calls * 0xd1342543de82ef95ull;");
    line(1, fmt::format("const char *runs = getenv(\"{}\");", kReferenceRuns));
    line(1, fmt::format("const u64 turn = calls % (u64)(runs ? atoi(runs) : {});", source.runs));
    line(1, "fused = turn == 2;");
    line(1, "random_bits = turn == 1 || fused ? 0 : ~(u64)0;");
    line(1, "broken = 0;");
    for (const auto& [name, value] : fills_) {
      const std::int64_t count = element_count(shapes_.find(name)->second).value_or(0);
      line(1, fmt::format("for (i64 e = 0; e < {}; ++e) t_{}[e] = {};", count, name, value));
    }
    for (const StmtPtr& nest : program_.body()) CAIRN_CHECKED(emit_nest(*nest));
    line(1, "return broken;");
    line(0, "}");
    source.code = std::move(code_);
    return source;
  }

 private:
  void line(int depth, const std::string& text) {
    code_.append(static_cast<std::size_t>(depth) * 2, ' ');
    code_ += text;
    code_ += '\n';
  }

  // Six naive runs are enough to know errors of many elements, not of a few.
  int count_runs() const {
    constexpr std::int64_t kFew = 64;
    int runs = 6;
    for (const Tensor& t : program_.tensors()) {
      const bool is_output = t.role == Role::out || t.role == Role::io;
      if (is_output && element_count(shapes_.find(t.name)->second).value_or(0) < kFew) runs = 14;
    }
    return runs;
  }

  // Arithmetic and stores; guards are not counted.
  static double count_operations(const Body& body) {
    double count = 0;
    for (const StmtPtr& s : body) {
      if (s->is_equation()) {
        visit_expr(*s->rhs, [&](const Expr& e) {
          count += e.op == Op::read || e.args.empty() ? 0 : 1;
          return e.op != Op::read;   // subscripts are cheap beside what they fetch
        });
        count += 1;   // the store
      } else {
        count += count_operations(s->body) * (s->is_loop() ? static_cast<double>(s->extent) : 1);
      }
    }
    return count;
  }

  // Where self-updates may start: one operator's neutral element is filled in before; with several, flags tell
  // which elements were written.
  void find_starts() {
    std::map<std::string, std::set<UpdateOp>> ops;
    for (const EquationRef& ref : collect_equations(program_.body())) {
      const Tensor* t = program_.find(ref.equation->tensor);
      if (t == nullptr || t->role == Role::io) continue;
      if (const auto update = match_self_update(*ref.equation)) ops[t->name].insert(update->op);
    }
    for (const auto& [name, set] : ops) {
      if (set.size() == 1) fills_[name] = neutral(*set.begin(), program_.find(name)->dtype);
      else flags_.insert(name);
    }
  }
  static std::string neutral(UpdateOp op, Dtype dtype) {
    const ExprPtr e = neutral_element(op, dtype);
    if (e->op == Op::float_literal) return print_double(e->float_value);
    return e->int_value == INT64_MIN ? "INT64_MIN" : fmt::format("INT64_C({})", e->int_value);
  }

  Result<void> emit_nest(const Stmt& nest) {
    const auto chain = match_chain(nest);
    if (!chain || chain->loops.empty()) return emit_plain(nest, 1);
    const auto vars = plain_subscripts(*chain->equation);
    const auto update = match_self_update(*chain->equation);
    if (!vars || vars->empty() || flags_.count(chain->equation->tensor) != 0) return emit_plain(nest, 1);
    const std::string& target = chain->equation->tensor;
    for (const Stmt* test : chain->tests) {
      if (reads_tensor(*test->cond, target)) return emit_plain(nest, 1);
    }
    if (update) return emit_update(*chain, *vars, *update);
    if (reads_tensor(*chain->equation->rhs, target)) return emit_plain(nest, 1);
    // A map: every iteration of a loop that subscripts the target writes elements of its own.
    if (std::find(vars->begin(), vars->end(), chain->loops[0]->var) != vars->end() && nest.is_loop()) {
      line(1, "#pragma omp parallel for");
    }
    return emit_plain(nest, 1);
  }

  Result<void> emit_plain(const Stmt& stmt, int depth) {
    if (stmt.is_equation()) return emit_equation(stmt, depth);
    if (stmt.is_loop()) {
      line(depth, fmt::format("for (i64 v_{0} = 0; v_{0} < {1}; ++v_{0}) {{", stmt.var, stmt.extent));
    } else {
      CAIRN_TRY(const TypedPtr cond, elaborate_condition(program_, stmt.cond));
      line(depth, fmt::format("if ({}) {{", expr_.print(*cond)));
    }
    for (const StmtPtr& s : stmt.body) CAIRN_CHECKED(emit_plain(*s, depth + 1));
    line(depth, "}");
    return {};
  }

  Result<std::string> print_place(const Stmt& equation) {
    std::vector<TypedPtr> subscripts;
    for (const ExprPtr& s : equation.subscripts) {
      CAIRN_TRY(TypedPtr typed, elaborate_index(program_, s));
      subscripts.push_back(std::move(typed));
    }
    return expr_.offset(equation.tensor, subscripts);
  }

  Result<void> emit_equation(const Stmt& equation, int depth) {
    CAIRN_TRY(const std::string place, print_place(equation));
    CAIRN_TRY(const TypedPtr rhs, elaborate_rhs(program_, equation));
    const Tensor& t = *program_.find(equation.tensor);
    const bool flagged = flags_.count(t.name) != 0;
    const auto update = match_self_update(equation);
    if (flagged && update) {
      expr_.set_self(update->self, fmt::format("(w_{0}[{1}] ? t_{0}[{1}] : {2})", t.name, place, neutral(update->op, t.dtype)));
    }
    const std::string value = expr_.stored(t.dtype, expr_.print(*rhs));
    expr_.set_self(nullptr, {});
    if (flagged) line(depth, fmt::format("{{ i64 e = {1}; t_{0}[e] = {2}; w_{0}[e] = 1; }}", t.name, place, value));
    else line(depth, fmt::format("t_{}[{}] = {};", t.name, place, value));
    return {};
  }

  // Reductions in their own order around a tile of the target's last loop variable, kept in local accumulators.
  Result<void> emit_update(const Chain& chain, const std::vector<std::string>& vars, const SelfUpdate& update) {
    std::vector<const Stmt*> outer, reductions;
    const Stmt* tiled = nullptr;
    for (const Stmt* loop : chain.loops) {
      if (loop->var == vars.back()) tiled = loop;
      else (std::find(vars.begin(), vars.end(), loop->var) != vars.end() ? outer : reductions).push_back(loop);
    }
    if (tiled == nullptr || tiled->extent == 0) return emit_plain(*chain.loops[0], 1);
    const std::int64_t full = tiled->extent / kTile, rest = tiled->extent % kTile;
    if (full > 0) {
      line(1, "#pragma omp parallel for");
      line(1, fmt::format("for (i64 tile = 0; tile < {}; ++tile) {{", full));
      CAIRN_CHECKED(emit_tile(chain, outer, reductions, *tiled, update, "tile * 16", kTile, 2, false));
      line(1, "}");
    }
    if (rest > 0) CAIRN_CHECKED(emit_tile(chain, outer, reductions, *tiled, update, std::to_string(full * kTile), rest, 1, true));
    return {};
  }

  Result<void> emit_tile(const Chain& chain, const std::vector<const Stmt*>& outer, const std::vector<const Stmt*>& reductions,
                         const Stmt& tiled, const SelfUpdate& update, const std::string& start, std::int64_t width,
                         int depth, bool parallel) {
    const int first = depth;
    const auto open = [&](const Stmt& loop) {
      if (parallel && depth == first) line(depth, "#pragma omp parallel for");
      line(depth++, fmt::format("for (i64 v_{0} = 0; v_{0} < {1}; ++v_{0}) {{", loop.var, loop.extent));
    };
    const auto lanes = [&] { return fmt::format("for (int lane = 0; lane < {}; ++lane) {{ const i64 v_{} = {} + lane;", width, tiled.var, start); };
    const Tensor& t = *program_.find(chain.equation->tensor);
    for (const Stmt* loop : outer) open(*loop);
    parallel = false;
    CAIRN_TRY(const std::string place, print_place(*chain.equation));
    if (outer.empty()) line(depth++, "{");
    line(depth, fmt::format("{} acc[{}];", is_float(t.dtype) ? "double" : "i64", width));
    line(depth, fmt::format("{} acc[lane] = t_{}[{}]; }}", lanes(), t.name, place));
    for (const Stmt* loop : reductions) open(*loop);
    CAIRN_TRY(const TypedPtr rhs, elaborate_rhs(program_, *chain.equation));
    expr_.set_self(update.self, t.dtype == Dtype::boolean ? "(acc[lane] != 0)" : "acc[lane]");
    line(depth, lanes());
    std::string guard;
    for (const Stmt* test : chain.tests) {
      CAIRN_TRY(const TypedPtr cond, elaborate_condition(program_, test->cond));
      guard += fmt::format("if ({}) ", expr_.print(*cond));
    }
    line(depth + 1, fmt::format("{}acc[lane] = {};", guard, expr_.stored(t.dtype, expr_.print(*rhs))));
    expr_.set_self(nullptr, {});
    line(depth, "}");
    for (std::size_t i = 0; i < reductions.size(); ++i) line(--depth, "}");
    line(depth, fmt::format("{} t_{}[{}] = acc[lane]; }}", lanes(), t.name, place));
    if (outer.empty()) line(--depth, "}");
    for (std::size_t i = 0; i < outer.size(); ++i) line(--depth, "}");
    return {};
  }

  const Program& program_;
  const ShapeMap shapes_;
  ReferenceExpr expr_;
  std::map<std::string, std::string> fills_;
  std::set<std::string> flags_;
  std::string code_;
};
}  // namespace

Result<ReferenceSource> lower_reference(const Program& program) {
  CAIRN_TRY(ShapeMap shapes, infer_shapes(program));
  for (const Tensor& t : program.tensors()) {
    if (shapes.find(t.name) == shapes.end()) {
      return Error{Code::verify, fmt::format("tensor {} has no shape", t.name), {}, {}};
    }
  }
  return Emitter(program, std::move(shapes)).emit();
}

}  // namespace cairn
