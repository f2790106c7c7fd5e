// Bands: chains of loops each of which holds only the next one, tests on loop variables in between.
#pragma once
#include <string>
#include <vector>

#include "strategy/edit/simplify.h"

namespace cairn {

// A band found at a path. Tests between its loops (and right above its body) are lifted out as conjuncts;
// build_band() puts each at the depth where its last variable is bound, so that a permutation or a split
// leaves one test at the right place.
struct Band {
  StmtPath path;                // of the outermost loop
  std::vector<StmtPtr> loops;   // outermost first; their bodies are not meant
  std::vector<ExprPtr> tests;   // conjuncts, outermost first
  Body body;                    // below the innermost loop and the lifted tests
};
// The loops around the statement at `path`, outermost first, itself excluded.
std::vector<const Stmt*> loops_above(const Body& body, const StmtPath& path);
std::vector<LoopRange> ranges_above(const Body& body, const StmtPath& path);
// The statement at a path as a shared pointer (stmt_at gives a raw one).
StmtPtr shared_at(const Body& body, const StmtPath& path);
// The band from the loop at `path` down, at most `limit` loops.
Band band_at(const Body& body, const StmtPath& path, std::size_t limit = 64);
// The statements of a band: tests at their depth.
Body build_band(const std::vector<StmtPtr>& loops, const std::vector<ExprPtr>& tests, Body body);
// The same with all tests right above the body (a perfect band for dependence analysis).
Body build_sunk(const std::vector<StmtPtr>& loops, const std::vector<ExprPtr>& tests, Body body);

// A loop like `like` with another extent, name, kind and mark.
StmtPtr loop_like(const Stmt& like, LoopKind kind, std::int64_t extent, std::string var, LoopMark mark = {});
// The program with the statement at `path` replaced.
Program with_replaced(const Program& program, const StmtPath& path, const Body& replacement);
// Paths of all loops, in text order.
std::vector<StmtPath> collect_loops(const Body& body);
// Equations below a statement (itself included).
std::size_t count_equations(const Body& body);
// True if the equation at or below writes the tensor; reads anywhere below.
bool writes_below(const Stmt& stmt, std::string_view tensor);
bool reads_below(const Stmt& stmt, std::string_view tensor);
bool mentions_below(const Stmt& stmt, std::string_view tensor);
// True if every mention of the tensor below uses the loop variable in a subscript.
bool all_mentions_use(const Body& body, const std::string& tensor, const std::string& var);
// Equations and tests that mention the tensor.
std::size_t count_mentions(const Body& body, std::string_view tensor);
// The path of the parent statement; the index within it.
StmtPath parent_of(const StmtPath& path);
bool is_prefix(const StmtPath& prefix, const StmtPath& path);
std::string kind_name(LoopKind kind);

}  // namespace cairn
