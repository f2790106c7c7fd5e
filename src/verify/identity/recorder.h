// Records the sequential meaning of single elements as terms: a read sees the last write before it, found by solving
// the written subscripts for the loops (identity rung, internal).
#pragma once
#include <string>
#include <vector>

#include "verify/identity/states.h"

namespace cairn::identity {

class Recorder {
 public:
  // Builds tables of `code` where subscripts need them.
  Recorder(Prepared* code, const StateTable& table, const SharedStates& shared, TermGraph* graph);

  // The element of a tensor before top-level nest `nest` (the number of nests: at the end). kUnwrittenTerm: never
  // written; stopped() tells refusals (with their reason) from values.
  TermId element(std::int32_t tensor, std::uint32_t nest, const std::int64_t* index);
  // Work done: terms looked up or built. The recorder stops beyond the limit.
  std::uint64_t work() const { return work_; }
  void set_limit(std::uint64_t limit) { limit_ = limit; }
  bool stopped() const { return !reason_.empty(); }
  const std::string& reason() const { return reason_; }
  // The program reads where it has written nothing, or outside a tensor: not a limit but a fault.
  bool faulty() const { return faulty_; }
  void clear_stop() { reason_.clear(); }
  // The divisor term and text of every division recorded, in order.
  struct Division {
    TermId divisor;
    const Expr* expr;
  };
  const std::vector<Division>& divisions() const { return divisions_; }

 private:
  struct Instance {
    std::uint32_t equation = 0;
    Frame v{};
    TermId guard = kUnwrittenTerm;  // a condition on data, or none
  };
  // To be evaluated first, when the recursion got too deep: what an instance stores, or the guards of one.
  struct Pending {
    std::uint32_t equation = 0;
    Frame v{};
    bool guards = false;
  };

  TermId before_nest(std::int32_t tensor, std::uint32_t nest, const std::int64_t* index);
  TermId read(const Site& site, const std::int64_t* v, std::int32_t tensor, const std::int64_t* index);
  TermId value(const Instance& instance, const std::int64_t* index);
  void evaluate(const Pending& pending);
  // Enters a level of the recursion; false where it gets too deep, what was to be entered is then evaluated first.
  bool enter(const Equation& e, const std::int64_t* v, bool guards);
  TermId instance(const Equation& e, const std::int64_t* v, const std::int64_t* index);
  TermId run(const Equation& e, const std::int64_t* v, const std::int64_t* index);
  TermId apply(const Equation& e, const std::int64_t* v, TermId self);
  TermId join_partials(TermId id, Op op, Dtype dtype);
  TermId started(const Equation& e, TermId prior);
  TermId eval(const Site& site, std::uint32_t node, const std::int64_t* v, TermId self);
  TermId eval_read(const Site& site, const Node& n, const std::int64_t* v, TermId self);
  TermId eval_lazy(const Site& site, const Node& n, const std::int64_t* v, TermId self);
  bool subscripts(const Site& site, std::uint32_t linear, std::size_t rank, const std::int64_t* v, std::int64_t* index,
                  const Expr* expr);
  // 1: true, 0: false, -1: depends on data (its term in *term), -2: stopped.
  int condition(const Site& site, std::uint32_t node, const std::int64_t* v, TermId* term);

  // last_write.cpp
  // The last write of the element within the reader's nest before it; `common` rules for a reader outside it.
  bool last_in_nest(std::int32_t tensor, std::uint32_t nest, const Site* reader, const std::int64_t* v,
                    const std::int64_t* index, Instance* best);
  bool last_of(const Equation& e, const Site* reader, const std::int64_t* v, const std::int64_t* index, Instance* out);
  bool solve(const Equation& e, const Site* reader, const std::int64_t* v, const std::int64_t* fixed, Instance* out);
  bool decode(const Equation& e, const std::int64_t* index, std::int64_t* v) const;
  bool build_table(Equation* e);
  bool descend(const Equation& e, std::int64_t* v, const std::int64_t* upper, std::uint32_t free, Instance* out);
  int guards_hold(const Equation& e, const std::int64_t* v, TermId* term);
  // One guard, remembered where it depends on more than the loops: what it reads may hang on guards itself.
  int guard_holds(const Equation& e, const Guard& guard, const std::int64_t* v, TermId* term);
  bool later(const Instance& a, const Instance& b) const;

  void stop(std::string reason, bool faulty = false) {
    if (reason_.empty()) reason_ = std::move(reason), faulty_ = faulty;
  }
  bool halted() const { return deep_ || !reason_.empty(); }
  std::int64_t offset_of(std::int32_t tensor, const std::int64_t* index) const {
    const Shape& shape = code_.tensors[static_cast<std::size_t>(tensor)].shape;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + index[d];
    return offset;
  }
  std::uint64_t key_of(const Equation& e, const std::int64_t* v) const {
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < e.site.extents.size(); ++i) {
      key = key * static_cast<std::uint64_t>(e.site.extents[i]) + static_cast<std::uint64_t>(v[i]);
    }
    return key * code_.equations.size() + e.id + 1;
  }
  TermId leaf(std::uint32_t state, std::int32_t tensor, const std::int64_t* index);
  std::string place(std::int32_t tensor, const std::int64_t* index) const;
  // The fresh input that a tensor is before a nest, or 0.
  std::uint32_t fresh_at(std::uint32_t nest, std::int32_t tensor) const {
    return fresh_[nest * code_.tensors.size() + static_cast<std::size_t>(tensor)];
  }

  Prepared& code_;
  const StateTable& table_;
  const SharedStates& shared_;
  TermGraph& graph_;
  std::vector<std::uint32_t> fresh_;   // [nest][tensor]
  FlatMap instances_, guarded_, guards_, states_, divisors_;
  std::uint64_t work_ = 0, limit_ = UINT64_MAX;
  int depth_ = 0;
  bool deep_ = false, faulty_ = false;
  Pending pending_;
  std::string reason_;
  std::vector<Division> divisions_;
};

}  // namespace cairn::identity
