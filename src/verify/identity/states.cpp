#include "verify/identity/states.h"

#include <bit>
#include <set>

#include "verify/families.h"

namespace cairn::identity {

namespace {
// Two independent 64-bit streams.
void absorb(Digest* d, std::uint64_t x) {
  d->hi = combine64(d->hi, x);
  d->lo = combine64(d->lo, mix64(x ^ 0x5851f42d4c957f2dULL));
}
void absorb(Digest* d, const Digest& x) {
  d->hi = combine64(d->hi, x.hi);
  d->lo = combine64(d->lo, x.lo);
}

// Hash of a nest's text, tensors by first mention, loop variables by depth.
class NestHasher {
 public:
  explicit NestHasher(const Prepared& code) : code_(code) {}
  Digest hash(const Stmt& nest) {
    visit(nest);
    return digest_;
  }
  const std::vector<std::int32_t>& mentioned() const { return mentioned_; }
  const std::set<std::int32_t>& written() const { return written_; }

 private:
  std::uint64_t number(const std::string& tensor) {
    const auto found = code_.tensor_of.find(tensor);
    const std::int32_t t = found == code_.tensor_of.end() ? -1 : found->second;
    for (std::size_t i = 0; i < mentioned_.size(); ++i) {
      if (mentioned_[i] == t) return i;
    }
    mentioned_.push_back(t);
    return mentioned_.size() - 1;
  }
  void visit(const Expr& e) {
    absorb(&digest_, static_cast<std::uint64_t>(e.op) << 8 | static_cast<std::uint64_t>(e.dtype));
    switch (e.op) {
      case Op::int_literal: absorb(&digest_, static_cast<std::uint64_t>(e.int_value)); break;
      case Op::float_literal: absorb(&digest_, std::bit_cast<std::uint64_t>(e.float_value)); break;
      case Op::loop_var:
        for (std::size_t i = vars_.size(); i-- > 0;) {
          if (vars_[i] != e.name) continue;
          absorb(&digest_, i);
          break;
        }
        break;
      case Op::read: absorb(&digest_, number(e.name)); break;
      default: break;
    }
    for (const ExprPtr& arg : e.args) visit(*arg);
  }
  void visit(const Stmt& s) {
    absorb(&digest_, static_cast<std::uint64_t>(s.type));
    if (s.is_equation()) {
      absorb(&digest_, number(s.tensor));
      written_.insert(mentioned_[number(s.tensor)]);
      for (const ExprPtr& x : s.subscripts) visit(*x);
      visit(*s.rhs);
      return;
    }
    if (s.is_loop()) {
      absorb(&digest_, static_cast<std::uint64_t>(s.extent));
      vars_.push_back(s.var);
    } else {
      visit(*s.cond);
    }
    absorb(&digest_, s.body.size());
    for (const StmtPtr& child : s.body) visit(*child);
    if (s.is_loop()) vars_.pop_back();
  }

  const Prepared& code_;
  Digest digest_{1, 2};
  std::vector<std::string> vars_;
  std::vector<std::int32_t> mentioned_;
  std::set<std::int32_t> written_;
};

Digest initial_state(const TensorInfo& t) {
  Digest d{3, 4};
  absorb(&d, static_cast<std::uint64_t>(t.tensor->dtype));
  if (!t.given) return d;
  absorb(&d, hash64(t.tensor->name));
  absorb(&d, t.tensor->data);
  for (const std::int64_t extent : t.shape) absorb(&d, static_cast<std::uint64_t>(extent));
  return d;
}

// Tensors that some subscript or test depends on: cutting them would hide where things are read.
std::set<std::string> steering(const Program& program) {
  std::set<std::string> names;
  const auto reads_of = [&names](const Expr& root) {
    visit_expr(root, [&names](const Expr& e) {
      if (e.op == Op::read) names.insert(e.name);
      return true;
    });
  };
  const std::function<void(const Body&)> walk = [&](const Body& body) {
    for (const StmtPtr& s : body) {
      if (!s->is_equation()) {
        walk(s->body);
        continue;
      }
      for (const ExprPtr& x : s->subscripts) reads_of(*x);
      visit_expr(*s->rhs, [&](const Expr& e) {
        if (e.op == Op::read) {
          for (const ExprPtr& x : e.args) reads_of(*x);
        }
        return true;
      });
    }
  };
  walk(program.body());
  return names;
}
}  // namespace

StateTable::StateTable(const Prepared& code) {
  const Body& body = code.program->body();
  rows_.resize(body.size() + 1);
  for (const TensorInfo& t : code.tensors) rows_[0].push_back(initial_state(t));
  for (std::size_t n = 0; n < body.size(); ++n) {
    rows_[n + 1] = rows_[n];
    NestHasher hasher(code);
    Digest d = hasher.hash(*body[n]);
    for (const std::int32_t t : hasher.mentioned()) {
      if (t < 0) continue;
      const TensorInfo& info = code.tensors[static_cast<std::size_t>(t)];
      absorb(&d, static_cast<std::uint64_t>(info.tensor->dtype));
      for (const std::int64_t extent : info.shape) absorb(&d, static_cast<std::uint64_t>(extent));
      absorb(&d, rows_[n][static_cast<std::size_t>(t)]);
    }
    for (const std::int32_t t : hasher.written()) {
      if (t < 0) continue;
      Digest state = d;
      std::uint64_t position = 0;
      while (hasher.mentioned()[position] != t) ++position;
      absorb(&state, position);
      rows_[n + 1][static_cast<std::size_t>(t)] = state;
    }
  }
}

SharedStates::SharedStates(const Prepared& before, const StateTable& a, const Prepared& after, const StateTable& b,
                           std::uint64_t seed, bool cut) {
  states_.resize(1);
  const auto add = [this](const Digest& d, const TensorInfo& t) -> State& {
    const auto [it, fresh] = numbers_.emplace(d, static_cast<std::uint32_t>(states_.size()));
    if (fresh) states_.push_back({t.tensor->name, t.shape, nullptr});
    return states_[it->second];
  };
  const std::set<std::string> steer_before = steering(*before.program);
  std::set<std::string> steer = steering(*after.program);
  steer.insert(steer_before.begin(), steer_before.end());
  for (const Prepared* code : {&before, &after}) {
    const StateTable& table = code == &before ? a : b;
    for (std::size_t t = 0; t < code->tensors.size(); ++t) {
      const TensorInfo& info = code->tensors[t];
      if (!info.given) continue;
      State& state = add(table.before(0, static_cast<std::int32_t>(t)), info);
      const bool steers = steer.contains(info.tensor->name);
      if (state.value != nullptr || (is_float(info.tensor->dtype) && !steers) || info.size > (std::int64_t{1} << 24)) continue;
      // Bounded by the program that subscripts with it.
      const Program& user = steers && !steer_before.contains(info.tensor->name) ? *after.program : *before.program;
      state.value = std::make_shared<Value>(make_input(user, *info.tensor, info.shape, Family::small_integers, seed));
    }
  }
  if (!cut) return;
  const std::size_t inputs = states_.size();
  std::map<Digest, bool> seen;
  for (const std::vector<Digest>& row : a.rows()) {
    for (const Digest& d : row) seen.emplace(d, true);
  }
  for (std::size_t n = 1; n < b.rows().size(); ++n) {
    for (std::size_t t = 0; t < after.tensors.size(); ++t) {
      const Tensor& tensor = *after.tensors[t].tensor;
      if (!is_float(tensor.dtype) || steer.contains(tensor.name) || b.rows()[n][t] == b.rows()[0][t]) continue;
      if (seen.contains(b.rows()[n][t])) add(b.rows()[n][t], after.tensors[t]);
    }
  }
  cuts_ = states_.size() - inputs;
}

}  // namespace cairn::identity
