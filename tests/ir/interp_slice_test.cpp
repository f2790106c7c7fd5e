#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/rng.h"
#include "ir/interp_run.h"

namespace cairn {
namespace {
using testing::parse_ok;
using testing::run_text;
using Boxes = std::map<std::string, Box, std::less<>>;

ValueMap random_inputs(const Program& p, std::uint64_t seed) {
  ValueMap inputs;
  for (const Tensor& t : p.tensors()) {
    if (t.role == Role::out || t.role == Role::tmp) continue;
    Value v = Value::zeros(t.dtype, *t.shape);
    Rng rng = Rng(seed).split(t.name);
    for (double& x : v.floats) x = round_to(t.dtype, rng.normal());
    for (std::int64_t& x : v.ints) x = static_cast<std::int64_t>(rng.below(3));
    inputs.emplace(t.name, std::move(v));
  }
  return inputs;
}

// Compares a sliced run with the whole one on the box; the sliced one may execute at most `cap` instances.
void compare_slice(const Program& p, const Boxes& boxes, std::uint64_t cap, const std::string& what) {
  const ValueMap inputs = random_inputs(p, 3);
  const Result<ValueMap> whole = interpret(p, inputs);
  ASSERT_TRUE(whole.ok()) << what << render(whole.error());
  const Result<Slice> slice = backward_slice(p, boxes);
  ASSERT_TRUE(slice.ok()) << what;
  InterpOptions options;
  options.slice = &*slice;
  options.sampled = &boxes;
  options.max_instances = cap;
  const Result<ValueMap> part = interpret(p, inputs, options);
  ASSERT_TRUE(part.ok()) << what << render(part.error());
  for (const auto& [name, box] : boxes) {
    const Value& full = whole->at(name);
    std::vector<std::size_t> offsets{0};
    for (std::size_t d = 0; d < box.size(); ++d) {
      std::vector<std::size_t> next;
      for (const std::size_t o : offsets) {
        for (const Interval& i : box[d]) {
          for (std::int64_t k = i.lo; k <= i.hi; ++k) {
            next.push_back(o * static_cast<std::size_t>(full.shape[d]) + static_cast<std::size_t>(k));
          }
        }
      }
      offsets = std::move(next);
    }
    const Value& got = part->at(name);
    ASSERT_EQ(got.floats.size() + got.ints.size(), offsets.size());
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      if (full.floats.empty()) EXPECT_EQ(got.ints[k], full.ints[offsets[k]]) << what;
      else EXPECT_TRUE(got.floats[k] == full.floats[offsets[k]] ||
                  (got.floats[k] != got.floats[k] && full.floats[offsets[k]] != full.floats[offsets[k]]))
          << what << " " << name << " " << k;
    }
  }
}

TEST(interp_slice, a_matmul_runs_only_the_sampled_rows_and_columns) {
  const Boxes boxes{{"D", {{{0, 0}, {37, 38}}, {{5, 8}}}}};
  const std::string head = "in A^{f32}_{64,32};in C^{f32}_{32,48};out D^{f32}_{64,48};\n";
  // 3 rows, 4 columns, 32 terms; a little for the loops above.
  compare_slice(parse_ok(head + "L^{64}_{i=0}L^{48}_{j=0}L^{32}_{k=0}[D_{i,j}=D_{i,j}+A_{i,k}*C_{k,j};];"), boxes, 500, "naive ");
  compare_slice(parse_ok(head + "L^{32}_{k=0}L^{48}_{j=0}L^{64}_{i=0}[D_{i,j}=D_{i,j}+A_{i,k}*C_{k,j};];"), boxes, 700, "k j i ");
  compare_slice(parse_ok(head + "L^{8}_{o=0}L^{6}_{p=0}L^{32}_{k=0}U^{8}_{i=0}V^{8}_{j=0}[D_{o*8+i,p*8+j}=D_{o*8+i,p*8+j}+A_{o*8+i,k}*C_{k,p*8+j};];"),
                boxes, 1500, "tiled ");
  // Registers of one thread iteration: blocks without a sampled element do not run.
  compare_slice(parse_ok(head +
                         "P^{8}_{o=0}L^{6}_{p=0}[U^{8}_{i=0}V^{8}_{j=0}[E^{f32,l}_{i,j}=0;];"
                         "L^{32}_{k=0}U^{8}_{i=0}V^{8}_{j=0}[E^{f32,l}_{i,j}=E^{f32,l}_{i,j}+A_{o*8+i,k}*C_{k,p*8+j};];"
                         "U^{8}_{i=0}V^{8}_{j=0}[D_{o*8+i,p*8+j}=E^{f32,l}_{i,j};];];"),
                boxes, 30000, "staged ");
}

TEST(interp_slice, row_reductions_and_windows) {
  const std::string softmax =
      "in A^{f32}_{40,64};out D^{f32}_{40,64};\n"
      "L^{40}_{i=0}L^{64}_{j=0}[M^{f32,g}_{i}=max(M^{f32,g}_{i},A_{i,j});];\n"
      "L^{40}_{i=0}L^{64}_{j=0}[E^{f32,g}_{i}=E^{f32,g}_{i}+exp(A_{i,j}-M^{f32,g}_{i});];\n"
      "L^{40}_{i=0}L^{64}_{j=0}[D_{i,j}=exp(A_{i,j}-M^{f32,g}_{i})/E^{f32,g}_{i};];";
  compare_slice(parse_ok(softmax), {{"D", {{{3, 3}, {39, 39}}, {{0, 3}}}}}, 400, "softmax ");
  const std::string stencil =
      "in A^{f32}_{200};out D^{f32}_{198};\n"
      "L^{200}_{i=0}[F^{f32,g}_{i}=A_{i}*2;];\n"
      "L^{198}_{i=0}[D_{i}=F^{f32,g}_{i}+F^{f32,g}_{i+1}+F^{f32,g}_{i+2};];";
  compare_slice(parse_ok(stencil), {{"D", {{{10, 11}}}}}, 20, "stencil ");
  const std::string scan = "in A^{f32}_{200};out D^{f32}_{200};\nL^{200}_{i=0}[D_{i}=if_then_else(i>0,D_{i-1},0)+A_{i};];";
  compare_slice(parse_ok(scan), {{"D", {{{50, 50}}}}}, 1000, "scan ");
  const std::string gather =
      "in A^{f32}_{3,20};in N^{i64}_{20};out D^{f32}_{20,20};\nL^{20}_{i=0}[T^{N_{i}>=0}[L^{20}_{j=0}[D_{i,j}=A_{N_{i},j};];];];";
  compare_slice(parse_ok(gather), {{"D", {{{4, 5}}, {{7, 7}}}}}, 60, "gather ");
}

TEST(interp_slice, agrees_with_the_whole_run_on_the_worked_programs) {
  int programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(CAIRN_SOURCE_DIR) + "/tests/leir/ok")) {
    const Result<std::string> text = read_file(entry.path().string());
    ASSERT_TRUE(text.ok());
    const Result<Program> parsed = parse_program(*text);
    ASSERT_TRUE(parsed.ok()) << render(parsed.error());
    const Program& p = *parsed;
    if (!interpret(p, random_inputs(p, 3))) continue;
    Rng rng = Rng(1).split(entry.path().filename().string());
    for (int round = 0; round < 4; ++round) {
      Boxes boxes;
      for (const Tensor& t : p.tensors()) {
        if (t.role != Role::out && t.role != Role::io) continue;
        Box box;
        for (const std::int64_t extent : *t.shape) {
          const auto at = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(extent)));
          box.push_back(unite({{at, std::min(extent - 1, at + 1)}}, {{extent - 1, extent - 1}}));
        }
        boxes.emplace(t.name, std::move(box));
      }
      compare_slice(p, boxes, 200'000'000, entry.path().filename().string() + " ");
    }
    ++programs;
  }
  EXPECT_GE(programs, 20);
}

}  // namespace
}  // namespace cairn
