#include "search/state_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "analysis/cost.h"
#include "base/json.h"
#include "ir/self_update.h"
#include "ir/subscripts.h"
#include "ir/walk.h"

namespace cairn {

namespace {

constexpr std::size_t kMaxTensors = 12;
constexpr std::size_t kMaxPath = 8;

// What the equations of a program do, counted over all of them.
struct Features {
  int products = 0, convolutions = 0, sums = 0, maxima = 0, windows = 0, scans = 0, exponentials = 0, roots = 0, quotients = 0;
};

bool has_op(const Expr& root, std::initializer_list<Op> ops) {
  bool found = false;
  visit_expr(root, [&](const Expr& e) {
    found |= std::find(ops.begin(), ops.end(), e.op) != ops.end();
    return !found;
  });
  return found;
}

// True if a subscript mixes two loop variables: the sliding window of convolutions and poolings.
bool slides(const Expr& root) {
  bool found = false;
  visit_expr(root, [&](const Expr& e) {
    if (e.op != Op::read) return !found;
    for (const ExprPtr& subscript : e.args) {
      std::set<std::string> vars;
      visit_expr(*subscript, [&](const Expr& s) {
        if (s.op == Op::loop_var) vars.insert(s.name);
        return true;
      });
      found |= vars.size() > 1;
    }
    return !found;
  });
  return found;
}

// True if the equation reads its own tensor at another place: a recurrence.
bool recurs(const Stmt& equation) {
  bool found = false;
  visit_expr(*equation.rhs, [&](const Expr& e) {
    if (e.op != Op::read || e.name != equation.tensor) return true;
    for (std::size_t k = 0; k < std::min(e.args.size(), equation.subscripts.size()); ++k) found |= !same_expr(e.args[k], equation.subscripts[k]);
    return true;
  });
  return found;
}

// True if a term multiplies two different elements: x*x is a square, not a product of tensors.
bool is_product(const Expr& root) {
  std::vector<const Expr*> reads;
  visit_expr(root, [&](const Expr& e) {
    if (e.op == Op::read) reads.push_back(&e);
    return true;
  });
  return root.op == Op::mul && std::any_of(reads.begin(), reads.end(), [&](const Expr* e) { return !same_expr(*e, *reads[0]); });
}

Features count_features(const Program& program) {
  Features f;
  for (const EquationRef& ref : collect_equations(program.body())) {
    const Stmt& eq = *ref.equation;
    if (recurs(eq)) ++f.scans;
    if (has_op(*eq.rhs, {Op::exp})) ++f.exponentials;
    if (has_op(*eq.rhs, {Op::sqrt, Op::rsqrt})) ++f.roots;
    if (has_op(*eq.rhs, {Op::div, Op::rsqrt})) ++f.quotients;
    const auto update = match_self_update(eq);
    if (!update) continue;
    const bool window = slides(*eq.rhs);
    if (update->op == UpdateOp::add) {
      const bool product = std::any_of(update->others.begin(), update->others.end(), [](const auto& o) { return is_product(*o.expr); });
      if (product && window) ++f.convolutions;
      else if (product) ++f.products;
      else if (window) ++f.windows;
      else ++f.sums;
    } else {
      window ? ++f.windows : ++f.maxima;
    }
  }
  return f;
}

// The class of a nest's limit as triggers name it.
std::string class_of(const std::string& bound) {
  if (bound == "compute" || bound == "latency") return bound;
  return bound == "overhead" ? "launch" : "memory";
}

double log2_of(double x) { return std::log2(std::max(1.0, x)); }

// Empty for a scalar and for a tensor whose shape is not written.
std::vector<std::int64_t> shape_of(const Tensor& t) { return t.shape.value_or(std::vector<std::int64_t>{}); }

double bytes_moved(const Program& program) {
  double bytes = 0;
  for (const Tensor& t : program.tensors()) {
    if (t.role == Role::tmp) continue;
    double elements = 1;
    for (const std::int64_t n : shape_of(t)) elements *= static_cast<double>(n);
    bytes += elements * static_cast<double>(std::max<std::int64_t>(1, dtype_bytes(t.dtype)));
  }
  return bytes;
}

// "sum" if no equation below the loop keeps its variable on the left, else "row".
std::string loop_role(const Program& program, std::string_view address) {
  const auto path = find_loop(program.body(), address);
  const Stmt* loop = path.ok() ? stmt_at(program.body(), *path) : nullptr;
  if (!loop) return "loop";
  bool kept = false;
  for (const EquationRef& ref : collect_equations(loop->body)) {
    kept |= subscripts_use(ref.equation->subscripts, loop->var);
  }
  return kept ? "row" : "sum";
}

std::string log2_class(std::string_view number) { return std::to_string(std::lround(log2_of(std::strtod(std::string(number).c_str(), nullptr)))); }

std::string class_of_value(const Program& program, ArgType type, const std::string& value) {
  const auto each = [&](char separator, const auto& fn) {
    std::string out;
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(separator, begin), value.size());
      out += (begin == 0 ? "" : std::string(1, separator)) + fn(std::string_view(value).substr(begin, end - begin));
      begin = end + 1;
    }
    return out;
  };
  switch (type) {
    case ArgType::loop: return loop_role(program, value);
    case ArgType::loops: return each('+', [&](std::string_view address) { return loop_role(program, address); });
    case ArgType::integer: return log2_class(value);
    case ArgType::integers: return each('x', log2_class);
    case ArgType::choice: return value;
    case ArgType::equation: return "equation";
    case ArgType::nest: return "nest";
    case ArgType::tensor: {
      const Tensor* t = program.find(value);
      return t ? std::string(role_name(t->role)) : "tensor";
    }
    case ArgType::text: break;
  }
  return "text";
}

}  // namespace

std::string family_of(const Program& program) {
  const Features f = count_features(program);
  if (f.products >= 2 && f.exponentials > 0 && (f.sums > 0 || f.maxima > 0)) return "attention";
  if (f.convolutions > 0) return "convolution";
  if (f.products > 0) return "product";
  if (f.windows > 0 && f.roots == 0) return "pooling";
  if (f.scans > 0) return "scan";
  if (f.exponentials > 0 && f.sums > 0) return "softmax";
  if (f.sums + f.windows > 0 && (f.roots > 0 || f.quotients > 1)) return "normalization";
  if (f.sums > 0 || f.maxima > 0) return "reduction";
  return "elementwise";
}

StateSummary summarize_state(const Program& program, const Target& target) {
  StateSummary s;
  s.family = family_of(program);
  for (const Tensor& t : program.tensors()) {
    if (t.role == Role::tmp) continue;
    std::string shape;
    for (const std::int64_t n : shape_of(t)) shape += (shape.empty() ? "" : "x") + std::to_string(n);
    s.tensors.push_back(fmt::format("{} {} {} {}", role_name(t.role), t.name, dtype_name(t.dtype), shape.empty() ? "scalar" : shape));
  }
  s.flops = count_flops(program);
  s.bytes = bytes_moved(program);
  s.intensity = s.bytes > 0 ? s.flops / s.bytes : 0;
  const ProgramCost cost = predict_cost(program, target);
  s.seconds = cost.seconds;
  s.nests = cost.nests.size();
  double total = 0;
  for (const NestCost& nest : cost.nests) {
    s.time_shares[class_of(nest.bound)] += nest.seconds;
    total += nest.seconds;
  }
  double most = -1;
  for (auto& [name, share] : s.time_shares) {
    share = total > 0 ? share / total : 0;
    if (share <= most) continue;
    most = share;
    s.bottleneck = name;
  }
  if (s.bottleneck.empty()) s.bottleneck = "memory";
  return s;
}

std::vector<double> task_features(const Program& naive, const Target& target) {
  const StateSummary s = summarize_state(naive, target);
  double largest = 1, smallest = 0, outputs = 0;
  visit_stmts(naive.body(), [&](const Stmt& stmt, const StmtContext& context) {
    if (!stmt.is_equation() || !match_self_update(stmt)) return;
    for (const Stmt* loop : context.enclosing) {
      if (!loop->is_loop()) continue;
      const bool kept = subscripts_use(stmt.subscripts, loop->var);
      if (kept) continue;
      const auto extent = static_cast<double>(loop->extent);
      largest = std::max(largest, extent);
      smallest = smallest == 0 ? extent : std::min(smallest, extent);
    }
  });
  for (const Tensor& t : naive.tensors()) outputs += t.role == Role::out || t.role == Role::io;
  return {log2_of(s.flops), log2_of(s.bytes), log2_of(s.intensity), log2_of(largest), log2_of(smallest), log2_of(static_cast<double>(s.nests)), outputs};
}

std::string print_summary(const StateSummary& s, const std::vector<PathStep>& path) {
  const auto rounded = [](double x) { return x == 0 || !std::isfinite(x) ? x : std::stod(fmt::format("{:.3g}", x)); };
  Json json;
  json["version"] = 1;
  json["family"] = s.family;
  json["tensors"] = std::vector<std::string>(s.tensors.begin(), s.tensors.begin() + static_cast<std::ptrdiff_t>(std::min(kMaxTensors, s.tensors.size())));
  if (s.tensors.size() > kMaxTensors) json["more_tensors"] = s.tensors.size() - kMaxTensors;
  json["nests"] = s.nests;
  json["flops"] = rounded(s.flops);
  json["bytes"] = rounded(s.bytes);
  json["intensity"] = rounded(s.intensity);
  json["predicted_ms"] = rounded(s.seconds * 1e3);
  json["bottleneck"] = s.bottleneck;
  Json shares;
  for (const auto& [name, share] : s.time_shares) shares[name] = rounded(share);
  json["time_shares"] = shares;
  Json steps = Json::array();
  const std::size_t first = path.size() > kMaxPath ? path.size() - kMaxPath : 0;
  if (first > 0) json["earlier_steps"] = first;
  for (std::size_t k = first; k < path.size(); ++k) steps.push_back({{"local", path[k].local}, {"outcome", path[k].outcome}, {"gain", rounded(path[k].gain)}});
  json["path"] = steps;
  return dump_json(json);
}

std::string argument_class(const Program& program, const Action& action) {
  const Strategy* strategy = find_strategy(action.strategy);
  std::string out;
  for (const auto& [name, value] : action.args.values()) {
    ArgType type = ArgType::text;
    if (strategy) {
      const auto param = std::find_if(strategy->params.begin(), strategy->params.end(), [&name = name](const Param& p) { return p.name == name; });
      if (param != strategy->params.end()) type = param->type;
    }
    out += (out.empty() ? "" : ",") + name + "=" + class_of_value(program, type, value);
  }
  return out;
}

}  // namespace cairn
