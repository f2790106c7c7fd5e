// Check and reference modes: every set of inputs twice on differently poisoned, differently placed buffers.
#include <algorithm>
#include <cstring>

#include <fmt/core.h>
#include <time.h>

#include "base/file.h"
#include "eval/runner.h"
#include "eval/worker.h"

namespace cairn {

namespace {
// As floats: NaN, and large finite garbage.
constexpr unsigned char kFills[2] = {0xff, 0x5a};

std::size_t input_bytes(const std::vector<JobParam>& params) {
  std::size_t total = 0;
  for (const JobParam& p : params) total += p.is_input() ? static_cast<std::size_t>(p.bytes) : 0;
  return total;
}

bool inputs_unchanged(const Bank& bank, const std::vector<JobParam>& params, const unsigned char* inputs, std::string* which) {
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!params[i].is_input()) continue;
    const Region& r = bank.tensors()[i];
    if (!params[i].is_output() && std::memcmp(r.data, inputs, r.bytes) != 0) {
      *which = r.name;
      return false;
    }
    inputs += r.bytes;
  }
  return true;
}

std::string collect_outputs(const Bank& bank, const std::vector<JobParam>& params) {
  std::string bytes;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Region& r = bank.tensors()[i];
    if (params[i].is_output()) bytes.append(reinterpret_cast<const char*>(r.data), r.bytes);
  }
  return bytes;
}

bool outputs_equal(const Bank& bank, const std::vector<JobParam>& params, const std::string& outputs) {
  const char* at = outputs.data();
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Region& r = bank.tensors()[i];
    if (!params[i].is_output()) continue;
    if (std::memcmp(at, r.data, r.bytes) != 0) return false;
    at += r.bytes;
  }
  return true;
}

// Where two runs' outputs differ: the element, and whether both hold just what the buffers were poisoned with.
struct Difference {
  std::string tensor;
  std::int64_t element = 0;
  std::int64_t unwritten = 0;  // elements that neither run wrote
  std::int64_t count = 0;
};
Difference find_difference(const std::vector<JobParam>& params, const std::string& a, const std::string& b) {
  Difference d;
  std::size_t at = 0;
  bool named_unwritten = false;
  for (const JobParam& p : params) {
    if (!p.is_output()) continue;
    const auto size = static_cast<std::size_t>(p.element_bytes);
    for (std::int64_t e = 0; e < p.bytes / p.element_bytes; ++e, at += size) {
      if (std::memcmp(a.data() + at, b.data() + at, size) == 0) continue;
      const auto all = [&](const std::string& s, unsigned char fill) {
        return std::all_of(s.begin() + static_cast<std::ptrdiff_t>(at), s.begin() + static_cast<std::ptrdiff_t>(at + size),
                           [fill](char c) { return static_cast<unsigned char>(c) == fill; });
      };
      const bool unwritten = p.role == Role::out && all(a, kFills[0]) && all(b, kFills[1]);
      if (d.count == 0 || (unwritten && !named_unwritten)) {
        d.tensor = p.name;
        d.element = e;
      }
      named_unwritten |= unwritten;
      d.unwritten += unwritten ? 1 : 0;
      ++d.count;
    }
  }
  return d;
}

class Checker {
 public:
  Checker(const Job& job, const std::vector<Bank>& banks, std::vector<Bank>& writable)
      : job_(job), banks_(banks), writable_(writable) {}

  // One run; fills the answer on failure.
  bool run(Worker& worker, const unsigned char* inputs, int bank, int fill, JobAnswer& answer) {
    Bank& b = writable_[static_cast<std::size_t>(bank)];
    b.poison(job_.params, kFills[fill]);
    b.load(job_.params, inputs);
    const CallResult result = worker.call(0, bank, 1);
    seconds_ = result.seconds;
    if (result.outcome != Outcome::ok) return fail(answer, result.outcome, result.reason);
    if (const std::string broken = b.find_broken_canary(kFills[fill]); !broken.empty()) {
      return fail(answer, Outcome::out_of_bounds, broken);
    }
    std::string which;
    if (!inputs_unchanged(b, job_.params, inputs, &which)) {
      return fail(answer, Outcome::input_changed, fmt::format("input {} is not as it was before the call", which));
    }
    return true;
  }

  // Twice; the outputs must be the same to the bit.
  bool run_twice(Worker& worker, const unsigned char* inputs, std::string* outputs, JobAnswer& answer) {
    if (!run(worker, inputs, 0, 0, answer)) return false;
    *outputs = collect_outputs(banks_[0], job_.params);
    if (!run(worker, inputs, 1, 1, answer)) return false;
    if (outputs_equal(banks_[1], job_.params, *outputs)) return true;
    const std::string second = collect_outputs(banks_[1], job_.params);
    const Difference d = find_difference(job_.params, *outputs, second);
    if (d.unwritten > 0) {
      return fail(answer, Outcome::unwritten,
                  fmt::format("element {} of {} is never written ({} elements in all)", d.element, d.tensor, d.unwritten));
    }
    // Both again: what repeats itself for the same bytes before the call depends on these bytes.
    if (!run(worker, inputs, 0, 0, answer) || !run(worker, inputs, 1, 1, answer)) return false;
    if (outputs_equal(banks_[0], job_.params, *outputs) && outputs_equal(banks_[1], job_.params, second)) {
      return fail(answer, Outcome::unwritten,
                  fmt::format("element {} of {} depends on memory that nobody wrote: it differs between runs whose "
                              "buffers held different bytes before", d.element, d.tensor));
    }
    return fail(answer, Outcome::nondeterministic,
                fmt::format("element {} of {} differs between runs on the same inputs", d.element, d.tensor));
  }

  double seconds() const { return seconds_; }  // of the last call

  static bool fail(JobAnswer& answer, Outcome outcome, std::string reason) {
    answer.outcome = outcome;
    answer.reason = std::move(reason);
    return false;
  }

 private:
  const Job& job_;
  const std::vector<Bank>& banks_;
  std::vector<Bank>& writable_;
  double seconds_ = 0;
};

bool write_outputs(const std::string& path, const std::string& bytes, JobAnswer& answer) {
  const auto written = write_file_atomic(path, bytes);
  return written.ok() || Checker::fail(answer, Outcome::host, written.error().message);
}
}  // namespace

JobAnswer check_kernel(const Job& job) {
  JobAnswer answer;
  if (job.sets.size() != job.results.size() || job.sets.empty()) return {Outcome::host, "a job needs a result a set", 0, {}, {}};
  std::vector<Bank> banks;
  for (const Side side : {Side::end, Side::start}) {
    auto bank = Bank::create(job.params, job.kernels[0].workspace_bytes, side);
    if (!bank.ok()) return {Outcome::host, bank.error().message, 0, {}, {}};
    banks.push_back(std::move(*bank));
  }
  Worker worker(job, banks);
  answer.sandbox = worker.sandbox();
  if (worker.failure().outcome != Outcome::ok) {
    Checker::fail(answer, worker.failure().outcome, worker.failure().reason);
    return answer;
  }
  Checker checker(job, banks, banks);
  const bool reference = job.mode == Job::Mode::reference;
  std::string first, outputs;
  // A kernel of seconds is run twice on the first inputs only.
  constexpr double kSlow = 0.5;
  bool slow = false;
  for (std::size_t s = 0; s < job.sets.size(); ++s) {
    const auto inputs = MappedFile::open(job.sets[s], input_bytes(job.params));
    if (!inputs.ok()) return {Outcome::host, inputs.error().message, 0, {}, answer.sandbox};
    if (reference || slow) {
      if (!checker.run(worker, inputs->data(), 0, 0, answer)) return answer;
      outputs = collect_outputs(banks[0], job.params);
    } else if (!checker.run_twice(worker, inputs->data(), &outputs, answer)) {
      return answer;
    }
    if (!write_outputs(job.results[s], outputs, answer)) return answer;
    if (s == 0) first = outputs;
    slow = checker.seconds() > kSlow;
  }
  if (reference || slow) return answer;
  // Once more the first inputs, after all the others; then nothing may still be writing.
  const auto inputs = MappedFile::open(job.sets[0], input_bytes(job.params));
  if (!inputs.ok()) return {Outcome::host, inputs.error().message, 0, {}, answer.sandbox};
  if (!checker.run(worker, inputs->data(), 0, 0, answer)) return answer;
  if (!outputs_equal(banks[0], job.params, first)) {
    Checker::fail(answer, Outcome::nondeterministic, "the first inputs give another output after other inputs were seen");
    return answer;
  }
  const timespec pause{0, 3'000'000};
  ::nanosleep(&pause, nullptr);
  if (!outputs_equal(banks[0], job.params, first)) {
    Checker::fail(answer, Outcome::nondeterministic, "an output changed after the call had returned");
  }
  return answer;
}

}  // namespace cairn
