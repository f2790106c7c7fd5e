// Rules 3 roles, 4 arity, 5 dtypes, 6 sizes: what a mention must agree on with its tensor.
#include <fmt/core.h>

#include <map>

#include "ir/interval.h"
#include "ir/typing.h"
#include "ir/walk.h"
#include "verify/rules/rules.h"

namespace cairn {

namespace {
void for_each_stmt(const Body& body, const std::function<void(const Stmt&)>& fn) {
  for (const StmtPtr& s : body) {
    fn(*s);
    for_each_stmt(s->body, fn);
  }
}

bool supported(Dtype dtype) {
  return is_float(dtype) || is_integer(dtype) || dtype == Dtype::boolean;
}
}  // namespace

void check_roles(VerifyFacts& facts, VerifyReport& report) {
  for_each_stmt(facts.program().body(), [&](const Stmt& s) {
    if (!s.is_equation()) return;
    const Tensor* t = facts.program().find(s.tensor);
    if (t == nullptr || t->role == Role::out || t->role == Role::io || t->role == Role::tmp) return;
    refuse(facts, report, 3, s.pos, fmt::format("{} tensor {} is written, expected only reads of it", role_name(t->role), s.tensor),
           fmt::format("declare {} as io, or write another tensor", s.tensor));
  });
}

void check_arity(VerifyFacts& facts, VerifyReport& report) {
  std::map<std::string, std::size_t, std::less<>> ranks;
  for (const Tensor& t : facts.program().tensors()) {
    if (t.shape) ranks.emplace(t.name, t.shape->size());
  }
  const auto mention = [&](const std::string& name, std::size_t rank, SourcePos pos) {
    const auto [it, first] = ranks.emplace(name, rank);
    if (it->second == rank) return;
    const Tensor* t = facts.program().find(name);
    refuse(facts, report, 4, pos,
           fmt::format("tensor {} has {} subscripts here, expected {}{}", name, rank, it->second,
                       t != nullptr && t->shape ? " as declared" : " as at its first mention"));
  };
  const auto expression = [&](const Expr& root, SourcePos fallback) {
    visit_expr(root, [&](const Expr& e) {
      if (e.op == Op::read) mention(e.name, e.args.size(), e.pos == kNoPos ? fallback : e.pos);
      return true;
    });
  };
  for_each_stmt(facts.program().body(), [&](const Stmt& s) {
    if (s.is_test()) expression(*s.cond, s.pos);
    if (!s.is_equation()) return;
    mention(s.tensor, s.subscripts.size(), s.pos);
    for (const ExprPtr& sub : s.subscripts) expression(*sub, s.pos);
    expression(*s.rhs, s.pos);
  });
}

void check_dtypes(VerifyFacts& facts, VerifyReport& report) {
  const Program& program = facts.program();
  for (const Tensor& t : program.tensors()) {
    if (!supported(t.dtype)) {
      refuse(facts, report, 5, t.pos, fmt::format("tensor {} has dtype {}, expected a float, an integer or bool", t.name, dtype_name(t.dtype)));
    }
  }
  if (!report.ok()) return;
  const auto take = [&](auto result, SourcePos pos) {
    if (result.ok()) return;
    Error error = std::move(result.error());
    if (error.where.line == 0) error.where = locate(program, pos);
    refuse(report, 5, std::move(error));
  };
  for_each_stmt(program.body(), [&](const Stmt& s) {
    if (s.is_test()) take(elaborate_condition(program, s.cond), s.pos);
    if (!s.is_equation()) return;
    for (const ExprPtr& sub : s.subscripts) take(elaborate_index(program, sub), s.pos);
    take(elaborate_rhs(program, s), s.pos);
  });
}

void check_sizes(VerifyFacts& facts, VerifyReport& report) {
  const Program& program = facts.program();
  for_each_stmt(program.body(), [&](const Stmt& s) {
    if (s.is_loop() && s.extent < 1) {
      refuse(facts, report, 6, s.pos, fmt::format("loop {} has extent {}, expected at least 1", s.var, s.extent));
    }
  });
  const auto check = [&](const Tensor& t, const Shape& shape) {
    for (const std::int64_t extent : shape) {
      if (extent >= 1) continue;
      refuse(facts, report, 6, t.pos, fmt::format("tensor {} has an extent of {}, expected at least 1", t.name, extent));
      return;
    }
    const auto count = element_count(shape);
    std::int64_t bytes = 0;
    if (!count || __builtin_mul_overflow(*count, dtype_bytes(t.dtype), &bytes)) {
      refuse(facts, report, 6, t.pos, fmt::format("tensor {} has more bytes than 63 bits count, expected a smaller shape", t.name));
    }
  };
  for (const Tensor& t : program.tensors()) {
    if (t.shape) check(t, *t.shape);
  }
  if (!report.ok()) return;
  auto shapes = infer_shapes(program);
  if (!shapes) {
    refuse(report, 6, std::move(shapes.error()));
    return;
  }
  for (const Tensor& t : program.tensors()) {
    const auto it = shapes->find(t.name);
    if (!t.shape && it != shapes->end()) check(t, it->second);
  }
}

}  // namespace cairn
