// The canonical hash: blind to names of loops and temporaries and to operand order, and to nothing else.
#include <map>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "support/leir_files.h"

namespace cairn {
namespace {

bool commutes(Op op) {
  return op == Op::add || op == Op::mul || op == Op::max || op == Op::min || op == Op::eq || op == Op::ne;
}

// Renames every temporary and loop variable at random and swaps operands at random.
class Disguise {
 public:
  Disguise(const Program& program, Rng& rng) : rng_(rng) {
    std::vector<std::string> taken;
    std::vector<const Tensor*> order;
    for (const Tensor& tensor : program.tensors()) order.push_back(&tensor);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
    for (const Tensor* tensor : order) {
      Tensor copy = *tensor;
      if (tensor->role == Role::tmp) {
        copy.name = fresh_tensor(program, taken);
        taken.push_back(copy.name);
        names_[tensor->name] = copy.name;
      }
      out_.set_tensor(std::move(copy));
    }
    out_.set_body(disguise(program.body(), {}));
  }
  const Program& result() const { return out_; }

 private:
  Body disguise(const Body& body, const std::map<std::string, std::string>& vars) {
    Body out;
    for (const StmtPtr& stmt : body) {
      if (stmt->is_equation()) {
        std::vector<ExprPtr> subscripts;
        for (const ExprPtr& s : stmt->subscripts) subscripts.push_back(disguise(s, vars));
        out.push_back(make_equation(rename(stmt->tensor), std::move(subscripts), disguise(stmt->rhs, vars)));
      } else if (stmt->is_test()) {
        out.push_back(make_test(disguise(stmt->cond, vars), disguise(stmt->body, vars)));
      } else {
        std::string fresh;
        do {
          fresh = {static_cast<char>('a' + rng_.below(26)), static_cast<char>('a' + rng_.below(26)), 'q'};
        } while (std::any_of(vars.begin(), vars.end(), [&fresh](const auto& v) { return v.second == fresh; }));
        auto inner = vars;
        inner[stmt->var] = fresh;
        out.push_back(make_loop(stmt->kind, stmt->extent, fresh, disguise(stmt->body, inner), stmt->mark));
      }
    }
    return out;
  }
  ExprPtr disguise(const ExprPtr& root, const std::map<std::string, std::string>& vars) {
    return rewrite_expr(root, [&](const ExprPtr& e) -> ExprPtr {
      if (e->op == Op::loop_var && vars.contains(e->name)) return make_var(vars.at(e->name));
      if (e->op == Op::read) return make_read(rename(e->name), e->args);
      if (commutes(e->op) && rng_.below(2) == 0) return make_expr(e->op, {e->args[1], e->args[0]});
      return nullptr;
    });
  }
  std::string rename(const std::string& name) const {
    const auto it = names_.find(name);
    return it == names_.end() ? name : it->second;
  }

  Rng& rng_;
  std::map<std::string, std::string> names_;
  Program out_;
};

// Changes the n-th expression node met (pre-order within bottom-up rebuilding) in a way that changes meaning or
// structure beyond names and operand order; returns null if that node offers no such edit.
ExprPtr edit_node(const ExprPtr& e, Rng& rng) {
  switch (e->op) {
    case Op::int_literal: return make_int(e->int_value ^ static_cast<std::int64_t>(1 + rng.below(7)));
    case Op::float_literal: return make_float(e->float_value == 0.5 ? 0.25 : 0.5);
    case Op::loop_var: return make_expr(Op::add, {e, make_int(1)});
    case Op::read: return make_expr(Op::neg, {e});
    case Op::cast: return make_cast(e->dtype == Dtype::f16 ? Dtype::bf16 : Dtype::f16, e->args[0]);
    case Op::add: return make_expr(Op::sub, e->args);
    case Op::mul: return make_expr(Op::div, e->args);
    case Op::max: return make_expr(Op::min, e->args);
    default: break;
  }
  if (e->args.size() == 2 && !commutes(e->op) && !same_expr(e->args[0], e->args[1])) {
    return make_expr(e->op, {e->args[1], e->args[0]});
  }
  if (e->args.size() == 1 && e->op != Op::abs) return make_expr(Op::abs, e->args);
  return nullptr;
}

Body edit_body(const Body& body, std::uint64_t target, Rng& rng, bool* edited) {
  std::uint64_t n = 0;
  return rewrite_exprs(body, [&](const ExprPtr& e) -> ExprPtr {
    if (n++ != target) return nullptr;
    ExprPtr out = edit_node(e, rng);
    *edited = out != nullptr;
    return out;
  });
}

std::vector<Program> programs() {
  std::vector<Program> out;
  for (const LeirFile& file : load_leir_files("ok")) out.push_back(*parse_program(file.text));
  return out;
}

TEST(Canon, RenamingAndCommutingKeepTheHash) {
  Rng rng(20261129);
  std::printf("seed 20261129\n");
  for (const Program& program : programs()) {
    for (int i = 0; i < 20; ++i) {
      const Disguise disguise(program, rng);
      ASSERT_EQ(canonical_hash(program), canonical_hash(disguise.result()))
          << print_program(program) << "\n" << print_program(disguise.result());
    }
  }
}

TEST(Canon, EveryExpressionEditChangesTheHash) {
  Rng rng(7);
  std::printf("seed 7\n");
  for (const Program& program : programs()) {
    const Digest hash = canonical_hash(program);
    std::uint64_t nodes = 0;
    rewrite_exprs(program.body(), [&nodes](const ExprPtr&) { return ++nodes, ExprPtr(); });
    for (std::uint64_t target = 0; target < nodes; ++target) {
      bool edited = false;
      Program other = program;
      other.set_body(edit_body(program.body(), target, rng, &edited));
      if (!edited) continue;
      ASSERT_NE(hash, canonical_hash(other)) << print_program(program) << "\n" << print_program(other);
    }
  }
}

TEST(Canon, EveryStatementAndTensorEditChangesTheHash) {
  for (const Program& program : programs()) {
    const Digest hash = canonical_hash(program);
    const auto expect_change = [&](Program other, const char* what) {
      EXPECT_NE(hash, canonical_hash(other)) << what << "\n" << print_program(other);
    };
    visit_stmts(program.body(), [&](const Stmt& stmt, const StmtContext& context) {
      Program other = program;
      other.set_body(replace_at(program.body(), context.path, {}));
      expect_change(other, "statement removed");
      if (!stmt.is_loop()) return;
      const auto with = [&](auto change) {
        auto copy = std::make_shared<Stmt>(stmt);
        change(*copy);
        other.set_body(replace_at(program.body(), context.path, Body{copy}));
        expect_change(other, "loop changed");
      };
      with([](Stmt& s) { ++s.extent; });
      with([](Stmt& s) { s.kind = s.kind == LoopKind::L ? LoopKind::U : LoopKind::L; });
      with([](Stmt& s) { s.mark = {LoopMark::Type::count, s.mark.count + 1}; });
    });
    for (const Tensor& tensor : program.tensors()) {
      const auto with = [&](auto change) {
        Program other = program;
        Tensor copy = tensor;
        change(copy);
        other.set_tensor(std::move(copy));
        expect_change(other, "tensor changed");
      };
      with([](Tensor& t) { t.dtype = t.dtype == Dtype::f64 ? Dtype::f32 : Dtype::f64; });
      with([](Tensor& t) { t.scope = t.scope == Scope::g ? Scope::s : Scope::g; });
      if (tensor.declared) with([](Tensor& t) { t.shape = Shape{3, 5, 7, 9, 11}; });
      if (tensor.role == Role::in) with([](Tensor& t) { t.role = Role::param; });
      if (tensor.role != Role::tmp) with([](Tensor& t) { t.data = {1, 2}; });
    }
  }
}

TEST(Canon, ProgramsOfTheCorpusDiffer) {
  std::map<Digest, std::string> seen;
  for (const Program& program : programs()) {
    const auto [it, fresh] = seen.emplace(canonical_hash(program), print_program(program));
    EXPECT_TRUE(fresh) << it->second << print_program(program);
  }
}

TEST(Canon, ConstDataCounts) {
  const std::string text = "const C^{f32}_{4};out D^{f32}_{4};L^{4}_{i=0}[D_{i}=C_{i};];";
  ParseOptions options;
  options.const_digests["C"] = digest_bytes("abc");
  EXPECT_NE(canonical_hash(*parse_program(text)), canonical_hash(*parse_program(text, options)));
}

TEST(Canon, NestHashFollowsTheNestAndItsTensors) {
  const Program a = *parse_program("out D^{f32}_{4};L^{4}_{i=0}[E^{f32,g}_{i}=1;];L^{4}_{i=0}[D_{i}=E^{f32,g}_{i};];");
  const Program b = *parse_program("out D^{f32}_{4};L^{4}_{i=0}[E^{f32,g}_{i}=2;];L^{4}_{j=0}[D_{j}=E^{f32,g}_{j};];");
  const Program c = *parse_program("out D^{f32}_{4};L^{4}_{i=0}[E^{f64,g}_{i}=1;];L^{4}_{i=0}[D_{i}=E^{f64,g}_{i};];");
  EXPECT_NE(nest_hash(a, *a.body()[0]), nest_hash(b, *b.body()[0]));
  EXPECT_EQ(nest_hash(a, *a.body()[1]), nest_hash(b, *b.body()[1]));
  EXPECT_NE(nest_hash(a, *a.body()[1]), nest_hash(c, *c.body()[1]));
}

}  // namespace
}  // namespace cairn
