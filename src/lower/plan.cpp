// Where tensors live in C: arguments, workspace buffers, C arrays, or named variables.
#include "lower/plan.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/core.h>

#include "ir/interval.h"
#include "ir/typing.h"
#include "lower/c.h"

namespace cairn {

namespace {
constexpr std::int64_t kArrayBytes = 16 << 10;   // larger temporaries go to the workspace
constexpr std::int64_t kMaxStatements = 20000;   // of C, after unrolling
constexpr std::int64_t kMaxRegisters = 256;      // named variables one tensor may become

// A mention of a tensor with the loops around it.
struct Mention {
  const std::vector<ExprPtr>* subscripts;
  const PlacedEquation* at;
};

void collect(const Expr& root, const PlacedEquation& at, std::map<std::string, std::vector<Mention>>* out) {
  visit_expr(root, [&](const Expr& e) {
    if (e.op == Op::read) (*out)[e.name].push_back({&e.args, &at});
    return true;
  });
}

std::map<std::string, std::vector<Mention>> collect_mentions(const std::vector<PlacedEquation>& equations) {
  std::map<std::string, std::vector<Mention>> out;
  for (const PlacedEquation& eq : equations) {
    out[eq.equation->tensor].push_back({&eq.equation->subscripts, &eq});
    collect(*eq.equation->rhs, eq, &out);
    for (const ExprPtr& s : eq.equation->subscripts) collect(*s, eq, &out);
    for (const Stmt* s : eq.enclosing) {
      if (s->is_test()) collect(*s->cond, eq, &out);
    }
  }
  return out;
}

// The parallel loop around a mention that is planned as one, or null; `path` gets its place.
const Stmt* region_of(const PlacedEquation& eq, const LowerPlan& plan, StmtPath* path) {
  for (std::size_t i = 0; i < eq.enclosing.size(); ++i) {
    path->assign(eq.path.begin(), eq.path.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    const auto it = plan.parallel.find(*path);
    if (it != plan.parallel.end()) return it->second.parallel ? eq.enclosing[i] : nullptr;
  }
  return nullptr;
}

// Lanes of the V loop with variable var around a mention, 0 if there is none or it is lowered as a plain loop.
const Stmt* binder(const PlacedEquation& eq, const std::string& var) {
  for (std::size_t i = eq.enclosing.size(); i-- > 0;) {
    if (eq.enclosing[i]->is_loop() && eq.enclosing[i]->var == var) return eq.enclosing[i];
  }
  return nullptr;
}

// Lanes of registers (0: scalars) if every mention is at constants after unrolling, a lane apart; else nullopt.
std::optional<int> register_lanes(const Program& program, const Target& target, const std::vector<Mention>& mentions,
                                  const Place& place, std::int64_t max_unroll) {
  int lanes = 0;
  std::vector<AffineTerms> parts;  // without the lane variable
  for (const Mention& m : mentions) {
    AffineTerms flat;
    for (std::size_t d = 0; d < m.subscripts->size(); ++d) {
      if (place.strides[d] == 0) continue;
      const auto form = affine_terms(*(*m.subscripts)[d]);
      if (!form) return std::nullopt;
      for (const auto& [var, coef] : form->terms) flat.terms[var] += coef * place.strides[d];
      flat.constant += form->constant * place.strides[d];
    }
    AffineTerms rest;
    rest.constant = flat.constant;
    for (const auto& [var, coef] : flat.terms) {
      if (coef == 0) continue;
      const Stmt* loop = binder(*m.at, var);
      if (loop == nullptr) return std::nullopt;
      if (loop->kind == LoopKind::V && coef == 1) {
        const int width = vector_lanes(program, target, *loop, max_unroll);
        if (width == 0 || (lanes != 0 && lanes != width)) return std::nullopt;
        lanes = width;
      } else if (is_unrolled_whole(*loop, max_unroll)) {
        rest.terms[var] = coef;
      } else {
        return std::nullopt;
      }
    }
    parts.push_back(std::move(rest));
  }
  if (lanes == 0) return place.elements <= kMaxRegisters ? std::optional<int>(0) : std::nullopt;
  for (std::size_t i = 0; i < mentions.size(); ++i) {
    if (parts[i].constant % lanes != 0) return std::nullopt;
    for (const auto& [var, coef] : parts[i].terms) {
      if (coef % lanes != 0) return std::nullopt;
    }
  }
  if (place.elements % lanes != 0 || place.elements / lanes > kMaxRegisters) return std::nullopt;
  return lanes;
}

// Statements that the program becomes when U loops up to max_unroll are written out.
std::int64_t count_statements(const Body& body, std::int64_t max_unroll) {
  std::int64_t total = 0;
  for (const StmtPtr& s : body) {
    std::int64_t inside = s->is_equation() ? 1 : count_statements(s->body, max_unroll);
    if (s->is_loop() && s->kind == LoopKind::U) inside *= std::min(s->extent, max_unroll);
    if (s->is_loop() && s->kind == LoopKind::V) inside *= std::clamp<std::int64_t>(s->extent / 16, 1, 8);
    total = std::min<std::int64_t>(total + inside, INT32_MAX);
  }
  return total;
}

std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }
}  // namespace

bool is_unrolled_whole(const Stmt& loop, std::int64_t max_unroll) {
  return loop.kind == LoopKind::U && loop.extent <= max_unroll && (loop.mark.type != LoopMark::Type::count || loop.mark.count >= loop.extent);
}

int vector_lanes(const Program& program, const Target& target, const Stmt& loop, std::int64_t max_unroll) {
  std::int64_t element = 4;
  bool plain = false;
  const std::function<void(const Body&)> look = [&](const Body& body) {
    for (const StmtPtr& s : body) {
      if (s->is_equation()) {
        const Tensor* t = program.find(s->tensor);
        if (t == nullptr) {
          plain = true;
          continue;
        }
        const ComputeType type = compute_type(t->dtype);
        if (type == ComputeType::f64 || type == ComputeType::i64) element = 8;
      } else {
        if (s->is_loop() && !is_unrolled_whole(*s, max_unroll)) plain = true;
        look(s->body);
      }
    }
  };
  look(loop.body);
  if (plain || target.vector_bytes.empty()) return 0;
  std::int64_t lanes = *std::max_element(target.vector_bytes.begin(), target.vector_bytes.end()) / element;
  while (lanes > 1 && loop.extent % lanes != 0) lanes /= 2;
  return lanes < 2 ? 0 : static_cast<int>(lanes);
}

std::string c_name(std::string_view name) {
  static const std::set<std::string, std::less<>> taken{
      "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
      "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed",
      "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "asm",
      "typeof", "linux", "unix", "tensors", "workspace", "failed", "chunk", "main"};
  std::string out;
  for (const char c : name) out += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '_';
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out = "x_" + out;
  return taken.contains(out) ? out + "_" : out;
}

void plan_places(const Program& program, const Target& target, const std::vector<PlacedEquation>& equations,
                 LowerPlan* plan) {
  const auto mentions = collect_mentions(equations);
  for (auto& [name, place] : plan->places) {
    const auto found = mentions.find(name);
    if (place.kind == Place::Kind::pointer || found == mentions.end()) continue;
    const Tensor& tensor = *place.tensor;
    std::map<StmtPath, bool> regions;  // parallel loop -> does it write the tensor?
    bool outside = false, reduced = false;
    for (const Mention& m : found->second) {
      StmtPath path;
      if (region_of(*m.at, *plan, &path) == nullptr) {
        outside = true;
        continue;
      }
      regions[path] |= m.subscripts == &m.at->equation->subscripts;
      for (const ParallelReduction& r : plan->parallel.at(path).reductions) reduced |= r.tensor == name;
    }
    const bool local = tensor.scope != Scope::g;
    for (const auto& [path, writes] : regions) {
      if (local && writes && !reduced) {
        place.regions.push_back(path);
      } else {
        outside = true;
      }
    }
    place.outside = outside;
    if (!outside && place.regions.size() == 1) {
      const Stmt* loop = region_of(*found->second[0].at, *plan, &place.regions[0]);
      for (std::size_t d = 0; d < place.shape.size(); ++d) {
        const bool plain = std::all_of(found->second.begin(), found->second.end(), [&](const Mention& m) {
          const Expr& s = *(*m.subscripts)[d];
          return s.op == Op::loop_var && s.name == loop->var;
        });
        if (plain) place.shape[d] = 1;
      }
    }
    std::int64_t stride = 1;
    const Shape full = place.shape;
    for (std::size_t d = full.size(); d-- > 0;) {
      place.strides[d] = full[d] == 1 ? 0 : stride;
      stride *= full[d];
    }
    place.elements = stride;
    const std::int64_t bytes = stride * c_bytes(tensor.dtype);
    const auto lanes = local ? register_lanes(program, target, found->second, place, plan->max_unroll) : std::nullopt;
    if (lanes) {
      place.kind = Place::Kind::registers;
      place.lanes = *lanes;
      continue;
    }
    if (local && bytes <= kArrayBytes) {
      place.kind = Place::Kind::array;
      plan->notes.push_back(fmt::format("{} is an array of {} bytes, not registers", name, bytes));
      continue;
    }
    place.kind = Place::Kind::buffer;
    place.slice = aligned(bytes);
    place.offset = plan->workspace_bytes;
    plan->workspace_bytes += place.slice * (place.regions.empty() ? 1 : std::max(target.cores, 1));
  }
}

Result<LowerPlan> make_plan(const Program& program, const Target& target, const std::vector<std::string>& flags) {
  LowerPlan plan;
  while (plan.max_unroll > 1 && count_statements(program.body(), plan.max_unroll) > kMaxStatements) plan.max_unroll /= 2;
  if (plan.max_unroll < 64) {
    plan.notes.push_back(fmt::format("U loops longer than {} stay loops: the program would become too long", plan.max_unroll));
  }
  CAIRN_TRY(const auto shapes, infer_shapes(program));
  for (const Tensor& t : program.tensors()) {
    const auto found = shapes.find(t.name);
    if (found == shapes.end()) continue;
    Place place;
    place.tensor = &t;
    place.name = c_name(t.name);
    place.shape = place.full_shape = found->second;
    const auto elements = element_count(place.shape);
    if (!elements || *elements > (std::int64_t{1} << 60)) {
      return error_at(program, t.pos, Code::verify, fmt::format("tensor {} is larger than an address space", t.name));
    }
    place.elements = *elements;
    place.strides.assign(place.shape.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t d = place.shape.size(); d-- > 0;) {
      place.strides[d] = stride;
      stride *= place.shape[d];
    }
    if (t.role == Role::tmp) place.kind = Place::Kind::buffer;
    plan.places.emplace(t.name, std::move(place));
  }
  const std::vector<PlacedEquation> equations = place_equations(program.body());
  plan_starts(program, equations, &plan);
  for (const std::string& flag : flags) {
    plan.entry_starts[flag] = make_int(0);
    plan.notes.push_back(fmt::format("{} remembers which elements are written, as several operators may start them", flag));
  }
  plan_parallel(program, target, equations, &plan);
  plan_places(program, target, equations, &plan);
  return plan;
}

}  // namespace cairn
