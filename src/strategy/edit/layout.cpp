#include "strategy/edit/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace cairn {
namespace {

using Kind = LayoutOp::Kind;

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

std::optional<std::int64_t> number(std::string_view s) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (code != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

std::optional<LayoutOp> parse_op(std::string_view text) {
  const std::vector<std::string_view> parts = split_text(text, ':');
  LayoutOp op;
  if (parts[0] == "flatten" && parts.size() == 1) {
    op.kind = Kind::flatten;
    return op;
  }
  if (parts[0] == "transpose" && parts.size() == 2) {
    for (const std::string_view place : split_text(parts[1], 'x')) {
      const auto value = number(place);
      if (!value || *value < 0 || *value > 63) return std::nullopt;
      op.order.push_back(static_cast<std::size_t>(*value));
    }
    return op;
  }
  std::vector<std::int64_t> values;
  for (std::size_t k = 1; k < parts.size(); ++k) {
    const auto value = number(parts[k]);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  if (values.empty() || values[0] < 0 || values[0] > 63) return std::nullopt;
  op.dim = static_cast<std::size_t>(values[0]);
  if (parts[0] == "merge" && values.size() == 1) {
    op.kind = Kind::merge;
    return op;
  }
  if (parts[0] == "xor" && values.size() == 3 && values[1] >= 0 && values[1] < 64) {
    op.kind = Kind::swizzle;
    op.other = static_cast<std::size_t>(values[1]);
    op.value = values[2];
    return op;
  }
  if ((parts[0] != "split" && parts[0] != "pad") || values.size() != 2) return std::nullopt;
  op.kind = parts[0] == "split" ? Kind::split : Kind::pad;
  op.value = values[1];
  return op;
}

Error misfit(std::string message) { return Error{Code::illegal, std::move(message), {}, {}}; }

// One step on a shape.
Result<Shape> step_shape(const LayoutOp& op, Shape shape) {
  const std::size_t rank = shape.size();
  const auto no_dim = [&](std::size_t d) { return misfit(fmt::format("the tensor has {} dimensions there, and no dimension {}", rank, d)); };
  const auto at = [](std::size_t d) { return static_cast<std::ptrdiff_t>(d); };
  switch (op.kind) {
    case Kind::transpose: {
      std::vector<std::size_t> sorted = op.order;
      std::sort(sorted.begin(), sorted.end());
      bool whole = sorted.size() == rank;
      for (std::size_t k = 0; whole && k < rank; ++k) whole = sorted[k] == k;
      if (!whole) return misfit(fmt::format("transpose names {} places, expected a permutation of {} dimensions", op.order.size(), rank));
      Shape out;
      for (const std::size_t d : op.order) out.push_back(shape[d]);
      return out;
    }
    case Kind::split:
      if (op.dim >= rank) return no_dim(op.dim);
      if (op.value < 2 || op.value >= shape[op.dim]) {
        return misfit(fmt::format("dimension {} has extent {}, the factor must lie between 2 and {}, not be {}", op.dim, shape[op.dim],
                                  shape[op.dim] - 1, op.value));
      }
      shape.insert(shape.begin() + at(op.dim) + 1, op.value);
      shape[op.dim] = (shape[op.dim] + op.value - 1) / op.value;
      return shape;
    case Kind::merge: {
      if (op.dim + 1 >= rank) return no_dim(op.dim + 1);
      std::int64_t both = 0;
      if (__builtin_mul_overflow(shape[op.dim], shape[op.dim + 1], &both)) return misfit("the merged extent is beyond 64 bits");
      shape[op.dim] = both;
      shape.erase(shape.begin() + at(op.dim) + 1);
      return shape;
    }
    case Kind::pad:
      if (op.dim >= rank) return no_dim(op.dim);
      if (op.value == 0 || op.value <= -shape[op.dim] || op.value > (std::int64_t{1} << 40)) {
        return misfit(fmt::format("dimension {} has extent {} and cannot be extended by {}", op.dim, shape[op.dim], op.value));
      }
      shape[op.dim] += op.value;
      return shape;
    case Kind::swizzle: {
      if (op.dim >= rank) return no_dim(op.dim);
      if (op.other >= rank || op.other == op.dim) return no_dim(op.other);
      const bool power = op.value >= 2 && (op.value & (op.value - 1)) == 0;
      if (!power || shape[op.dim] % op.value != 0) {
        return misfit(fmt::format("width {} is not a power of two that divides extent {} of dimension {}", op.value, shape[op.dim], op.dim));
      }
      return shape;
    }
    case Kind::flatten: return misfit("flatten is not spelled out");
  }
  return shape;
}

ExprPtr strip_xor(const ExprPtr& index, const ExprPtr& mask) {
  if (index->op != Op::bit_xor) return nullptr;
  if (same_expr(index->args[1], mask)) return index->args[0];
  return same_expr(index->args[0], mask) ? index->args[1] : nullptr;
}

}  // namespace

Result<LayoutMap> parse_layout(std::string_view text) {
  LayoutMap map;
  for (const std::string_view part : split_text(text, '+')) {
    std::optional<LayoutOp> op = parse_op(part);
    if (!op) {
      return Error{Code::usage, fmt::format("\"{}\" is no layout step; expected transpose:1x0, split:D:F, merge:D, pad:D:E, xor:D:O:W or "
                                            "flatten, joined by +", part), {}, {}};
    }
    map.push_back(*std::move(op));
  }
  return map;
}

std::string print_layout(const LayoutMap& map) {
  std::string out;
  for (const LayoutOp& op : map) {
    if (!out.empty()) out += "+";
    switch (op.kind) {
      case Kind::transpose:
        out += "transpose:";
        for (std::size_t k = 0; k < op.order.size(); ++k) out += fmt::format("{}{}", k == 0 ? "" : "x", op.order[k]);
        break;
      case Kind::split: out += fmt::format("split:{}:{}", op.dim, op.value); break;
      case Kind::merge: out += fmt::format("merge:{}", op.dim); break;
      case Kind::pad: out += fmt::format("pad:{}:{}", op.dim, op.value); break;
      case Kind::swizzle: out += fmt::format("xor:{}:{}:{}", op.dim, op.other, op.value); break;
      case Kind::flatten: out += "flatten"; break;
    }
  }
  return out;
}

LayoutMap expand_layout(const LayoutMap& map, const Shape& shape) {
  LayoutMap out;
  std::size_t rank = shape.size();
  for (const LayoutOp& op : map) {
    if (op.kind != Kind::flatten) {
      out.push_back(op);
      rank = op.kind == Kind::split ? rank + 1 : op.kind == Kind::merge ? rank - 1 : rank;
      continue;
    }
    for (; rank > 1; --rank) {
      LayoutOp merge;
      merge.kind = Kind::merge;
      out.push_back(merge);
    }
  }
  return out;
}

Result<Shape> map_shape(const LayoutMap& map, const Shape& shape) {
  Shape now = shape;
  bool changes = false;
  for (const LayoutOp& op : expand_layout(map, shape)) {
    CAIRN_TRY(now, step_shape(op, std::move(now)));
    changes |= op.kind != Kind::transpose || !std::is_sorted(op.order.begin(), op.order.end());
  }
  if (!changes) return misfit("the map changes nothing");
  const std::optional<std::int64_t> count = element_count(now);
  if (!count || *count > (std::int64_t{1} << 56)) return misfit("the mapped tensor is beyond 2^56 elements");
  return now;
}

LayoutMap inverse_layout(const LayoutMap& map, const Shape& shape) {
  LayoutMap out;
  Shape now = shape;
  for (const LayoutOp& op : expand_layout(map, shape)) {
    LayoutMap back;
    LayoutOp undo = op;
    switch (op.kind) {
      case Kind::transpose:
        for (std::size_t k = 0; k < op.order.size(); ++k) undo.order[op.order[k]] = k;
        break;
      case Kind::split:
        undo.kind = Kind::merge;
        if (const std::int64_t rest = now[op.dim] % op.value; rest != 0) {
          LayoutOp crop = op;
          crop.kind = Kind::pad;
          crop.value = rest - op.value;
          back.push_back(crop);
        }
        break;
      case Kind::merge:
        undo.kind = Kind::split;
        undo.value = now[op.dim + 1];
        break;
      case Kind::pad: undo.value = -op.value; break;
      case Kind::swizzle:
      case Kind::flatten: break;
    }
    back.insert(back.begin(), undo);
    out.insert(out.begin(), back.begin(), back.end());
    now = *step_shape(op, now);
  }
  return out;
}

std::vector<ExprPtr> map_subscripts(const LayoutMap& map, const Shape& shape, std::vector<ExprPtr> subscripts,
                                    const std::vector<LoopRange>& loops) {
  Shape now = shape;
  for (const LayoutOp& op : map) {
    const auto at = static_cast<std::ptrdiff_t>(op.dim);
    switch (op.kind) {
      case Kind::transpose: {
        std::vector<ExprPtr> moved;
        for (const std::size_t d : op.order) moved.push_back(subscripts[d]);
        subscripts = std::move(moved);
        break;
      }
      case Kind::split: {
        const ExprPtr index = subscripts[op.dim], factor = make_int(op.value);
        subscripts[op.dim] = simplify_index(make_expr(Op::floor_div, {index, factor}), loops);
        subscripts.insert(subscripts.begin() + at + 1, simplify_index(make_expr(Op::mod, {index, factor}), loops));
        break;
      }
      case Kind::merge: {
        const ExprPtr whole = add_index(mul_index(subscripts[op.dim], now[op.dim + 1]), subscripts[op.dim + 1]);
        subscripts[op.dim] = simplify_index(whole, loops);
        subscripts.erase(subscripts.begin() + at + 1);
        break;
      }
      case Kind::swizzle: {
        const ExprPtr mask = simplify_index(make_expr(Op::mod, {subscripts[op.other], make_int(op.value)}), loops);
        if (is_false(*mask)) break;
        const ExprPtr back = strip_xor(subscripts[op.dim], mask);
        subscripts[op.dim] = back ? back : simplify_index(make_expr(Op::bit_xor, {subscripts[op.dim], mask}), loops);
        break;
      }
      case Kind::pad:
      case Kind::flatten: break;
    }
    now = *step_shape(op, std::move(now));
  }
  return subscripts;
}

std::vector<bool> reshaped_dims(const LayoutMap& map, std::size_t rank) {
  std::vector<bool> reshaped(rank, false);
  std::vector<std::vector<std::size_t>> from(rank);   // original dimensions that a present one comes from
  for (std::size_t d = 0; d < rank; ++d) from[d] = {d};
  const auto touch = [&](std::size_t d) {
    for (const std::size_t source : from[d]) reshaped[source] = true;
  };
  for (const LayoutOp& op : map) {
    const auto at = static_cast<std::ptrdiff_t>(op.dim);
    switch (op.kind) {
      case Kind::transpose: {
        std::vector<std::vector<std::size_t>> moved;
        for (const std::size_t d : op.order) moved.push_back(from[d]);
        from = std::move(moved);
        break;
      }
      case Kind::split:
        touch(op.dim);
        from.insert(from.begin() + at + 1, std::vector<std::size_t>(from[op.dim]));
        break;
      case Kind::merge:
        touch(op.dim);
        touch(op.dim + 1);
        from[op.dim].insert(from[op.dim].end(), from[op.dim + 1].begin(), from[op.dim + 1].end());
        from.erase(from.begin() + at + 1);
        break;
      case Kind::swizzle:
        touch(op.dim);
        touch(op.other);
        break;
      case Kind::pad:
        if (op.value < 0) touch(op.dim);
        break;
      case Kind::flatten: break;
    }
  }
  return reshaped;
}

}  // namespace cairn
