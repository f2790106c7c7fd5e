// Value-based facts: bounds, what is written before it is read, which instances start, what is covered.
//
// Each question is put to interval and box tests first, then to exact tests of affine constraints (isl
// behind), then to the shadow execution of small programs (concrete.h).
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/access.h"
#include "analysis/concrete.h"
#include "analysis/dependence.h"

namespace cairn {

// Whether an access needs a value that may not have been written yet.
enum class Written : std::uint8_t { always, never, sometimes, unknown };

// Where the self-update at an equation starts from the neutral element.
struct StartVerdict {
  Written written = Written::unknown;    // state of X when the equation meets it: never = starts every time
  Written by_others = Written::unknown;  // the same, counting only writes of other equations; never: X may be
                                         // filled with the neutral element before anything touches it
  ExprPtr first;                         // sometimes: it starts exactly where this condition on loop variables holds, or null
  bool provable = false;                 // which instances start does not depend on data
  Error reason;                          // if not provable
};

// holds, refuted with a reason, or not decided (with what was tried).
struct FlowVerdict {
  Answer holds = Answer::unknown;
  Error reason;
};

// Which engines answer; `automatic` asks them in order.
enum class FlowMode : std::uint8_t { automatic, boxes_only, isl_only, concrete_only };

// All flow facts of one program, computed on demand. Keeps a reference to the program.
class FlowAnalysis {
 public:
  explicit FlowAnalysis(const Program& program, FlowMode mode = FlowMode::automatic, ConcreteOptions options = {});
  ~FlowAnalysis();
  FlowAnalysis(const FlowAnalysis&) = delete;
  FlowAnalysis& operator=(const FlowAnalysis&) = delete;

  const std::vector<Access>& accesses();
  const std::map<std::string, Shape, std::less<>>& shapes();   // empty if infer_shapes refuses
  // Does subscript `dimension` of the access stay inside its tensor? Gathers: unknown, without a reason.
  FlowVerdict bounds(const Access& access, std::size_t dimension);
  // Does a read (not of a self-update's own element) see an earlier write wherever it is made?
  FlowVerdict written_before(const Access& read);
  // Is every element of an output written?
  FlowVerdict covered(const std::string& tensor);
  // With `only_provable` the answer may stop at `provable`.
  StartVerdict start(std::uint32_t equation, bool only_provable = false);
  // Does a read of an `s` or `l` element always see a write of the same kernel and the same iteration of the
  // outermost P (of the block axes), or of the same run of statements between P nests?
  FlowVerdict stays_inside(const Access& read);
  // Does every read of the tensor inside `loop` see a write of the same iteration of `loop`?
  FlowVerdict private_to(const std::string& tensor, const Stmt& loop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Does every read of `tensor` see an earlier write (implicit starts counted as writes)? Located refusal if not.
Result<void> check_written_before_read(const Program& program, const std::string& tensor);
// Is every element of an output written? Refusal names a missing element.
Result<void> check_covered(const Program& program, const std::string& tensor);
// For the self-update at `equation` ordinal: does X start there in every, no, or some instances?
StartVerdict start_of(const Program& program, std::uint32_t equation);

}  // namespace cairn
