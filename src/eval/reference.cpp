#include "eval/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <future>
#include <set>

#include <fmt/core.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "eval/inputs.h"
#include "eval/reference_c.h"
#include "eval/reference_cache.h"
#include "eval/runner.h"
#include "ir/text.h"
#include "verify/budget_terms.h"

namespace cairn {

namespace {
constexpr std::size_t kAlways = 3;       // families that every task gets, whatever they cost
constexpr int kReferenceVersion = 3;     // what was kept by another is not read

std::vector<JobParam> wide_params(const Program& program) {
  std::vector<JobParam> params = job_params(program);
  for (JobParam& p : params) {
    p.bytes = p.bytes / p.element_bytes * 8;
    p.element_bytes = 8;
  }
  return params;
}
}  // namespace

std::vector<JobParam> job_params(const Program& program) {
  std::vector<JobParam> params;
  for (const Tensor& t : program.tensors()) {
    if (t.role == Role::tmp) continue;
    const std::int64_t element = dtype_bytes(t.dtype);
    params.push_back({t.name, t.role, element_count(*t.shape).value_or(0) * element, element});
  }
  return params;
}

class ReferenceBuilder {
 public:
  ReferenceBuilder(const EvalTask& task, const Compiler& compiler, const InputMaker& make, const ReferenceOptions& options)
      : task_(task), compiler_(compiler), make_(make), options_(options), wide_(wide_params(task.naive)) {}

  Result<std::unique_ptr<References>> build() {
    CAIRN_TRY(ScratchDir scratch, ScratchDir::create());
    result_.reset(new References(std::move(scratch)));
    result_->params_ = job_params(task_.naive);
    const ReferenceCache cache(options_.cache_directory);
    const std::string key = cache_key();
    if (const auto stored = cache.find(key)) {
      CAIRN_TRY(const bool restored, restore(*stored));
      if (restored) return std::move(result_);
    }
    const double begun = system_clock().now();
    CAIRN_CHECKED(compute());
    if (system_clock().now() - begun >= options_.worth_keeping) {
      std::vector<StoredSet> sets;
      for (const CheckSet& set : result_->sets_) sets.push_back({set.name, set.inputs, set.outputs, set.reactions});
      cache.store(key, sets);
    }
    return std::move(result_);
  }

 private:
  // All that the references depend on but the inputs, which are compared when they have been made again.
  std::string cache_key() const {
    std::string text = fmt::format("{}\n{}\n{}\n{}\n{}", kReferenceVersion, compiler_.program(), compiler_.version(), task_.seed, print_program(task_.naive));
    for (const Family family : options_.families) text += fmt::format("{} ", family_name(family));
    for (const auto& [name, value] : task_.fixed_inputs) text += fmt::format("\n{} {}", name, digest_bytes(encode_wide(value)).hex());
    return digest_bytes(text).hex();
  }

  // Makes the inputs of stored sets again; false, with nothing kept, if they are others than they were.
  Result<bool> restore(const std::vector<StoredSet>& stored) {
    std::vector<CheckSet> sets;
    for (const StoredSet& s : stored) {
      if (s.outputs.empty()) break;   // perturbed ones come last
      const auto family = std::find_if(options_.families.begin(), options_.families.end(), [&](Family f) { return family_name(f) == s.name; });
      if (family == options_.families.end()) return false;
      const ValueMap values = make_values(*family);
      CAIRN_CHECKED(add_inputs(s.name, values, sets, nullptr));
      if (sets.size() == 1) first_values_ = values;
    }
    CAIRN_CHECKED(perturb_inputs(sets, nullptr));
    if (sets.size() != stored.size()) return false;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i].name != stored[i].name || !(sets[i].inputs == stored[i].inputs)) return false;
      sets[i].outputs = stored[i].outputs;
      sets[i].reactions = stored[i].reactions;
    }
    result_->sets_ = std::move(sets);
    result_->from_cache_ = true;
    return true;
  }

  Result<void> compute() {
    CAIRN_TRY(const ReferenceSource source, lower_reference(task_.naive));
    workspace_ = source.workspace_bytes;
    runs_ = source.runs;
    // The reference must not depend on what the kernels' flags do: no contraction, IEEE semantics.
    const std::vector<std::string> flags = {"-O3", "-march=native", "-std=gnu11", "-ffp-contract=off", "-fopenmp", "-w"};
    std::vector<std::string> random_flags = flags;
    random_flags.push_back("-DCAIRN_STOCHASTIC");
    auto other = std::async(std::launch::async, [&] { return compiler_.build(source.code, random_flags); });
    const Result<CompiledObject> exact = compiler_.build(source.code, flags);
    const Result<CompiledObject> random = other.get();
    if (!exact.ok()) return exact.error();
    if (!random.ok()) return random.error();
    exact_ = exact->path;
    random_ = random->path;
    CAIRN_CHECKED(build_terms(flags));
    const auto& all = options_.families;
    const double affordable = options_.operations / std::max(1.0, source.operations);
    const std::size_t count = affordable >= static_cast<double>(all.size()) ? all.size() : std::max(kAlways, static_cast<std::size_t>(affordable));
    return add_families({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()))});
  }

  // The values of one family, with what the task fixes.
  ValueMap make_values(Family family) const {
    ValueMap values = make_(task_.naive, family, task_.seed);
    for (const auto& [name, value] : task_.fixed_inputs) values[name] = value;
    return values;
  }

  // The digest of what was written.
  Result<Digest> write_inputs(const std::string& path, const ValueMap& values, bool wide) const {
    std::string bytes;
    for (const JobParam& p : wide_) {
      if (!p.is_input()) continue;
      const auto it = values.find(p.name);
      if (it == values.end()) return Error{Code::usage, fmt::format("no value for input {}", p.name), {}, {}};
      bytes += wide ? encode_wide(it->second) : encode_value(it->second);
    }
    CAIRN_CHECKED(write_file_atomic(path, bytes));
    return digest_bytes(bytes);
  }

  // Runs one object `runs` times on each of some wide inputs, in one process; result files by inputs, then runs.
  Result<std::vector<std::string>> run(const std::string& object, const std::vector<std::string>& inputs, int runs) {
    Job job;
    job.mode = Job::Mode::reference;
    job.kernels = {{object, kReferenceEntry, workspace_, {"a division by zero or an index out of bounds"}}};
    job.params = wide_;
    for (const std::string& path : inputs) {
      for (int r = 0; r < runs; ++r) {
        job.sets.push_back(path);
        job.results.push_back(fmt::format("{}.out{}", path, r));
      }
    }
    job.answer = join_path(result_->directory(), "answer.json");
    job.call_seconds = options_.call_seconds;
    RunnerOptions runner;
    runner.wall_seconds = options_.call_seconds * static_cast<double>(job.sets.size()) + 30;
    runner.threads = options_.threads;
    runner.cpus = options_.cpus;
    runner.environment[kReferenceRuns] = std::to_string(runs);
    CAIRN_TRY(const JobAnswer answer, run_job(job, result_->directory(), runner));
    if (answer.outcome != Outcome::ok) {
      return Error{answer.outcome == Outcome::timeout ? Code::timeout : Code::run,
                   fmt::format("the task's reference fails: {}", answer.reason), {}, {}};
    }
    return job.results;
  }

  // Calls fn with each output's reference and its bytes in a wide result file.
  Result<void> read_outputs(const std::string& path, std::vector<OutputReference>& outputs,
                            const std::function<void(OutputReference&, const unsigned char*)>& fn) {
    std::size_t total = 0;
    for (const JobParam& p : wide_) total += p.is_output() ? static_cast<std::size_t>(p.bytes) : 0;
    CAIRN_TRY(const MappedFile file, MappedFile::open(path, total));
    const unsigned char* at = file.data();
    std::size_t k = 0;
    for (const JobParam& p : wide_) {
      if (!p.is_output()) continue;
      fn(outputs[k++], at);
      at += p.bytes;
    }
    ::unlink(path.c_str());
    return {};
  }

  // Compiles the programs that gamma comes from, where an output is multilinear.
  Result<void> build_terms(const std::vector<std::string>& flags) {
    Program squares, count;
    multilinear_ = derive_term_programs(task_.naive, &squares, &count);
    if (multilinear_.empty()) return {};
    for (const auto& [program, path] : {std::pair{&squares, &squares_}, {&count, &count_}}) {
      CAIRN_TRY(const ReferenceSource source, lower_reference(*program));
      workspace_ = std::max(workspace_, source.workspace_bytes);
      CAIRN_TRY(const CompiledObject object, compiler_.build(source.code, flags));
      *path = object.path;
    }
    return {};
  }

  // A copy of a wide inputs file with every float replaced.
  Result<std::string> map_floats(const std::string& path, const std::string& suffix, double (*fn)(double)) const {
    CAIRN_TRY(std::string bytes, read_file(path));
    std::size_t at = 0;
    for (const JobParam& p : wide_) {
      if (!p.is_input()) continue;
      const auto size = static_cast<std::size_t>(p.bytes);
      if (is_float(task_.naive.find(p.name)->dtype)) {
        for (std::size_t i = at; i < at + size; i += 8) {
          double x;
          std::memcpy(&x, &bytes[i], 8);
          x = fn(x);
          std::memcpy(&bytes[i], &x, 8);
        }
      }
      at += size;
    }
    CAIRN_CHECKED(write_file_atomic(path + suffix, bytes));
    return path + suffix;
  }

  // gamma = 4 u sqrt(n) ||terms||_2 of every output element on every set: n from a run on ones, the norm from
  // runs on squares.
  Result<void> add_gamma(const std::vector<std::string>& wide, std::vector<CheckSet>& sets) {
    if (squares_.empty() || wide.empty()) return {};
    CAIRN_TRY(const std::string ones, map_floats(wide[0], ".ones", [](double) { return 1.0; }));
    CAIRN_TRY(const std::vector<std::string> counts, run(count_, {ones}, 1));
    std::vector<OutputReference> terms = empty_references(task_.naive);
    CAIRN_CHECKED(read_outputs(counts[0], terms, [](OutputReference& r, const unsigned char* bytes) {
      if (!r.floats.empty()) std::memcpy(r.floats.data(), bytes, r.floats.size() * 8);
    }));
    std::vector<std::string> squared;
    for (const std::string& path : wide) {
      CAIRN_TRY(std::string mapped, map_floats(path, ".squares", [](double x) { return x * x; }));
      squared.push_back(std::move(mapped));
    }
    CAIRN_TRY(const std::vector<std::string> norms, run(squares_, squared, 1));
    for (std::size_t s = 0; s < wide.size(); ++s) {
      std::size_t k = 0;
      CAIRN_CHECKED(read_outputs(norms[s], sets[s].outputs, [&](OutputReference& r, const unsigned char* bytes) {
        const OutputReference& n = terms[k++];
        if (!multilinear_.contains(r.name)) return;
        const double u = compute_type(r.dtype) == ComputeType::f64 ? 0x1p-53 : 0x1p-24;
        r.gamma.resize(r.floats.size());
        for (std::size_t i = 0; i < r.floats.size(); ++i) {
          double square;
          std::memcpy(&square, bytes + 8 * i, 8);
          const double gamma = 4 * u * std::sqrt(std::max(1.0, n.floats[i]) * square);
          r.gamma[i] = std::isfinite(gamma) ? static_cast<float>(gamma) : 0.0F;
        }
      }));
    }
    for (const std::string& path : squared) ::unlink(path.c_str());
    ::unlink(ones.c_str());
    return {};
  }

  // Adds families, and after them an element of each input of the first one changed.
  Result<void> add_families(const std::vector<Family>& families) {
    std::vector<CheckSet> sets;
    std::vector<std::string> wide;
    for (const Family family : families) {
      const ValueMap values = make_values(family);
      CAIRN_CHECKED(add_inputs(std::string(family_name(family)), values, sets, &wide));
      sets.back().outputs = empty_references(task_.naive);
      if (sets.size() == 1) first_values_ = values;
    }
    CAIRN_CHECKED(perturb_inputs(sets, &wide));
    CAIRN_TRY(const std::vector<std::string> exact, run(exact_, wide, 1));
    for (std::size_t s = 0; s < families.size(); ++s) {
      CAIRN_CHECKED(read_outputs(exact[s], sets[s].outputs, [](OutputReference& r, const unsigned char* bytes) {
        if (!r.floats.empty()) std::memcpy(r.floats.data(), bytes, r.floats.size() * 8);
        if (!r.ints.empty()) std::memcpy(r.ints.data(), bytes, r.ints.size() * 8);
      }));
    }
    const std::vector<std::string> judged(wide.begin(), wide.begin() + static_cast<std::ptrdiff_t>(families.size()));
    CAIRN_CHECKED(add_gamma(judged, sets));
    CAIRN_TRY(const std::vector<std::string> runs, run(random_, judged, runs_));
    for (std::size_t k = 0; k < runs.size(); ++k) {
      CAIRN_CHECKED(read_outputs(runs[k], sets[k / static_cast<std::size_t>(runs_)].outputs, note_naive_run));
    }
    for (std::size_t s = families.size(); s < sets.size(); ++s) {
      CAIRN_CHECKED(read_outputs(exact[s], sets[0].outputs, [&](OutputReference& r, const unsigned char* bytes) {
        sets[s].reactions.push_back(find_reaction(r, bytes));
      }));
    }
    for (const std::string& path : wide) ::unlink(path.c_str());
    result_->sets_ = std::move(sets);
    return {};
  }

  // With `wide`, the inputs are written for references too.
  Result<void> add_inputs(const std::string& name, const ValueMap& values, std::vector<CheckSet>& sets,
                          std::vector<std::string>* wide) const {
    CheckSet set;
    set.name = name;
    set.inputs_path = join_path(result_->directory(), fmt::format("{}.{}", name, sets.size()));
    CAIRN_TRY(set.inputs, write_inputs(set.inputs_path, values, false));
    if (wide != nullptr) {
      wide->push_back(set.inputs_path + ".wide");
      CAIRN_CHECKED(write_inputs(wide->back(), values, true));
    }
    sets.push_back(std::move(set));
    return {};
  }

  // For each input: one element far out of its range (an integer takes another element's value).
  Result<void> perturb_inputs(std::vector<CheckSet>& sets, std::vector<std::string>* wide) {
    Rng rng = Rng(task_.seed).split("perturb");
    for (const Tensor& t : task_.naive.tensors()) {
      if (t.role == Role::out || t.role == Role::tmp || t.role == Role::constant) continue;
      ValueMap values = first_values_;
      Value& v = values[t.name];
      if (v.size() == 0) continue;
      const std::size_t at = rng.below(static_cast<std::uint64_t>(v.size()));
      if (is_float(t.dtype)) {
        double largest = 0;
        for (const double x : v.floats) largest = std::max(largest, std::isfinite(x) ? std::fabs(x) : 0.0);
        v.floats[at] = round_to(t.dtype, 1.5 * largest + 1);
      } else if (t.dtype == Dtype::boolean) {
        v.ints[at] = 1 - v.ints[at];
      } else {
        v.ints[at] = v.ints[rng.below(v.ints.size())];
      }
      CAIRN_CHECKED(add_inputs(fmt::format("one element of {} changed", t.name), values, sets, wide));
    }
    return {};
  }

  const EvalTask& task_;
  const Compiler& compiler_;
  const InputMaker& make_;
  const ReferenceOptions& options_;
  const std::vector<JobParam> wide_;
  std::string exact_, random_, squares_, count_;
  std::set<std::string, std::less<>> multilinear_;   // outputs
  std::int64_t workspace_ = 0;
  int runs_ = 0;
  std::unique_ptr<References> result_;
  ValueMap first_values_;
};

Result<std::unique_ptr<References>> References::create(const EvalTask& task, const Compiler& compiler,
                                                       const InputMaker& make, const ReferenceOptions& options) {
  return ReferenceBuilder(task, compiler, make, options).build();
}

std::string References::families() const {
  std::string text;
  for (const CheckSet& set : sets_) {
    if (!set.outputs.empty()) text += (text.empty() ? "" : " ") + set.name;
  }
  return text;
}

}  // namespace cairn
