#include "ir/canon.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/lexer.h"

namespace cairn {

namespace {
// Two independent 64-bit lanes.
Digest seed(std::uint64_t tag) { return {mix64(tag + 0x51ULL), mix64(tag + 0xa7a7ULL)}; }
void mix(Digest& h, std::uint64_t x) {
  h.hi = combine64(h.hi, x);
  h.lo = combine64(h.lo, x ^ 0x5851f42d4c957f2dULL);
}
void mix(Digest& h, const Digest& d) {
  h.hi = combine64(h.hi, d.hi);
  h.lo = combine64(h.lo, d.lo);
}

enum Tag : std::uint64_t { kExpr = 0x100, kLoop = 0x200, kTest, kEquation, kEnd, kTensor, kFree, kProgram, kNest };

bool commutes(Op op) {
  switch (op) {
    case Op::add: case Op::mul: case Op::max: case Op::min: case Op::eq: case Op::ne: return true;
    default: return false;
  }
}

// Hashes a program or a nest; a tensor's token stands for it wherever it is mentioned.
class Canonizer {
 public:
  Canonizer(const Program& program, bool rename) : program_(program), rename_(rename) { short_.fill(nullptr); }

  // Gives tokens: temporaries in order of their first writes, then of their first mentions.
  void number(const Body& body) {
    if (rename_) number_writes(body);
    number_mentions(body);
  }

  Digest hash_statement(const Stmt& stmt) {
    Digest h;
    switch (stmt.type) {
      case Stmt::Type::equation: {
        h = seed(kEquation);
        mix(h, entry(stmt.tensor).token);
        mix(h, stmt.subscripts.size());
        for (const ExprPtr& subscript : stmt.subscripts) mix(h, hash_expr(*subscript));
        mix(h, hash_expr(*stmt.rhs));
        return h;
      }
      case Stmt::Type::loop:
        h = seed(kLoop);
        mix(h, static_cast<std::uint64_t>(stmt.kind));
        mix(h, static_cast<std::uint64_t>(stmt.mark.type));
        mix(h, static_cast<std::uint64_t>(stmt.mark.count));
        mix(h, static_cast<std::uint64_t>(stmt.extent));
        vars_.push_back(stmt.var);
        break;
      case Stmt::Type::test:
        h = seed(kTest);
        mix(h, hash_expr(*stmt.cond));
        break;
    }
    for (const StmtPtr& child : stmt.body) mix(h, hash_statement(*child));
    mix(h, kEnd);
    if (stmt.is_loop()) vars_.pop_back();
    return h;
  }

  // What the program says of every tensor that is declared or mentioned.
  Digest hash_tensors(bool unmentioned) {
    std::vector<Digest> rows;
    for (const Tensor& tensor : program_.tensors()) {
      const Entry& e = entry(tensor.name);
      const bool counts = e.mentioned || (unmentioned && tensor.declared);
      if (!counts) continue;
      Digest h = seed(kTensor);
      if (e.mentioned || tensor.role != Role::tmp) mix(h, e.token);
      mix(h, static_cast<std::uint64_t>(tensor.role));
      mix(h, static_cast<std::uint64_t>(tensor.dtype));
      mix(h, static_cast<std::uint64_t>(tensor.scope));
      mix(h, tensor.declared ? 1 : 0);
      if (tensor.declared && tensor.shape) {
        mix(h, tensor.shape->size() + 1);
        for (const std::int64_t extent : *tensor.shape) mix(h, static_cast<std::uint64_t>(extent));
      }
      mix(h, tensor.data);
      rows.push_back(h);
    }
    std::sort(rows.begin(), rows.end());
    Digest all = seed(kTensor + 0x40);
    for (const Digest& row : rows) mix(all, row);
    return all;
  }

 private:
  struct Entry {
    std::uint64_t token = 0;
    bool temporary = false;
    bool numbered = false;
    bool mentioned = false;
  };

  Entry& entry(std::string_view name) {
    const std::size_t index = short_name_index(name);
    if (index < kShortNames && short_[index] != nullptr) return *short_[index];
    const auto [it, fresh] = entries_.try_emplace(std::string(name));
    Entry& e = it->second;
    if (fresh) {
      const Tensor* tensor = program_.find(name);
      e.temporary = rename_ && tensor != nullptr && tensor->role == Role::tmp;
      e.token = combine64(kTensor, hash64(name));
    }
    if (index < kShortNames) short_[index] = &e;
    return e;
  }

  void number_one(std::string_view name) {
    Entry& e = entry(name);
    e.mentioned = true;
    if (!e.temporary || e.numbered) return;
    e.numbered = true;
    e.token = combine64(kTensor + 0x80, ++count_);
  }

  void number_writes(const Body& body) {
    for (const StmtPtr& stmt : body) {
      if (stmt->is_equation()) number_one(stmt->tensor);
      number_writes(stmt->body);
    }
  }

  void number_mentions(const Body& body) {
    for (const StmtPtr& stmt : body) {
      if (stmt->is_equation()) {
        number_one(stmt->tensor);
        for (const ExprPtr& subscript : stmt->subscripts) number_reads(*subscript);
        number_reads(*stmt->rhs);
      }
      if (stmt->is_test()) number_reads(*stmt->cond);
      number_mentions(stmt->body);
    }
  }

  void number_reads(const Expr& e) {
    if (e.op == Op::read) number_one(e.name);
    for (const ExprPtr& arg : e.args) number_reads(*arg);
  }

  Digest hash_var(std::string_view name) const {
    for (std::size_t depth = vars_.size(); depth-- > 0;) {
      if (vars_[depth] == name) return seed(combine64(static_cast<std::uint64_t>(Op::loop_var), depth));
    }
    return seed(combine64(kFree, hash64(name)));
  }

  Digest hash_expr(const Expr& e) {
    if (e.op == Op::loop_var) return hash_var(e.name);
    Digest h = seed(kExpr + static_cast<std::uint64_t>(e.op));
    switch (e.op) {
      case Op::int_literal: mix(h, static_cast<std::uint64_t>(e.int_value)); return h;
      case Op::float_literal:
        mix(h, std::isnan(e.float_value) ? 0x7ff8ULL << 48 : std::bit_cast<std::uint64_t>(e.float_value));
        return h;
      case Op::read:
        mix(h, entry(e.name).token);
        mix(h, e.args.size());
        break;
      case Op::cast: mix(h, static_cast<std::uint64_t>(e.dtype)); break;
      default: break;
    }
    if (e.args.size() == 2 && commutes(e.op)) {
      Digest a = hash_expr(*e.args[0]);
      Digest b = hash_expr(*e.args[1]);
      if (b < a) std::swap(a, b);
      mix(h, a);
      mix(h, b);
      return h;
    }
    for (const ExprPtr& arg : e.args) mix(h, hash_expr(*arg));
    return h;
  }

  const Program& program_;
  bool rename_;
  std::unordered_map<std::string, Entry> entries_;
  std::array<Entry*, kShortNames> short_;
  std::vector<std::string_view> vars_;
  std::uint64_t count_ = 0;
};
}  // namespace

Digest canonical_hash(const Program& program) {
  Canonizer canon(program, true);
  canon.number(program.body());
  Digest h = seed(kProgram);
  for (const StmtPtr& stmt : program.body()) mix(h, canon.hash_statement(*stmt));
  mix(h, kEnd);
  mix(h, canon.hash_tensors(true));
  return h;
}

Digest nest_hash(const Program& program, const Stmt& nest) {
  Canonizer canon(program, false);
  // A body of one statement that does not own it: the caller keeps the nest alive.
  canon.number(Body{StmtPtr(StmtPtr(), &nest)});
  Digest h = seed(kNest);
  mix(h, canon.hash_statement(nest));
  mix(h, canon.hash_tensors(false));
  return h;
}

}  // namespace cairn
