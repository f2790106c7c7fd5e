#include "strategy/graph/axis_parts.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/walk.h"
#include "strategy/edit/band.h"
#include "strategy/edit/independent.h"
#include "strategy/edit/refuse.h"

namespace cairn {

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

namespace {

Result<void> pass(Program* program, std::uint32_t upper) {
  CAIRN_CHECKED(check_independent(*program, {upper}, {upper + 1}, {2, 2}));
  Body body = program->body();
  std::swap(body[upper], body[upper + 1]);
  program->set_body(std::move(body));
  return {};
}

// The nests one after another: the later ones moved up to the first, or the earlier ones down to the last.
Result<Gathered> gather_at(const Program& program, const std::vector<std::uint32_t>& nests, bool up) {
  const auto count = static_cast<std::uint32_t>(nests.size());
  Gathered now{program, up ? nests[0] : nests.back() + 1 - count};
  for (std::uint32_t k = 1; up && k < count; ++k) {
    for (std::uint32_t at = nests[k]; at > nests[0] + k; --at) CAIRN_CHECKED(pass(&now.program, at - 1));
  }
  for (std::uint32_t k = count - 1; !up && k-- > 0;) {
    for (std::uint32_t at = nests[k]; at < now.first + k; ++at) CAIRN_CHECKED(pass(&now.program, at));
  }
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = a + 1; b < count; ++b) CAIRN_CHECKED(check_independent(now.program, {now.first + a}, {now.first + b}, {2, 2}));
  }
  return now;
}

}  // namespace

Result<Gathered> gather(const Program& program, const std::vector<std::uint32_t>& nests) {
  Result<Gathered> up = gather_at(program, nests, true);
  if (up) return up;
  Result<Gathered> down = gather_at(program, nests, false);
  return down ? std::move(down) : std::move(up);
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

// Form of a nest without names and extents, and its loops' extents in text order.
struct Form {
  std::string text;
  std::vector<std::int64_t> extents;
  std::vector<StmtPath> loops;   // within the nest
};

void add_form(const Program& program, const Expr& e, std::string* text) {
  *text += static_cast<char>('A' + static_cast<int>(e.op));
  if (e.op == Op::read) *text += std::to_string(static_cast<int>(program.find(e.name)->dtype));
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

// Extents may differ at the axis only (and at loops with the same two extents, which may belong to it).
bool differ_by_axis(const Form& a, const Form& b, std::size_t axis) {
  for (std::size_t l = 0; l < a.extents.size(); ++l) {
    const bool like_axis = a.extents[l] == a.extents[axis] && b.extents[l] == b.extents[axis];
    if (a.extents[l] != b.extents[l] && !like_axis) return false;
  }
  return true;
}

}  // namespace

std::vector<AxisGroup> list_groups(const Program& program, bool (*wanted)(const Stmt& nest, const StmtPath& axis)) {
  std::vector<AxisGroup> out;
  std::vector<Form> forms;
  for (const StmtPtr& nest : program.body()) forms.push_back(form_of(program, *nest));
  for (std::uint32_t first = 0; first < forms.size(); ++first) {
    for (std::size_t axis = 0; axis < forms[first].loops.size() && axis < 16; ++axis) {
      if (!wanted(*program.body()[first], forms[first].loops[axis])) continue;
      AxisGroup group{{first}, forms[first].loops[axis]};
      for (std::uint32_t other = first + 1; other < forms.size() && group.nests.size() < 16; ++other) {
        if (forms[other].text != forms[first].text || forms[other].loops != forms[first].loops || !differ_by_axis(forms[first], forms[other], axis)) continue;
        group.nests.push_back(other);
        if (group.nests.size() <= 3) out.push_back({{first, other}, group.axis});
      }
      if (group.nests.size() > 2) out.push_back(group);
    }
  }
  return out;
}

StmtPtr loop_part(const Program& program, const StmtPath& loop, std::int64_t from, std::int64_t extent) {
  const StmtPtr axis = shared_at(program.body(), loop);
  Body body = axis->body;
  if (from != 0) {
    std::vector<LoopRange> ranges = ranges_above(program.body(), loop);
    ranges.push_back({axis->var, extent});
    body = substitute_and_simplify(axis->body, {{axis->var, add_index(make_var(axis->var), make_int(from))}}, ranges, {});
  }
  return with_body(*loop_like(*axis, axis->kind, extent, axis->var), std::move(body));
}

StmtPtr nest_part(const Program& program, const StmtPath& loop, std::int64_t from, std::int64_t extent) {
  const StmtPtr part = loop_part(program, loop, from, extent);
  StmtPath inside = loop;
  inside[0] = 0;
  const Body nest = replace_at({program.body()[loop[0]]}, inside, part->body.empty() ? Body{} : Body{part});
  return nest.empty() ? nullptr : nest[0];
}

}  // namespace cairn
