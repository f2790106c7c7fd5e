#include "analysis/cost.h"

#include <algorithm>
#include <cmath>

#include "analysis/cost_internal.h"
#include "ir/walk.h"

namespace cairn {

namespace {

// How a nest uses the cores: the outermost P loop's balance and how often its region is entered.
struct Parallel {
  double cores = 1;
  double entries = 0;
};

void find_parallel(const Stmt& s, double trips, const Target& target, Parallel* out) {
  if (s.is_equation()) return;
  if (s.is_loop()) {
    if (s.kind == LoopKind::P) {
      const double n = static_cast<double>(s.extent);
      const double waves = std::ceil(n / std::max(1, target.cores));
      out->cores = std::max(out->cores, n / std::max(1.0, waves));
      out->entries += trips;
      return;
    }
    trips *= static_cast<double>(s.extent);
  }
  for (const StmtPtr& child : s.body) find_parallel(*child, trips, target, out);
}

void add_equations(const Program& program, const Stmt& s, std::vector<const Stmt*>* enclosing, const Target& target,
                   NestCost* cost, double* cycles, double* latency_cycles) {
  if (s.is_equation()) {
    const cost::EquationCost e = cost::cost_of_equation(program, s, *enclosing, target);
    *cycles += e.cycles;
    if (e.latency_bound) *latency_cycles += e.cycles;
    cost->flops += e.flops;
    return;
  }
  enclosing->push_back(&s);
  for (const StmtPtr& child : s.body) add_equations(program, *child, enclosing, target, cost, cycles, latency_cycles);
  enclosing->pop_back();
}

}  // namespace

ProgramCost predict_cost(const Program& program, const Target& target) {
  ProgramCost total;
  cost::Shapes shapes;
  if (auto inferred = infer_shapes(program); inferred.ok()) shapes = std::move(inferred.value());
  const double hertz = target.ghz * 1e9;
  for (const StmtPtr& nest : program.body()) {
    NestCost c;
    double cycles = 0, latency = 0;
    std::vector<const Stmt*> enclosing;
    add_equations(program, *nest, &enclosing, target, &c, &cycles, &latency);
    Parallel parallel;
    find_parallel(*nest, 1, target, &parallel);
    const double cores = parallel.cores;
    c.compute = cycles / hertz / cores;
    const double into_l1 = cost::traffic_of_nest(program, shapes, *nest, target.l1_bytes, target.line_bytes);
    const double into_l2 = cost::traffic_of_nest(program, shapes, *nest, target.l2_bytes, target.line_bytes);
    const double into_l3 = cost::traffic_of_nest(program, shapes, *nest, target.l3_bytes, target.line_bytes);
    c.l1 = into_l1 / (target.l2_gbs * 1e9) / cores;
    // Between L3 and L2 a core moves about twice what it gets from memory.
    c.l2 = into_l2 / (2 * target.core_memory_gbs * 1e9) / cores;
    c.memory = into_l3 / (std::min(target.memory_gbs, target.core_memory_gbs * cores) * 1e9);
    c.bytes = into_l3;
    c.overhead = parallel.entries * target.parallel_overhead_us * 1e-6;
    const double worst = std::max({c.compute, c.l1, c.l2, c.memory});
    const double rest = c.compute + c.l1 + c.l2 + c.memory - worst;
    c.seconds = worst + 0.3 * rest + c.overhead;
    if (c.overhead > worst) c.bound = "overhead";
    else if (worst == c.compute) c.bound = latency > cycles / 2 ? "latency" : "compute";
    else if (worst == c.memory) c.bound = "memory";
    else c.bound = worst == c.l2 ? "l2" : "l1";
    total.seconds += c.seconds;
    total.nests.push_back(c);
  }
  return total;
}

double count_flops(const Program& program) {
  double flops = 0;
  visit_stmts(program.body(), [&](const Stmt& s, const StmtContext& context) {
    if (!s.is_equation()) return;
    double trips = 1;
    for (const Stmt* e : context.enclosing) {
      if (e->is_loop()) trips *= static_cast<double>(e->extent);
    }
    const Tensor* t = program.find(s.tensor);
    flops += trips * cost::count_arithmetic(program, *s.rhs, compute_type(t ? t->dtype : Dtype::f32)).flops;
  });
  return flops;
}

double roofline_floor(const Program& naive, const Target& target) {
  double bytes = 0;
  bool f64 = false;
  for (const Tensor& t : naive.tensors()) {
    if (t.role == Role::tmp || !t.shape) continue;
    const auto n = element_count(*t.shape);
    if (n) bytes += static_cast<double>(*n) * static_cast<double>(dtype_bytes(t.dtype)) * (t.role == Role::io ? 2 : 1);
    if (t.role == Role::out) f64 |= t.dtype == Dtype::f64;
  }
  const double peak = (f64 ? target.peak_gflops_f64 : target.peak_gflops_f32) * 1e9 * target.cores;
  // Inputs that fit the last cache may be there already: its rate bounds them, not the memory's.
  const double rate = (bytes < 0.5 * static_cast<double>(target.l3_bytes) ? std::max(target.memory_gbs, target.l2_gbs * target.cores)
                                                                           : target.memory_gbs) * 1e9;
  return std::max(bytes / rate, count_flops(naive) / peak);
}

}  // namespace cairn
