// Rules 11 scatter, 12 parallel, 13 vector, 14 lanes, 16 threads, 22 kernels, 24 marks: loop kinds.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/affine.h"
#include "analysis/kernels.h"
#include "ir/self_update.h"
#include "ir/walk.h"
#include "verify/rules/rules.h"

namespace cairn {

namespace {
void for_each_loop(VerifyFacts& facts, LoopKind kind, const std::function<void(const Stmt&, const StmtContext&)>& fn) {
  visit_stmts(facts.program().body(), [&](const Stmt& s, const StmtContext& context) {
    if (s.is_loop() && s.kind == kind) fn(s, context);
  });
}

bool under(const StmtPath& loop, const Access& a) {
  return a.path.size() > loop.size() && std::equal(loop.begin(), loop.end(), a.path.begin());
}

void check_kind(VerifyFacts& facts, VerifyReport& report, int rule, const StmtPath& path, LoopKind kind) {
  PromiseVerdict v = check_promise(facts.flow(), facts.program(), path, kind);
  if (!v.ok) refuse(report, rule, std::move(v.reason));
}

const char* kind_letter(LoopKind kind) {
  constexpr const char* kLetters[] = {"L", "P", "V", "U", "B", "M"};
  return kLetters[static_cast<int>(kind)];
}
}  // namespace

void check_marks(VerifyFacts& facts, VerifyReport& report) {
  visit_stmts(facts.program().body(), [&](const Stmt& s, const StmtContext&) {
    if (!s.is_loop() || s.mark.type == LoopMark::Type::none) return;
    using Type = LoopMark::Type;
    const char* k = kind_letter(s.kind);
    const bool known = (s.mark.type == Type::count && (s.kind == LoopKind::U || s.kind == LoopKind::L)) ||
                       (s.mark.type == Type::grid && s.kind == LoopKind::L) ||
                       (s.mark.type == Type::atomics && s.kind == LoopKind::B);
    if (!known) {
      refuse(facts, report, 24, s.pos, fmt::format("loop {} of kind {} has a mark that means nothing there", s.var, k),
             "marks are U^{n,count}, L^{n,stages}, L^{n,g} and B^{n,a}");
    } else if (s.mark.type == Type::count && s.kind == LoopKind::U && (s.mark.count < 1 || s.mark.count > s.extent)) {
      refuse(facts, report, 24, s.pos, fmt::format("loop {} is unrolled by {}, expected 1 to its extent {}", s.var, s.mark.count, s.extent));
    } else if (s.mark.type == Type::count && s.kind == LoopKind::L && (s.mark.count < 2 || s.mark.count > 64)) {
      refuse(facts, report, 24, s.pos, fmt::format("loop {} has {} pipeline stages, expected 2 to 64", s.var, s.mark.count));
    }
  });
}

void check_parallel(VerifyFacts& facts, VerifyReport& report) {
  for_each_loop(facts, LoopKind::P, [&](const Stmt&, const StmtContext& c) { check_kind(facts, report, 12, c.path, LoopKind::P); });
}

void check_vector(VerifyFacts& facts, VerifyReport& report) {
  for_each_loop(facts, LoopKind::V, [&](const Stmt&, const StmtContext& c) { check_kind(facts, report, 13, c.path, LoopKind::V); });
}

void check_threads(VerifyFacts& facts, VerifyReport& report) {
  for_each_loop(facts, LoopKind::B, [&](const Stmt& s, const StmtContext& c) {
    if (!is_block_axis(s)) check_kind(facts, report, 16, c.path, LoopKind::B);
  });
}

void check_kernels(VerifyFacts& facts, VerifyReport& report) {
  for (const StmtPath& kernel : find_kernels(facts.program().body())) {
    bool refused = false;
    for_each_loop(facts, LoopKind::B, [&](const Stmt& s, const StmtContext& c) {
      if (!is_block_axis(s) || c.path.size() < kernel.size() || !std::equal(kernel.begin(), kernel.end(), c.path.begin())) return;
      Result<void> axis = check_block_axis(facts.flow(), facts.program(), c.path, kernel);
      if (axis) return;
      refused = true;
      refuse(report, 22, std::move(axis.error()));
    });
    if (refused) continue;
    if (Result<void> flow = check_block_flow(facts.flow(), facts.program(), kernel); !flow) refuse(report, 22, std::move(flow.error()));
  }
}

namespace {
bool holds_only_unrolled(const Body& body) {
  return std::all_of(body.begin(), body.end(), [](const StmtPtr& s) {
    return (!s->is_loop() || s->kind == LoopKind::U) && holds_only_unrolled(s->body);
  });
}

// Does the last subscript move by one element a lane, and no other subscript with it?
bool unit_stride(const Access& a, const Stmt& loop) {
  if (a.subscripts.empty()) return false;
  for (std::size_t d = 0; d + 1 < a.subscripts.size(); ++d) {
    if (!uses_var(*a.subscripts[d], loop.var)) continue;
    std::vector<LoopRange> ranges;
    for (const Stmt* l : a.loops) ranges.push_back({l->var, l->extent});
    if (uses_var(*simplify_index(a.subscripts[d], ranges), loop.var)) return false;
  }
  std::vector<LoopRange> ranges;
  for (const Stmt* l : a.loops) ranges.push_back({l->var, l->extent});
  const ExprPtr last = simplify_index(a.subscripts.back(), ranges);
  const auto form = linear_form(*last);
  if (form) return form->coefficient(loop.var) == 1;
  return last->op == Op::add && last->args[1]->op == Op::loop_var && last->args[1]->name == loop.var;
}
}  // namespace

void check_lanes(VerifyFacts& facts, VerifyReport& report) {
  for_each_loop(facts, LoopKind::V, [&](const Stmt& s, const StmtContext& c) {
    if (!holds_only_unrolled(s.body)) {
      refuse(facts, report, 14, s.pos, fmt::format("V loop {} has loops inside that are not U, expected it innermost", s.var),
             "unroll the inner loops (kind U) or vectorise an inner loop");
      return;
    }
    if ((s.extent & (s.extent - 1)) != 0) {
      refuse(facts, report, 14, s.pos, fmt::format("V loop {} has extent {}, expected a power of two", s.var, s.extent),
             "split the loop by the vector width first");
      return;
    }
    bool any = false;
    bool unit = false;
    for (const Access& a : facts.flow().accesses()) {
      if (!under(c.path, a)) continue;
      any = true;
      unit |= unit_stride(a, s);
    }
    if (any && !unit && s.extent > 1) {
      refuse(facts, report, 14, s.pos,
             fmt::format("no access under V loop {} has unit stride, expected at least one whose last subscript moves by 1 a lane", s.var),
             "vectorise the loop of the last subscript, or reorder");
    }
  });
}

void check_scatter(VerifyFacts& facts, VerifyReport& report) {
  for (const Access& a : facts.flow().accesses()) {
    if (!a.is_write || !a.stmt->is_equation()) continue;
    bool gathers = false;
    for (const ExprPtr& sub : a.subscripts) {
      visit_expr(*sub, [&](const Expr& e) {
        gathers |= e.op == Op::read;
        return !gathers;
      });
    }
    if (!gathers || match_self_update(*a.stmt)) continue;
    for (const Stmt* loop : a.loops) {
      if (loop->kind == LoopKind::L || loop->kind == LoopKind::U || loop->extent == 1) continue;
      refuse(facts, report, 11, a.stmt->pos,
             fmt::format("{} is written at a subscript that depends on data under loop {} of kind {}, expected serial loops or a self-update", a.tensor,
                         loop->var, kind_letter(loop->kind)));
      break;
    }
  }
}

}  // namespace cairn
