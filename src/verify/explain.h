// Why two runs differ at an element: a side condition that is false there, or none.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/interp.h"
#include "verify/conditions.h"

namespace cairn {

// Runs the marked programs of a pair (conditions.h) on inputs that its programs disagree on.
class Explainer {
 public:
  // `boxes`: the sampled elements of the outputs; null: whole outputs.
  Explainer(const Program& before, const Program& after, const std::map<std::string, Box, std::less<>>* boxes)
      : before_{&before, boxes, {}, {}, {}}, after_{&after, boxes, {}, {}, {}} {}
  // New inputs; they must outlive the calls of explain. `max_instances` bounds a run of either program.
  void begin(const ValueMap& inputs, std::uint64_t max_instances);
  // Removes from `failing` the elements of the output at which an operation of either program leaves real arithmetic, and
  // adds its condition to `conditions`, e.g. "after s3: E_{i} != 0".
  void explain(const std::string& output, std::vector<std::size_t>* failing, std::set<std::string>* conditions);

 private:
  struct Side {
    const Program* program;
    const std::map<std::string, Box, std::less<>>* boxes;
    std::optional<MarkedProgram> marked;
    Slice slice;
    std::optional<ValueMap> values;   // of this run
    std::map<std::string, Box, std::less<>> wanted = {};
    bool tried = false;               // to mark and to slice
    bool sliced = false;
    bool ran = false;                 // on these inputs
  };
  const std::vector<double>* marks(Side* side, const std::string& output);

  const ValueMap* inputs_ = nullptr;
  std::uint64_t max_instances_ = 0;
  Side before_, after_;
};

// The first equation of `after` that is not in `before` and adds or subtracts, as "s3"; empty if there is none.
std::string changed_sum(const Program& before, const Program& after);
// Whether `after` keeps and converts to no float narrower than `before` does.
bool keeps_precision(const Program& before, const Program& after);
// Whether both programs store and convert to the same float types.
bool same_float_types(const Program& before, const Program& after);

}  // namespace cairn
