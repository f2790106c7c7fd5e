// Traffic into one cache level: footprints of subtrees, with reuse where they fit.
#include <algorithm>
#include <set>

#include "analysis/cost_internal.h"

namespace cairn::cost {

namespace {

struct Mention {
  const std::string* tensor;
  const std::vector<ExprPtr>* subscripts;
};

struct Node {
  const Stmt* stmt = nullptr;
  std::vector<Mention> mentions;          // of the whole subtree
  std::vector<Node> children;
  std::vector<const Stmt*> loops;         // of the whole subtree, this one included
};

void collect_mentions(const Expr& e, std::vector<Mention>* out) {
  if (e.op == Op::read) out->push_back({&e.name, &e.args});
  for (const ExprPtr& arg : e.args) collect_mentions(*arg, out);
}

Node build(const Stmt& s) {
  Node node;
  node.stmt = &s;
  if (s.is_equation()) {
    node.mentions.push_back({&s.tensor, &s.subscripts});
    collect_mentions(*s.rhs, &node.mentions);
    return node;
  }
  if (s.is_loop()) node.loops.push_back(&s);
  for (const StmtPtr& child : s.body) {
    node.children.push_back(build(*child));
    const Node& c = node.children.back();
    node.mentions.insert(node.mentions.end(), c.mentions.begin(), c.mentions.end());
    node.loops.insert(node.loops.end(), c.loops.begin(), c.loops.end());
  }
  return node;
}

using Bytes = std::map<std::string, double, std::less<>>;

class Traffic {
 public:
  Traffic(const Program& program, const Shapes& shapes, double capacity, double line)
      : program_(program), shapes_(shapes), capacity_(capacity), line_(line) {}

  Bytes run(const Node& node, VarRanges* fixed) const {
    const Bytes own = footprint(node, *fixed);
    double total = 0;
    for (const auto& [name, bytes] : own) total += bytes;
    if (total <= capacity_ || node.children.empty()) return own;
    const bool loop = node.stmt->is_loop();
    if (loop) (*fixed)[node.stmt->var] = Interval{0, 0};
    Bytes sum, body;
    for (const Node& child : node.children) {
      for (const auto& [name, bytes] : run(child, fixed)) sum[name] += bytes;
      if (loop) {
        for (const auto& [name, bytes] : footprint(child, *fixed)) body[name] = std::max(body[name], bytes);
      }
    }
    if (!loop) return sum;
    double body_total = 0;
    for (const auto& [name, bytes] : body) body_total += bytes;
    fixed->erase(node.stmt->var);
    const double trips = static_cast<double>(node.stmt->extent);
    for (auto& [name, bytes] : sum) {
      const bool varies = mentions_with(node, name, node.stmt->var);
      // A tensor that the loop does not move stays cached between iterations if one iteration leaves room.
      if (!varies && body_total <= capacity_) continue;
      bytes *= trips;
    }
    return sum;
  }

 private:
  static bool mentions_with(const Node& node, const std::string& tensor, const std::string& var) {
    for (const Mention& m : node.mentions) {
      if (*m.tensor != tensor) continue;
      for (const ExprPtr& s : *m.subscripts) {
        if (uses_var(*s, var)) return true;
      }
    }
    return false;
  }

  // Bytes in whole lines of the union box of each tensor, loops outside fixed at 0.
  Bytes footprint(const Node& node, const VarRanges& fixed) const {
    VarRanges ranges = fixed;
    for (const Stmt* l : node.loops) ranges[l->var] = Interval{0, std::max<std::int64_t>(0, l->extent - 1)};
    std::map<std::string, std::vector<Interval>, std::less<>> boxes;
    for (const Mention& m : node.mentions) {
      const auto shape = shapes_.find(*m.tensor);
      std::vector<Interval> box;
      for (std::size_t d = 0; d < m.subscripts->size(); ++d) {
        VarRanges all = ranges;
        auto interval = bound((*m.subscripts)[d], &all);
        if (!interval) {
          const std::int64_t extent = shape != shapes_.end() && d < shape->second.size() ? shape->second[d] : 1;
          interval = Interval{0, extent - 1};
        }
        box.push_back(*interval);
      }
      auto [it, fresh] = boxes.emplace(*m.tensor, box);
      if (!fresh && it->second.size() == box.size()) {
        for (std::size_t d = 0; d < box.size(); ++d) {
          it->second[d].lo = std::min(it->second[d].lo, box[d].lo);
          it->second[d].hi = std::max(it->second[d].hi, box[d].hi);
        }
      }
    }
    Bytes bytes;
    for (const auto& [name, box] : boxes) {
      const Tensor* t = program_.find(name);
      const double size = t ? static_cast<double>(dtype_bytes(t->dtype)) : 4;
      const auto shape = shapes_.find(name);
      double rows = 1, row = size;
      for (std::size_t d = 0; d < box.size(); ++d) {
        double width = static_cast<double>(box[d].hi - box[d].lo + 1);
        if (shape != shapes_.end() && d < shape->second.size()) width = std::min(width, static_cast<double>(shape->second[d]));
        if (d + 1 == box.size()) row = std::max(line_, width * size);
        else rows *= width;
      }
      if (t && t->scope == Scope::l && rows * row <= 2048) continue;  // registers
      bytes[name] = box.empty() ? size : rows * row;
    }
    return bytes;
  }

  // Bounds with loops outside the subtree (not in ranges) fixed at 0.
  static std::optional<Interval> bound(const ExprPtr& e, VarRanges* ranges) {
    visit_expr(*e, [&](const Expr& x) {
      if (x.op == Op::loop_var) ranges->emplace(x.name, Interval{0, 0});
      return true;
    });
    return interval_of(*e, *ranges);
  }

  const Program& program_;
  const Shapes& shapes_;
  double capacity_, line_;
};

}  // namespace

double traffic_of_nest(const Program& program, const Shapes& shapes, const Stmt& nest, std::int64_t capacity,
                       std::int64_t line_bytes) {
  const Node root = build(nest);
  VarRanges fixed;
  const Traffic traffic(program, shapes, static_cast<double>(capacity), static_cast<double>(line_bytes));
  double total = 0;
  for (const auto& [name, bytes] : traffic.run(root, &fixed)) total += bytes;
  return total;
}

}  // namespace cairn::cost
