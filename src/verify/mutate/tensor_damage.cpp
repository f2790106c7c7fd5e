// Storage: dimensions collapsed, tensors merged, outputs exchanged; precision: dtypes narrowed, values rounded.
#include "ir/interval.h"
#include "verify/mutate/sites.h"

namespace cairn::mutate {

namespace {
using Shapes = std::map<std::string, Shape, std::less<>>;

Body map_mentions(const Body& body, const std::string& tensor, const std::function<void(std::string&, std::vector<ExprPtr>&)>& change) {
  const Body read = rewrite_exprs(body, [&](const ExprPtr& e) -> ExprPtr {
    if (e->op != Op::read || e->name != tensor) return nullptr;
    std::string name = e->name;
    std::vector<ExprPtr> args = e->args;
    change(name, args);
    return make_read(std::move(name), std::move(args), e->pos);
  });
  return rewrite_stmts(read, [&](const StmtPtr& s) -> std::optional<Body> {
    if (!s->is_equation() || s->tensor != tensor) return std::nullopt;
    std::string name = s->tensor;
    std::vector<ExprPtr> subscripts = s->subscripts;
    change(name, subscripts);
    return Body{make_equation(std::move(name), std::move(subscripts), s->rhs, s->pos)};
  });
}

void collapse_dimension(const Program& program, Damages& out) {
  const Result<Shapes> shapes = infer_shapes(program);
  if (!shapes) return;
  for (const Tensor& t : program.tensors()) {
    const auto shape = shapes->find(t.name);
    if (t.role != Role::tmp || shape == shapes->end()) continue;
    for (std::size_t d = 0; d < shape->second.size(); ++d) {
      if (shape->second[d] < 2) continue;
      Body body = map_mentions(program.body(), t.name, [d](std::string&, std::vector<ExprPtr>& subs) { subs[d] = make_int(0); });
      add_damage(program, out, t.name + ": dimension " + std::to_string(d) + " collapsed to one element", std::move(body));
      const std::int64_t half = (shape->second[d] + 1) / 2;
      body = map_mentions(program.body(), t.name, [d, half](std::string&, std::vector<ExprPtr>& subs) {
        subs[d] = make_expr(Op::mod, {subs[d], make_int(half)});
      });
      add_damage(program, out, t.name + ": dimension " + std::to_string(d) + " folded to half", std::move(body));
    }
  }
}
void merge_storage(const Program& program, Damages& out) {
  const Result<Shapes> shapes = infer_shapes(program);
  if (!shapes) return;
  for (const Tensor& a : program.tensors()) {
    for (const Tensor& b : program.tensors()) {
      const auto x = shapes->find(a.name), y = shapes->find(b.name);
      if (a.name == b.name || a.role != Role::tmp || b.role == Role::in || b.role == Role::param || b.role == Role::constant) continue;
      if (a.dtype != b.dtype || x == shapes->end() || y == shapes->end() || x->second != y->second) continue;
      Body body = map_mentions(program.body(), a.name, [&b](std::string& name, std::vector<ExprPtr>&) { name = b.name; });
      add_damage(program, out, a.name + " lives in " + b.name, std::move(body));
    }
  }
}
void exchange_tensors(const Program& program, Damages& out) {  // two inputs, or two outputs, everywhere
  for (std::size_t i = 0; i < program.tensors().size(); ++i) {
    for (std::size_t k = i + 1; k < program.tensors().size(); ++k) {
      const Tensor &a = program.tensors()[i], &b = program.tensors()[k];
      const bool inputs = a.role == Role::in && b.role == Role::in, outputs = a.role == Role::out && b.role == Role::out;
      if ((!inputs && !outputs) || a.dtype != b.dtype || a.shape != b.shape) continue;
      const std::string other = fresh_tensor(program);
      Body body = map_mentions(program.body(), a.name, [&](std::string& name, std::vector<ExprPtr>&) { name = other; });
      body = map_mentions(body, b.name, [&](std::string& name, std::vector<ExprPtr>&) { name = a.name; });
      body = map_mentions(body, other, [&](std::string& name, std::vector<ExprPtr>&) { name = b.name; });
      add_damage(program, out, a.name + " and " + b.name + " exchanged", std::move(body));
    }
  }
}
void set_dtype(const Program& program, Damages& out, const Tensor& tensor, Dtype dtype) {
  Program damaged = program;
  Tensor t = tensor;
  t.dtype = dtype;
  damaged.set_tensor(t);
  out.push_back({{}, tensor.name + ": " + std::string(dtype_name(tensor.dtype)) + " -> " + std::string(dtype_name(dtype)), std::move(damaged)});
}
void narrow_float(const Program& program, Damages& out) {
  for (const Tensor& t : program.tensors()) {
    if (t.role != Role::tmp || !is_float(t.dtype)) continue;
    if (t.dtype == Dtype::f64) set_dtype(program, out, t, Dtype::f32);
    if (t.dtype == Dtype::f64 || t.dtype == Dtype::f32) {
      for (const Dtype d : {Dtype::tf32, Dtype::f16, Dtype::bf16}) set_dtype(program, out, t, d);
    }
    if (t.dtype == Dtype::f16) set_dtype(program, out, t, Dtype::bf16);
    if (t.dtype == Dtype::f16 || t.dtype == Dtype::bf16) set_dtype(program, out, t, Dtype::f8e4m3fn);
  }
}
void narrow_integer(const Program& program, Damages& out) {
  for (const Tensor& t : program.tensors()) {
    if (t.role != Role::tmp || !is_integer(t.dtype)) continue;
    for (const Dtype d : {Dtype::i8, Dtype::u8, Dtype::i4}) {
      if (d != t.dtype) set_dtype(program, out, t, d);
    }
  }
}
// An operand rounded on the way: f16(x) for x.
void round_operand(const Program& program, Damages& out) {
  damage_exprs(program, out, [&](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place != Place::value || site.self || e->op != Op::read || !site.stmt->is_equation()) return;
    const Tensor* read = program.find(e->name);
    const Tensor* target = program.find(site.stmt->tensor);
    if (read == nullptr || target == nullptr || !is_float(read->dtype) || !is_float(target->dtype)) return;
    if (dtype_bytes(read->dtype) < 4) return;
    proposals.push_back(make_cast(Dtype::tf32, e));
    proposals.push_back(make_cast(Dtype::f16, e));
    proposals.push_back(make_cast(Dtype::bf16, e));
  });
}
void truncate_operand(const Program& program, Damages& out) {
  damage_exprs(program, out, [&](const ExprSite& site, const ExprPtr& e, std::vector<ExprPtr>& proposals) {
    if (site.place != Place::value || site.self || e->op != Op::read || !site.stmt->is_equation()) return;
    const Tensor* read = program.find(e->name);
    const Tensor* target = program.find(site.stmt->tensor);
    if (read == nullptr || target == nullptr || !is_float(read->dtype) || !is_float(target->dtype)) return;
    proposals.push_back(make_cast(Dtype::i64, e));
  });
}
}  // namespace

void append_tensor_damage(std::vector<DamageOperator>& table) {
  table.push_back({"dimension_collapsed", DamageKind::value, "a temporary keeps one element, or half, of a dimension", collapse_dimension});
  table.push_back({"storage_merged", DamageKind::value, "a temporary lives in another tensor", merge_storage});
  table.push_back({"tensors_exchanged", DamageKind::value, "two inputs or two outputs change places", exchange_tensors});
  table.push_back({"integer_narrowed", DamageKind::value, "an integer temporary wraps in 8 or 4 bits", narrow_integer});
  table.push_back({"operand_truncated", DamageKind::value, "an operand passes through an integer", truncate_operand});
  table.push_back({"dtype_narrowed", DamageKind::precision, "a float temporary has a narrower dtype", narrow_float});
  table.push_back({"operand_rounded", DamageKind::precision, "an operand is rounded to TF32, f16 or bf16", round_operand});
}

}  // namespace cairn::mutate
