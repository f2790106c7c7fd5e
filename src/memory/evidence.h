// What the memory is made of: one row a committed proposal, and what a decision knows of its state.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"

namespace cairn {

// Name of the node before the first step.
inline constexpr const char* kStartNode = "START";
// Directions and locals before the current step, last first; kStartNode once where the run began, then empty.
using Prefix = std::array<std::string, 2>;

// Where a program was measured. Weights fall from equal fingerprints over architecture and kind to anything.
struct DeviceMark {
  std::string fingerprint;    // Evaluator::device()
  std::string architecture;   // such as "x86-64-avx512" or "sm_90"
  std::string kind;           // "cpu", "gpu", "simulated"
  friend bool operator==(const DeviceMark&, const DeviceMark&) = default;
};

// The task that a run worked on, as far as other tasks can be compared with it.
struct TaskMark {
  std::string name;
  std::string family;               // operator family: "product", "softmax", ...
  std::vector<double> features;     // fixed order, log2 scales (memory/features.h)
};

// How one committed proposal ended (search-and-memory.md "Evidence row").
enum class EvidenceKind : std::uint8_t {
  passed,    // correct and timed
  failed,    // refused below, wrong, crashed, too slow: counts against the node
  host,      // the machine's fault (load, memory, lost device, cancelled): stored, never counted
  inner,     // an action inside a composite: knowledge, enters no mean
};
std::string_view evidence_kind_name(EvidenceKind kind);
bool parse_evidence_kind(std::string_view name, EvidenceKind* out);

struct Evidence {
  Digest id;                        // of run and proposal number; rows with equal ids are one row
  std::string run;                  // id of the run
  std::uint64_t number = 0;         // of the proposal; inner rows add their place in the composite
  std::uint64_t parent = 0;
  TaskMark task;
  std::string bottleneck;           // class of the state it was proposed at: memory, compute, latency, launch
  std::string direction, local;     // direction_name() of the strategy or template, and its name
  Prefix directions, locals;        // before it
  std::string arguments;            // the action's text
  std::string argument_class;       // loop roles and log2 of sizes (memory/features.h)
  double gain = 0;                  // immediate: score minus the parent's; 0 if it did not pass
  double credit = 0;                // R: the best cumulative gain that its trajectory reaches from it on
  EvidenceKind kind = EvidenceKind::passed;
  std::string outcome;              // outcome_name()
  std::string certificate;          // strongest rung that held: executed, numeric, ...
  DeviceMark device;
  std::string implementer;          // "strategy@COMMIT" or "model@provider"
  Digest program, trace;            // canonical hash of the result, hash of the actions that led there
  std::int64_t date = 0;            // seconds since 1970
  bool trusted = true;              // false: imported; its texts (task, arguments, implementer) enter no prompt
};
// The id of a row.
Digest evidence_id(std::string_view run, std::uint64_t number, std::string_view inner = {});

}  // namespace cairn
