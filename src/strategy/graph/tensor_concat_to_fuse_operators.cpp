// tensor_concat_to_fuse_operators: nests that are equal but for one axis become one on concatenated inputs.
//
//   L^{4}_a [E_{a}=f(A_{a})]  L^{3}_c [F_{c}=f(C_{c})]
//     =>  L^{4} [G_{a}=A_{a}]  L^{3} [G_{a+4}=C_{a}]  L^{7}_a [H_{a}=f(G_{a})]  L^{4} [E_{a}=H_{a}]  L^{3} [F_{a}=H_{a+4}]
//
// Operands that are the same elements in all nests are read as before; an operand or result whose elements follow each
// other already (one tensor, subscripts counted on) is not copied. Extents of the axis may differ.
//
// Legal when
// (1) the nests are statements of the program's body in text order, of one form: tests, operations, literals, and loops
//     of equal kinds, marks and extents, the axis excepted, whose loops are L, P or U without a mark,
// (2) they are independent of each other, and the later ones pass the statements between,
// (3) the axis is spatial: every equation below it writes at the axis plus a constant, or fills a temporary anew in each
//     iteration (a reduction along the axis would mix the nests' sums),
// (4) an operand that has the axis has it in one subscript, alone or plus a constant; what is joined has one dtype,
//     scope g, equal shapes besides, and elements wherever it is copied,
// (5) operands without the axis are the same elements; index values and conditions on the axis count on.
// Every element is computed by the same operations in the same order: exact.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/dependence.h"
#include "analysis/flow.h"
#include "ir/canon.h"
#include "ir/interval.h"
#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/independent.h"
#include "strategy/edit/refuse.h"
#include "strategy/edit/write_domain.h"
#include "strategy/graph/axis_parts.h"
#include "strategy/graph/concat_match.h"
#include "strategy/registry.h"

namespace cairn {
namespace {

using Shapes = std::map<std::string, Shape, std::less<>>;

Result<AxisGroup> find_group(const Program& program, const Args& args) {
  AxisGroup group;
  for (const std::string& address : args.get_list("axes")) {
    CAIRN_TRY(const StmtPath path, find_loop(program.body(), address));
    const SourcePos pos = stmt_at(program.body(), path)->pos;
    const StmtPath axis(path.begin() + 1, path.end());
    if (!group.nests.empty() && path[0] <= group.nests.back()) return refuse(program, pos, 1, fmt::format("{} is not in a later nest than the loop named before it", address));
    if (!group.nests.empty() && axis != group.axis) {
      return refuse(program, pos, 1, fmt::format("{} does not stand where the axis of nest {} stands", address, group.nests[0]));
    }
    group.nests.push_back(path[0]);
    group.axis = axis;
  }
  if (group.nests.size() < 2) return refuse(program, kNoPos, 1, "joining needs the axis loops of at least two nests: axes=0.a+1.c");
  return group;
}

// The program with the nests one after another from the first one's place; condition (2).
Result<Program> gather(const Program& program, const std::vector<std::uint32_t>& nests) {
  Program now = program;
  for (std::uint32_t k = 1; k < nests.size(); ++k) {
    for (std::uint32_t at = nests[k]; at > nests[0] + k; --at) {
      CAIRN_CHECKED(check_independent(now, {at - 1}, {at}, {2, 2}));
      Body body = now.body();
      std::swap(body[at - 1], body[at]);
      now.set_body(std::move(body));
    }
    for (std::uint32_t other = 0; other < k; ++other) CAIRN_CHECKED(check_independent(now, {nests[0] + other}, {nests[0] + k}, {2, 2}));
  }
  return now;
}

// Copies and slices of joined tensors.
class Joiner {
 public:
  Joiner(const Program& program, const AxisGroup& group, const ConcatMatcher& match, Shapes shapes)
      : program_(program), group_(group), match_(match), shapes_(std::move(shapes)), original_(program.body()) {}

  // Condition (4) for windows.
  Result<void> check(const JoinedTensor& joined) const {
    const Shape& first = shapes_.at(joined.tensors[0]);
    for (std::size_t k = 0; k < joined.tensors.size(); ++k) {
      const Shape& shape = shapes_.at(joined.tensors[k]);
      bool same = shape.size() == first.size();
      for (std::size_t d = 0; same && d < shape.size(); ++d) same = d == joined.dim || shape[d] == first[d];
      if (!same) return refuse(program_, joined.pos, 4, fmt::format("{} and {} differ in shape off the axis", joined.tensors[0], joined.tensors[k]));
      const std::int64_t start = joined.starts[k], end = start + match_.extents()[k];
      if (start < 0 || end > shape[joined.dim]) {
        return refuse(program_, joined.pos, 4, fmt::format("elements {} to {} of {} along the axis are not all there (it has {})", start, end - 1, joined.tensors[k], shape[joined.dim]));
      }
    }
    return {};
  }

  // Does nest k read what an earlier statement, or the caller, left in its result?
  bool has_prior(const JoinedTensor& joined, std::size_t k) const {
    const std::string& tensor = joined.tensors[k];
    const bool io = program_.find(tensor)->role == Role::io;
    const std::uint32_t nest = group_.nests[k];
    if (!reads_below(*original_[nest], tensor)) return false;
    std::vector<Access> reads = collect_accesses(program_, {nest});
    std::erase_if(reads, [&](const Access& a) { return a.is_write || a.tensor != tensor; });
    for (std::uint32_t before = 0; before < nest && !io; ++before) {
      if (!writes_below(*original_[before], tensor)) continue;
      for (const Access& write : collect_accesses(program_, {before})) {
        if (!write.is_write || write.tensor != tensor) continue;
        if (std::any_of(reads.begin(), reads.end(), [&](const Access& read) { return may_touch(program_, write, read, {}) != Answer::no; })) return true;
      }
    }
    return io;
  }

  // Nest k's window into the joined tensor.
  StmtPtr copy(const JoinedTensor& joined, std::size_t k) {
    const Shape& shape = shapes_.at(joined.tensors[k]);
    std::vector<ExprPtr> from, to;
    std::vector<LoopHeader> loops;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t extent = d == joined.dim ? match_.extents()[k] : shape[d];
      ExprPtr at = make_int(0);
      if (extent > 1) {
        loops.push_back({LoopKind::L, extent, var(d), {}});
        at = make_var(var(d));
      }
      const auto plus = [&](std::int64_t c) { return at->op == Op::int_literal ? make_int(c) : add_index(at, make_int(c)); };
      from.push_back(d == joined.dim ? plus(joined.starts[k]) : at);
      to.push_back(d == joined.dim ? plus(match_.offsets()[k]) : at);
    }
    return wrap_loops(loops, {make_equation(joined.name, std::move(to), make_read(joined.tensors[k], std::move(from)))})[0];
  }

  // What nest k wrote, from the joined result back to where it belongs: one nest for each different way of writing it.
  Result<Body> slices(const JoinedTensor& joined, std::size_t k) {
    Body out;
    std::optional<Error> failed;
    visit_stmts({original_[group_.nests[k]]}, [&](const Stmt& stmt, const StmtContext& context) {
      if (failed || !stmt.is_equation() || stmt.tensor != joined.tensors[k]) return;
      const WriteDomain domain = write_domain(stmt, context.enclosing, [this](std::size_t n) { return var(n); });
      if (domain.data_test) failed = refuse(program_, domain.data_test->pos, 3, fmt::format("{} is written under a test that reads a tensor", stmt.tensor));
      dropped_test_ |= domain.dropped_test;
      std::vector<ExprPtr> to, from;
      for (std::size_t d = 0; d < stmt.subscripts.size(); ++d) {
        to.push_back(substitute_vars(stmt.subscripts[d], domain.names));
        from.push_back(to.back());
        if (d != joined.dim) continue;
        const LinearForm form = *linear_form(*to.back());
        from.back() = add_index(make_var(form.terms[0].first), make_int(match_.offsets()[k]));
      }
      const Body body = wrap_domain(domain, {make_equation(stmt.tensor, std::move(to), make_read(joined.name, std::move(from)))});
      if (std::none_of(out.begin(), out.end(), [&](const StmtPtr& s) { return same_stmt(*s, *body[0]); })) out.push_back(body[0]);
    });
    if (failed) return *failed;
    return out;
  }

  // A temporary that only nest k mentions needs no slice.
  bool stays_inside(const std::string& tensor, std::size_t k) const {
    return program_.find(tensor)->role == Role::tmp && count_mentions({original_[group_.nests[k]]}, tensor) == count_mentions(original_, tensor);
  }
  bool dropped_test() const { return dropped_test_; }
  const std::vector<std::string>& vars() const { return vars_; }

 private:
  const std::string& var(std::size_t k) {
    while (vars_.size() <= k) vars_.push_back(fresh_var(program_, vars_));
    return vars_[k];
  }

  const Program& program_;
  const AxisGroup& group_;
  const ConcatMatcher& match_;
  Shapes shapes_;
  const Body& original_;
  std::vector<std::string> vars_;
  bool dropped_test_ = false;
};

// Form of a nest without names and extents, and its loops' extents in text order.
struct Form {
  std::string text;
  std::vector<std::int64_t> extents;
  std::vector<StmtPath> loops;   // within the nest
};

void add_form(const Program& program, const Expr& e, std::string* text) {
  *text += static_cast<char>('A' + static_cast<int>(e.op));
  if (e.op == Op::read) *text += fmt::format("{}", static_cast<int>(program.find(e.name)->dtype));
  for (const ExprPtr& arg : e.args) {
    if (!is_index_expr(*arg)) add_form(program, *arg, text);
  }
  *text += ')';
}

Form form_of(const Program& program, const Stmt& nest) {
  Form form;
  const auto add = [&](auto&& self, const Stmt& stmt, const StmtPath& path) -> void {
    if (stmt.is_loop()) {
      form.text += fmt::format("L{}[", static_cast<int>(stmt.kind));
      form.extents.push_back(stmt.extent);
      form.loops.push_back(path);
    } else if (stmt.is_test()) {
      form.text += "T[";
    } else {
      form.text += fmt::format("{}_{}=", static_cast<int>(program.find(stmt.tensor)->dtype), stmt.subscripts.size());
      add_form(program, *stmt.rhs, &form.text);
    }
    for (std::uint32_t k = 0; k < stmt.body.size(); ++k) {
      StmtPath below = path;
      below.push_back(k);
      self(self, *stmt.body[k], below);
    }
    form.text += ']';
  };
  add(add, nest, {});
  return form;
}

}  // namespace

Result<Step> join_nests(const Program& program, const AxisGroup& group) {
  ConcatMatcher match(program, group.nests, group.axis);
  CAIRN_TRY(const StmtPtr fused, match.match());
  CAIRN_TRY(const Program gathered, gather(program, group.nests));
  CAIRN_TRY(Shapes shapes, infer_shapes(program));
  Joiner joiner(program, group, match, std::move(shapes));
  Step step;
  Body before, after;
  std::vector<std::string> to_check;
  for (const JoinedTensor& joined : match.joined()) {
    CAIRN_CHECKED(joiner.check(joined));
    for (std::size_t k = 0; k < group.nests.size(); ++k) {
      if (!joined.written || joiner.has_prior(joined, k)) {
        before.push_back(joiner.copy(joined, k));
        if (program.find(joined.tensors[k])->role == Role::tmp || joined.written) to_check.push_back(joined.tensors[k]);
      }
      if (!joined.written || joiner.stays_inside(joined.tensors[k], k)) continue;
      CAIRN_TRY(const Body slices, joiner.slices(joined, k));
      after.insert(after.end(), slices.begin(), slices.end());
    }
    if (joiner.dropped_test()) to_check.push_back(joined.name);
    step.created.push_back(joined.name);
  }
  Body body(gathered.body().begin(), gathered.body().begin() + group.nests[0]);
  body.insert(body.end(), before.begin(), before.end());
  body.push_back(fused);
  body.insert(body.end(), after.begin(), after.end());
  body.insert(body.end(), gathered.body().begin() + group.nests[0] + static_cast<std::ptrdiff_t>(group.nests.size()), gathered.body().end());
  step.after = program;
  step.after.set_body(std::move(body));
  for (const JoinedTensor& joined : match.joined()) {
    Tensor made;
    made.name = joined.name;
    made.dtype = program.find(joined.tensors[0])->dtype;
    step.after.set_tensor(std::move(made));
  }
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role == Role::tmp && count_mentions(step.after.body(), tensor.name) == 0) step.after.remove_tensor(tensor.name);
  }
  for (const std::string& tensor : to_check) {
    if (Result<void> written = check_written_before_read(step.after, tensor); !written) return refuse_because(std::move(written.error()), 4);
  }
  step.created.insert(step.created.end(), joiner.vars().begin(), joiner.vars().end());
  step.same_instances = false;
  step.proved = conditions_up_to(5);
  return step;
}

std::string axes_text(const Program& program, const AxisGroup& group) {
  std::string out;
  for (const std::uint32_t nest : group.nests) {
    StmtPath path{nest};
    path.insert(path.end(), group.axis.begin(), group.axis.end());
    out += (out.empty() ? "" : "+") + loop_address(program.body(), path);
  }
  return out;
}

namespace {

// Extents may differ at the axis only (and at loops with the same two extents, which may belong to it).
bool differ_by_axis(const Form& a, const Form& b, std::size_t axis) {
  for (std::size_t l = 0; l < a.extents.size(); ++l) {
    const bool like_axis = a.extents[l] == a.extents[axis] && b.extents[l] == b.extents[axis];
    if (a.extents[l] != b.extents[l] && !like_axis) return false;
  }
  return true;
}

// Each nest with the next two of its form, and all nests of a form together.
std::vector<Args> list_sites(const Program& program, const Target&) {
  std::vector<Args> out;
  std::vector<Form> forms;
  for (const StmtPtr& nest : program.body()) forms.push_back(form_of(program, *nest));
  for (std::uint32_t first = 0; first < forms.size(); ++first) {
    for (std::size_t axis = 0; axis < forms[first].loops.size() && axis < 16; ++axis) {
      AxisGroup group{{first}, forms[first].loops[axis]};
      for (std::uint32_t other = first + 1; other < forms.size() && group.nests.size() < 16; ++other) {
        if (forms[other].text != forms[first].text || forms[other].loops != forms[first].loops || !differ_by_axis(forms[first], forms[other], axis)) continue;
        const AxisGroup pair{{first, other}, group.axis};
        group.nests.push_back(other);
        if (group.nests.size() <= 3 && join_nests(program, pair)) out.push_back(Args{{"axes", axes_text(program, pair)}});
      }
      if (group.nests.size() > 2 && join_nests(program, group)) out.push_back(Args{{"axes", axes_text(program, group)}});
    }
  }
  return out;
}

Result<Step> apply(const Program& program, const Target& target, const Args& args) {
  CAIRN_TRY(const AxisGroup group, find_group(program, args));
  CAIRN_TRY(Step step, join_nests(program, group));
  if (group.nests.size() != 2 || !step.created.empty()) return step;
  // Nothing was copied: cutting where the first nest ended gives the two back, if they stood in this form.
  StmtPath first{group.nests[0]};
  first.insert(first.end(), group.axis.begin(), group.axis.end());
  const std::int64_t at = stmt_at(program.body(), first)->extent;
  const Result<Step> back = cut_nest(step.after, target, first, at);
  if (back && canonical_hash(back->after) == canonical_hash(program)) {
    step.inverse = Action{"tensor_split_to_decouple_operators", Args{{"loop", loop_address(step.after.body(), first)}, {"at", std::to_string(at)}, {"copies", "none"}}};
  }
  return step;
}

}  // namespace

const Strategy strategy_tensor_concat_to_fuse_operators{
    "tensor_concat_to_fuse_operators", Level::graph, Direction::fusion, Exactness::exact,
    "nests equal but for one axis become one on concatenated inputs",
    {{"axes", ArgType::loops, "the axis loop in each nest, in text order", {}, ""}},
    list_sites, apply};

}  // namespace cairn
