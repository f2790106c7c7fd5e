// Promises: chains that a kind may reassociate, and what is refused.
#include <gtest/gtest.h>

#include "analysis/concrete.h"
#include "analysis/promise.h"
#include "ir/text.h"

namespace cairn {
namespace {

Program parse(std::string_view text) {
  Result<Program> program = parse_program(text);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : render(program.error()));
  return program.ok() ? *std::move(program) : Program();
}

// "S+ exact", "X+ scan", or "no: message".
std::string verdict(std::string_view text, const StmtPath& path = {0}, LoopKind kind = LoopKind::P) {
  const PromiseVerdict v = check_promise(parse(text), path, kind, Target{});
  if (!v.ok) return "no: " + v.reason.message;
  std::string out;
  for (const CarriedChain& c : v.chains) {
    out += (out.empty() ? "" : "; ") + c.tensor + std::string(update_op_name(c.op)) + (c.scan ? " scan" : "") + (c.exact ? " exact" : "");
  }
  return out;
}

TEST(Promise, ReductionsByOneOperator) {
  EXPECT_EQ(verdict("in A^{f32}_{8};out S^{f32};L^{8}_{i=0}[S=S+A_{i};];"), "S+");
  EXPECT_EQ(verdict("in A^{f32}_{8};out S^{f32};L^{8}_{i=0}[S=S+A_{i};S=S-A_{i}*A_{i};];"), "S+");
  EXPECT_EQ(verdict("in A^{i64}_{8};out S^{i64};L^{8}_{i=0}[S=S+A_{i};];"), "S+ exact");
  EXPECT_EQ(verdict("in A^{f32}_{8};out S^{f32};L^{8}_{i=0}[S=max(S,A_{i});];"), "Smax exact");
  EXPECT_EQ(verdict("in A^{f32}_{8};out S^{f32};L^{8}_{i=0}[S=S*A_{i};];"), "S*");
  EXPECT_EQ(verdict("in A^{f32}_{8};out S^{f32};out M^{f32};L^{8}_{i=0}[S=S+A_{i};M=max(M,A_{i});];"), "Mmax exact; S+");
  EXPECT_EQ(verdict("in A^{f32}_{8};out S^{f32};L^{8}_{i=0}[S=S/A_{i};];").substr(0, 3), "no:");
  EXPECT_EQ(verdict("in A^{f32}_{8};out S^{f32};out M^{f32};L^{8}_{i=0}[S=S+A_{i};M=max(M,S);];").substr(0, 3), "no:");
  EXPECT_EQ(verdict("in A^{f32}_{8};out S^{f32};S=1;L^{8}_{i=0}[S=S+A_{i};S=max(S,A_{i});];", {1}).substr(0, 3), "no:");
  // A guard that reads the sum is a read.
  EXPECT_EQ(verdict("in A^{f32}_{8};out S^{f32};S=0;L^{8}_{i=0}T^{S<3}[S=S+A_{i};];", {1}).substr(0, 3), "no:");
}

TEST(Promise, Scans) {
  EXPECT_EQ(verdict("in A^{f32}_{8};out X^{f32}_{8};L^{8}_{i=0}[X_{i}=if_then_else(i>0,X_{i-1},0)+A_{i};];"), "X+ scan");
  EXPECT_EQ(verdict("in A^{f32}_{8};out X^{f32}_{8};L^{8}_{i=0}[X_{i}=A_{i}+if_then_else(i-1<0,0,X_{i-1});];"), "X+ scan");
  EXPECT_EQ(verdict("in A^{f32}_{8};out X^{f32}_{8};L^{8}_{i=0}[X_{i}=max(if_then_else(i>=1,X_{i-1},-inf),A_{i});];"), "Xmax scan exact");
  EXPECT_EQ(verdict("in A^{f32}_{8};io X^{f32}_{9};L^{8}_{i=0}[X_{i+1}=if_then_else(i!=0,X_{i},0)+A_{i};];"), "X+ scan");
  EXPECT_EQ(verdict("in A^{f32}_{8};out X^{f32}_{8};out D^{f32}_{8};L^{8}_{i=0}[X_{i}=if_then_else(i>0,X_{i-1},0)+A_{i};D_{i}=X_{i};];"), "X+ scan");
  // the wrong neutral element, the wrong condition, two steps back, read into a sum
  EXPECT_EQ(verdict("in A^{f32}_{8};out X^{f32}_{8};L^{8}_{i=0}[X_{i}=if_then_else(i>0,X_{i-1},1)+A_{i};];").substr(0, 3), "no:");
  EXPECT_EQ(verdict("in A^{f32}_{8};out X^{f32}_{8};L^{8}_{i=0}[X_{i}=if_then_else(i>1,X_{i-1},0)+A_{i};];").substr(0, 3), "no:");
  EXPECT_EQ(verdict("in A^{f32}_{8};out X^{f32}_{8};L^{8}_{i=0}[X_{i}=if_then_else(i>1,X_{i-2},0)+A_{i};];").substr(0, 3), "no:");
  EXPECT_EQ(verdict("in A^{f32}_{8};out X^{f32}_{8};out S^{f32};L^{8}_{i=0}[X_{i}=if_then_else(i>0,X_{i-1},0)+A_{i};S=S+X_{i};];").substr(0, 3), "no:");
}

TEST(Promise, PrivateTemporaries) {
  const char* reset = "in A^{f32}_{4,8};out D^{f32}_{4};L^{4}_{i=0}[E^{f32,l}=0;L^{8}_{k=0}[E^{f32,l}=E^{f32,l}+A_{i,k};];D_{i}=E^{f32,l};];";
  EXPECT_EQ(verdict(reset), "");
  EXPECT_EQ(verdict(reset, {0}, LoopKind::V).substr(0, 3), "no:");   // lanes share it
  const char* shared = "in A^{f32}_{4,8};out D^{f32}_{4};L^{4}_{i=0}[E^{f32,g}=0;L^{8}_{k=0}[E^{f32,g}=E^{f32,g}+A_{i,k};];D_{i}=E^{f32,g};];";
  EXPECT_EQ(verdict(shared).substr(0, 3), "no:");                    // one copy
  const char* forgotten = "in A^{f32}_{4,8};out D^{f32}_{4};L^{4}_{i=0}[L^{8}_{k=0}[E^{f32,l}=E^{f32,l}+A_{i,k};];D_{i}=E^{f32,l};];";
  EXPECT_EQ(verdict(forgotten).substr(0, 3), "no:");
}

TEST(Promise, StorageScopes) {
  const Program p = parse("in A^{f32}_{4,8};out D^{f32}_{4,8};P^{4}_{i=0}[L^{8}_{j=0}[E^{f32,g}_{i,j}=A_{i,j}*2;];L^{8}_{j=0}[D_{i,j}=E^{f32,g}_{i,7-j};];];");
  EXPECT_TRUE(check_storage(p, "E", Scope::l, Target{}).ok());
  EXPECT_TRUE(check_storage(p, "E", Scope::s, Target{}).ok());
  EXPECT_FALSE(check_storage(p, "D", Scope::l, Target{}).ok());
  const Program q = parse("in A^{f32}_{4,8};out D^{f32}_{4,8};P^{4}_{i=0}L^{8}_{j=0}[E^{f32,g}_{i,j}=A_{i,j}*2;];P^{4}_{i=0}L^{8}_{j=0}[D_{i,j}=E^{f32,g}_{i,7-j};];");
  EXPECT_FALSE(check_storage(q, "E", Scope::l, Target{}).ok());
  // A private buffer made common: every iteration writes the same place.
  const Program r = parse("in A^{f32}_{4,8};out D^{f32}_{4,8};P^{4}_{i=0}[L^{8}_{j=0}[E^{f32,l}_{j}=A_{i,j}*2;];L^{8}_{j=0}[D_{i,j}=E^{f32,l}_{7-j};];];");
  EXPECT_TRUE(check_storage(r, "E", Scope::s, Target{}).ok());
  EXPECT_FALSE(check_storage(r, "E", Scope::g, Target{}).ok());
}

TEST(Promise, StartVerdicts) {
  const auto start = [](std::string_view text, std::uint32_t equation) {
    const Program p = parse(text);
    const StartVerdict v = start_of(p, equation);
    constexpr const char* kNames[] = {"always", "never", "sometimes", "unknown"};
    return std::string(kNames[static_cast<int>(v.written)]) + "/" + kNames[static_cast<int>(v.by_others)] + (v.first ? " " + print_expr(*v.first) : "");
  };
  const char* matmul = "in A^{f32}_{64,64};in C^{f32}_{64,64};out D^{f32}_{64,64};L^{64}_{i=0}L^{64}_{k=0}L^{64}_{j=0}[D_{i,j}=D_{i,j}+A_{i,k}*C_{k,j};];";
  EXPECT_EQ(start(matmul, 0), "sometimes/never k==0");
  EXPECT_EQ(start("in A^{f32}_{64,64};out D^{f32}_{64};L^{64}_{i=0}[D_{i}=0;L^{64}_{k=0}[D_{i}=D_{i}+A_{i,k};];];", 1), "always/always");
  EXPECT_EQ(start("in A^{f32}_{64};out D^{f32}_{64};L^{64}_{i=0}[D_{i}=D_{i}+A_{i};];", 0), "never/never");
  EXPECT_EQ(start("in A^{f32}_{64};io D^{f32}_{64};L^{64}_{i=0}[D_{i}=D_{i}+A_{i};];", 0), "always/always");
  // A bias added after the product continues it.
  EXPECT_EQ(start(std::string(matmul) + "L^{64}_{i=0}L^{64}_{j=0}[D_{i,j}=D_{i,j}+A_{0,j};];", 1), "always/always");
  // A scattered sum needs its start written everywhere.
  const char* scatter = "in A^{f32}_{16};in I^{i64}_{16};out D^{f32}_{4};L^{4}_{i=0}[D_{i}=0;];L^{16}_{i=0}[D_{I_{i}}=D_{I_{i}}+A_{i};];";
  EXPECT_EQ(start(scatter, 1), "always/always");
  EXPECT_EQ(run_concrete(parse(scatter)).starts[1].continues, 16);
  // Unrolled by two: the first starts at k==0, the second never.
  const char* unrolled = "in A^{f32}_{64,64};out D^{f32}_{64};L^{64}_{i=0}L^{32}_{k=0}[D_{i}=D_{i}+A_{i,k*2};D_{i}=D_{i}+A_{i,k*2+1};];";
  EXPECT_EQ(start(unrolled, 0), "sometimes/sometimes k==0");
  EXPECT_EQ(start(unrolled, 1), "always/always");
}

}  // namespace
}  // namespace cairn
