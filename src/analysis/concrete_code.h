// The compiled form of a program that the shadow execution runs (internal to analysis).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "analysis/index_code.h"
#include "ir/program.h"
#include "ir/self_update.h"

namespace cairn::concrete {

struct Subscript {
  std::optional<IndexCode> code;   // absent: depends on data
  bool proved = false;             // the loops' ranges alone keep it in bounds
};
struct AccessCode {
  std::uint32_t tensor = 0;
  std::uint32_t equation = 0;
  SourcePos pos = kNoPos;
  bool self = false;
  bool gather = false;             // some subscript depends on data
  bool flat = false;               // all subscripts linear and proved: `offset` is the element's offset
  IndexCode offset;
  std::vector<Subscript> subscripts;
};
// What an expression does, in order: reads, and branches on conditions of loop variables.
struct Item {
  int access = -1;                 // index into Code::accesses, or a branch
  IndexCode cond;
  std::vector<Item> then_items, else_items;
};
struct Node {
  const Stmt* stmt = nullptr;
  std::uint32_t equation = 0;      // equation: ordinal; else the first ordinal below
  int slot = 0;                    // loop
  bool bumps_iteration = false;    // each iteration is another block: outermost P, block axes
  bool bumps_execution = false;    // each execution is another kernel: outermost thread axis
  std::optional<IndexCode> cond;   // test on loop variables; absent: depends on data
  std::vector<Item> items;         // equation: right side and subscripts; test: condition
  int write = -1;
  std::vector<Node> children;
};
struct TensorCode {
  std::string name;
  Shape shape;
  std::vector<std::int64_t> strides;
  std::int64_t size = 0;
  bool from_outside = false;       // in param const io
  bool is_out = false;
  bool local = false;              // scope s or l
  bool written = false;            // somewhere in the program
};
struct Code {
  std::vector<TensorCode> tensors;
  std::vector<AccessCode> accesses;
  std::vector<Node> roots;
  std::vector<std::string> slot_names;
  std::uint32_t equations = 0;
  std::int64_t elements = 0;
  int slots = 0;
};

// Compiles; refuses (Code::illegal) what names, arity and sizes rules refuse too.
Result<Code> compile_program(const Program& program);

std::vector<std::int64_t> unflatten(const TensorCode& tensor, std::int64_t offset);

// Runs nodes over a visitor: loop_begin(node, env), iteration(node, env), loop_end(node), test(node, entered),
// and access(code, offset or -1 out of bounds or -2 gather, is_write, env).
template <class Visitor>
class Machine {
 public:
  Machine(const Code& code, Visitor& visitor) : code_(code), visitor_(visitor), env_(static_cast<std::size_t>(code.slots) + 1) {}
  void run(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) step(node);
  }
  std::int64_t* env() { return env_.data(); }

 private:
  void step(const Node& node) {
    const Stmt& s = *node.stmt;
    if (s.is_equation()) {
      items(node.items);
      access(node.write, true);
      return;
    }
    if (s.is_test()) {
      items(node.items);
      if (node.cond) {
        bool fault = false;
        if (node.cond->eval(env_.data(), &fault) != 0) run(node.children);
        if (fault) visitor_.fault(node.equation, s.pos, env_.data());
      } else {
        visitor_.doubt(+1);
        run(node.children);
        visitor_.doubt(-1);
      }
      return;
    }
    visitor_.loop_begin(node);
    std::int64_t& var = env_[static_cast<std::size_t>(node.slot)];
    for (std::int64_t i = 0; i < s.extent; ++i) {
      var = i;
      visitor_.iteration(node);
      run(node.children);
      if (visitor_.stopped()) return;
    }
    visitor_.loop_end(node);
  }
  void items(const std::vector<Item>& list) {
    for (const Item& item : list) {
      if (item.access >= 0) {
        access(item.access, false);
        continue;
      }
      bool fault = false;
      items(item.cond.eval(env_.data(), &fault) != 0 ? item.then_items : item.else_items);
    }
  }
  void access(int index, bool is_write) {
    const AccessCode& a = code_.accesses[static_cast<std::size_t>(index)];
    bool fault = false;
    if (a.flat) {
      visitor_.access(a, a.offset.eval(env_.data(), &fault), is_write, env_.data());
      return;
    }
    const TensorCode& t = code_.tensors[a.tensor];
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
      const Subscript& sub = a.subscripts[d];
      if (!sub.code) continue;
      const std::int64_t v = sub.code->eval(env_.data(), &fault);
      if (fault) visitor_.fault(a.equation, a.pos, env_.data());
      if (v < 0 || v >= t.shape[d]) {
        visitor_.out_of_bounds(a, d, v, env_.data());
        return;
      }
      offset += v * t.strides[d];
    }
    visitor_.access(a, a.gather ? -1 : offset, is_write, env_.data());
  }

  const Code& code_;
  Visitor& visitor_;
  std::vector<std::int64_t> env_;
};

}  // namespace cairn::concrete
