#include "memory/store_rows_make.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "memory/cards.h"

namespace cairn {

namespace {

std::string pick(Rng& rng, std::initializer_list<const char*> names) { return *(names.begin() + rng.below(names.size())); }

// Rarely round, sometimes tiny, huge or negative.
double random_number(Rng& rng) {
  const double scales[] = {1, 1, 0.01, 1e-300, 1e300, 0};
  return rng.normal() * scales[rng.below(6)] + 0.0;   // the file keeps no negative zero
}

}  // namespace

Evidence random_evidence(Rng& rng, const std::string& run, std::uint64_t number) {
  Evidence e;
  e.id = evidence_id(run, number);
  e.run = run;
  e.number = number;
  e.parent = rng.below(number + 1);
  e.task = {pick(rng, {"level1/1_mm", "softmax 4k x 4k", "\xc3\xa9t\xc3\xa9", "it's; DROP TABLE evidence"}), pick(rng, {"product", "softmax", "", "norm"}), {}};
  for (std::uint64_t k = rng.below(5); k > 0; --k) e.task.features.push_back(random_number(rng));
  e.bottleneck = pick(rng, {"memory", "compute", "latency", "launch", ""});
  e.direction = pick(rng, {"fusion", "algebra", "parallelism", "my-own"});
  e.local = pick(rng, {"loop_split", "operator_fusion", "tile", "warp_shuffle"});
  e.directions = {pick(rng, {"fusion", kStartNode}), pick(rng, {"", "algebra"})};
  e.locals = {pick(rng, {"loop_tiling", kStartNode}), pick(rng, {"", "powsimp"})};
  e.arguments = pick(rng, {"loop_split(loop=0.i, factor=4)", "", "\"quoted\" 'twice'"});
  e.argument_class = pick(rng, {"parallel 5", ""});
  e.gain = std::clamp(random_number(rng), -1500.0, 1500.0);
  e.credit = std::clamp(random_number(rng), -1500.0, 1500.0);
  e.kind = static_cast<EvidenceKind>(rng.below(4));
  e.outcome = pick(rng, {"ok", "wrong", "timeout", "host"});
  e.certificate = pick(rng, {"executed", "numeric", ""});
  e.device = {pick(rng, {"cpu 9f", "cpu 7a"}), pick(rng, {"x86-64-avx512", "sm_90"}), pick(rng, {"cpu", "gpu"})};
  e.implementer = pick(rng, {"strategy@2a989b7", "model-x@provider"});
  e.program = {rng.next(), rng.next()};
  e.trace = {rng.next(), rng.next()};
  e.date = 1'700'000'000 + static_cast<std::int64_t>(rng.below(100'000'000));
  e.trusted = rng.below(2) == 0;
  return e;
}

MemoryContent random_memory(Rng& rng) {
  MemoryContent m;
  const auto some = [&](std::uint64_t most, auto add) {
    for (std::uint64_t k = 0; k < most; ++k) {
      if (rng.below(2) == 0) add(k);
    }
  };
  const auto text = [&] { return pick(rng, {"", "a", "b c", "d\ne", "\xc3\xa9"}); };
  some(4, [&](std::uint64_t k) {
    m.directions.push_back({fmt::format("own-{}", k), text(), text(), text(), {pick(rng, {"memory", "compute"})}, rng.below(2) == 0});
  });
  some(4, [&](std::uint64_t k) { m.locals.push_back({fmt::format("local-{}", k), pick(rng, {"fusion", "own-1"}), text(), text(), text(), rng.below(2) == 0}); });
  some(4, [&](std::uint64_t k) { m.edges.push_back({fmt::format("own-{}", k), "fusion", text(), text(), {}, rng.below(2) == 0}); });
  some(4, [&](std::uint64_t k) {
    m.runs.push_back({fmt::format("run-{}", k), "mm", "product", "htam", text(), "t", rng.next(), 1000, static_cast<std::int64_t>(rng.below(3)),
                      rng.below(2) == 0});
    some(6, [&](std::uint64_t n) { m.evidence.push_back(random_evidence(rng, fmt::format("run-{}", k), n)); });
    some(3, [&](std::uint64_t n) { m.decisions.push_back({fmt::format("run-{}", k), n, fmt::format("{{\"x\":{}}}", rng.below(3)), rng.below(2) == 0}); });
  });
  // Dates that agree leave the order to the credit and the rest.
  for (Evidence& e : m.evidence) e.date = 1000 + static_cast<std::int64_t>(rng.below(2));
  std::sort(m.evidence.begin(), m.evidence.end(), [](const Evidence& a, const Evidence& b) { return a.id < b.id; });
  return m;
}

MemoryContent without_built_in(MemoryContent content) {
  const auto drop = [](auto& cards) {
    cards.erase(std::remove_if(cards.begin(), cards.end(), [](const auto& card) { return is_built_in(card); }), cards.end());
  };
  drop(content.directions);
  drop(content.locals);
  drop(content.edges);
  return content;
}

std::string describe(const Evidence& e) {
  return fmt::format("{} {} {} {} | {} | {} | {} | {} {} {} | {} {} {} {} | {} | {} | {} {} {} {} {} | {} | {} | {} | {} | {} {} {} {}", e.id.hex(), e.run,
                     e.number, e.parent, e.task.name, e.task.family, fmt::join(e.task.features, " "), e.bottleneck, e.direction, e.local,
                     e.directions[0], e.directions[1], e.locals[0], e.locals[1], e.arguments, e.argument_class, e.gain, e.credit,
                     evidence_kind_name(e.kind), e.outcome, e.certificate, e.device.fingerprint, e.device.architecture, e.device.kind,
                     e.implementer, e.program.hex(), e.trace.hex(), e.date, e.trusted);
}

std::string describe(const MemoryContent& content) {
  std::string text;
  for (const DirectionCard& c : content.directions) {
    text += fmt::format("direction {} | {} | {} | {} | {} | {}\n", c.name, c.intent, c.objective, c.risks, fmt::join(c.triggers, " "), c.trusted);
  }
  for (const LocalCard& c : content.locals) {
    text += fmt::format("local {} {} | {} | {} | {} | {}\n", c.direction, c.name, c.when, c.how, c.checks, c.trusted);
  }
  for (const EdgeCard& c : content.edges) {
    text += fmt::format("edge {} {} | {} | {} | {} | {}\n", c.origin, c.node, c.rationale, c.risk, fmt::join(c.applies, " "), c.trusted);
  }
  for (const RunRecord& r : content.runs) {
    text += fmt::format("run {} | {} | {} | {} | {} | {} | {} {} {} {}\n", r.id, r.task, r.family, r.mode, r.device, r.target, r.seed, r.started, r.finished,
                        r.trusted);
  }
  for (const Evidence& e : content.evidence) text += "evidence " + describe(e) + "\n";
  for (const DecisionRecord& d : content.decisions) text += fmt::format("decision {} {} | {} {}\n", d.run, d.number, d.document, d.trusted);
  return text;
}

}  // namespace cairn
