#include "analysis/access_bindings.h"

#include <algorithm>

#include "ir/interval.h"

namespace cairn {

namespace {
struct Site {
  const Stmt* stmt = nullptr;
  StmtPath path;
  VarRanges ranges;
  int writes = 0;
};
struct Mention {
  std::string tensor;
  std::vector<ExprPtr> subscripts;
  StmtPath path;
};

class Scan {
 public:
  explicit Scan(const Program& program) {
    for (const Tensor& t : program.tensors()) {
      if (t.role == Role::tmp && is_integer(t.dtype)) candidates.emplace(t.name, Site{});
    }
    if (!candidates.empty()) walk(program.body());
  }

  std::map<std::string, Site, std::less<>> candidates;
  std::vector<Mention> reads;

 private:
  void walk(const Body& body) {
    for (std::uint32_t i = 0; i < body.size(); ++i) {
      const Stmt& s = *body[i];
      path_.push_back(i);
      if (s.is_equation()) {
        for (const ExprPtr& e : s.subscripts) look(*e);
        look(*s.rhs);
        if (const auto it = candidates.find(s.tensor); it != candidates.end()) {
          const int writes = it->second.writes + 1;
          it->second = {&s, path_, ranges_, writes};
        }
      } else {
        if (s.is_test()) look(*s.cond);
        if (s.is_loop()) ranges_[s.var] = {0, s.extent - 1};
        walk(s.body);
      }
      path_.pop_back();
    }
  }

  void look(const Expr& e) {
    visit_expr(e, [this](const Expr& node) {
      if (node.op == Op::read && candidates.find(node.name) != candidates.end()) {
        reads.push_back({node.name, node.args, path_});
      }
      return true;
    });
  }

  StmtPath path_;
  VarRanges ranges_;   // of the innermost binder of each name met so far: an equation sees its own loops'
};

// Storing the value does not wrap it.
bool fits(const Program& program, const std::string& name, const Expr& value, const VarRanges& ranges) {
  const Dtype dtype = program.find(name)->dtype;
  if (dtype == Dtype::i64) return true;
  const std::int64_t bytes = dtype_bytes(dtype);
  if (dtype == Dtype::i4 || dtype == Dtype::u4 || bytes > 4) return false;
  const auto range = interval_of(value, ranges);
  const bool is_signed = dtype == Dtype::i32 || dtype == Dtype::i16 || dtype == Dtype::i8;
  const std::int64_t span = std::int64_t{1} << (8 * bytes - (is_signed ? 1 : 0));
  return range && range->lo >= (is_signed ? -span : 0) && range->hi < span;
}

// The definition stands before the read, in a body that encloses it.
bool dominates(const StmtPath& definition, const StmtPath& read) {
  if (read.size() < definition.size()) return false;
  const std::size_t last = definition.size() - 1;
  return std::equal(definition.begin(), definition.begin() + static_cast<std::ptrdiff_t>(last), read.begin()) &&
         definition[last] < read[last];
}

bool only_loop_variables(const Expr& e, const std::map<std::string, Site, std::less<>>& candidates) {
  bool ok = true;
  visit_expr(e, [&](const Expr& node) {
    if (node.op == Op::read && candidates.find(node.name) == candidates.end()) ok = false;
    if (node.op == Op::float_literal) ok = false;
    return ok;
  });
  return ok;
}
}  // namespace

BindingTable::BindingTable(const Program& program) {
  Scan scan(program);
  if (scan.candidates.empty()) return;
  std::vector<std::pair<std::string, Definition>> accepted;
  for (auto& [name, site] : scan.candidates) {
    if (site.writes != 1 || !only_loop_variables(*site.stmt->rhs, scan.candidates)) continue;
    if (reads_tensor(*site.stmt->rhs, name)) continue;
    Definition d;
    d.value = site.stmt->rhs;
    bool plain = true;
    for (const ExprPtr& s : site.stmt->subscripts) {
      plain = plain && s->op == Op::loop_var &&
              std::find(d.subscripts.begin(), d.subscripts.end(), s->name) == d.subscripts.end();
      d.subscripts.push_back(s->name);
    }
    if (!plain) continue;
    bool own = true;  // the value depends on the subscripts alone
    bool nested = false;
    visit_expr(*d.value, [&](const Expr& node) {
      if (node.op == Op::loop_var) {
        own = own && std::find(d.subscripts.begin(), d.subscripts.end(), node.name) != d.subscripts.end();
      }
      nested = nested || node.op == Op::read;
      return true;
    });
    bool ok = own && !nested;
    if (!ok) {
      ok = std::all_of(scan.reads.begin(), scan.reads.end(), [&](const Mention& m) {
        if (m.tensor != name) return true;
        bool same = m.subscripts.size() == site.stmt->subscripts.size() && dominates(site.path, m.path);
        for (std::size_t i = 0; same && i < m.subscripts.size(); ++i) {
          same = same_expr(m.subscripts[i], site.stmt->subscripts[i]);
        }
        return same;
      });
    }
    if (ok) accepted.emplace_back(name, std::move(d));
  }
  // A definition may use other bindings; what uses a rejected one is rejected too.
  for (bool again = true; again;) {
    again = false;
    for (auto it = accepted.begin(); it != accepted.end();) {
      bool ok = true;
      visit_expr(*it->second.value, [&](const Expr& node) {
        if (node.op == Op::read && defined_.find(node.name) == defined_.end()) ok = false;
        return ok;
      });
      if (!ok) {
        ++it;
        continue;
      }
      it->second.value = expand(it->second.value);
      if (fits(program, it->first, *it->second.value, scan.candidates.find(it->first)->second.ranges)) {
        defined_.emplace(it->first, std::move(it->second));
        again = true;
      }
      it = accepted.erase(it);
    }
  }
}

ExprPtr BindingTable::expand(const ExprPtr& expr) const {
  if (defined_.empty()) return expr;
  return rewrite_expr(expr, [this](const ExprPtr& e) -> ExprPtr {
    if (e->op != Op::read) return nullptr;
    const auto it = defined_.find(e->name);
    if (it == defined_.end() || it->second.subscripts.size() != e->args.size()) return nullptr;
    std::vector<std::pair<std::string, ExprPtr>> map;
    for (std::size_t i = 0; i < e->args.size(); ++i) map.emplace_back(it->second.subscripts[i], e->args[i]);
    return substitute_vars(it->second.value, map);
  });
}

}  // namespace cairn
