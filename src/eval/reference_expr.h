// Typed expressions as C text for references.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "ir/program.h"
#include "ir/typing.h"

namespace cairn {

using ShapeMap = std::map<std::string, Shape, std::less<>>;

// Prints expressions; every float operation gets a place number of its own for its rounding.
class ReferenceExpr {
 public:
  ReferenceExpr(const Program& program, const ShapeMap& shapes) : program_(program), shapes_(shapes) {}
  // How the read `self` of a self-update prints; empty text: as any read.
  void set_self(const Expr* self, std::string text) {
    self_ = self;
    self_text_ = std::move(text);
  }
  std::string print(const TypedExpr& e);
  // Row-major element number of elaborated subscripts.
  std::string offset(std::string_view tensor, const std::vector<TypedPtr>& subscripts);
  // What a store into a dtype makes of a value of its compute type.
  std::string stored(Dtype dtype, const std::string& value);

 private:
  std::string node(const TypedExpr& e);
  std::string rounded(ComputeType type, const std::string& value);
  std::string to_format(Dtype dtype, const std::string& value);

  const Program& program_;
  const ShapeMap& shapes_;
  const Expr* self_ = nullptr;
  std::string self_text_;
  std::uint64_t place_ = 0;
};

// C spelling of a double, exact.
std::string print_double(double value);

}  // namespace cairn
