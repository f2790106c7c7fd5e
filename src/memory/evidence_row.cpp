#include "memory/evidence_row.h"

#include "search/guide.h"

namespace cairn {

Evidence make_evidence(const DecisionState& at, const TakenStep& step, EvidenceKind kind, std::string_view outcome, double gain,
                       const std::string& implementer) {
  Evidence row;
  row.run = step.run;
  row.number = step.number;
  row.parent = step.parent;
  row.id = evidence_id(row.run, row.number);
  row.task = at.task;
  row.bottleneck = at.bottleneck;
  row.direction = step.direction;
  row.local = step.local;
  row.directions = at.directions;
  row.locals = at.locals;
  row.arguments = step.arguments;
  row.argument_class = step.argument_class;
  row.kind = kind;
  row.outcome = outcome;
  if (kind == EvidenceKind::passed) {
    row.gain = gain;
    row.certificate = rung_name(Rung::executed);
  }
  row.device = at.device;
  row.implementer = implementer;
  row.date = at.now;
  return row;
}

}  // namespace cairn
