// Time mode: kernels interleaved A B A B in one fresh process, new contents for every sample, outputs probed
// after every sample and compared afterwards with what a second fresh process makes of the same inputs.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/core.h>

#include "base/rng.h"
#include "eval/runner.h"
#include "eval/worker.h"

namespace cairn {

namespace {
constexpr std::size_t kBankBytes = 48u << 20;  // all banks together, roughly
constexpr double kShortest = 100e-6;           // seconds a sample should last
constexpr int kMaxSamples = 2000;
constexpr unsigned char kFill = 0xff;

// Inputs and outputs of one timed call, kept to be repeated elsewhere.
struct Snapshot {
  int kernel = -1;
  std::string inputs;
  std::string outputs;
};

std::string gather(const Bank& bank, const std::vector<JobParam>& params, bool inputs) {
  std::string bytes;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Region& r = bank.tensors()[i];
    if (inputs ? params[i].is_input() : params[i].is_output()) bytes.append(reinterpret_cast<const char*>(r.data), r.bytes);
  }
  return bytes;
}

class Timer {
 public:
  Timer(const Job& job, JobAnswer& answer) : job_(job), answer_(answer), rng_(job.seed) {}

  bool run() {
    if (!make_banks()) return false;
    Worker worker(job_, banks_);
    answer_.sandbox = worker.sandbox();
    if (worker.failure().outcome != Outcome::ok) return fail(0, worker.failure().outcome, worker.failure().reason);
    const std::size_t n = job_.kernels.size();
    answer_.samples.resize(n);
    snapshots_.resize(n);
    lowest_excess_.assign(n, HUGE_VAL);
    for (std::size_t k = 0; k < n; ++k) {
      if (!warm_up(worker, static_cast<int>(k))) return false;
    }
    for (int round = 0; round < kMaxSamples && !enough(); ++round) {
      for (std::size_t i = 0; i < n; ++i) {
        // Every other round backwards: A B B A, so that drift hits both alike.
        const std::size_t k = round % 2 == 0 ? i : n - 1 - i;
        if (!has_enough(k) && !sample(worker, static_cast<int>(k))) return false;
      }
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (wanted_[k] > 2 && !last_call(worker, static_cast<int>(k))) return false;
      if (!trust_clock(k)) return false;
    }
    return repeat_elsewhere();
  }

 private:
  bool fail(int kernel, Outcome outcome, std::string reason) {
    answer_.kernel = kernel;
    answer_.outcome = outcome;
    answer_.reason = std::move(reason);
    return false;
  }

  bool make_banks() {
    std::size_t inputs = 0, all = 0;
    std::int64_t workspace = 0;
    for (const JobParam& p : job_.params) {
      all += static_cast<std::size_t>(p.bytes);
      inputs += p.is_input() ? static_cast<std::size_t>(p.bytes) : 0;
    }
    for (const JobKernel& k : job_.kernels) workspace = std::max(workspace, k.workspace_bytes);
    all += static_cast<std::size_t>(workspace);
    for (const std::string& path : job_.sets) {
      auto set = MappedFile::open(path, inputs);
      if (!set.ok()) return fail(0, Outcome::host, set.error().message);
      sets_.push_back(std::move(*set));
    }
    if (sets_.empty()) return fail(0, Outcome::host, "no inputs to time with");
    const std::size_t count = std::clamp<std::size_t>(kBankBytes / std::max<std::size_t>(all, 1), 2, 16);
    for (std::size_t b = 0; b < count; ++b) {
      auto bank = Bank::create(job_.params, workspace, Side::start);
      if (!bank.ok()) return fail(0, Outcome::host, bank.error().message);
      banks_.push_back(std::move(*bank));
      banks_[b].poison(job_.params, kFill);
      banks_[b].load(job_.params, sets_[b % sets_.size()].data());
    }
    return true;
  }

  // Swaps a few elements of every input: contents no call has seen, from the same distribution, valid indices.
  void refresh(std::size_t b) {
    const unsigned char* pristine = sets_[b % sets_.size()].data();
    for (std::size_t i = 0; i < job_.params.size(); ++i) {
      const JobParam& p = job_.params[i];
      const Region& r = banks_[b].tensors()[i];
      if (p.role == Role::io) std::memcpy(r.data, pristine, r.bytes);  // the last call changed it
      if (p.is_input()) pristine += r.bytes;
      const auto size = static_cast<std::size_t>(p.element_bytes);
      const std::uint64_t n = static_cast<std::uint64_t>(p.bytes) / size;
      if (!p.is_input() || n < 2) continue;
      for (int swap = 0; swap < 4; ++swap) {
        unsigned char* x = r.data + rng_.below(n) * size;
        unsigned char* y = r.data + rng_.below(n) * size;
        if (x != y) std::swap_ranges(x, x + size, y);
      }
    }
  }

  struct Probe {
    std::size_t bank;
    const unsigned char* at;
    std::size_t size;
    std::uint64_t bytes;
    std::size_t tensor;
  };
  void plant_probes(std::size_t b) {
    for (std::size_t i = 0; i < job_.params.size(); ++i) {
      const JobParam& p = job_.params[i];
      if (p.role != Role::out || p.bytes == 0) continue;
      const auto size = static_cast<std::size_t>(p.element_bytes);
      for (int k = 0; k < 6; ++k) {
        unsigned char* at = banks_[b].tensors()[i].data + rng_.below(static_cast<std::uint64_t>(p.bytes) / size) * size;
        const std::uint64_t bytes = rng_.next();
        std::memcpy(at, &bytes, size);
        probes_.push_back({b, at, size, bytes, i});
      }
    }
  }
  // A tensor left alone: one wide element, or all narrow ones, still hold random bits.
  const JobParam* find_untouched() const {
    std::size_t run = 0;
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      const Probe& p = probes_[i];
      const bool same = std::memcmp(p.at, &p.bytes, p.size) == 0;
      if (i > 0 && (probes_[i - 1].tensor != p.tensor || probes_[i - 1].bank != p.bank)) run = 0;
      run = same ? run + 1 : 0;
      if (same && (p.size >= 4 || run == 6)) return &job_.params[p.tensor];
    }
    return nullptr;
  }

  // `count` calls from the next bank on, with fresh contents, probed.
  bool call(Worker& worker, int kernel, int count, CallResult* result, Snapshot* keep) {
    probes_.clear();
    const std::size_t first = next_;
    for (int i = 0; i < count; ++i) {
      const std::size_t b = (first + static_cast<std::size_t>(i)) % banks_.size();
      refresh(b);
      plant_probes(b);
    }
    if (keep != nullptr) *keep = {kernel, gather(banks_[first], job_.params, true), {}};
    *result = worker.call(kernel, static_cast<int>(first), count);
    if (result->outcome != Outcome::ok) return fail(kernel, result->outcome, result->reason);
    if (keep != nullptr) keep->outputs = gather(banks_[first], job_.params, false);
    next_ = (first + static_cast<std::size_t>(count)) % banks_.size();
    if (const JobParam* p = find_untouched()) {
      return fail(kernel, Outcome::unwritten, fmt::format("a timed call did not write all of {}", p->name));
    }
    return true;
  }

  bool warm_up(Worker& worker, int kernel) {
    double total = 0, last = 0, best = HUGE_VAL;
    for (int i = 0; i < 30; ++i) {
      CallResult result;
      if (!call(worker, kernel, 1, &result, nullptr)) return false;
      total += result.seconds;
      best = std::min(best, result.seconds);
      const bool stable = i > 0 && std::abs(result.seconds - last) < 0.05 * last;
      last = result.seconds;
      if (total > 0.06 || (i >= 2 && stable)) break;
    }
    const int needed = static_cast<int>(std::ceil(kShortest / std::max(best, 1e-9)));
    counts_.push_back(std::clamp(needed, 1, static_cast<int>(banks_.size())));
    wanted_.push_back(best > 1 ? std::min(2, job_.min_samples) : best > 0.3 ? std::min(3, job_.min_samples) : job_.min_samples);
    spent_.push_back(0);
    return true;
  }

  bool has_enough(std::size_t k) const {
    const auto count = static_cast<int>(answer_.samples[k].size());
    // A slow kernel (a naive program, most often) is known well enough after three calls.
    if (count >= 3 && spent_[k] >= 4 * job_.sample_seconds) return true;
    return count >= wanted_[k] && spent_[k] >= job_.sample_seconds;
  }
  bool enough() const {
    for (std::size_t k = 0; k < answer_.samples.size(); ++k) {
      if (!has_enough(k)) return false;
    }
    return true;
  }

  bool sample(Worker& worker, int kernel) {
    const auto k = static_cast<std::size_t>(kernel);
    auto& samples = answer_.samples[k];
    // A reservoir of one: in the end every sample was equally likely to be kept.
    const bool keep = rng_.below(samples.size() + 1) == 0;
    Snapshot kept;
    CallResult result;
    if (!call(worker, kernel, counts_[k], &result, keep ? &kept : nullptr)) return false;
    if (keep) snapshots_[k] = std::move(kept);
    samples.push_back(result.seconds / counts_[k]);
    spent_[k] += result.seconds;
    lowest_excess_[k] = std::min(lowest_excess_[k], (result.outside_seconds - 1.5 * result.seconds));
    return true;
  }

  bool last_call(Worker& worker, int kernel) {
    Snapshot kept;
    CallResult result;
    banks_[next_].poison(job_.params, kFill);
    if (!call(worker, kernel, 1, &result, &kept)) return false;
    snapshots_.push_back(std::move(kept));
    return true;
  }

  // A command and its reply take a few microseconds: if more passed outside in every sample, the clock inside lies.
  bool trust_clock(std::size_t k) {
    constexpr double kSlack = 500e-6;
    if (lowest_excess_[k] < kSlack) return true;
    return fail(static_cast<int>(k), Outcome::below_floor,
                fmt::format("the reported time is at least {:.3g} s shorter than what passed outside", lowest_excess_[k]));
  }

  // The kept calls again, each as the first of its kernel in a fresh process.
  bool repeat_elsewhere() {
    std::vector<Bank> banks;
    auto bank = Bank::create(job_.params, static_cast<std::int64_t>(banks_[0].workspace().bytes), Side::end);
    if (!bank.ok()) return fail(0, Outcome::host, bank.error().message);
    banks.push_back(std::move(*bank));
    Worker worker(job_, banks);
    for (const Snapshot& s : snapshots_) {
      if (s.kernel < 0 || wanted_[static_cast<std::size_t>(s.kernel)] <= 2) continue;
      banks[0].poison(job_.params, kFill);
      banks[0].load(job_.params, reinterpret_cast<const unsigned char*>(s.inputs.data()));
      const CallResult result = worker.call(s.kernel, 0, 1);
      if (result.outcome != Outcome::ok) return fail(s.kernel, result.outcome, result.reason);
      if (gather(banks[0], job_.params, false) != s.outputs) {
        return fail(s.kernel, Outcome::nondeterministic, "a timed call gave another output than a fresh process on the same inputs");
      }
    }
    return true;
  }

  const Job& job_;
  JobAnswer& answer_;
  Rng rng_;
  std::vector<MappedFile> sets_;
  std::vector<Bank> banks_;
  std::size_t next_ = 0;
  std::vector<Probe> probes_;
  std::vector<int> counts_, wanted_;
  std::vector<double> spent_, lowest_excess_;
  std::vector<Snapshot> snapshots_;
};
}  // namespace

JobAnswer time_kernels(const Job& job) {
  JobAnswer answer;
  Timer(job, answer).run();
  return answer;
}

}  // namespace cairn
