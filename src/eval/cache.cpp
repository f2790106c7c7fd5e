#include "eval/cache.h"

#include "base/file.h"
#include "base/json.h"

namespace cairn {

namespace {
constexpr int kVersion = 1;

bool is_lasting(Outcome outcome) {
  return outcome != Outcome::host && outcome != Outcome::timeout && outcome != Outcome::nondeterministic &&
         outcome != Outcome::below_floor;
}
}  // namespace

std::string print_result(const EvalResult& r) {
  Json j = {{"version", kVersion}, {"outcome", outcome_name(r.outcome)}, {"reason", r.reason},
            {"floor_seconds", r.floor_seconds}, {"compile_seconds", r.compile_seconds},
            {"run_seconds", r.run_seconds}, {"max_ulp", r.max_ulp}, {"relative_l2", r.relative_l2}};
  if (r.time) {
    j["time"] = {{"median", r.time->median}, {"q25", r.time->q25}, {"q75", r.time->q75},
                 {"lo", r.time->lo}, {"hi", r.time->hi}, {"samples", r.time->samples}};
  }
  j["executed"] = {{"held", r.executed.held}, {"reason", r.executed.reason}, {"facts", r.executed.facts}};
  return dump_json(j);
}

Result<EvalResult> parse_result(const std::string& text) {
  CAIRN_TRY(const Json j, parse_json(text));
  EvalResult r;
  CAIRN_TRY(const std::int64_t version, get_int(j, "version"));
  if (version != kVersion) return Error{Code::parse, "a result of another version", {}, {}};
  CAIRN_TRY(const std::string outcome, get_string(j, "outcome"));
  const auto known = parse_outcome(outcome);
  if (!known) return Error{Code::parse, "unknown outcome " + outcome, {}, {}};
  r.outcome = *known;
  CAIRN_TRY(r.reason, get_string(j, "reason"));
  CAIRN_TRY(r.floor_seconds, get_double(j, "floor_seconds"));
  CAIRN_TRY(r.compile_seconds, get_double(j, "compile_seconds"));
  CAIRN_TRY(r.run_seconds, get_double(j, "run_seconds"));
  CAIRN_TRY(r.max_ulp, get_double(j, "max_ulp"));
  CAIRN_TRY(r.relative_l2, get_double(j, "relative_l2"));
  if (const auto it = j.find("time"); it != j.end()) {
    Timing t;
    CAIRN_TRY(t.median, get_double(*it, "median"));
    CAIRN_TRY(t.q25, get_double(*it, "q25"));
    CAIRN_TRY(t.q75, get_double(*it, "q75"));
    CAIRN_TRY(t.lo, get_double(*it, "lo"));
    CAIRN_TRY(t.hi, get_double(*it, "hi"));
    CAIRN_TRY(const std::int64_t samples, get_int(*it, "samples"));
    t.samples = static_cast<int>(samples);
    r.time = t;
  }
  const auto executed = j.find("executed");
  if (executed == j.end()) return Error{Code::parse, "a result without its certificate", {}, {}};
  r.executed.rung = Rung::executed;
  CAIRN_TRY(r.executed.held, get_bool(*executed, "held"));
  CAIRN_TRY(r.executed.reason, get_string(*executed, "reason"));
  for (const auto& fact : executed->value("facts", Json::array())) {
    if (!fact.is_array() || fact.size() != 2 || !fact[0].is_string() || !fact[1].is_string()) {
      return Error{Code::parse, "a fact that is no pair of texts", {}, {}};
    }
    r.executed.facts.emplace_back(fact[0].get<std::string>(), fact[1].get<std::string>());
  }
  return r;
}

std::string ResultCache::path_of(const std::string& key) const {
  return join_path(directory_, "results/" + key.substr(0, 2) + "/" + key + ".json");
}

std::optional<EvalResult> ResultCache::find(const std::string& key) const {
  if (directory_.empty()) return std::nullopt;
  const auto text = read_file(path_of(key));
  if (!text.ok()) return std::nullopt;
  auto result = parse_result(*text);
  if (!result.ok()) return std::nullopt;
  result->from_cache = true;
  return *std::move(result);
}

void ResultCache::store(const std::string& key, const EvalResult& result) const {
  if (directory_.empty() || !is_lasting(result.outcome)) return;
  const std::string path = path_of(key);
  if (make_directories(dirname_of(path)).ok()) (void)write_file_atomic(path, print_result(result)).ok();
}

}  // namespace cairn
