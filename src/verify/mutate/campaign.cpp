#include "verify/mutate/campaign.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/pool.h"
#include "ir/text.h"
#include "verify/mutate/truth.h"
#include "verify/verify.h"

namespace cairn {

namespace {
// What one pair gave; merged in the order of the pairs, so that the number of threads does not show.
struct PairResult {
  bool left_out = false;
  std::string unusable;
  std::vector<OperatorCount> operators;
  std::map<int, std::int64_t> rules;
  std::vector<MissedMutant> misses;
};

class PairRun {
 public:
  PairRun(const MutationPair& pair, std::size_t index, const MutationOptions& options) : pair_(pair), index_(index), options_(options) {}
  PairResult run();

 private:
  bool prepare();
  void judge(const Damage& damage, OperatorCount& count);
  void judge_values(const Damage& damage, OperatorCount& count);
  void judge_claim(const Damage& damage, const Difference& truth, std::size_t claim, ClaimCount& count);
  void miss(const Damage& damage, std::string kind, std::string claim, std::string witness, std::string reason);
  CertificateSet certify_as(const Program& after, Exactness claim) const {
    CertifyOptions certify_options;
    certify_options.target = options_.target;
    certify_options.seed = options_.seed;
    certify_options.numeric_seconds = options_.numeric_seconds;
    return certify(pair_.before, after, claim, nullptr, certify_options);
  }

  const MutationPair& pair_;
  std::size_t index_;
  const MutationOptions& options_;
  std::optional<Truth> truth_;
  PairResult result_;
};

void PairRun::miss(const Damage& damage, std::string kind, std::string claim, std::string witness, std::string reason) {
  MissedMutant m;
  m.pair = pair_.name;
  m.op = damage.name;
  m.site = damage.site;
  m.kind = std::move(kind);
  m.claim = std::move(claim);
  m.witness = std::move(witness);
  m.reason = std::move(reason);
  if (options_.keep_missed_text) {
    m.before = print_program(pair_.before);
    m.after = print_program(damage.program);
  }
  result_.misses.push_back(std::move(m));
}

void PairRun::judge_claim(const Damage& damage, const Difference& truth, std::size_t k, ClaimCount& count) {
  const Exactness claim = kMutationClaims[k];
  const bool different = truth.at(claim);
  if (!different && !options_.judge_equal) return;
  const CertificateSet set = certify_as(damage.program, claim);
  if (!different) {
    count.equal_refused += set.ok() ? 0 : 1;
    return;
  }
  ++count.different;
  const Certificate* identity = set.find(Rung::identity);
  const Certificate* numeric = set.find(Rung::numeric);
  const bool by_identity = identity != nullptr && !identity->held, by_numeric = numeric != nullptr && !numeric->held;
  count.by_both += by_identity && by_numeric ? 1 : 0;
  count.by_identity += by_identity && !by_numeric ? 1 : 0;
  count.by_numeric += by_numeric && !by_identity ? 1 : 0;
  const std::string name(exactness_name(claim));
  count.identity_absent += identity == nullptr ? 1 : 0;
  count.numeric_absent += numeric == nullptr ? 1 : 0;
  if (set.ok()) {
    ++count.missed;
    miss(damage, "ladder", name, truth.witness, serialize(set));
  }
  if (identity != nullptr && identity->held) {
    ++count.identity_missed;
    miss(damage, "identity", name, truth.witness, {});
  }
  if (numeric != nullptr && numeric->held) {
    ++count.numeric_missed;
    miss(damage, "numeric", name, truth.witness, {});
  }
}

void PairRun::judge_values(const Damage& damage, OperatorCount& count) {
  const Difference truth = truth_->compare(damage.program);
  const bool different = truth.at(Exactness::exact);
  ++(different ? count.different : count.equal);
  for (std::size_t k = 0; k < kMutationClaims.size(); ++k) judge_claim(damage, truth, k, count.claims[k]);
}

void PairRun::judge(const Damage& damage, OperatorCount& count) {
  ++count.mutants;
  const VerifyReport report = verify_program(damage.program, options_.target);
  const Finding* refusal = report.first_refusal();
  if (refusal != nullptr) {
    ++count.malformed;
    ++result_.rules[refusal->rule];
  }
  if (count.kind == DamageKind::form) {
    ++count.broken;
    if (refusal != nullptr) return;
    ++count.broken_accepted;
    miss(damage, "promise", "wellformed", "a program of this form is never legal", {});
    return;
  }
  if (count.kind == DamageKind::promise) {
    const std::optional<bool> broken = breaks_promise(damage.program, options_.seed);
    count.broken += broken.value_or(false) ? 1 : 0;
    if (refusal != nullptr) return;
    if (!broken) ++count.unknown;
    if (broken.value_or(false)) {
      ++count.broken_accepted;
      miss(damage, "promise", "wellformed", "a run in another order or with private storage differs", {});
    }
  }
  if (refusal == nullptr) judge_values(damage, count);
}

PairResult PairRun::run() {
  std::vector<Damages> damages;
  std::size_t place = 0, total = 0;
  for (const DamageOperator& op : damage_operators()) {
    const bool listed = options_.only.empty() || std::find(options_.only.begin(), options_.only.end(), op.name) != options_.only.end();
    damages.emplace_back();
    if (listed && (place + index_ + options_.seed) % options_.stride == 0) {
      damages.back() = sample_damage(pair_.after, op, combine64(options_.seed, hash64(pair_.name)), options_.per_operator);
    }
    total += damages.back().size();
    ++place;
  }
  if (total > 0 && !prepare()) return std::move(result_);
  for (std::size_t k = 0; k < damages.size(); ++k) {
    OperatorCount count;
    count.name = damage_operators()[k].name;
    count.kind = damage_operators()[k].kind;
    for (const Damage& damage : damages[k]) judge(damage, count);
    result_.operators.push_back(std::move(count));
  }
  return std::move(result_);
}

// Runs the correct pair; false if it is none.
bool PairRun::prepare() {
  TruthOptions truth_options;
  truth_options.inputs = options_.inputs;
  truth_options.seed = options_.seed;
  Result<Truth> truth = Truth::make(pair_.before, truth_options);
  if (!truth) {
    result_.unusable = pair_.name + ": " + truth.error().message;
    return false;
  }
  truth_ = *std::move(truth);
  const Difference d = truth_->compare(pair_.after);
  if (d.at(Exactness::reassociates)) result_.unusable = pair_.name + ": the two programs differ: " + d.witness;
  return result_.unusable.empty();
}

void merge(OperatorCount& into, const OperatorCount& one) {
  into.mutants += one.mutants;
  into.malformed += one.malformed;
  into.different += one.different;
  into.equal += one.equal;
  into.broken += one.broken;
  into.broken_accepted += one.broken_accepted;
  into.unknown += one.unknown;
  for (std::size_t k = 0; k < into.claims.size(); ++k) {
    ClaimCount& a = into.claims[k];
    const ClaimCount& b = one.claims[k];
    for (const auto field : {&ClaimCount::different, &ClaimCount::by_identity, &ClaimCount::by_numeric, &ClaimCount::by_both, &ClaimCount::missed,
                             &ClaimCount::identity_missed, &ClaimCount::identity_absent, &ClaimCount::numeric_missed,
                             &ClaimCount::numeric_absent, &ClaimCount::equal_refused}) {
      a.*field += b.*field;
    }
  }
}
}  // namespace

MutationReport run_mutation(const std::vector<MutationPair>& pairs, const MutationOptions& options) {
  std::vector<PairResult> results(pairs.size());
  const double start = options.now ? options.now() : 0;
  {
    ThreadPool pool(std::max(1u, options.jobs));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      pool.submit([&, i] {
        if (options.seconds > 0 && options.now && options.now() - start > options.seconds) results[i].left_out = true;
        else results[i] = PairRun(pairs[i], i, options).run();
      });
    }
    pool.wait();
  }
  MutationReport report;
  report.seed = options.seed;
  report.rules.assign(verifier_rules().size() + 1, 0);
  for (const DamageOperator& op : damage_operators()) {
    OperatorCount count;
    count.name = op.name;
    count.kind = op.kind;
    report.operators.push_back(std::move(count));
  }
  for (PairResult& r : results) {
    if (r.left_out) {
      ++report.pairs_left_out;
      continue;
    }
    if (!r.unusable.empty()) {
      report.unusable.push_back(r.unusable);
      continue;
    }
    ++report.pairs;
    for (std::size_t k = 0; k < r.operators.size(); ++k) merge(report.operators[k], r.operators[k]);
    for (const auto& [rule, n] : r.rules) report.rules[static_cast<std::size_t>(rule)] += n;
    for (MissedMutant& m : r.misses) report.misses.push_back(std::move(m));
  }
  for (const OperatorCount& count : report.operators) report.mutants += count.mutants;
  report.missed = std::count_if(report.misses.begin(), report.misses.end(),
                                [](const MissedMutant& m) { return m.kind == "ladder" || m.kind == "promise"; });
  return report;
}

}  // namespace cairn
