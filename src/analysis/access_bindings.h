// Bindings: integer l temporaries that only name an index expression (leir.md "Subscripts").
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/program.h"

namespace cairn {

// The bindings of a program. A temporary is one if a single equation defines it from loop variables and
// literals, and either its value depends only on its own subscripts (plain distinct loop variables), or the
// definition stands before every read in a body around it, so that each read sees the running iteration's.
class BindingTable {
 public:
  explicit BindingTable(const Program& program);
  bool is_binding(std::string_view tensor) const { return defined_.find(tensor) != defined_.end(); }
  // Replaces reads of bindings, nested ones included.
  ExprPtr expand(const ExprPtr& expr) const;

 private:
  struct Definition {
    std::vector<std::string> subscripts;   // loop variables to be replaced by the read's subscripts
    ExprPtr value;
  };
  std::map<std::string, Definition, std::less<>> defined_;
};

}  // namespace cairn
