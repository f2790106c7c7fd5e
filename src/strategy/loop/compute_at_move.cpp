#include "strategy/loop/compute_at_move.h"

#include <algorithm>

#include "ir/walk.h"
#include "strategy/edit/band.h"

namespace cairn {
namespace {

// The producer over the box: its spatial loops run there, the temporary is subscripted from the origin.
class Mover {
 public:
  Mover(const Program& program, const Producer& producer, const Moved& moved, const Shape& shape, Step* step)
      : program_(program), producer_(producer), moved_(moved), shape_(shape), step_(step) {}

  Body producer_body() {
    for (std::size_t d = 0; d < producer_.subscripts.size(); ++d) {
      const Expr& s = *producer_.subscripts[d];
      if (s.op == Op::loop_var) spatial_.emplace_back(s.name, Spatial{d, fresh(s.name)});
    }
    std::vector<LoopRange> ranges = moved_.place.around;
    return rewrite(Body{shared_at(program_.body(), producer_.path)}, ranges, {});
  }

  Body start_body() {
    if (!producer_.start) return {};
    std::vector<LoopHeader> headers;
    std::vector<ExprPtr> left;
    for (const std::size_t d : moved_.box.order) {
      step_->created.push_back(fresh_var(program_, step_->created));
      headers.push_back({LoopKind::L, moved_.box.dims[d].extent, step_->created.back(), {}});
      left.push_back(make_var(step_->created.back()));
    }
    return wrap_loops(headers, Body{make_equation(producer_.tensor->name, left, neutral_element(*producer_.start, producer_.tensor->dtype))});
  }

 private:
  struct Spatial {
    std::size_t dim = 0;
    std::string name;
  };

  // A name that no loop around the new place has: the producer's own where it is free.
  std::string fresh(const std::string& wanted) {
    const auto around = [&](const LoopRange& r) { return r.var == wanted; };
    const bool clash = std::any_of(moved_.place.around.begin(), moved_.place.around.end(), around) || std::find(taken_.begin(), taken_.end(), wanted) != taken_.end();
    taken_.push_back(clash ? fresh_var(program_, taken_) : wanted);
    return taken_.back();
  }

  Body rewrite(const Body& body, std::vector<LoopRange>& ranges, Substitution map) {
    Body out;
    for (const StmtPtr& stmt : body) {
      const auto place = [&](const ExprPtr& e) { return simplify_value(substitute_vars(e, map), ranges, {}); };
      if (stmt->is_equation()) {
        out.push_back(make_equation(stmt->tensor, local_subscripts(), own_reads(place(stmt->rhs)), stmt->pos));
        continue;
      }
      if (stmt->is_test()) {
        const ExprPtr cond = place(stmt->cond);
        if (is_false(*cond)) continue;
        Body inner = rewrite(stmt->body, ranges, map);
        if (is_true(*cond)) {
          out.insert(out.end(), inner.begin(), inner.end());
        } else {
          out.push_back(make_test(cond, std::move(inner), stmt->pos));
        }
        continue;
      }
      const auto found = std::find_if(spatial_.begin(), spatial_.end(), [&](const auto& s) { return s.first == stmt->var; });
      Body inner = found == spatial_.end() ? reduction_loop(*stmt, ranges, map) : spatial_loop(*stmt, found->second, ranges, map);
      out.insert(out.end(), inner.begin(), inner.end());
    }
    return out;
  }

  Body reduction_loop(const Stmt& loop, std::vector<LoopRange>& ranges, Substitution map) {
    const std::string name = fresh(loop.var);
    if (name != loop.var) map.emplace_back(loop.var, make_var(name));
    ranges.push_back({name, loop.extent});
    Body inner = rewrite(loop.body, ranges, map);
    ranges.pop_back();
    taken_.pop_back();
    return Body{with_body(*loop_like(loop, loop.kind, loop.extent, name), std::move(inner))};
  }

  Body spatial_loop(const Stmt& loop, const Spatial& spatial, std::vector<LoopRange>& ranges, Substitution map) {
    const BoxDim& dim = moved_.box.dims[spatial.dim];
    const bool runs = dim.extent > 1;
    ExprPtr index = dim.origin;
    if (runs) {
      index = add_index(index, make_var(spatial.name));
      ranges.push_back({spatial.name, dim.extent});
    }
    index = simplify_index(index, ranges);
    map.emplace_back(loop.var, index);
    Body inner = rewrite(loop.body, ranges, map);
    std::vector<ExprPtr> inside;
    if (moved_.box.below[spatial.dim]) inside.push_back(make_expr(Op::le, {make_int(0), index}));
    // The producer may write less than the shape.
    if (moved_.box.above[spatial.dim] || loop.extent < shape_[spatial.dim]) inside.push_back(less_than(index, loop.extent));
    if (!inside.empty()) inner = Body{make_test(join_conjunction(inside), std::move(inner))};
    if (!runs) return inner;
    ranges.pop_back();
    return Body{with_body(*loop_like(loop, loop.kind, dim.extent, spatial.name), std::move(inner))};
  }

  std::vector<ExprPtr> local_subscripts() const {
    std::vector<ExprPtr> out;
    for (const std::size_t d : moved_.box.order) {
      const Expr& s = *producer_.subscripts[d];
      const auto found = std::find_if(spatial_.begin(), spatial_.end(), [&](const auto& entry) { return s.op == Op::loop_var && entry.first == s.name; });
      out.push_back(found == spatial_.end() ? sub_index(producer_.subscripts[d], moved_.box.dims[d].origin) : make_var(found->second.name));
    }
    return out;
  }

  // Reads of the temporary itself: always the element that is written.
  ExprPtr own_reads(const ExprPtr& e) const {
    if (!reads_tensor(*e, producer_.tensor->name)) return e;
    return rewrite_expr(e, [&](const ExprPtr& node) -> ExprPtr {
      return node->op == Op::read && node->name == producer_.tensor->name ? make_read(node->name, local_subscripts(), node->pos) : nullptr;
    });
  }

  const Program& program_;
  const Producer& producer_;
  const Moved& moved_;
  const Shape& shape_;
  Step* step_;
  std::vector<std::pair<std::string, Spatial>> spatial_;
  std::vector<std::string> taken_;
};

}  // namespace

Program move_producer(const Program& program, const Producer& producer, const Moved& moved, const Shape& shape, Step* step) {
  Mover mover(program, producer, moved, shape, step);
  const Body computing = mover.producer_body();
  Body body(moved.place.children.begin(), moved.place.children.begin() + static_cast<std::ptrdiff_t>(moved.place.first));
  const Body start = mover.start_body();
  body.insert(body.end(), start.begin(), start.end());
  body.insert(body.end(), computing.begin(), computing.end());
  const Body uses(moved.place.children.begin() + static_cast<std::ptrdiff_t>(moved.place.first), moved.place.children.end());
  const Body redirected = redirect(uses, moved.place.around, producer.tensor->name, producer.tensor->name, moved.box);
  body.insert(body.end(), redirected.begin(), redirected.end());
  Program out = with_replaced(program, moved.place.path, Body{with_body(*stmt_at(program.body(), moved.place.path), std::move(body))});
  out.set_body(replace_at(out.body(), producer.path, {}));   // it stands before the place: the path still holds
  Tensor tensor;
  tensor.name = producer.tensor->name;
  tensor.dtype = producer.tensor->dtype;
  tensor.scope = moved.scope;
  out.set_tensor(tensor);
  return out;
}

}  // namespace cairn
