// Promises judged by runs: other orders of promised loops, private copies of promised storage.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/interval.h"
#include "ir/subscripts.h"
#include "ir/walk.h"
#include "verify/mutate/truth.h"

namespace cairn {

namespace {
constexpr std::int64_t kMaxPrivate = 4'000'000;   // elements of one privatised tensor
constexpr double kOrderNoise = 1e-9;

bool is_promised(const Stmt& s) { return s.is_loop() && (s.kind == LoopKind::P || s.kind == LoopKind::V || s.kind == LoopKind::B); }
bool is_block(const Stmt& s) { return s.kind == LoopKind::B && s.var[0] == 'b'; }

// X_{..} = if_then_else(c, X_{..}, n) op e: a scan may be carried by a promised loop, a backward run breaks it.
bool has_scan(const Stmt& s) {
  if (s.is_equation()) {
    bool found = false;
    visit_expr(*s.rhs, [&](const Expr& e) {
      found = found || (e.op == Op::select && reads_tensor(*e.args[1], s.tensor)) || (e.op == Op::select && reads_tensor(*e.args[2], s.tensor));
      return !found;
    });
    return found;
  }
  return std::any_of(s.body.begin(), s.body.end(), [](const StmtPtr& c) { return has_scan(*c); });
}

// Outputs of a run in f64 agree but for rounding.
bool agree(const ValueMap& a, const ValueMap& b) {
  for (const auto& [name, x] : a) {
    const Value& y = b.at(name);
    if (x.ints != y.ints) return false;
    double row = 0;
    for (const double v : x.floats) row = std::isfinite(v) ? std::max(row, std::fabs(v)) : row;
    for (std::size_t i = 0; i < x.floats.size(); ++i) {
      const double p = x.floats[i], q = y.floats[i];
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      if (!(std::fabs(p - q) <= kOrderNoise * std::max(row, std::max(std::fabs(p), std::fabs(q))))) return false;
    }
  }
  return true;
}

// Statement by statement: the loop over each of its statements in turn. Nullopt where a private temporary links them.
std::optional<Body> distribute(const Program& program, const Stmt& loop) {
  if (loop.body.size() < 2) return std::nullopt;
  bool private_link = false;
  Body wrapped;
  for (const StmtPtr& s : loop.body) wrapped.push_back(with_body(loop, {s}));
  visit_stmts(loop.body, [&](const Stmt& s, const StmtContext&) {
    const Tensor* t = s.is_equation() ? program.find(s.tensor) : nullptr;
    if (t != nullptr && t->role == Role::tmp && t->scope != Scope::g) private_link = true;
  });
  if (private_link) return std::nullopt;
  return wrapped;
}

// Every s or l tensor gets a leading dimension: one copy for each block (P iteration), l also for each thread, and
// none for the statements around them.
class Privatiser {
 public:
  explicit Privatiser(const Program& program) : program_(program) {}
  std::optional<Program> run() {
    Result<std::map<std::string, Shape, std::less<>>> shapes = infer_shapes(program_);
    if (!shapes) return std::nullopt;
    collect_thread_axes();
    Program out = program_;
    Body body = walk(program_.body());
    if (next_copy_ <= 1) return std::nullopt;
    out.set_body(std::move(body));
    for (const Tensor& t : program_.tensors()) {
      if (!is_private(t)) continue;
      Tensor wide = t;
      Shape shape = shapes->at(t.name);
      shape.insert(shape.begin(), next_copy_);
      const auto count = element_count(shape);
      if (!count || *count > kMaxPrivate) return std::nullopt;
      wide.shape = shape;
      wide.declared = true;
      out.set_tensor(wide);
    }
    return out;
  }

 private:
  bool is_private(const Tensor& t) const { return t.role == Role::tmp && t.scope != Scope::g; }
  // Thread axes around every mention of an l tensor that is written only inside thread loops; a tensor that some
  // statement of the block body writes is replicated, one copy a block then stands for all.
  void collect_thread_axes() {
    visit_stmts(program_.body(), [this](const Stmt& s, const StmtContext& context) {
      if (!s.is_equation()) return;
      std::set<std::string> axes;
      for (const Stmt* loop : context.enclosing) {
        if (loop->is_loop() && loop->kind == LoopKind::B && !is_block(*loop)) axes.insert(loop->var);
      }
      const auto meet = [&](const std::string& name) {
        const auto [it, fresh] = axes_.emplace(name, axes);
        if (fresh) return;
        std::set<std::string> both;
        std::set_intersection(it->second.begin(), it->second.end(), axes.begin(), axes.end(), std::inserter(both, both.end()));
        it->second = both;
      };
      meet(s.tensor);
      visit_expr(*s.rhs, [&](const Expr& e) {
        if (e.op == Op::read) meet(e.name);
        return true;
      });
    });
    // A reduction over the threads leaves its result in each of them: subscripts tell the owners.
    visit_stmts(program_.body(), [this](const Stmt& s, const StmtContext&) {
      if (!s.is_equation()) return;
      std::set<std::string>& axes = axes_[s.tensor];
      if (!match_reads_itself(s)) return;
      for (auto it = axes.begin(); it != axes.end();) {
        const bool used = subscripts_use(s.subscripts, *it);
        it = used ? std::next(it) : axes.erase(it);
      }
    });
  }
  static bool match_reads_itself(const Stmt& s) { return reads_tensor(*s.rhs, s.tensor); }

  Body walk(const Body& body) {
    Body out;
    for (const StmtPtr& s : body) {
      if (s->is_equation()) {
        out.push_back(change(*s));
        continue;
      }
      if (s->is_test()) {
        out.push_back(make_test(change(s->cond), walk(s->body), s->pos));
        continue;
      }
      const bool enters = !inside_ && (s->kind == LoopKind::P || (s->kind == LoopKind::B));
      const bool extends = inside_ && block_kernel_ && s->kind == LoopKind::B;
      if (enters) {
        inside_ = true;
        block_kernel_ = s->kind == LoopKind::B;
        base_ = next_copy_;
        scale_ = 1;
        for (const Stmt* host : host_) vars_.push_back({host->var, host->extent});
        axis_extents_.clear();
        if (block_kernel_) note_axes(*s);
        else axis_extents_[s->var] = s->extent;
        std::int64_t copies = 1;
        for (const auto& [name, extent] : vars_) copies *= extent;
        for (const auto& [name, extent] : axis_extents_) copies *= extent;
        next_copy_ += std::min(copies, kMaxPrivate);
        open_.clear();
      }
      if (enters || extends) open_.push_back(s.get());
      if (!inside_) host_.push_back(s.get());
      out.push_back(with_body(*s, walk(s->body)));
      if (enters || extends) open_.pop_back();
      if (enters) {
        inside_ = false;
        vars_.clear();
      }
      if (!inside_ && !enters) host_.pop_back();
    }
    return out;
  }
  void note_axes(const Stmt& s) {
    if (s.is_loop() && s.kind == LoopKind::B) axis_extents_[s.var] = std::max(axis_extents_[s.var], s.extent);
    for (const StmtPtr& c : s.body) note_axes(*c);
  }
  // The copy that a mention here uses.
  ExprPtr copy_of(const std::string& name) const {
    if (!inside_) return make_int(0);
    ExprPtr copy = make_int(base_);
    std::int64_t stride = 1;
    const auto add = [&](const std::string& var, std::int64_t extent, bool bound) {
      if (bound) copy = make_expr(Op::add, {copy, make_expr(Op::mul, {make_var(var), make_int(stride)})});
      stride *= extent;
    };
    for (const auto& [var, extent] : vars_) add(var, extent, true);
    const Tensor* t = program_.find(name);
    const auto owners = axes_.find(name);
    for (const auto& [var, extent] : axis_extents_) {
      bool bound = false;
      for (const Stmt* loop : open_) bound = bound || loop->var == var;
      const bool block = !block_kernel_ || var[0] == 'b';
      const bool mine = block || (t->scope == Scope::l && owners != axes_.end() && owners->second.contains(var));
      add(var, extent, bound && mine);
    }
    return copy;
  }
  std::vector<ExprPtr> prefixed(const std::string& name, std::vector<ExprPtr> subscripts) const {
    subscripts.insert(subscripts.begin(), copy_of(name));
    return subscripts;
  }
  ExprPtr change(const ExprPtr& root) const {
    return rewrite_expr(root, [this](const ExprPtr& e) -> ExprPtr {
      const Tensor* t = e->op == Op::read ? program_.find(e->name) : nullptr;
      return t != nullptr && is_private(*t) ? make_read(e->name, prefixed(e->name, e->args), e->pos) : nullptr;
    });
  }
  StmtPtr change(const Stmt& s) const {
    std::vector<ExprPtr> subscripts;
    for (const ExprPtr& e : s.subscripts) subscripts.push_back(change(e));
    const Tensor* t = program_.find(s.tensor);
    if (t != nullptr && is_private(*t)) subscripts = prefixed(s.tensor, std::move(subscripts));
    return make_equation(s.tensor, std::move(subscripts), change(s.rhs), s.pos);
  }

  const Program& program_;
  std::map<std::string, std::set<std::string>> axes_;
  bool inside_ = false, block_kernel_ = false;
  std::vector<const Stmt*> host_, open_;
  std::vector<std::pair<std::string, std::int64_t>> vars_;
  std::map<std::string, std::int64_t> axis_extents_;
  std::int64_t next_copy_ = 1, base_ = 0, scale_ = 1;
};
}  // namespace

std::optional<bool> breaks_promise(const Program& program, std::uint64_t seed) {
  std::vector<Program> variants;
  bool told = true;
  visit_stmts(program.body(), [&](const Stmt& s, const StmtContext& context) {
    if (!is_promised(s)) return;
    if (has_scan(s)) {
      told = false;
      return;
    }
    const ExprPtr back = make_expr(Op::sub, {make_int(s.extent - 1), make_var(s.var)});
    Program backward = program;
    backward.set_body(replace_at(program.body(), context.path, {with_body(s, substitute_vars(s.body, {{s.var, back}}))}));
    variants.push_back(std::move(backward));
    if (s.kind == LoopKind::V || s.kind == LoopKind::P) {
      if (const std::optional<Body> split = distribute(program, s)) {
        Program lockstep = program;
        lockstep.set_body(replace_at(program.body(), context.path, *split));
        variants.push_back(std::move(lockstep));
      }
    }
  });
  if (std::optional<Program> own = Privatiser(program).run()) variants.push_back(*std::move(own));
  InterpOptions run;
  run.in_f64 = true;
  for (const Family family : {Family::normal, Family::small_integers, Family::uniform}) {
    const ValueMap inputs = make_inputs(program, family, seed);
    const Result<ValueMap> expected = interpret(program, inputs, run);
    if (!expected) return std::nullopt;
    for (const Program& variant : variants) {
      const Result<ValueMap> got = interpret(variant, inputs, run);
      if (!got && got.error().code != Code::run) return std::nullopt;
      if (!got || !agree(*expected, *got)) return true;
    }
  }
  if (!told) return std::nullopt;
  return false;
}

}  // namespace cairn
