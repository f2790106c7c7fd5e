// The CPU backend: lower, build, judge, time; everything kept by content.
#include <future>
#include <map>
#include <mutex>

#include <fmt/core.h>

#include "analysis/cost.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "eval/cache.h"
#include "eval/evaluator.h"
#include "eval/judge.h"
#include "ir/canon.h"

namespace cairn {

namespace {
// Enters every key: results of an older judge are not this one's.
constexpr const char* kJudgeVersion = "3";

bool same_outside(const Tensor& a, const Tensor& b) {
  return a.role == b.role && a.dtype == b.dtype && a.shape == b.shape && (a.role != Role::constant || a.data == b.data);
}

std::string describe_tensor(const Tensor& t) {
  std::string text = fmt::format("{} {} {} [", role_name(t.role), dtype_name(t.dtype), t.name);
  if (t.shape) {
    for (std::size_t d = 0; d < t.shape->size(); ++d) text += fmt::format("{}{}", d == 0 ? "" : ",", (*t.shape)[d]);
  }
  return text + "]";
}

// The candidate with its outside in the task's order; refuses one that differs from the task's.
Result<Program> align_outside(const Program& task, const Program& candidate) {
  Program aligned;
  std::size_t outside = 0;
  for (const Tensor& t : task.tensors()) {
    if (t.role == Role::tmp) continue;
    ++outside;
    const Tensor* c = candidate.find(t.name);
    if (c == nullptr || !same_outside(t, *c)) {
      return Error{Code::verify, fmt::format("found {}, expected {} as the task declares it",
                                             c == nullptr ? "no " + t.name : describe_tensor(*c), describe_tensor(t)), {}, {}};
    }
    aligned.set_tensor(*c);
  }
  for (const Tensor& t : candidate.tensors()) {
    if (t.role == Role::tmp) aligned.set_tensor(t);
    else if (outside > 0 && task.find(t.name) == nullptr) {
      return Error{Code::verify, fmt::format("found {}, which the task does not declare", describe_tensor(t)), {}, {}};
    }
  }
  aligned.set_body(candidate.body());
  aligned.set_source(candidate.source());
  return aligned;
}

// What building one program gave.
struct Prepared {
  std::optional<BuiltKernel> kernel;  // or `result` says why not
  EvalResult result;
  double flops = 0;
};

class CpuEvaluator : public Evaluator {
 public:
  CpuEvaluator(EvalTask task, const Target& target, const CpuEvalOptions& options, Clock& clock)
      : task_(std::move(task)), target_(target), options_(options), clock_(clock), cache_(options.cache_directory), lane_(options.lane, name_cpu_lane(), clock),
        pool_(static_cast<unsigned>(std::max(1, target.cores))) {
    judge_options_.call_seconds = options.run_seconds;
    judge_options_.memory_bytes = options.memory_bytes;
    judge_options_.min_samples = options.min_samples;
    judge_options_.sample_seconds = options.sample_seconds;
    judge_options_.threads = options.threads > 0 ? options.threads : std::max(1, target.cores);
    judge_options_.cpus = allowed_cpus();
    const auto threads = static_cast<std::size_t>(judge_options_.threads);
    if (judge_options_.cpus.size() > threads) judge_options_.cpus.resize(threads);
  }

  Result<void> start() {
    CAIRN_TRY(compiler_, Compiler::create(options_.cache_directory, options_.compile_seconds));
    ReferenceOptions reference;
    reference.threads = judge_options_.threads;
    reference.cpus = judge_options_.cpus;
    reference.cache_directory = options_.cache_directory;
    CAIRN_TRY(references_, References::create(task_, *compiler_, make_inputs, reference));
    judge_ = std::make_unique<Judge>(*references_, *compiler_, task_.seed);
    floor_seconds_ = roofline_floor(task_.naive, target_);
    naive_flops_ = count_flops(task_.naive);
    std::string identity = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", kJudgeVersion, canonical_hash(task_.naive).hex(),
                                       task_.seed, task_.strict, references_->families(), device(),
                                       judge_options_.threads, options_.min_samples, options_.sample_seconds);
    for (const auto& [name, value] : task_.fixed_inputs) {
      identity += fmt::format("\n{} {}", name, digest_bytes(value.floats.data(), value.floats.size() * sizeof(double)).hex());
      identity += digest_bytes(value.ints.data(), value.ints.size() * sizeof(std::int64_t)).hex();
    }
    task_key_ = digest_bytes(identity).hex();
    return {};
  }

  const Target& target() const override { return target_; }
  std::string device() const override {
    return describe_cpu_device(target_, compiler_ ? compiler_->version() : std::string());
  }

  void prepare(const Program& program) override {
    const std::string key = canonical_hash(program).hex();
    const std::lock_guard lock(mutex_);
    if (prepared_.count(key) != 0) return;
    auto promise = std::make_shared<std::promise<std::shared_ptr<Prepared>>>();
    prepared_[key] = promise->get_future().share();
    pool_.submit([this, program, promise] {
      try {
        promise->set_value(std::make_shared<Prepared>(build(program)));
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    });
  }

  EvalResult evaluate(const Program& candidate) override {
    const double start = begin();
    const std::shared_ptr<Prepared> prepared = take(candidate);
    EvalResult result = prepared->result;
    if (!prepared->kernel) return finish(std::move(result), start);
    const std::string key = digest_bytes(task_key_ + prepared->kernel->object.key).hex();
    if (auto known = cache_.find(key)) return *std::move(known);
    pool_.wait();  // compilers must not disturb the clock
    const auto turn = lane_.take();
    if (!turn.ok()) return finish(host_failure(std::move(result), turn.error()), start);
    if (!check(*prepared->kernel, &result)) return finish(std::move(result), start);
    if (const auto timed = judge_->time({&*prepared->kernel}, judge_options_, {&result}); !timed.ok()) {
      return finish(host_failure(std::move(result), timed.error()), start);
    }
    note_speed(result);
    judge_floor(*prepared, &result);
    result = finish(std::move(result), start);
    cache_.store(key, result);
    return result;
  }

  std::vector<EvalResult> remeasure(const std::vector<Program>& programs) override {
    constexpr int kSamples = 15;
    constexpr double kSeconds = 0.5;
    const double start = begin();
    std::vector<EvalResult> results(programs.size());
    std::vector<std::shared_ptr<Prepared>> prepared;
    for (const Program& p : programs) prepare(p);
    for (const Program& p : programs) prepared.push_back(take(p));
    pool_.wait();
    const auto turn = lane_.take();
    std::vector<const BuiltKernel*> kernels;
    std::vector<EvalResult*> timed;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      results[i] = prepared[i]->result;
      if (!turn.ok()) results[i] = host_failure(std::move(results[i]), turn.error());
      if (!turn.ok() || !prepared[i]->kernel || !check(*prepared[i]->kernel, &results[i])) continue;
      kernels.push_back(&*prepared[i]->kernel);
      timed.push_back(&results[i]);
    }
    JudgeOptions options = judge_options_;
    options.min_samples = std::max(options.min_samples, kSamples);
    options.sample_seconds = std::max(options.sample_seconds, kSeconds);
    if (!kernels.empty()) {
      if (const auto ran = judge_->time(kernels, options, timed); !ran.ok()) {
        for (EvalResult* r : timed) *r = host_failure(std::move(*r), ran.error());
      }
    }
    for (std::size_t i = 0; i < programs.size(); ++i) {
      if (prepared[i]->kernel) judge_floor(*prepared[i], &results[i]);
      results[i] = finish(std::move(results[i]), start);
    }
    return results;
  }

 private:
  static EvalResult host_failure(EvalResult result, const Error& error) {
    result.outcome = error.code == Code::timeout ? Outcome::timeout : Outcome::host;
    result.reason = error.message;
    result.executed.held = false;
    result.executed.reason = fmt::format("{}: {}", outcome_name(result.outcome), error.message);
    return result;
  }

  // Waiting for other processes is no cost of a result.
  double begin() const { return clock_.now() - lane_.waited(); }
  EvalResult finish(EvalResult result, double start) const {
    result.floor_seconds = floor_seconds_;
    result.run_seconds = begin() - start;
    return result;
  }

  std::shared_ptr<Prepared> take(const Program& program) {
    prepare(program);
    std::shared_future<std::shared_ptr<Prepared>> future;
    {
      const std::lock_guard lock(mutex_);
      future = prepared_.at(canonical_hash(program).hex());
    }
    return future.get();
  }

  Prepared build(const Program& program) const {
    Prepared prepared;
    prepared.result.executed.rung = Rung::executed;
    const auto refuse = [&](Outcome outcome, const Error& error) {
      prepared.result.outcome = outcome;
      prepared.result.reason = error.message;
      prepared.result.executed.reason = fmt::format("{}: {}", outcome_name(outcome), error.message);
      return prepared;
    };
    const auto aligned = align_outside(task_.naive, program);
    if (!aligned.ok()) return refuse(Outcome::refused, aligned.error());
    const auto source = lower_c(*aligned, target_);
    if (!source.ok()) return refuse(Outcome::refused, source.error());
    prepared.flops = count_flops(*aligned);
    prepared.kernel = judge_->build(*source, c_flags(target_, false), &prepared.result);
    return prepared;
  }

  // Correctness, once an object; what was found is kept for later calls.
  bool check(const BuiltKernel& kernel, EvalResult* result) {
    const auto known = checked_.find(kernel.object.key);
    if (known != checked_.end()) {
      const double compile_seconds = result->compile_seconds;
      *result = known->second;
      result->compile_seconds = compile_seconds;
      return result->passed();
    }
    const auto ran = judge_->check(kernel, judge_options_, result);
    if (!ran.ok()) {
      *result = host_failure(std::move(*result), ran.error());
      return false;
    }
    checked_.emplace(kernel.object.key, *result);
    if (!result->passed()) cache_.store(digest_bytes(task_key_ + kernel.object.key).hex(), *result);
    return result->passed();
  }

  // A call that takes very much longer than calls that passed is taken for a hang sooner.
  void note_speed(const EvalResult& result) {
    if (!result.passed() || !result.time) return;
    slowest_ = std::max(slowest_, result.time->median);
    judge_options_.call_seconds = std::min(options_.run_seconds, std::max(2.0, 30 * slowest_));
  }

  // Faster than the bytes and operations allow is an alarm. A candidate that needs fewer operations than the
  // naive program (an algebraic step) is held to its own.
  void judge_floor(const Prepared& prepared, EvalResult* result) const {
    if (!result->passed() || !result->time) return;
    constexpr double kSlack = 0.5;  // what measured rates may be off on a shared machine
    const double scale = naive_flops_ > 0 ? std::min(1.0, prepared.flops / naive_flops_) : 1.0;
    const double floor = floor_seconds_ * scale;
    if (result->time->median >= kSlack * floor) return;
    result->outcome = Outcome::below_floor;
    result->reason = fmt::format("{:.3g} s a call is below the floor of {:.3g} s that bytes and operations set",
                                 result->time->median, floor);
    result->executed.held = false;
    result->executed.reason = fmt::format("below_floor: {}", result->reason);
  }

  const EvalTask task_;
  const Target target_;
  const CpuEvalOptions options_;
  Clock& clock_;
  const ResultCache cache_;
  MeasureLane lane_;
  JudgeOptions judge_options_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<References> references_;
  std::unique_ptr<Judge> judge_;
  std::string task_key_;
  double floor_seconds_ = 0, naive_flops_ = 0, slowest_ = 0;
  std::map<std::string, EvalResult> checked_;
  std::mutex mutex_;
  std::map<std::string, std::shared_future<std::shared_ptr<Prepared>>> prepared_;
  ThreadPool pool_;  // last: its tasks use the others
};
}  // namespace

Result<std::unique_ptr<Evaluator>> make_cpu_evaluator(EvalTask task, const Target& target,
                                                      const CpuEvalOptions& options, Clock& clock) {
  auto evaluator = std::make_unique<CpuEvaluator>(std::move(task), target, options, clock);
  CAIRN_CHECKED(evaluator->start());
  return std::unique_ptr<Evaluator>(std::move(evaluator));
}

std::string describe_cpu_device(const Target& target, const std::string& compiler) {
  return fmt::format("{} {} {}", target.name, target_digest(target).hex(), compiler);
}

}  // namespace cairn
