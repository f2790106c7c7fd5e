// One pair of programs: recorded once, judged in any class (identity rung, internal).
#pragma once
#include <memory>
#include <set>

#include "verify/identity/pass.h"
#include "verify/identity/recorder.h"
#include "verify/identity/targets.h"

namespace cairn::identity {

class Session {
 public:
  Session(const Program& before, const Program& after, const IdentityOptions& options);

  // The strongest class that holds, none weaker than `weakest`; else the verdict of the weakest.
  IdentityResult judge(Exactness weakest);

 private:
  struct Pair {
    std::size_t target = 0;
    std::int64_t offset = 0;
    TermId x = kUnwrittenTerm, y = kUnwrittenTerm;
  };
  bool open(IdentityResult* r);
  void start(bool cut);   // recorders, with or without cut points
  // What is compared of one tensor, and how far that got.
  struct Progress {
    Compared target;
    Elements elements;
    std::size_t done = 0;
    std::uint64_t limit = 0;   // of work(), for this tensor
    bool exhausted = false;
  };
  void choose(const std::vector<Compared>& targets, IdentityResult* r);
  // Records the least that a class needs of each tensor; `full`: the base sample too, and more as the work allows.
  // False when refused (in r).
  bool record(bool full, IdentityResult* r);
  bool record_element(Progress* p, std::size_t target, std::int64_t offset, IdentityResult* r);
  bool resolve();
  void judge_recorded(Exactness weakest, IdentityResult* r);
  // `fed`: what changed nests feed to equal ones, of which an element that was never written before is read by none.
  IdentityResult judge_targets(const std::vector<Compared>& targets, Exactness weakest, bool fed);
  std::string origins(const Pair& p, std::string_view what) const;
  // Both leave in open_ what stays unequal.
  void judge_terms(bool reassociates, IdentityResult* r);
  void judge_field(IdentityResult* r);
  int order_trials(std::size_t nodes) const;
  double unseen_order(const std::vector<TermId>& order, const std::vector<TermId>& roots, int trials);
  void find_conditions(std::uint64_t key, IdentityResult* r);
  void factors_of(TermId id, std::set<TermId>* out) const;
  std::uint64_t work() const { return recorder_a_->work() + recorder_b_->work() + evaluated_; }

  IdentityOptions options_;
  Program a_, b_;
  Prepared code_a_, code_b_;
  std::unique_ptr<StateTable> table_a_, table_b_;
  std::unique_ptr<SharedStates> shared_;
  TermGraph graph_;
  std::unique_ptr<Recorder> recorder_a_, recorder_b_;
  std::vector<Progress> targets_;
  std::vector<Pair> open_;
  std::uint64_t evaluated_ = 0;
  bool fed_ = false;   // what is compared now
};

// The element of a tensor as text: "D_{3,4}".
std::string element_name(const Compared& c, std::int64_t offset);

}  // namespace cairn::identity
