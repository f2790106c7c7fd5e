#include "eval/job.h"

#include <array>

#include <fmt/core.h>

namespace cairn {

namespace {
constexpr std::array<std::string_view, 13> kOutcomes = {
    "ok", "refused", "compile", "crash", "timeout", "runtime_check", "mismatch", "unwritten", "out_of_bounds",
    "input_changed", "nondeterministic", "below_floor", "host"};
constexpr std::array<std::string_view, 3> kModes = {"reference", "check", "time"};
constexpr std::array<Role, 6> kRoles = {Role::in, Role::param, Role::constant, Role::io, Role::out, Role::tmp};

template <std::size_t N>
Result<std::size_t> find_name(const std::array<std::string_view, N>& names, const std::string& name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return i;
  }
  return Error{Code::parse, fmt::format("unknown word \"{}\" in a runner's file", name), {}, {}};
}

Result<Role> parse_role(const std::string& name) {
  for (const Role role : kRoles) {
    if (role_name(role) == name) return role;
  }
  return Error{Code::parse, fmt::format("unknown role \"{}\"", name), {}, {}};
}

Result<std::vector<std::string>> get_strings(const Json& object, const char* key) {
  std::vector<std::string> texts;
  const auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return Error{Code::parse, fmt::format("\"{}\" is no list", key), {}, {}};
  for (const auto& item : *it) {
    if (!item.is_string()) return Error{Code::parse, fmt::format("\"{}\" holds more than strings", key), {}, {}};
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

Result<std::uint64_t> get_u64(const Json& object, const char* key) {
  CAIRN_TRY(const std::string text, get_string(object, key));  // as text: JSON numbers stop at 2^53 elsewhere
  return std::strtoull(text.c_str(), nullptr, 10);
}
}  // namespace

std::string_view outcome_name(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

std::optional<Outcome> parse_outcome(std::string_view name) {
  const auto index = find_name(kOutcomes, std::string(name));
  if (!index.ok()) return std::nullopt;
  return static_cast<Outcome>(*index);
}

std::string print_job(const Job& job) {
  Json j;
  j["mode"] = kModes[static_cast<std::size_t>(job.mode)];
  j["kernels"] = Json::array();
  for (const JobKernel& k : job.kernels) {
    j["kernels"].push_back(
        {{"object", k.object}, {"entry", k.entry}, {"workspace", k.workspace_bytes}, {"checks", k.check_texts}});
  }
  j["params"] = Json::array();
  for (const JobParam& p : job.params) {
    j["params"].push_back(
        {{"name", p.name}, {"role", role_name(p.role)}, {"bytes", p.bytes}, {"element", p.element_bytes}});
  }
  j["sets"] = job.sets;
  j["results"] = job.results;
  j["answer"] = job.answer;
  j["call_seconds"] = job.call_seconds;
  j["memory"] = std::to_string(job.memory_bytes);
  j["min_samples"] = job.min_samples;
  j["sample_seconds"] = job.sample_seconds;
  j["seed"] = std::to_string(job.seed);
  return dump_json(j);
}

Result<Job> parse_job(const std::string& text) {
  CAIRN_TRY(const Json j, parse_json(text));
  Job job;
  CAIRN_TRY(const std::string mode, get_string(j, "mode"));
  CAIRN_TRY(const std::size_t mode_index, find_name(kModes, mode));
  job.mode = static_cast<Job::Mode>(mode_index);
  for (const auto& item : j.value("kernels", Json::array())) {
    JobKernel k;
    CAIRN_TRY(k.object, get_string(item, "object"));
    CAIRN_TRY(k.entry, get_string(item, "entry"));
    CAIRN_TRY(k.workspace_bytes, get_int(item, "workspace"));
    CAIRN_TRY(k.check_texts, get_strings(item, "checks"));
    job.kernels.push_back(std::move(k));
  }
  for (const auto& item : j.value("params", Json::array())) {
    JobParam p;
    CAIRN_TRY(p.name, get_string(item, "name"));
    CAIRN_TRY(const std::string role, get_string(item, "role"));
    CAIRN_TRY(p.role, parse_role(role));
    CAIRN_TRY(p.bytes, get_int(item, "bytes"));
    CAIRN_TRY(p.element_bytes, get_int(item, "element"));
    job.params.push_back(std::move(p));
  }
  CAIRN_TRY(job.sets, get_strings(j, "sets"));
  CAIRN_TRY(job.results, get_strings(j, "results"));
  CAIRN_TRY(job.answer, get_string(j, "answer"));
  CAIRN_TRY(job.call_seconds, get_double(j, "call_seconds"));
  CAIRN_TRY(job.memory_bytes, get_u64(j, "memory"));
  CAIRN_TRY(const std::int64_t samples, get_int(j, "min_samples"));
  job.min_samples = static_cast<int>(samples);
  CAIRN_TRY(job.sample_seconds, get_double(j, "sample_seconds"));
  CAIRN_TRY(job.seed, get_u64(j, "seed"));
  return job;
}

std::string print_answer(const JobAnswer& answer) {
  return dump_json({{"outcome", outcome_name(answer.outcome)},
                    {"reason", answer.reason},
                    {"kernel", answer.kernel},
                    {"samples", answer.samples},
                    {"sandbox", answer.sandbox}});
}

Result<JobAnswer> parse_answer(const std::string& text) {
  CAIRN_TRY(const Json j, parse_json(text));
  JobAnswer answer;
  CAIRN_TRY(const std::string outcome, get_string(j, "outcome"));
  CAIRN_TRY(const std::size_t index, find_name(kOutcomes, outcome));
  answer.outcome = static_cast<Outcome>(index);
  CAIRN_TRY(answer.reason, get_string(j, "reason"));
  CAIRN_TRY(const std::int64_t kernel, get_int(j, "kernel"));
  answer.kernel = static_cast<int>(kernel);
  CAIRN_TRY(answer.sandbox, get_string(j, "sandbox"));
  for (const auto& row : j.value("samples", Json::array())) {
    answer.samples.emplace_back();
    for (const auto& x : row) answer.samples.back().push_back(x.is_number() ? x.get<double>() : 0.0);
  }
  return answer;
}

}  // namespace cairn
