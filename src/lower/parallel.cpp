// Parallel loops with OpenMP, private storage, and reductions through a fixed number of partial results.
#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"
#include "lower/emitter.h"

namespace cairn {

std::string CEmitter::parallel_pragma() const {
  return fmt::format("#pragma omp parallel for schedule(static) num_threads({})", target_.cores);
}

void CEmitter::emit_parallel(const Stmt& loop, const ParallelPlan& plan) {
  const std::size_t tiles = tiles_.size();
  in_parallel_ = true;
  const StmtPath region = path_;
  if (!plan.reductions.empty()) {
    emit_reduction_region(loop, plan);
    in_parallel_ = false;
    combine_partials(loop, plan);
  } else {
    const std::string var = c_name(loop.var);
    if (target_.cores > 1) line(parallel_pragma());
    open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", var, loop.extent));
    bind(loop.var, var, 0, false, {0, loop.extent - 1});
    declare_places(&region);
    emit_body(loop.body);
    unbind();
    close();
    in_parallel_ = false;
  }
  tiles_.resize(tiles);
}

void CEmitter::emit_reduction_region(const Stmt& loop, const ParallelPlan& plan) {
  const StmtPath region = path_;
  std::vector<Place> saved;
  if (target_.cores > 1) line(parallel_pragma());
  open(fmt::format("for (int64_t chunk = 0; chunk < {}; ++chunk) {{", plan.chunks));
  for (const ParallelReduction& r : plan.reductions) {
    Place& place = plan_.places.at(r.tensor);
    saved.push_back(place);
    const Dtype dtype = place.tensor->dtype;
    const std::int64_t slice = (place.elements * c_bytes(dtype) + 63) / 64 * 64;
    place.kind = Place::Kind::buffer;
    place.name += "_part";
    line(fmt::format("{0} *restrict {1} = ({0} *)((char *)workspace + {2} + chunk * {3});", c_type(dtype), place.name,
                     r.offset, slice));
    fill_place(place, neutral_element(r.op, dtype));
  }
  const std::string var = c_name(loop.var);
  // A register tensor that the region reduces is memory here.
  std::vector<RegisterTile> hidden;
  std::erase_if(tiles_, [&](const RegisterTile& t) {
    const bool reduced = std::any_of(plan.reductions.begin(), plan.reductions.end(),
                                     [&t](const ParallelReduction& r) { return r.tensor == t.tensor; });
    if (reduced) hidden.push_back(t);
    return reduced;
  });
  const bool private_places = std::any_of(plan_.places.begin(), plan_.places.end(), [&](const auto& entry) {
    const auto& regions = entry.second.regions;
    return std::find(regions.begin(), regions.end(), region) != regions.end();
  });
  const std::vector<RegisterTile> tiles =
      private_places ? std::vector<RegisterTile>{} : open_tiles(loop, false);
  open(fmt::format("for (int64_t {0} = chunk * {1} / {2}; {0} < (chunk + 1) * {1} / {2}; ++{0}) {{", var, loop.extent, plan.chunks));
  bind(loop.var, var, 0, false, {0, loop.extent - 1});
  declare_places(&region);
  emit_body(loop.body);
  unbind();
  close();
  close_tiles(tiles);
  close();
  for (std::size_t i = 0; i < saved.size(); ++i) plan_.places.at(plan.reductions[i].tensor) = saved[i];
  tiles_.insert(tiles_.end(), hidden.begin(), hidden.end());
}

void CEmitter::combine_partials(const Stmt& loop, const ParallelPlan& plan) {
  (void)loop;
  open(fmt::format("for (int64_t chunk = 0; chunk < {}; ++chunk) {{", plan.chunks));
  for (const ParallelReduction& r : plan.reductions) {
    const Place& place = plan_.places.at(r.tensor);
    const Dtype dtype = place.tensor->dtype;
    const std::int64_t slice = (place.elements * c_bytes(dtype) + 63) / 64 * 64;
    const std::string part = place.name + "_part";
    line(fmt::format("const {0} *restrict {1} = (const {0} *)((char *)workspace + {2} + chunk * {3});", c_type(dtype), part,
                     r.offset, slice));
    if (RegisterTile* tile = find_tile(r.tensor)) {
      for (const auto& [offset, name] : tile->names) {
        for (int l = 0; l < std::max(tile->lanes, 1); ++l) {
          line(combine_elements(r.op, dtype, tile->lanes > 0 ? fmt::format("{}[{}]", name, l) : name,
                                load_value({fmt::format("{}[{}]", part, offset + l), false, true}, dtype)));
        }
      }
      continue;
    }
    open(fmt::format("for (int64_t e = 0; e < {}; ++e) {{", place.elements));
    line(combine_elements(r.op, dtype, place.name + "[e]", load_value({part + "[e]", false, true}, dtype)));
    close();
  }
  close();
}

// x = x op y, in the compute type, put back into the dtype.
std::string CEmitter::combine_elements(UpdateOp op, Dtype dtype, const std::string& x, const CValue& b) {
  const ComputeType type = compute_type(dtype);
  const CValue a = load_value({x, false, true}, dtype);
  CValue v;
  if (type == ComputeType::i64) {
    const std::string name = op == UpdateOp::add ? "add" : op == UpdateOp::mul ? "mul" : op == UpdateOp::max ? "imax" : "imin";
    need(name);
    v = {fmt::format("cairn_{}({}, {})", name, a.text, b.text), kAtom, false, 8};
  } else if (op == UpdateOp::add || op == UpdateOp::mul) {
    v = binary(op == UpdateOp::add ? "+" : "*", a, b, op == UpdateOp::add ? kAdd : kMul);
  } else {
    const std::string name = std::string(op == UpdateOp::max ? "max" : "min") + (type == ComputeType::f32 ? "f" : "");
    need(name);
    v = {fmt::format("cairn_{}({}, {})", name, a.text, b.text), kAtom, false, 4};
  }
  return fmt::format("{} = {};", x, store_value(v, type, dtype, false));
}

std::string CEmitter::neutral_text(const ExprPtr& neutral, Dtype dtype) {
  CValue v;
  if (neutral->op == Op::int_literal && !is_float(dtype)) {
    v = neutral->int_value == INT64_MIN ? CValue{"INT64_MIN", kAtom, false, 8}
                                        : CValue{fmt::format("{}", neutral->int_value), kUnary, false, 8};
  } else {
    const double x = neutral->op == Op::int_literal ? static_cast<double>(neutral->int_value) : neutral->float_value;
    v = {c_float_literal(x, compute_type(dtype)), kUnary, false, 4};
  }
  return store_value(v, compute_type(dtype), dtype, false);
}

void CEmitter::fill_place(const Place& place, const ExprPtr& neutral) {
  const std::string text = neutral_text(neutral, place.tensor->dtype);
  if (RegisterTile* tile = find_tile(place.tensor->name); tile != nullptr && place.kind == Place::Kind::registers) {
    for (const auto& [offset, name] : tile->names) {
      lanes_ = tile->lanes;
      line(tile->lanes > 0 ? fmt::format("{} = {} - ({}){{}};", name, text, vector_type(place.tensor->dtype))
                           : fmt::format("{} = {};", name, text));
    }
    return;
  }
  line(fmt::format("for (int64_t e = 0; e < {}; ++e) {}[e] = {};", place.elements, place.name, text));
}

void CEmitter::declare_place(const Place& place, const StmtPath* region) {
  const Dtype dtype = place.tensor->dtype;
  switch (place.kind) {
    case Place::Kind::pointer: return;
    case Place::Kind::buffer:
      line(fmt::format("{0} *restrict {1} = ({0} *)((char *)workspace + {2}{3});", c_type(dtype), place.name, place.offset,
                       region != nullptr && target_.cores > 1 ? fmt::format(" + omp_get_thread_num() * {}", place.slice) : ""));
      break;
    case Place::Kind::array:
      line(fmt::format("{} {}[{}] __attribute__((aligned(64)));", c_type(dtype), place.name, std::max<std::int64_t>(place.elements, 1)));
      break;
    case Place::Kind::registers: {
      RegisterTile tile;
      tile.tensor = place.tensor->name;
      tile.lanes = place.lanes;
      lanes_ = place.lanes;
      std::string names;
      const std::int64_t step = std::max(place.lanes, 1);
      for (std::int64_t e = 0; e < place.elements; e += step) {
        std::string name = place.name;
        std::int64_t rest = e;
        for (std::size_t d = 0; d < place.strides.size(); ++d) {
          if (place.strides[d] == 0) continue;
          name += fmt::format("_{}", rest / place.strides[d]);
          rest %= place.strides[d];
        }
        tile.names[e] = name;
        names += (names.empty() ? "" : ", ") + name;
      }
      line(fmt::format("{} {};", place.lanes > 0 ? vector_type(dtype) : c_type(dtype), names));
      tiles_.push_back(std::move(tile));
      break;
    }
  }
  const auto start = plan_.entry_starts.find(place.tensor->name);
  if (start != plan_.entry_starts.end()) fill_place(place, start->second);
}

void CEmitter::declare_places(const StmtPath* region) {
  for (auto& [name, place] : plan_.places) {
    if (place.tensor->role != Role::tmp) continue;
    const bool here = region == nullptr ? place.outside
                                        : std::find(place.regions.begin(), place.regions.end(), *region) != place.regions.end();
    if (here) declare_place(place, region);
  }
}

}  // namespace cairn
