#include "analysis/concrete_code.h"

#include <fmt/core.h>

#include <map>

#include "analysis/access.h"
#include "ir/interval.h"

namespace cairn::concrete {

namespace {
constexpr std::int64_t kHuge = std::int64_t{1} << 62;

class Compiler {
 public:
  explicit Compiler(const Program& program) : program_(program) {}

  Result<Code> compile() {
    CAIRN_TRY(const auto shapes, infer_shapes(program_));
    for (const Tensor& t : program_.tensors()) {
      TensorCode tc;
      tc.name = t.name;
      const auto it = shapes.find(t.name);
      if (it != shapes.end()) {
        tc.shape = it->second;
      } else if (t.shape) {
        tc.shape = *t.shape;
      }
      const auto count = element_count(tc.shape);
      if (!count || *count > kHuge || *count < 0) return refuse(t.pos, "the number of elements overflows");
      tc.size = *count;
      tc.strides.assign(tc.shape.size(), 1);
      for (std::size_t d = tc.shape.size(); d-- > 1;) tc.strides[d - 1] = tc.strides[d] * tc.shape[d];
      tc.from_outside = t.role != Role::out && t.role != Role::tmp;
      tc.is_out = t.role == Role::out;
      tc.local = t.scope != Scope::g && t.role == Role::tmp;
      index_.emplace(t.name, static_cast<std::uint32_t>(code_.tensors.size()));
      code_.elements += tc.size;
      code_.tensors.push_back(std::move(tc));
    }
    CAIRN_TRY(code_.roots, body(program_.body(), false, false));
    return std::move(code_);
  }

 private:
  Error refuse(SourcePos pos, std::string message) const {
    return error_at(program_, pos, cairn::Code::illegal, std::move(message));
  }
  int slot_of(const std::string& name) const {
    for (std::size_t i = scope_.size(); i-- > 0;) {
      if (scope_[i]->var == name) return static_cast<int>(i);
    }
    return -1;
  }
  std::optional<IndexCode> index(const Expr& e) const {
    return IndexCode::compile(e, [this](const std::string& name) { return slot_of(name); });
  }

  Result<std::vector<Node>> body(const Body& stmts, bool in_parallel, bool in_kernel) {
    std::vector<Node> nodes;
    for (const StmtPtr& s : stmts) {
      CAIRN_TRY(Node node, statement(*s, in_parallel, in_kernel));
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  Result<Node> statement(const Stmt& s, bool in_parallel, bool in_kernel) {
    Node node;
    node.stmt = &s;
    node.equation = code_.equations;
    if (s.is_equation()) {
      CAIRN_CHECKED(equation(s, &node));
      return node;
    }
    if (s.is_test()) {
      const ExprPtr cond = expand_bindings(program_, s.cond);
      node.cond = index(*cond);
      if (!node.cond) CAIRN_CHECKED(emit(cond, nullptr, &node.items));
      CAIRN_TRY(node.children, body(s.body, in_parallel, in_kernel));
      return node;
    }
    const bool block_axis = s.kind == LoopKind::B && s.var.size() == 2 && s.var[0] == 'b';
    const bool thread_axis = s.kind == LoopKind::B && !block_axis;
    node.bumps_iteration = block_axis || (s.kind == LoopKind::P && !in_parallel);
    node.bumps_execution = thread_axis && !in_kernel;
    node.slot = static_cast<int>(scope_.size());
    if (slot_of(s.var) >= 0) return refuse(s.pos, fmt::format("loop variable {} is already bound here", s.var));
    scope_.push_back(&s);
    code_.slots = std::max(code_.slots, static_cast<int>(scope_.size()));
    auto children = body(s.body, in_parallel || s.kind == LoopKind::P, in_kernel || s.kind == LoopKind::B);
    scope_.pop_back();
    if (!children) return children.error();
    node.children = *std::move(children);
    return node;
  }

  Result<void> equation(const Stmt& s, Node* node) {
    const auto self = match_self_update(s);
    // A self-update's own read stands apart: the element it names is the one written.
    const Expr* self_read = self ? self->self : nullptr;
    for (const ExprPtr& sub : s.subscripts) CAIRN_CHECKED(emit(expand_bindings(program_, sub), nullptr, &node->items));
    CAIRN_CHECKED(emit(s.rhs, self_read, &node->items));
    CAIRN_TRY(node->write, access(s.tensor, s.subscripts, s.pos, false));
    code_.tensors[code_.accesses[static_cast<std::size_t>(node->write)].tensor].written = true;
    ++code_.equations;
    return {};
  }

  // Appends what evaluating `e` reads; `self` is the read of the element the equation updates.
  Result<void> emit(const ExprPtr& e, const Expr* self, std::vector<Item>* out) {
    switch (e->op) {
      case Op::int_literal: case Op::float_literal: case Op::loop_var: return {};
      case Op::read: {
        if (const ExprPtr bound = expand_bindings(program_, e); bound->op != Op::read) return emit(bound, nullptr, out);
        for (const ExprPtr& sub : e->args) CAIRN_CHECKED(emit(expand_bindings(program_, sub), nullptr, out));
        CAIRN_TRY(const int index, access(e->name, e->args, e->pos, e.get() == self));
        Item item;
        item.access = index;
        out->push_back(std::move(item));
        return {};
      }
      case Op::select: return branch(e->args[0], e->args[1], e->args[2], self, out);
      case Op::logical_and: return branch(e->args[0], e->args[1], nullptr, self, out);
      case Op::logical_or: return branch(e->args[0], nullptr, e->args[1], self, out);
      default:
        for (const ExprPtr& arg : e->args) CAIRN_CHECKED(emit(arg, self, out));
        return {};
    }
  }
  Result<void> branch(const ExprPtr& cond, const ExprPtr& yes, const ExprPtr& no, const Expr* self,
                      std::vector<Item>* out) {
    const ExprPtr c = expand_bindings(program_, cond);
    auto code = index(*c);
    if (!code) {  // depends on data: both ways
      CAIRN_CHECKED(emit(c, self, out));
      if (yes) CAIRN_CHECKED(emit(yes, self, out));
      if (no) CAIRN_CHECKED(emit(no, self, out));
      return {};
    }
    Item item;
    item.cond = *std::move(code);
    if (yes) CAIRN_CHECKED(emit(yes, self, &item.then_items));
    if (no) CAIRN_CHECKED(emit(no, self, &item.else_items));
    if (!item.then_items.empty() || !item.else_items.empty()) out->push_back(std::move(item));
    return {};
  }

  Result<int> access(const std::string& name, const std::vector<ExprPtr>& subs, SourcePos pos, bool self) {
    const auto it = index_.find(name);
    if (it == index_.end()) return refuse(pos, fmt::format("tensor {} is not known", name));
    const TensorCode& t = code_.tensors[it->second];
    if (t.shape.size() != subs.size()) {
      return refuse(pos, fmt::format("tensor {} has rank {}, found {} subscripts", name, t.shape.size(), subs.size()));
    }
    AccessCode a;
    a.tensor = it->second;
    a.equation = code_.equations;
    a.pos = pos;
    a.self = self;
    a.flat = true;
    std::vector<std::int64_t> extents;
    for (const Stmt* loop : scope_) extents.push_back(loop->extent);
    for (std::size_t d = 0; d < subs.size(); ++d) {
      Subscript sub;
      sub.code = index(*expand_bindings(program_, subs[d]));
      if (!sub.code) {
        a.gather = true;
      } else if (sub.code->linear()) {
        const auto range = sub.code->range(extents);
        sub.proved = range && range->first >= 0 && range->second < t.shape[d];
      }
      if (sub.code && sub.proved) {
        a.offset.add_scaled(*sub.code, t.strides[d]);
      } else {
        a.flat = false;
      }
      a.subscripts.push_back(std::move(sub));
    }
    code_.accesses.push_back(std::move(a));
    return static_cast<int>(code_.accesses.size()) - 1;
  }

  const Program& program_;
  Code code_;
  std::map<std::string, std::uint32_t, std::less<>> index_;
  std::vector<const Stmt*> scope_;
};
}  // namespace

Result<Code> compile_program(const Program& program) { return Compiler(program).compile(); }

std::vector<std::int64_t> unflatten(const TensorCode& tensor, std::int64_t offset) {
  std::vector<std::int64_t> element(tensor.shape.size());
  for (std::size_t d = 0; d < element.size(); ++d) {
    element[d] = offset / tensor.strides[d];
    offset %= tensor.strides[d];
  }
  return element;
}

}  // namespace cairn::concrete
