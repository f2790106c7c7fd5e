#include "eval/judge.h"

#include <algorithm>

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include "base/file.h"
#include "eval/elf.h"
#include "eval/runner.h"
#include "eval/stats.h"

namespace cairn {

namespace {
constexpr std::size_t kWarningLimit = 300;

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
  return text;
}

void set_failure(EvalResult* result, Outcome outcome, std::string reason) {
  result->outcome = outcome;
  result->reason = std::move(reason);
  result->executed.held = false;
  result->executed.reason = fmt::format("{}: {}", outcome_name(outcome), result->reason);
}
}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int c = 0; c < CPU_SETSIZE; ++c) {
    if (CPU_ISSET(static_cast<std::size_t>(c), &set)) cpus.push_back(c);
  }
  return cpus;
}

std::optional<BuiltKernel> Judge::build(const CSource& source, const std::vector<std::string>& flags,
                                        EvalResult* result) const {
  result->executed.rung = Rung::executed;
  auto object = compiler_.build(source.code, flags);
  if (!object.ok()) {
    const Error& e = object.error();
    const Outcome outcome = e.code == Code::compile ? Outcome::compile : Outcome::host;
    set_failure(result, outcome, e.message.substr(0, kWarningLimit));
    return std::nullopt;
  }
  result->compile_seconds += object->seconds;
  const auto bytes = read_file(object->path);
  if (!bytes.ok()) {
    set_failure(result, Outcome::host, bytes.error().message);
    return std::nullopt;
  }
  const auto facts = read_object(*bytes);
  const Result<void> gate = facts.ok() ? check_object(*facts, source.entry) : Result<void>(facts.error());
  if (!gate.ok()) {
    set_failure(result, Outcome::refused, gate.error().message);
    return std::nullopt;
  }
  BuiltKernel kernel;
  kernel.job = {object->path, source.entry, source.workspace_bytes, source.check_texts};
  kernel.object = std::move(*object);
  kernel.flags = flags;
  return kernel;
}

std::string Judge::compare_set(std::size_t index, const std::vector<std::string>& files, ErrorReport* report) const {
  const CheckSet& set = references_.sets()[index];
  const bool perturbed = set.outputs.empty();
  const std::vector<OutputReference>& outputs = perturbed ? references_.sets()[0].outputs : set.outputs;
  std::size_t total = 0;
  for (const JobParam& p : references_.params()) total += p.is_output() ? static_cast<std::size_t>(p.bytes) : 0;
  const auto file = MappedFile::open(files[index], total);
  const auto first = MappedFile::open(files[0], total);
  if (!file.ok() || !first.ok()) return "its outputs cannot be read back";
  std::size_t offset = 0, k = 0;
  for (const JobParam& p : references_.params()) {
    if (!p.is_output()) continue;
    const std::string wrong = perturbed
        ? compare_reaction(outputs[k], set.reactions[k], first->data() + offset, file->data() + offset)
        : compare_candidate(outputs[k], file->data() + offset, set.name == family_name(Family::normal), report);
    if (!wrong.empty()) return fmt::format("{} (inputs: {})", wrong, set.name);
    offset += static_cast<std::size_t>(p.bytes);
    ++k;
  }
  return {};
}

Result<void> Judge::check(const BuiltKernel& kernel, const JudgeOptions& options, EvalResult* result) const {
  CAIRN_TRY(const ScratchDir scratch, ScratchDir::create());
  Job job;
  job.mode = Job::Mode::check;
  job.kernels = {kernel.job};
  job.params = references_.params();
  for (std::size_t s = 0; s < references_.sets().size(); ++s) {
    job.sets.push_back(references_.sets()[s].inputs_path);
    job.results.push_back(join_path(scratch.path(), fmt::format("out{}", s)));
  }
  job.answer = join_path(scratch.path(), "answer.json");
  job.call_seconds = options.call_seconds;
  job.memory_bytes = options.memory_bytes;
  job.seed = seed_;
  RunnerOptions runner;
  runner.wall_seconds = options.call_seconds * static_cast<double>(3 * job.sets.size() + 2) + 30;
  runner.cpus = options.cpus;
  runner.threads = options.threads;
  CAIRN_TRY(const JobAnswer answer, run_job(job, scratch.path(), runner));
  result->executed.rung = Rung::executed;
  // What was computed before a failure counts too: a wrong result says more than a late crash.
  ErrorReport report;
  for (std::size_t s = 0; s < job.results.size() && file_exists(job.results[s]); ++s) {
    const std::string wrong = compare_set(s, job.results, &report);
    if (wrong.empty()) continue;
    set_failure(result, Outcome::mismatch, wrong);
    return {};
  }
  if (answer.outcome != Outcome::ok) {
    set_failure(result, answer.outcome, answer.reason);
    return {};
  }
  if (report.compared == 0 && report.skipped > 0) {
    set_failure(result, Outcome::mismatch, "no element could be compared: the naive program itself overflows everywhere");
    return {};
  }
  result->max_ulp = report.max_ulp;
  result->relative_l2 = report.relative_l2;
  result->executed.held = true;
  result->executed.facts = {
      {"families", references_.families()},
      {"sets", std::to_string(job.sets.size())},
      {"seed", std::to_string(seed_)},
      {"compared", std::to_string(report.compared)},
      {"skipped", std::to_string(report.skipped)},
      {"max_ulp", fmt::format("{:.3g}", report.max_ulp)},
      {"relative_l2", fmt::format("{:.3g}", report.relative_l2)},
      {"error_over_budget", fmt::format("{:.3g}", report.worst_ratio)},
      {"compiler", compiler_.version()},
      {"flags", join(kernel.flags)},
      {"object", kernel.object.key},
      {"threads", std::to_string(options.threads)},
      {"sandbox", answer.sandbox},
  };
  return {};
}

Result<void> Judge::time(const std::vector<const BuiltKernel*>& kernels, const JudgeOptions& options,
                         const std::vector<EvalResult*>& results) const {
  std::vector<std::size_t> left(kernels.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  while (!left.empty()) {
    CAIRN_TRY(const ScratchDir scratch, ScratchDir::create());
    Job job;
    job.mode = Job::Mode::time;
    for (const std::size_t i : left) job.kernels.push_back(kernels[i]->job);
    job.params = references_.params();
    job.sets = {references_.sets()[0].inputs_path};
    job.answer = join_path(scratch.path(), "answer.json");
    job.call_seconds = options.call_seconds;
    job.memory_bytes = options.memory_bytes;
    job.min_samples = options.min_samples;
    job.sample_seconds = options.sample_seconds;
    job.seed = seed_;
    RunnerOptions runner;
    runner.wall_seconds = static_cast<double>(left.size()) *
                              (options.call_seconds * (options.min_samples + 8) + 10 * options.sample_seconds) + 30;
    runner.cpus = options.cpus;
    runner.threads = options.threads;
    CAIRN_TRY(const JobAnswer answer, run_job(job, scratch.path(), runner));
    if (answer.outcome == Outcome::ok) {
      for (std::size_t k = 0; k < left.size(); ++k) {
        EvalResult& r = *results[left[k]];
        r.time = summarize(answer.samples[k], seed_);
        r.executed.facts.emplace_back("samples", std::to_string(r.time->samples));
      }
      return {};
    }
    if (answer.outcome == Outcome::host || answer.outcome == Outcome::timeout || answer.kernel < 0 ||
        answer.kernel >= static_cast<int>(left.size())) {
      for (const std::size_t i : left) set_failure(results[i], answer.outcome, answer.reason);
      return {};
    }
    const auto failed = left.begin() + answer.kernel;
    set_failure(results[*failed], answer.outcome, answer.reason);
    left.erase(failed);
  }
  return {};
}

}  // namespace cairn
