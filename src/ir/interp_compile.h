// Internal to the interpreter: the compiler from statements and typed expressions to interp_code.h.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/interp_code.h"
#include "ir/interval.h"

namespace cairn::interp {

// Where an expression's value stands.
using RegIndex = std::uint32_t;

class Compiler {
 public:
  Compiler(const Program& program, const CompileOptions& options) : program_(program), options_(options) {}
  Result<Bytecode> compile();

 private:
  // interp_compile.cpp: tensors and statements
  Result<void> add_buffers();
  Result<void> body(const Body& statements);
  Result<void> loop(const Stmt& stmt);
  Result<void> test(const Stmt& stmt);
  Result<void> equation(const Stmt& stmt);
  // interp_prune.cpp: sliced runs
  bool wanted(const Body& statements) const;   // is any equation inside needed
  const Box* restricted(const std::string& tensor) const;
  void prune(const Stmt& loop, LoopCode* code);
  void collect_prune(const Body& statements, std::vector<std::vector<Pruner::Dim>>* out, bool* bounded);
  std::size_t filter(const std::string& tensor);  // the filter instruction, or 0 if all is wanted
  // interp_expr.cpp: expressions
  Result<RegIndex> value(const TypedExpr& t);
  Result<RegIndex> node(const TypedExpr& t);
  Result<RegIndex> read(const TypedExpr& t);
  Result<RegIndex> convert(const TypedExpr& t);
  Result<RegIndex> round(const TypedExpr& t);
  Result<RegIndex> logical(const TypedExpr& t);
  Result<RegIndex> binary(const TypedExpr& t);
  Result<RegIndex> unary(const TypedExpr& t);
  // The access of a mention; `*offset` is set to a register when its offset is computed by instructions.
  struct Place {
    std::uint32_t access = 0;
    bool computed = false;
    RegIndex offset = 0;
  };
  Result<Place> place(const std::string& tensor, const std::vector<TypedPtr>& subscripts, const Expr* expr);
  bool affine(const TypedExpr& t, std::int64_t scale, AccessCode* access) const;

  bool is_f64(ComputeType type) const { return type == ComputeType::f64 || options_.wide; }
  RegIndex temp() {
    code_.registers.push_back({});
    return static_cast<RegIndex>(code_.registers.size() - 1);
  }
  RegIndex constant(Reg reg);
  std::size_t emit(Bc op, RegIndex dst, std::uint32_t a, std::uint32_t b, const Expr* origin = nullptr) {
    code_.insns.push_back({op, dst, a, b});
    code_.origins.push_back(origin);
    return code_.insns.size() - 1;
  }
  // Jumps land on the next instruction to be emitted.
  void land(std::size_t jump) { code_.insns[jump].b = static_cast<std::uint32_t>(code_.insns.size()); }
  static Bc wide_of(Bc f32, bool f64) { return static_cast<Bc>(static_cast<int>(f32) + (f64 ? 1 : 0)); }
  // In random mode, the rounding that follows a result computed in a double for `type`; `inexact` says that
  // an f64 result (a function's) may be off by one unit anyway.
  void perturb(ComputeType type, RegIndex reg, bool inexact);

  const Program& program_;
  CompileOptions options_;
  Bytecode code_;
  std::map<std::string, std::uint32_t, std::less<>> buffer_of_;
  std::unordered_map<std::string, RegIndex> var_of_;
  std::map<std::int64_t, RegIndex> constants_;   // by bits
  VarRanges ranges_;
  int parallel_above_ = 0;       // P loops enclosing the statement at hand
  bool skip_private_ = false;
  const Stmt* equation_ = nullptr;
  const Expr* self_ = nullptr;   // the self-updated read of the equation at hand
  Place target_;
  Reg neutral_{};
  std::vector<std::uint32_t>* group_ = nullptr;  // affine accesses of the leaf loop or statement at hand
};

}  // namespace cairn::interp
