// Exact coverage by isl: the read's iterations minus those that an earlier write reaches.
#include <fmt/core.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "analysis/flow_cover.h"
#include "base/hash.h"

namespace cairn {

namespace {
constexpr unsigned long kMaxOperations = 3'000'000;

struct CtxDeleter {
  void operator()(isl_ctx* ctx) const { isl_ctx_free(ctx); }
};
using CtxPtr = std::unique_ptr<isl_ctx, CtxDeleter>;

// isl syntax of quasi-affine expressions; variables get a prefix that tells the two iterations apart.
class Printer {
 public:
  explicit Printer(char prefix) : prefix_(prefix) {}
  bool failed() const { return failed_; }

  std::string expr(const Expr& e) {
    switch (e.op) {
      case Op::int_literal: return e.int_value < 0 ? fmt::format("(0{})", e.int_value) : std::to_string(e.int_value);
      case Op::loop_var: return fmt::format("{}_{}", prefix_, e.name);
      case Op::neg: return fmt::format("(-{})", expr(*e.args[0]));
      case Op::mul: {
        const int literal = e.args[0]->op == Op::int_literal ? 0 : 1;
        if (e.args[static_cast<std::size_t>(literal)]->op != Op::int_literal) break;
        return fmt::format("({}*{})", e.args[static_cast<std::size_t>(literal)]->int_value, expr(*e.args[static_cast<std::size_t>(1 - literal)]));
      }
      case Op::add: case Op::sub:
        return fmt::format("({}{}{})", expr(*e.args[0]), op_name(e.op), expr(*e.args[1]));
      case Op::floor_div:
      case Op::mod: {
        if (e.args[1]->op != Op::int_literal || e.args[1]->int_value < 1) break;
        const std::string a = expr(*e.args[0]);
        const std::int64_t m = e.args[1]->int_value;
        if (e.op == Op::floor_div) return fmt::format("floor(({})/{})", a, m);
        return fmt::format("(({})-{}*floor(({})/{}))", a, m, a, m);
      }
      default: break;
    }
    failed_ = true;
    return "0";
  }
  std::string condition(const Expr& c, bool holds) {
    switch (c.op) {
      case Op::logical_not: return condition(*c.args[0], !holds);
      case Op::logical_and:
      case Op::logical_or:
        return fmt::format("({} {} {})", condition(*c.args[0], holds),
                           (c.op == Op::logical_and) == holds ? "and" : "or", condition(*c.args[1], holds));
      case Op::lt: case Op::le: case Op::gt: case Op::ge: case Op::eq: case Op::ne: {
        const std::string text = fmt::format("({} {} {})", expr(*c.args[0]), c.op == Op::eq ? "=" : op_name(c.op), expr(*c.args[1]));
        return holds ? text : "(not " + text + ")";
      }
      default: break;
    }
    failed_ = true;
    return "(1 = 1)";
  }

 private:
  char prefix_;
  bool failed_ = false;
};

std::string tuple(char prefix, const Access& a) {
  std::string text = "[";
  for (const Stmt* loop : a.loops) text += fmt::format("{}{}_{}", text.size() > 1 ? ", " : "", prefix, loop->var);
  return text + "]";
}

std::string ranges(char prefix, const Access& a) {
  std::string text = "1 = 1";
  for (const Stmt* loop : a.loops) text += fmt::format(" and 0 <= {}_{} < {}", prefix, loop->var, loop->extent);
  return text;
}

// Ranges and conditions. Conditions that isl cannot say: `over` leaves them out (more iterations), otherwise
// the whole access is refused.
bool domain(char prefix, const Access& a, bool over, std::string* out, bool* left_out) {
  *out = ranges(prefix, a);
  for (const Condition& c : a.conditions) {
    Printer p(prefix);
    const std::string text = p.condition(*c.cond, c.holds);
    if (p.failed()) {
      *left_out = true;
      if (!over) return false;
      continue;
    }
    *out += " and " + text;
  }
  return true;
}

int keep_point(isl_point* point, std::vector<std::int64_t>* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    isl_val* v = isl_point_get_coordinate_val(point, isl_dim_set, static_cast<int>(i));
    out->push_back(isl_val_get_num_si(v));
    isl_val_free(v);
  }
  isl_point_free(point);
  return 0;
}
// A question as isl reads it: the read's iterations, then what each write covers of them, in order.
struct CoverText {
  std::string read;
  std::vector<std::string> covered;
  bool inexact = false;   // something was left out
};

std::optional<CoverText> print_question(const Program& program, const CoverQuestion& question) {
  const Access& read = *question.read;
  CoverText out;
  std::string where;
  domain('r', read, true, &where, &out.inexact);
  if (question.extra) {
    Printer p('r');
    const std::string text = p.condition(*question.extra, question.extra_holds);
    if (p.failed()) {
      out.inexact = true;
    } else {
      where += " and " + text;
    }
  }
  std::vector<std::string> subs;
  for (const ExprPtr& sub : read.subscripts) {
    Printer p('r');
    subs.push_back(p.expr(*sub));
    if (p.failed()) return std::nullopt;
  }
  out.read = fmt::format("{{ {} : {} }}", tuple('r', read), where);
  for (const Access* write : question.writes) {
    const Shared shared = shared_loops(program, *write, read);
    if (shared.loops < question.equal_loops) continue;
    std::string equal;
    // The outermost `tests` conditions are left out: they hold where the read is made.
    const auto subtract = [&](const std::string& order, std::size_t tests) {
      Access limited = *write;
      limited.conditions.erase(limited.conditions.begin(), limited.conditions.begin() + static_cast<std::ptrdiff_t>(tests));
      std::string condition;
      bool skipped = false;
      Printer p('w');
      const bool known = domain('w', limited, false, &condition, &skipped);
      for (std::size_t d = 0; d < subs.size(); ++d) condition += fmt::format(" and {} = {}", p.expr(*write->subscripts[d]), subs[d]);
      if (!known || p.failed()) {
        out.inexact = true;
        return;
      }
      out.covered.push_back(fmt::format("{{ {} -> {} : {} and {}{} }}", tuple('r', read), tuple('w', *write), condition, ranges('r', read), order));
    };
    for (std::size_t m = 0; m < shared.loops; ++m) {
      const std::string& v = read.loops[m]->var;
      if (m >= question.equal_loops) subtract(fmt::format("{} and w_{} < r_{}", equal, v, v), 0);
      equal += fmt::format(" and w_{} = r_{}", v, v);
    }
    if (shared.a_first) subtract(equal, shared.tests);
  }
  return out;
}

struct CoverAnswer {
  Answer answer = Answer::unknown;
  std::vector<std::int64_t> example;
};

CoverAnswer ask_isl(const CoverText& text, std::size_t loops) {
  CtxPtr ctx(isl_ctx_alloc());
  isl_options_set_on_error(ctx.get(), ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(ctx.get(), kMaxOperations);
  isl_set* left = isl_set_read_from_str(ctx.get(), text.read.c_str());
  for (const std::string& covered : text.covered) {
    if (left == nullptr) break;
    isl_map* before = isl_map_read_from_str(ctx.get(), covered.c_str());
    left = isl_set_coalesce(isl_set_subtract(left, isl_map_domain(before)));
  }
  CoverAnswer out;
  if (left == nullptr) return out;
  const isl_bool empty = isl_set_is_empty(left);
  if (empty == isl_bool_true) out.answer = Answer::yes;
  if (empty == isl_bool_false && !text.inexact) out.answer = Answer::no;
  if (empty == isl_bool_false) {
    isl_point* point = isl_set_sample_point(isl_set_lexmin(isl_set_copy(left)));   // the first in loop order
    if (point != nullptr) keep_point(point, &out.example, loops);
  }
  isl_set_free(left);
  return out;
}

// Steps of a trace and proposals of a search leave most nests alone: the same questions come again and again.
class CoverMemo {
 public:
  std::optional<CoverAnswer> find(const Digest& key) {
    const std::lock_guard lock(mutex_);
    const auto it = answers_.find(key);
    if (it == answers_.end()) return std::nullopt;
    return it->second;
  }
  void store(const Digest& key, const CoverAnswer& answer) {
    constexpr std::size_t kKept = 1 << 16;
    const std::lock_guard lock(mutex_);
    if (answers_.size() >= kKept) answers_.clear();
    answers_.emplace(key, answer);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<Digest, CoverAnswer> answers_;
};
}  // namespace

Answer covered_by_isl(const Program& program, const CoverQuestion& question, std::vector<std::int64_t>* example) {
  static CoverMemo memo;
  const std::optional<CoverText> text = print_question(program, question);
  if (!text) return Answer::unknown;
  std::string all = text->read + (text->inexact ? "~" : "=");
  for (const std::string& covered : text->covered) all += covered;
  const Digest key = digest_bytes(all);
  std::optional<CoverAnswer> known = memo.find(key);
  if (!known) {
    known = ask_isl(*text, question.read->loops.size());
    memo.store(key, *known);
  }
  if (example != nullptr) example->insert(example->end(), known->example.begin(), known->example.end());
  return known->answer;
}

}  // namespace cairn
