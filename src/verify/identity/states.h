// States of tensors between top-level nests, by content: what both programs build by the same nests from the same
// states is one cut point (identity rung, internal).
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "ir/interp.h"
#include "verify/identity/prepared.h"

namespace cairn::identity {

// Digests of every tensor's content before each nest, [nest][tensor]; the last row is the end of the program.
// Names of temporaries, loop kinds, marks and scopes do not count: they never change a value.
class StateTable {
 public:
  explicit StateTable(const Prepared& code);
  const Digest& before(std::uint32_t nest, std::int32_t tensor) const { return rows_[nest][static_cast<std::size_t>(tensor)]; }
  std::uint32_t nests() const { return static_cast<std::uint32_t>(rows_.size() - 1); }
  const std::vector<std::vector<Digest>>& rows() const { return rows_; }

 private:
  std::vector<std::vector<Digest>> rows_;
};

// Numbers of the states that stand for fresh inputs in both programs, and the values of integer inputs.
class SharedStates {
 public:
  // Inputs, and with `cut` the float states that both tables hold.
  SharedStates(const Prepared& before, const StateTable& a, const Prepared& after, const StateTable& b, std::uint64_t seed, bool cut);
  std::size_t cuts() const { return cuts_; }
  // The number of a state, or 0 if it is no fresh input. `given` says that it is a program's input.
  std::uint32_t number_of(const Digest& state) const {
    const auto it = numbers_.find(state);
    return it == numbers_.end() ? 0 : it->second;
  }
  // The concrete value of an input used in subscripts or of integer dtype; null: a free value.
  const Value* concrete(std::uint32_t state) const { return states_[state].value.get(); }
  // An element as text: "A_{3,4}".
  std::string element(std::uint32_t state, std::int64_t offset) const;

 private:
  struct State {
    std::string name;
    Shape shape;
    std::shared_ptr<const Value> value;
  };
  std::map<Digest, std::uint32_t> numbers_;
  std::vector<State> states_;
  std::size_t cuts_ = 0;
};

std::string element_text(const std::string& name, const Shape& shape, std::int64_t offset);
// A term as text down to a few levels, for messages: "A_{0}*2".
std::string term_text(const TermGraph& graph, const SharedStates& states, TermId id, int depth = 4);

}  // namespace cairn::identity
