#include "memory/decision_json.h"

#include <fmt/core.h>

#include "base/json.h"

namespace cairn {

namespace {

Json json_of(const std::vector<Scored>& list) {
  Json rows = Json::array();
  for (const Scored& s : list) {
    Json terms = Json::array();
    for (const Term& t : s.terms) terms.push_back({{"name", t.name}, {"value", t.value}});
    rows.push_back({{"name", s.name}, {"score", s.score}, {"probability", s.probability}, {"terms", std::move(terms)}});
  }
  return rows;
}

Error no_list(const char* key) { return {Code::parse, fmt::format("\"{}\" is missing, expected a list", key), {}, {}}; }

// The list under a key, or null.
const Json* find_list(const Json& j, const char* key) {
  const auto it = j.find(key);
  return it == j.end() || !it->is_array() ? nullptr : &*it;
}

Result<std::vector<Scored>> read_scored(const Json& j, const char* key) {
  const Json* list = find_list(j, key);
  if (!list) return no_list(key);
  std::vector<Scored> rows;
  for (const Json& row : *list) {
    Scored s;
    CAIRN_TRY(s.name, get_string(row, "name"));
    CAIRN_TRY(s.score, get_double(row, "score"));
    CAIRN_TRY(s.probability, get_double(row, "probability"));
    const Json* terms = find_list(row, "terms");
    if (!terms) return no_list("terms");
    for (const Json& term : *terms) {
      Term t;
      CAIRN_TRY(t.name, get_string(term, "name"));
      CAIRN_TRY(t.value, get_double(term, "value"));
      s.terms.push_back(std::move(t));
    }
    rows.push_back(std::move(s));
  }
  return rows;
}

Result<Prefix> read_prefix(const Json& j, const char* key) {
  const Json* list = find_list(j, key);
  Prefix prefix;
  if (!list || list->size() != prefix.size()) return no_list(key);
  for (std::size_t k = 0; k < prefix.size(); ++k) {
    if (!(*list)[k].is_string()) return no_list(key);
    prefix[k] = (*list)[k].get<std::string>();
  }
  return prefix;
}

Result<std::set<std::string>> read_names(const Json& j, const char* key) {
  const Json* list = find_list(j, key);
  if (!list) return no_list(key);
  std::set<std::string> names;
  for (const Json& name : *list) {
    if (!name.is_string()) return no_list(key);
    names.insert(name.get<std::string>());
  }
  return names;
}

Result<DecisionState> read_state(const Json& j, std::int64_t version) {
  DecisionState s;
  CAIRN_TRY(s.task.name, get_string(j, "task"));
  CAIRN_TRY(s.task.family, get_string(j, "family"));
  const Json* features = find_list(j, "features");
  if (!features) return no_list("features");
  for (const Json& x : *features) {
    if (!x.is_number()) return Error{Code::parse, "\"features\" is no list of numbers", {}, {}};
    s.task.features.push_back(x.get<double>());
  }
  CAIRN_TRY(s.bottleneck, get_string(j, "bottleneck"));
  const auto shares = j.find("time_shares");
  if (shares == j.end() || !shares->is_object()) return Error{Code::parse, "\"time_shares\" is missing, expected an object", {}, {}};
  for (const auto& [name, share] : shares->items()) {
    CAIRN_TRY(s.time_shares[name], get_double(*shares, name.c_str()));
  }
  CAIRN_TRY(s.directions, read_prefix(j, "directions"));
  CAIRN_TRY(s.locals, read_prefix(j, "locals"));
  CAIRN_TRY(const std::string program, get_string(j, "program"));
  if (!parse_digest(program, &s.program)) return Error{Code::parse, "\"program\" is no digest", {}, {}};
  CAIRN_TRY(s.device.fingerprint, get_string(j, "device"));
  CAIRN_TRY(s.device.architecture, get_string(j, "architecture"));
  CAIRN_TRY(s.device.kind, get_string(j, "device_kind"));
  CAIRN_TRY(s.implementer, get_string(j, "implementer"));
  CAIRN_TRY(s.now, get_int(j, "now"));
  CAIRN_TRY(s.closed, read_names(j, "closed"));
  if (version >= 2) {   // before, a state did not know its whole path
    CAIRN_TRY(s.made, read_names(j, "made"));
  }
  CAIRN_TRY(s.model_picks, get_bool(j, "model_picks"));
  return s;
}

}  // namespace

std::string print_decision(const Decision& decision, const DecisionState& state) {
  Json shares = Json::object();
  for (const auto& [name, share] : state.time_shares) shares[name] = share;
  const Json where{{"task", state.task.name}, {"family", state.task.family}, {"features", state.task.features}, {"bottleneck", state.bottleneck},
                   {"time_shares", shares}, {"directions", state.directions}, {"locals", state.locals}, {"made", state.made}, {"program", state.program.hex()},
                   {"device", state.device.fingerprint}, {"architecture", state.device.architecture}, {"device_kind", state.device.kind},
                   {"implementer", state.implementer}, {"now", state.now}, {"closed", state.closed}, {"model_picks", state.model_picks}};
  return dump_json(Json{{"version", kDecisionVersion}, {"direction", decision.direction}, {"local", decision.local}, {"draw", decision.draw},
                        {"directions", json_of(decision.directions)}, {"locals", json_of(decision.locals)}, {"state", where}});
}

Result<StoredDecision> parse_decision(const std::string& text) {
  CAIRN_TRY(const Json j, parse_json(text, "<decision>"));
  CAIRN_TRY(const std::int64_t version, get_int(j, "version"));
  if (version < 1 || version > kDecisionVersion) {
    return Error{Code::parse, fmt::format("found version {} of a decision, this build reads up to {}", version, kDecisionVersion), {}, {}};
  }
  StoredDecision stored;
  CAIRN_TRY(stored.decision.direction, get_string(j, "direction"));
  CAIRN_TRY(stored.decision.local, get_string(j, "local"));
  CAIRN_TRY(stored.decision.draw, get_double(j, "draw"));
  CAIRN_TRY(stored.decision.directions, read_scored(j, "directions"));
  CAIRN_TRY(stored.decision.locals, read_scored(j, "locals"));
  const auto state = j.find("state");
  if (state == j.end()) return Error{Code::parse, "\"state\" is missing, expected an object", {}, {}};
  CAIRN_TRY(stored.state, read_state(*state, version));
  return stored;
}

}  // namespace cairn
