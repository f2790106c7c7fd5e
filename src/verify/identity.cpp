#include "verify/identity.h"

#include <fmt/core.h>

#include <algorithm>

#include "verify/identity/session.h"

namespace cairn {

using identity::Session;
using Verdict = IdentityResult::Verdict;

namespace {
// Integer and boolean inputs are concrete in a recording, and decide guards and conditions: several draws.
constexpr std::uint64_t kIntegerDraws = 3;

IdentityResult judge_all(const Program& before, const Program& after, IdentityOptions options, Exactness weakest) {
  IdentityResult r = Session(before, after, options).judge(weakest);
  const bool draws = std::any_of(before.tensors().begin(), before.tensors().end(), [](const Tensor& t) {
    return t.role != Role::tmp && t.role != Role::out && !is_float(t.dtype);
  });
  for (std::uint64_t k = 1; draws && k < kIntegerDraws && r.held(); ++k) {
    options.seed = mix64(options.seed + k);
    IdentityResult other = Session(before, after, options).judge(weakest);
    other.nodes += r.nodes;
    other.elements += r.elements;
    other.error_probability = std::max(other.error_probability, r.error_probability);
    if (!other.held() || other.claim > r.claim) {
      r = std::move(other);
      continue;
    }
    r.nodes = other.nodes;
    r.elements = other.elements;
    r.error_probability = other.error_probability;
  }
  return r;
}
}  // namespace

IdentityResult check_identity(const Program& before, const Program& after, const IdentityOptions& options) {
  if (options.claim == Exactness::changes_precision) {
    IdentityResult r;
    r.claim = options.claim;
    r.reason = "a change of precision is no identity";
    return r;
  }
  IdentityResult r = judge_all(before, after, options, options.claim);
  r.claim = options.claim;
  return r;
}

IdentityResult find_identity(const Program& before, const Program& after, const IdentityOptions& options) {
  return judge_all(before, after, options, Exactness::algebraic);
}

std::optional<Certificate> identity_certificate(const IdentityResult& result, bool conditions_stated, std::string* absent) {
  if (result.verdict == Verdict::absent) {
    *absent = result.reason;
    return std::nullopt;
  }
  Certificate c;
  c.rung = Rung::identity;
  c.held = result.held();
  c.reason = result.reason;
  std::string compared, conditions;
  for (const std::string& name : result.compared) compared += fmt::format("{}{}", compared.empty() ? "" : " ", name);
  for (const std::string& text : result.conditions) conditions += fmt::format("{}{}", conditions.empty() ? "" : "; ", text);
  if (c.held && !conditions.empty() && !conditions_stated) {
    c.held = false;
    c.reason = fmt::format("equal only where {}, which the claim does not state", conditions);
  }
  c.facts = {{"algebra", std::string(exactness_name(result.claim))},
             {"mode", result.sampled ? "sampled" : "full"},
             {"compared", compared},
             {"elements", fmt::format("{}", result.elements)},
             {"pieces", fmt::format("{}", result.pieces)},
             {"trials", fmt::format("{}", result.trials)},
             {"nodes", fmt::format("{}", result.nodes)},
             {"error_probability", fmt::format("{:.2g}", result.error_probability)}};
  if (result.sampled) c.facts.emplace_back("miss_probability", fmt::format("{:.2g}", result.miss_probability));
  if (!conditions.empty()) c.facts.emplace_back("conditions", conditions);
  return c;
}

}  // namespace cairn
