// The interpreter's flat form: one instruction stream a program over a register file (loop variables and
// constants live in registers), with affine element offsets kept incrementally in innermost loops.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interp.h"
#include "ir/slice.h"
#include "ir/typing.h"

namespace cairn::interp {

union Reg {
  double f64;
  float f32;
  std::int64_t i64;
};

// Operations. _f32 and _f64 versions follow each other where both exist.
enum class Bc : std::uint8_t {
  // control; targets are instruction indices in b
  loop_begin, loop_end,      // a: loop
  place,                     // a: group of affine accesses whose offsets are computed here
  jump, jump_if, jump_if_not,  // a: condition register
  filter,                    // a: filter; jumps to b unless the element to be written is wanted
  halt,
  // memory: a: access. "at" versions take the offset from register b, the others from the access
  load_f32, load_f64, load_i64, load_at_f32, load_at_f64, load_at_i64,
  self_f32, self_f64, self_i64, self_at_f32, self_at_f64, self_at_i64,   // unwritten: the access's neutral
  store_f32, store_f64, store_i64, store_at_f32, store_at_f64, store_at_i64,  // dst: value register
  offset_first, offset_next,  // dst += checked subscript a of dimension b (a DimCheck)
  // values
  move,
  add_f32, add_f64, sub_f32, sub_f64, mul_f32, mul_f64, div_f32, div_f64, neg_f32, neg_f64, abs_f32, abs_f64,
  max_f32, max_f64, min_f32, min_f64, floor_div_f32, floor_div_f64, mod_f32, mod_f64, pow_f32, pow_f64,
  call_f32, call_f64,        // b: Op of a function of one argument
  lt_f32, lt_f64, le_f32, le_f64, eq_f32, eq_f64, ne_f32, ne_f64, isnan_f32, isnan_f64,
  add_i64, sub_i64, mul_i64, neg_i64, abs_i64, sign_i64, max_i64, min_i64, xor_i64, floor_div_i64, mod_i64, pow_i64,
  lt_i64, le_i64, eq_i64, ne_i64, not_i64,
  // conversions
  i64_to_f32, i64_to_f64, f32_to_f64, f64_to_f32, f32_to_bool, f64_to_bool,
  round_f32, round_f64,      // b: Dtype, to a float format
  to_int_f32, to_int_f64,    // b: Dtype
  wrap_i64,                  // b: Dtype
  // randomised rounding (every float is a double): a rounded at random to Dtype b; and f64 operations
  random_round, random_add, random_sub, random_mul, random_div, random_nudge,
};

struct Insn {
  Bc op = Bc::halt;
  std::uint32_t dst = 0, a = 0, b = 0;
};

// Storage of one tensor.
enum class Kind : std::uint8_t { f32, f64, i64 };
struct Buffer {
  const Tensor* tensor = nullptr;
  Dtype dtype = Dtype::f32;   // storage is by kind
  Kind kind = Kind::f32;
  Shape shape;
  std::int64_t size = 0;
  bool given = false;         // has a value before the program runs
  std::vector<float> f32;
  std::vector<double> f64;
  std::vector<std::int64_t> i64;
  std::vector<std::uint8_t> written;
};

// One mention of a tensor in the stream.
struct AccessCode {
  std::uint32_t buffer = 0;
  const Expr* expr = nullptr;     // null: the equation's own left side
  const Stmt* equation = nullptr;  // null: in a test
  std::int64_t base = 0;          // affine: offset = base + sum coefficient * register
  std::vector<std::pair<std::uint32_t, std::int64_t>> terms;
  Reg neutral{};                  // self reads
};
struct Step {
  std::uint32_t access = 0;
  std::int64_t step = 0;          // of the offset for one iteration of the leaf loop
};
struct LoopCode {
  std::uint32_t var = 0;          // register
  std::int64_t extent = 0;
  bool leaf = false;              // no loop inside
  std::int64_t equations = 0;     // inside a leaf, at least 1
  std::vector<Step> accesses;     // affine accesses of a leaf
  const Stmt* stmt = nullptr;
  std::uint32_t pruner = 0;       // 1 + index, 0: none
};
// Sliced runs. An equation's written element is wanted if in every dimension its index is in the set.
struct Filter {
  std::uint32_t access = 0;
  bool computed = false;          // offset in register `offset`, else the access's
  std::uint32_t offset = 0;
  struct Dim {
    std::int64_t stride = 1, extent = 1;
    IndexSet set;
  };
  std::vector<Dim> dims;
};
// A loop's iteration is skipped when no equation inside can write a wanted element: in some dimension the
// interval [lo, hi] + sum coefficient * register, inner loops ranging freely, misses the set.
struct Pruner {
  struct Dim {
    std::int64_t lo = 0, hi = 0;
    std::vector<std::pair<std::uint32_t, std::int64_t>> terms;
    IndexSet set;
  };
  std::vector<std::vector<Dim>> equations;
};
struct DimCheck {
  std::uint32_t access = 0;
  std::uint32_t dimension = 0;
  std::int64_t extent = 0;        // checked against
  std::int64_t stride = 1;        // extents of the dimensions after it, multiplied
};

struct Bytecode {
  const Program* program = nullptr;
  std::vector<Insn> insns;
  std::vector<const Expr*> origins;   // per instruction: the node it computes, or null
  std::vector<Reg> registers;         // initial values
  std::vector<Buffer> buffers;
  std::vector<AccessCode> accesses;
  std::vector<LoopCode> loops;
  std::vector<std::vector<std::uint32_t>> groups;  // of place
  std::vector<DimCheck> checks;
  std::vector<Filter> filters;
  std::vector<Pruner> pruners;
  std::vector<TypedPtr> keep;         // what `origins` points into
};

// The element at an offset as text, e.g. "D_{3,4}".
std::string element_text(const Buffer& buffer, std::int64_t offset);

// Compiles a program. Refuses what has no meaning to run: type errors, unknown shapes, too much memory.
// wide: every float is a double (f64 mode and randomised rounding); random: round each result at random.
struct CompileOptions {
  bool wide = false;
  bool random = false;
  std::int64_t max_bytes = std::int64_t{6} << 30;
  const Slice* slice = nullptr;   // run only what it wants
};
Result<Bytecode> compile(const Program& program, const CompileOptions& options);

// Runs compiled code over its buffers. Located refusals of Code::run; Code::timeout over the cap.
struct RunStats {
  std::uint64_t instances = 0;
};
Result<RunStats> run(Bytecode& code, std::uint64_t rounding_seed, std::uint64_t max_instances);

}  // namespace cairn::interp
