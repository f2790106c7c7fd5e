// Kernels, their axes and who owns what: the promises of B loops beyond a single loop's (leir.md "Promises").
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/flow.h"
#include "analysis/promise.h"
#include "analysis/target.h"

namespace cairn {

inline bool is_block_axis(const Stmt& loop) { return loop.kind == LoopKind::B && loop.var.size() == 2 && loop.var[0] == 'b'; }
inline bool is_thread_axis(const Stmt& loop) { return loop.kind == LoopKind::B && !is_block_axis(loop); }
// bx by bz tx ty tz wx gx.
bool is_axis_name(std::string_view name);

// Paths of the kernels: outermost B loops below host loops and tests, in text order.
std::vector<StmtPath> find_kernels(const Body& body);
// Extents along each axis: the largest among the kernel's loops.
std::map<std::string, std::int64_t> axis_extents(const Stmt& kernel);
// Threads of a block (32 and 128 lanes a wx and gx counted).
std::int64_t count_threads(const std::map<std::string, std::int64_t>& extents);
// Threads of a block and grid axes within the target: calls `refused` for each that is not.
void check_axis_limits(const Stmt& kernel, const Target& target, const std::function<void(const Stmt&, std::string message, std::string note)>& refused);
// Block axes outside threads, no axis in itself, no ty tz beside warps: the same.
void check_axis_nesting(const Stmt& kernel, const std::function<void(const Stmt&, std::string message)>& refused);

// Chains that a loop along a block axis would carry go into g tensors that the kernel does not read otherwise.
Result<void> check_block_chains(FlowAnalysis& flow, const Program& program, const StmtPath& loop, const StmtPath& kernel,
                                const std::vector<CarriedChain>& chains);
// May the loop run along a block axis: the promise, and its reductions go into g tensors that the kernel (its path) does
// not read.
Result<void> check_block_axis(FlowAnalysis& flow, const Program& program, const StmtPath& loop, const StmtPath& kernel);
// Does any dependence through a g tensor join two blocks of the kernel, through whatever statements? Reductions excepted.
Result<void> check_block_flow(FlowAnalysis& flow, const Program& program, const StmtPath& kernel);
// An l tensor is owned by the thread axes that subscript it; over the others it is scratch or replicated.
Result<void> check_owner(FlowAnalysis& flow, const Program& program, const Tensor& tensor);
// No barrier stands under the test at this place (`enclosing`: loops and tests around it) if it varies between threads.
Result<void> check_barrier(FlowAnalysis& flow, const Program& program, const StmtPath& test, const std::vector<const Stmt*>& enclosing);

}  // namespace cairn
