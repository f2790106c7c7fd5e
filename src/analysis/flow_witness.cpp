// Coverage by a witness: the write's iteration as a function of the read's.
#include <algorithm>
#include <map>

#include "analysis/affine.h"
#include "analysis/flow_cover.h"
#include "analysis/flow_system.h"

namespace cairn {

namespace {
// Solves write subscripts = read subscripts for the write's free variables, one subscript after another.
class Witness {
 public:
  Witness(const Access& write, const RegionContext& context, const Access& read)
      : write_(write), read_(read), shared_tests_(context.shared_tests), system_(read) {
    for (std::size_t i = 0; i < write.loops.size(); ++i) {
      const std::string& var = write.loops[i]->var;
      if (i < context.equal) {
        known_.emplace_back(var, make_var(var));
      } else if (i == context.equal && context.step == RegionContext::Step::previous) {
        assign(i, make_expr(Op::sub, {make_var(var), make_int(1)}));
      } else {
        free_[var] = i;
      }
    }
  }

  bool holds(const ExprPtr& extra, bool extra_holds) {
    if (extra) system_.assume(*extra, extra_holds);
    for (const bool last_round : {false, true}) {
      for (std::size_t d = 0; d < write_.subscripts.size(); ++d) {
        if (!solve(d, last_round)) return false;
      }
    }
    while (!free_.empty()) assign(free_.begin()->second, make_int(0));
    for (std::size_t d = 0; d < write_.subscripts.size(); ++d) {
      if (!equal(d)) return false;
    }
    for (const auto& [loop, value] : assigned_) {
      const auto row = lower(value);
      const auto above = row ? combine_rows(*row, -1, constant_row(write_.loops[loop]->extent - 1), 1) : std::nullopt;
      if (!above || !system_.always_at_least_zero(*row) || !system_.always_at_least_zero(*above)) return false;
    }
    const auto first = write_.conditions.begin() + static_cast<std::ptrdiff_t>(shared_tests_);
    return std::all_of(first, write_.conditions.end(), [&](const Condition& c) {
      const ExprPtr cond = keep(substitute_vars(c.cond, known_));
      AccessSystem broken = system_;
      broken.assume(*cond, !c.holds);
      return proved_empty(broken.system(), false);
    });
  }

 private:
  const ExprPtr& keep(ExprPtr e) {   // the system remembers addresses of expressions
    kept_.push_back(std::move(e));
    return kept_.back();
  }
  std::optional<AffineRow> lower(const ExprPtr& e) { return system_.row(*keep(e)); }
  void assign(std::size_t loop, ExprPtr value) {
    const std::string& var = write_.loops[loop]->var;
    known_.emplace_back(var, value);
    assigned_.emplace_back(loop, std::move(value));
    free_.erase(var);
  }
  static bool is_zero(const Expr& e) { return e.op == Op::int_literal && e.int_value == 0; }
  bool equal(std::size_t d) {
    const ExprPtr written = substitute_vars(write_.subscripts[d], known_);
    if (same_expr(written, read_.subscripts[d])) return true;
    const auto w = lower(written);
    const auto r = lower(read_.subscripts[d]);
    return w && r && *w == *r;
  }
  bool solve(std::size_t d, bool pairwise) {
    std::vector<std::string> open;
    for (const auto& [var, loop] : free_) {
      if (uses_var(*write_.subscripts[d], var)) open.push_back(var);
    }
    if (open.empty() || (open.size() > 1 && !pairwise)) return true;
    // x xor m = read, m known: x = read xor m.
    ExprPtr target = read_.subscripts[d], subscript = write_.subscripts[d];
    if (subscript->op == Op::bit_xor) {
      const auto is_open = [&](const ExprPtr& e) { return std::any_of(open.begin(), open.end(), [&](const std::string& v) { return uses_var(*e, v); }); };
      const std::size_t mask = is_open(subscript->args[1]) ? 0 : 1;
      if (!is_open(subscript->args[mask])) {
        std::vector<LoopRange> ranges;
        for (const Stmt* loop : read_.loops) ranges.push_back({loop->var, loop->extent});
        target = simplify_index(make_expr(Op::bit_xor, {target, substitute_vars(subscript->args[mask], known_)}), ranges);
        subscript = subscript->args[1 - mask];
      }
    }
    const auto form = linear_form(*subscript);
    if (!form) return false;
    if (open.size() == 1) {
      const std::int64_t coef = form->coefficient(open[0]);
      if (coef != 1 && coef != -1) {
        if (!pairwise) return true;
      } else {   // v = coef * (read - rest)
        LinearForm rest = *form;
        std::erase_if(rest.terms, [&](const auto& t) { return t.first == open[0]; });
        ExprPtr value = substitute_vars(linear_expr(rest), known_);
        if (!is_zero(*value)) value = coef == 1 ? make_expr(Op::sub, {target, value}) : make_expr(Op::sub, {value, target});
        else value = coef == 1 ? target : make_expr(Op::neg, {target});
        assign(free_.at(open[0]), std::move(value));
        return true;
      }
    }
    // Several at once: terms of equal coefficients stand for each other.
    auto other = linear_form(*target);
    if (!other) return false;
    for (const std::string& var : open) {
      const auto match = std::find_if(other->terms.begin(), other->terms.end(), [&](const auto& t) { return t.second == form->coefficient(var); });
      if (match == other->terms.end()) return false;
      assign(free_.at(var), make_var(match->first));
      other->terms.erase(match);
    }
    return true;
  }

  const Access& write_;
  const Access& read_;
  std::size_t shared_tests_;
  AccessSystem system_;
  std::vector<std::pair<std::string, ExprPtr>> known_;
  std::vector<std::pair<std::size_t, ExprPtr>> assigned_;
  std::map<std::string, std::size_t> free_;
  std::vector<ExprPtr> kept_;
};
}  // namespace

bool covered_by_witness(const Access& write, const RegionContext& context, const CoverQuestion& question) {
  return context.step != RegionContext::Step::all_earlier &&
         Witness(write, context, *question.read).holds(question.extra, question.extra_holds);
}

}  // namespace cairn
