// Elements of tensors in C: addresses, named registers, loads into the compute type, stores into the dtype.
#include <fmt/core.h>

#include "base/check.h"
#include "lower/emitter.h"

namespace cairn {

namespace {
struct StorageRow {
  const char* c_type;
  const char* suffix;  // of vector types
};
StorageRow storage_row(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64: return {"double", "d"};
    case Dtype::f32: case Dtype::tf32: return {"float", "f"};
    case Dtype::f16: return {"_Float16", "h"};
    case Dtype::bf16: return {"uint16_t", "us"};
    case Dtype::f8e4m3fn: case Dtype::f8e4m3fnuz: case Dtype::f8e5m2: case Dtype::f8e5m2fnuz: return {"uint8_t", "uc"};
    case Dtype::i64: return {"int64_t", "l"};
    case Dtype::u64: return {"uint64_t", "ul"};
    case Dtype::i32: return {"int32_t", "i"};
    case Dtype::u32: return {"uint32_t", "ui"};
    case Dtype::i16: return {"int16_t", "s"};
    case Dtype::u16: return {"uint16_t", "us"};
    case Dtype::i8: case Dtype::i4: return {"int8_t", "c"};
    default: return {"uint8_t", "uc"};
  }
}
}  // namespace

std::string c_type(Dtype dtype) { return storage_row(dtype).c_type; }

std::int64_t c_bytes(Dtype dtype) { return dtype_bytes(dtype); }

std::string CEmitter::compute_c_type(ComputeType type) const {
  switch (type) {
    case ComputeType::f32: return "float";
    case ComputeType::f64: return "double";
    case ComputeType::i64: return "int64_t";
    case ComputeType::boolean: return "int";
  }
  return "?";
}

std::string CEmitter::vector_type(Dtype dtype, bool unaligned) {
  const StorageRow row = storage_row(dtype);
  const std::string name = fmt::format("v{}{}", lanes_, row.suffix);
  vector_types_.insert(fmt::format("{} {} {} {}", name, row.c_type, lanes_, c_bytes(dtype)));
  return unaligned ? name + "_u" : name;
}

std::string CEmitter::vector_type(ComputeType type) {
  switch (type) {
    case ComputeType::f32: return vector_type(Dtype::f32);
    case ComputeType::f64: return vector_type(Dtype::f64);
    case ComputeType::i64: return vector_type(Dtype::i64);
    case ComputeType::boolean: return vector_type(Dtype::i32);
  }
  return "?";
}

RegisterTile* CEmitter::find_tile(const std::string& tensor) {
  for (std::size_t i = tiles_.size(); i-- > 0;) {
    if (tiles_[i].tensor == tensor) return &tiles_[i];
  }
  return nullptr;
}

std::optional<CEmitter::ElementRef> CEmitter::tile_ref(RegisterTile& tile, const IndexForm& flat, bool write) {
  IndexForm delta = flat;
  delta.add(tile.base, -1);
  CAIRN_CHECK_MSG(delta.terms.empty(), "element of " + tile.tensor + " is not in its register tile");
  ElementRef ref;
  if (tile.lanes == 0) {
    CAIRN_CHECK(delta.lane == 0);
    ref.lvalue = tile.names.at(delta.constant);
    return ref;
  }
  const std::int64_t sub = tile.lane_sum ? 0 : delta.constant % tile.lanes;
  const std::string& held = tile.names.at(delta.constant - sub);
  const std::string name = tile.lane_sum ? part_name(tile, held, vector_number_) : held;
  if (mode_ == LaneMode::lane) {
    LaneDump& dump = lane_dumps_[name];
    dump.dtype = program_.find(tile.tensor)->dtype;
    dump.written |= write;
    std::string lane = tile.lane_sum || delta.lane != 0 ? lane_var_ : fmt::format("{}", sub);
    if (delta.lane != 0 && sub != 0) lane += fmt::format(" + {}", sub);
    ref.lvalue = fmt::format("{}_l[{}]", name, lane);
    return ref;
  }
  if (mode_ == LaneMode::vector && (delta.lane == 1 || tile.lane_sum)) {
    if (sub != 0 || tile.lanes != lanes_) return std::nullopt;
    ref.lvalue = name;
    ref.vec = true;
    return ref;
  }
  if (delta.lane != 0) return std::nullopt;
  ref.lvalue = fmt::format("{}[{}]", name, sub);
  return ref;
}

std::optional<CEmitter::ElementRef> CEmitter::element_ref(const std::string& tensor,
                                                          const std::vector<ExprPtr>& subscripts, bool write) {
  const auto flat = flat_form(tensor, subscripts);
  if (!flat) return std::nullopt;
  if (RegisterTile* tile = find_tile(tensor)) return tile_ref(*tile, *flat, write);
  const Place& place = plan_.places.at(tensor);
  ElementRef ref;
  if (mode_ == LaneMode::vector && flat->lane != 0) {
    if (flat->lane != 1) return std::nullopt;
    IndexForm first = *flat;
    first.lane = 0;
    ref.vec = true;
    ref.lvalue = fmt::format("*({}{} *)&{}[{}]", write ? "" : "const ", vector_type(place.tensor->dtype, true), place.name,
                             print_index(first).text);
    return ref;
  }
  ref.lvalue = fmt::format("{}[{}]", place.name, print_index(*flat).text);
  return ref;
}

CValue CEmitter::load_value(const ElementRef& ref, Dtype dtype) {
  const std::string& x = ref.lvalue;
  const bool star = x[0] == '*';
  CValue out{x, star ? kUnary : kAtom, ref.vec, 4};
  if (ref.vec) {
    switch (dtype) {
      case Dtype::f64: case Dtype::f32: case Dtype::tf32: case Dtype::i64: return out;
      case Dtype::f16: return {fmt::format("__builtin_convertvector({}, {})", x, vector_type(Dtype::f32)), kAtom, true, 4};
      case Dtype::bf16:
        return {fmt::format("({})(__builtin_convertvector({}, {}) << 16)", vector_type(Dtype::f32), x,
                            vector_type(Dtype::u32)), kUnary, true, 4};
      case Dtype::boolean:
        return {fmt::format("__builtin_convertvector({}, {}) != 0", x, vector_type(Dtype::i32)), kEqual, true, 4};
      case Dtype::i32: case Dtype::u32: case Dtype::i16: case Dtype::u16: case Dtype::i8: case Dtype::u8: case Dtype::i4:
      case Dtype::u4: case Dtype::u64:
        return {fmt::format("__builtin_convertvector({}, {})", x, vector_type(Dtype::i64)), kAtom, true, 4};
      default: return fail_vector();
    }
  }
  switch (dtype) {
    case Dtype::f64: case Dtype::f32: case Dtype::tf32: case Dtype::i64: return out;
    case Dtype::f16: return {"(float)" + x, kUnary, false, 4};
    case Dtype::boolean: return {x + " != 0", kEqual, false, 4};
    case Dtype::bf16: case Dtype::f8e4m3fn: case Dtype::f8e4m3fnuz: case Dtype::f8e5m2: case Dtype::f8e5m2fnuz:
      need(std::string(dtype_name(dtype)) + "_load");
      return {fmt::format("cairn_{}_load({})", dtype_name(dtype), x), kAtom, false, 4};
    default: return {"(int64_t)" + x, kUnary, false, 4};
  }
}

// The value put into the dtype's C type: rounds floats to nearest even, wraps integers.
std::string CEmitter::store_value(const CValue& value, ComputeType type, Dtype dtype, bool vec) {
  if (vec) {
    const CValue v = type == ComputeType::boolean ? as_mask(value, 4) : broadcast(value, type);
    switch (dtype) {
      case Dtype::f64: case Dtype::f32: case Dtype::i64: return v.text;
      case Dtype::f16: case Dtype::i32: case Dtype::u32: case Dtype::i16: case Dtype::u16: case Dtype::i8: case Dtype::u8:
      case Dtype::u64:
        return fmt::format("__builtin_convertvector({}, {})", v.text, vector_type(dtype));
      case Dtype::boolean: return fmt::format("__builtin_convertvector({} & 1, {})", v.at(kUnary), vector_type(dtype));
      case Dtype::bf16: case Dtype::tf32: {
        const std::string name = fmt::format("cairn_{}_store_v{}", dtype_name(dtype), lanes_);
        vector_type(dtype);
        vector_type(Dtype::f32), vector_type(Dtype::u32), vector_type(Dtype::i32), vector_type(Dtype::u16);
        need(fmt::format("{}_store_v {}", dtype_name(dtype), lanes_));
        return fmt::format("{}({})", name, v.text);
      }
      default: fail_vector(); return "0";
    }
  }
  switch (dtype) {
    case Dtype::f64: case Dtype::f32: case Dtype::i64: return value.text;
    case Dtype::f16: return "(_Float16)" + value.at(kUnary);
    case Dtype::tf32: case Dtype::bf16: case Dtype::f8e4m3fn: case Dtype::f8e4m3fnuz: case Dtype::f8e5m2:
    case Dtype::f8e5m2fnuz: case Dtype::i4:
      need(std::string(dtype_name(dtype)) + "_store");
      return fmt::format("cairn_{}_store({})", dtype_name(dtype), value.text);
    case Dtype::u4: return fmt::format("(uint8_t)({} & 15)", value.at(kUnary));
    case Dtype::boolean: return value.prec == kEqual || value.prec == kRelation ? value.text : value.at(kEqual) + " != 0";
    default: return fmt::format("({}){}", c_type(dtype), value.at(kUnary));
  }
}

}  // namespace cairn
