// Implicit starts, and reads that must not leave their kernel, block or iteration.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/flow_state.h"
#include "ir/subscripts.h"

namespace cairn {

namespace {
// Subscripts and conditions of loop variables only: which elements it touches, and when, is an affine fact.
bool known_place(const Access& a) {
  return std::none_of(a.subscripts.begin(), a.subscripts.end(), [](const ExprPtr& e) { return depends_on_data(*e); }) &&
         std::none_of(a.conditions.begin(), a.conditions.end(), [](const Condition& c) { return depends_on_data(*c.cond); });
}

// `k==0 & m==0` over the loops around that the written element does not name; null if there are none.
ExprPtr all_first(const Access& write) {
  ExprPtr cond;
  for (const Stmt* loop : write.loops) {
    if (loop->extent == 1) continue;
    if (subscripts_use(write.subscripts, loop->var)) continue;
    ExprPtr zero = make_expr(Op::eq, {make_var(loop->var), make_int(0)});
    cond = cond ? make_expr(Op::logical_and, {cond, zero}) : zero;
  }
  return cond;
}

bool contains_kind(const Stmt& s, LoopKind kind) {
  if (s.is_loop() && s.kind == kind) return true;
  return std::any_of(s.body.begin(), s.body.end(), [&](const StmtPtr& c) { return contains_kind(*c, kind); });
}

bool contains_kind(const Body& body, LoopKind kind) {
  return std::any_of(body.begin(), body.end(), [&](const StmtPtr& c) { return contains_kind(*c, kind); });
}

bool is_block_loop(const Stmt& s) { return s.kind == LoopKind::B && s.var.size() == 2 && s.var[0] == 'b'; }

// Loops (of the access) up to and with the one whose iterations are separate threads or blocks; 0 if none.
std::size_t parallel_depth(const Access& a) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < a.loops.size(); ++i) {
    if (is_block_loop(*a.loops[i])) depth = i + 1;
  }
  if (depth > 0) return depth;
  for (std::size_t i = 0; i < a.loops.size(); ++i) {
    if (a.loops[i]->kind == LoopKind::P) return i + 1;
  }
  return 0;
}

// The run of statements between parallel nests that an access outside them belongs to: the innermost body
// that holds a parallel nest too, and the number of parallel nests before it there.
struct Run {
  StmtPath body;
  std::size_t index = 0;
  std::size_t loops = 0;
  friend bool operator==(const Run&, const Run&) = default;
};
Run run_of(const Program& program, const Access& a, LoopKind kind) {
  Run run;
  const Body* body = &program.body();
  StmtPath here;
  std::size_t loops = 0;
  for (const std::uint32_t child : a.path) {
    if (child >= body->size()) break;
    if (contains_kind(*body, kind)) {
      run = {here, 0, loops};
      for (std::uint32_t i = 0; i < child; ++i) run.index += contains_kind(*(*body)[i], kind) ? 1 : 0;
    }
    const Stmt& s = *(*body)[child];
    if (s.is_loop()) ++loops;
    here.push_back(child);
    body = &s.body;
  }
  return run;
}
}  // namespace

StartVerdict FlowAnalysis::start(std::uint32_t equation, bool only_provable) {
  State& s = *state_;
  StartVerdict v;
  const Access* self = nullptr;
  const Access* own_write = nullptr;
  for (const Access& a : s.accesses()) {
    if (a.equation != equation || (a.stmt != nullptr && !a.stmt->is_equation())) continue;
    if (a.is_self) self = &a;
    if (a.is_write) own_write = &a;
  }
  if (self == nullptr || own_write == nullptr) return v;
  const Tensor* t = s.program.find(self->tensor);
  if (t != nullptr && t->role != Role::out && t->role != Role::tmp) {
    v.written = v.by_others = Written::always;
    v.provable = true;
    return v;
  }
  if (s.mode == FlowMode::concrete_only) {
    if (!s.concrete().decided) return v;
    const ConcreteStart& c = s.concrete().starts[equation];
    v.provable = c.undecided == 0;
    v.written = c.undecided > 0 ? Written::unknown : c.starts == 0 ? Written::always : c.continues == 0 ? Written::never : Written::sometimes;
    return v;
  }
  std::vector<const Access*> others;
  Answer precede = Answer::no;
  bool known = known_place(*self);
  for (const Access* w : s.writes(self->tensor)) {
    if (w == own_write) continue;
    const Answer a = may_precede(s.program, *w, *self, nullptr);
    if (a == Answer::no) continue;
    others.push_back(w);
    known &= known_place(*w);
    precede = a == Answer::yes ? a : precede == Answer::yes ? precede : a;
  }
  if (precede == Answer::no) v.by_others = Written::never;
  if (only_provable && (known || precede == Answer::no)) {
    v.provable = true;
    return v;
  }
  // A scattered update needs every element that it may meet.
  const Access wide = s.widened(*self);
  CoverQuestion question{&wide, others, 0, nullptr, true};
  if (!others.empty() && s.covered(question, nullptr) == Answer::yes) {
    v.by_others = v.written = Written::always;
    v.provable = true;
    return v;
  }
  if (!others.empty() && precede == Answer::yes) v.by_others = Written::sometimes;
  const ExprPtr first = all_first(*own_write);
  question.writes.push_back(own_write);
  if (known) {
    // It starts exactly where nothing may precede, if everything else is surely written.
    bool untouched = true;
    for (const Access* w : question.writes) untouched &= may_precede(s.program, *w, *self, first) == Answer::no;
    if (untouched && !first) {
      v.written = Written::never;
      v.provable = true;
      return v;
    }
    question.extra = first;
    question.extra_holds = false;
    if (untouched && first && s.covered(question, nullptr) == Answer::yes) {
      v.written = Written::sometimes;
      v.first = first;
      v.provable = true;
      return v;
    }
  }
  v.written = Written::sometimes;
  // Nothing but its own instances touches X before: the order of instances tells, whatever the data.
  v.provable = known || v.by_others == Written::never;
  if (!v.provable) {
    v.written = Written::unknown;
    v.reason = error_at(s.program, self->pos == kNoPos ? self->stmt->pos : self->pos, Code::verify,
                        fmt::format("whether {} starts here or continues an earlier write depends on data", self->tensor));
    v.reason.notes.push_back(fmt::format("write the start of {} explicitly before this self-update", self->tensor));
  }
  return v;
}

FlowVerdict FlowAnalysis::stays_inside(const Access& read) {
  State& s = *state_;
  const bool blocks = contains_kind(s.program.body(), LoopKind::B);
  const LoopKind kind = blocks ? LoopKind::B : LoopKind::P;
  if (!contains_kind(s.program.body(), kind)) return {Answer::yes, {}};
  std::vector<const Access*> writes;
  std::size_t equal = parallel_depth(read);
  const auto nest = std::find_if(read.loops.begin(), read.loops.end(), [](const Stmt* l) { return l->kind == LoopKind::B; });
  if (equal > 0) {   // not what other blocks write: those of an axis inside that the read is not under
    for (const Access* w : s.writes(read.tensor)) {
      const auto inner = w->loops.begin() + static_cast<std::ptrdiff_t>(std::min(equal, w->loops.size()));
      if (std::none_of(inner, w->loops.end(), [](const Stmt* l) { return is_block_loop(*l) && l->extent > 1; })) writes.push_back(w);
    }
  } else if (nest != read.loops.end()) {   // a kernel of threads alone: the nest of its outermost thread axis
    equal = static_cast<std::size_t>(nest - read.loops.begin());
    for (const Access* w : s.writes(read.tensor)) {
      if (equal < w->loops.size() && w->loops[equal] == *nest) writes.push_back(w);
    }
  } else {
    const Run run = run_of(s.program, read, kind);
    for (const Access* w : s.writes(read.tensor)) {
      const bool inside = std::any_of(w->loops.begin(), w->loops.end(), [](const Stmt* l) { return l->kind == LoopKind::B; });
      if (!inside && parallel_depth(*w) == 0 && run_of(s.program, *w, kind) == run) writes.push_back(w);
    }
    equal = run.loops;
  }
  const Access wide = s.widened(read);
  CoverQuestion question{&wide, writes, equal, nullptr, true};
  std::vector<std::int64_t> example;
  Answer answer = s.covered(question, &example);
  // A self-update that starts here needs no write: what is covered are the instances that do not start.
  if (answer != Answer::yes && read.is_self) {
    CoverQuestion anywhere{&wide, s.writes(read.tensor), 0, nullptr, true};
    const StartVerdict st = start(read.equation);
    if (st.written == Written::never) return {Answer::yes, {}};
    if (st.first) {
      question.extra = st.first;
      question.extra_holds = false;
      answer = s.covered(question, &example);
    }
  }
  if (answer == Answer::yes) return {answer, {}};
  const Tensor* t = s.program.find(read.tensor);
  const char* place = blocks ? "kernel and block" : "iteration of the outermost P loop (or run of serial statements)";
  const auto message = [&](std::string text) {
    Error e = error_at(s.program, read.pos == kNoPos ? read.stmt->pos : read.pos, Code::verify, std::move(text));
    e.notes.push_back(fmt::format("write {} inside the same {}, or give it scope g", read.tensor, place));
    return e;
  };
  const std::string scope = t != nullptr ? std::string(scope_name(t->scope)) : "l";
  if (answer == Answer::unknown && s.concretes() && s.concrete().decided) {
    for (const ConcreteProblem& p : s.concrete().problems) {
      if (p.kind != ConcreteProblem::Kind::crossing || p.equation != read.equation || p.tensor != read.tensor) continue;
      return {Answer::no, message(fmt::format("{} has scope {}, and {} is read here but last written in another {}", read.tensor, scope,
                                              describe_element(p.tensor, p.element), place))};
    }
    return {Answer::yes, {}};
  }
  return {answer, message(fmt::format("{} has scope {}, expected every read to see a write of the same {}{}", read.tensor, scope, place,
                                      describe_iteration(wide, example)))};
}

FlowVerdict FlowAnalysis::private_to(const std::string& tensor, const Stmt& loop) {
  State& s = *state_;
  for (const Access& a : s.accesses()) {
    if (a.is_write || a.tensor != tensor) continue;
    const auto at = std::find(a.loops.begin(), a.loops.end(), &loop);
    if (at == a.loops.end()) continue;
    const Access wide = s.widened(a);
    CoverQuestion question{&wide, s.writes(tensor), static_cast<std::size_t>(at - a.loops.begin()) + 1, nullptr, true};
    std::vector<std::int64_t> example;
    Answer answer = s.covered(question, &example);
    if (answer == Answer::yes) continue;
    if (a.is_self) {   // an instance that starts needs no write
      const StartVerdict st = start(a.equation);
      if (st.written == Written::never) continue;
      if (st.first) {
        question.extra = st.first;
        question.extra_holds = false;
        if (s.covered(question, &example) == Answer::yes) continue;
      }
    }
    Error e = error_at(s.program, a.pos == kNoPos ? a.stmt->pos : a.pos, Code::verify,
                       fmt::format("{} carries a value between iterations of loop {}{}", tensor, loop.var, describe_iteration(wide, example)));
    e.notes.push_back(fmt::format("write {} in every iteration of {} before this read (`{}=0;`)", tensor, loop.var, tensor));
    return {answer, std::move(e)};
  }
  return {Answer::yes, {}};
}

}  // namespace cairn
