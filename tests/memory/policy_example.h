// The decision that docs/memory-policy.md works through by hand.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "memory/policy.h"

namespace cairn::example {

inline constexpr std::int64_t kNow = 1'800'000'000;
inline const DeviceMark kDevice{"fp", "arch", "cpu"};

inline DecisionState make_state() {
  DecisionState state;
  state.task = {"mine", "product", {}};
  state.bottleneck = "memory";
  state.time_shares = {{"memory", 0.7}, {"compute", 0.3}};
  state.directions = {"data_reuse", kStartNode};
  state.locals = {"tile", kStartNode};
  state.made = {"tile"};
  state.program = digest_bytes("here");
  state.device = kDevice;
  state.now = kNow;
  return state;
}

struct Row {
  const char* task;
  const char* family;
  const char* bottleneck;
  const char* direction;
  const char* local;
  Prefix directions, locals;
  double gain, credit;
  EvidenceKind kind = EvidenceKind::passed;
};

inline Evidence make_row(const Row& r, const std::string& run, std::uint64_t number) {
  Evidence row;
  row.id = evidence_id(run, number);
  row.run = run;
  row.number = number;
  row.task = {r.task, r.family, {}};
  row.bottleneck = r.bottleneck;
  row.direction = r.direction;
  row.local = r.local;
  row.directions = r.directions;
  row.locals = r.locals;
  row.gain = r.gain;
  row.credit = r.credit;
  row.kind = r.kind;
  row.certificate = r.kind == EvidenceKind::failed ? "" : "executed";
  row.device = kDevice;
  row.implementer = "strategy@1";
  row.date = kNow;
  return row;
}

inline const Prefix kReuse{"data_reuse", kStartNode}, kTile{"tile", kStartNode};

// Twenty-one rows of sixteen tasks.
inline std::vector<Evidence> make_store() {
  const Prefix fused{"data_reuse", "fusion"}, after_fuse{"tile", "fuse"};
  const char* const products[] = {"p1", "p2", "p3", "p4"};
  const char* const softmaxes[] = {"s1", "s2", "s3", "s4"};
  const char* const others[] = {"q1", "q2", "q3", "q4"};
  std::vector<Evidence> rows;
  const auto add = [&](const Row& r) { rows.push_back(make_row(r, r.task, rows.size() + 1)); };
  for (const char* task : products) add({task, "product", "memory", "memory_access", "vectorize", kReuse, kTile, 0.4, 0.4});
  for (const char* task : softmaxes) add({task, "softmax", "memory", "memory_access", "vectorize", fused, after_fuse, 0.2, 0.2});
  for (const char* task : others) add({task, "product", "compute", "parallelism", "parallel", kReuse, kTile, 0.38, 0.38});
  // In these a transposition loses a little and the vectorisation after it gains more than others do.
  const Prefix start{kStartNode, ""};
  for (const char* task : {"n1", "n2", "n3", "n4"}) {
    add({task, "normalization", "memory", "memory_access", "transpose", start, start, -0.05, 0.67});
    add({task, "normalization", "memory", "memory_access", "vectorize", {"memory_access", kStartNode}, {"transpose", kStartNode}, 0.9, 0.9});
    rows.back().parent = rows.back().number - 1;
  }
  add({"p1", "product", "memory", "memory_access", "transpose", kReuse, kTile, 0, 0, EvidenceKind::failed});
  return rows;
}

// Two committed decisions, both at the root.
inline std::vector<Evidence> make_run() {
  const Prefix start{kStartNode, ""};
  return {make_row({"mine", "product", "memory", "data_reuse", "tile", start, start, 0.3, 0.3}, "run", 1),
          make_row({"mine", "product", "memory", "memory_access", "vectorize", start, start, 0.1, 0.1}, "run", 2)};
}

// The example counts this run with the weight it was worked through with.
inline PolicyParameters make_parameters() {
  PolicyParameters p;
  p.kappa_run = 0.7;
  return p;
}

inline EvidenceIndex make_index(MemoryMode mode, const PolicyParameters& p = make_parameters()) {
  EvidenceIndex index(make_store(), make_state(), p, mode);
  index.set_run(make_run());
  index.count_at("data_reuse", "tile", digest_bytes("root"));
  index.count_at("memory_access", "vectorize", digest_bytes("root"));
  return index;
}

inline std::vector<LocalOption> make_options() {
  return {{"memory_access", "vectorize", 0.5, false}, {"memory_access", "transpose", 0.4, false}, {"parallelism", "parallel", 0.2, false}};
}

inline const std::map<std::string, std::vector<std::string>> kTriggers{{"memory_access", {"memory"}}, {"parallelism", {"compute"}}};

inline const Scored& find_scored(const std::vector<Scored>& scored, const std::string& name) {
  for (const Scored& s : scored) {
    if (s.name == name) return s;
  }
  static const Scored kMissing;
  return kMissing;
}

}  // namespace cairn::example
