#include "ops/emit.h"

#include <algorithm>

#include "base/check.h"
#include "ops/build.h"

namespace cairn {
namespace {

std::string spell(std::size_t index, std::string_view alphabet, bool capital) {
  std::string text;
  do {
    text.insert(text.begin(), alphabet[index % alphabet.size()]);
    index /= alphabet.size();
    // Two-letter names start at "Aa": the leading digit counts from one.
    if (index == 0) break;
    --index;
  } while (true);
  if (capital) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

bool is_empty(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent == 0; });
}

std::int64_t points(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

Index placeholders(std::size_t rank) {
  Index index;
  for (std::size_t axis = 0; axis < rank; ++axis) index.push_back(placeholder(axis));
  return index;
}

}  // namespace

std::string tensor_name(std::size_t index) { return spell(index, "acdefghijkmnoqrswxyz", true); }
std::string loop_name(std::size_t index) { return spell(index, "acdfghijklmnopqrsuw", false); }

ExprPtr placeholder(std::size_t axis) { return make_var("@" + std::to_string(axis)); }

ExprPtr Operand::at(const Index& index) const {
  CAIRN_CHECK(index.size() == shape.size());
  std::vector<std::pair<std::string, ExprPtr>> map;
  for (std::size_t axis = 0; axis < index.size(); ++axis) map.emplace_back("@" + std::to_string(axis), index[axis]);
  return substitute_vars(element, map);
}

ExprPtr Operand::broadcast_at(const Index& index) const {
  CAIRN_CHECK(index.size() >= shape.size());
  Index own(index.end() - static_cast<std::ptrdiff_t>(shape.size()), index.end());
  for (std::size_t axis = 0; axis < own.size(); ++axis) {
    if (shape[axis] == 1) own[axis] = make_int(0);
  }
  return at(own);
}

Operand make_view(const Operand& source, Shape shape, const Index& old_index) {
  Operand view{source.dtype, std::move(shape), source.at(old_index)};
  return view;
}

Operand make_constant(Dtype dtype, Shape shape, ExprPtr value) { return {dtype, std::move(shape), std::move(value)}; }

std::string whole_tensor(const Operand& operand) {
  if (operand.element->op != Op::read || operand.element->args.size() != operand.rank()) return {};
  for (std::size_t axis = 0; axis < operand.rank(); ++axis) {
    if (!same_expr(operand.element->args[axis], placeholder(axis))) return {};
  }
  return operand.element->name;
}

std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (std::size_t back = 1; back <= out.size(); ++back) {
    const std::int64_t x = back <= a.size() ? a[a.size() - back] : 1;
    const std::int64_t y = back <= b.size() ? b[b.size() - back] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - back] = x == 1 ? y : x;
  }
  return out;
}

Operand Emitter::allocate(Dtype dtype, const Shape& shape) { return declare(Role::tmp, dtype, shape); }

Operand Emitter::declare(Role role, Dtype dtype, const Shape& shape) {
  Tensor tensor;
  tensor.name = tensor_name(names_++);
  tensor.role = role;
  tensor.dtype = dtype;
  tensor.declared = role != Role::tmp;
  if (tensor.declared) tensor.shape = shape;
  Operand operand{dtype, shape, make_read(tensor.name, placeholders(shape.size()))};
  program_.set_tensor(std::move(tensor));
  shapes_[whole_tensor(operand)] = shape;
  return operand;
}

void Emitter::set_role(const std::string& tensor, Role role) {
  const Tensor* found = program_.find(tensor);
  CAIRN_CHECK(found != nullptr);
  Tensor changed = *found;
  changed.role = role;
  changed.declared = true;
  changed.shape = shapes_.at(tensor);
  program_.set_tensor(std::move(changed));
}

void Emitter::set_data(const std::string& tensor, const Digest& digest) {
  const Tensor* found = program_.find(tensor);
  CAIRN_CHECK(found != nullptr);
  Tensor changed = *found;
  changed.data = digest;
  program_.set_tensor(std::move(changed));
}

Index Emitter::open_loops(const Shape& domain, std::vector<LoopHeader>& loops) {
  Index index;
  for (std::int64_t extent : domain) {
    if (extent == 1) {
      index.push_back(make_int(0));
      continue;
    }
    std::string name = loop_name(loops.size());
    index.push_back(make_var(name));
    loops.push_back({LoopKind::L, extent, std::move(name), {}});
  }
  return index;
}

void Emitter::append(const std::vector<LoopHeader>& loops, StmtPtr equation) {
  for (StmtPtr& stmt : wrap_loops(loops, {std::move(equation)})) body_.push_back(std::move(stmt));
}

void Emitter::assign(const Operand& target, const Shape& domain,
                     const std::function<std::pair<Index, ExprPtr>(const Index&)>& write) {
  if (is_empty(domain)) return;
  std::vector<LoopHeader> loops;
  const Index index = open_loops(domain, loops);
  auto [subscripts, value] = write(index);
  append(loops, make_equation(whole_tensor(target), std::move(subscripts), std::move(value)));
}

Operand Emitter::compute(Dtype dtype, const Shape& shape, const std::function<ExprPtr(const Index&)>& element) {
  const Operand result = allocate(dtype, shape);
  assign(result, shape, [&](const Index& index) { return std::make_pair(index, element(index)); });
  return result;
}

Operand Emitter::reduce(UpdateOp op, Dtype dtype, const Shape& shape, const Shape& reduced,
                        const std::function<ExprPtr(const Index&, const Index&)>& element) {
  const std::int64_t count = points(reduced);
  if (count == 0) {
    return compute(dtype, shape, [&](const Index&) { return neutral_element(op, dtype); });
  }
  Shape domain = shape;
  domain.insert(domain.end(), reduced.begin(), reduced.end());
  const Operand result = allocate(dtype, shape);
  assign(result, domain, [&](const Index& index) {
    const auto middle = index.begin() + static_cast<std::ptrdiff_t>(shape.size());
    const Index outer(index.begin(), middle);
    ExprPtr value = element(outer, Index(middle, index.end()));
    if (count > 1) {
      static constexpr Op kOps[] = {Op::add, Op::mul, Op::max, Op::min};
      value = make_expr(kOps[static_cast<std::size_t>(op)], {result.at(outer), std::move(value)});
    }
    return std::make_pair(outer, std::move(value));
  });
  return result;
}

Operand Emitter::materialise(const Operand& operand) {
  if (!whole_tensor(operand).empty()) return operand;
  return compute(operand.dtype, operand.shape, [&](const Index& index) { return operand.at(index); });
}

Program Emitter::take() {
  program_.set_body(std::move(body_));
  return std::move(program_);
}

}  // namespace cairn
