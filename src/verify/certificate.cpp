#include "verify/certificate.h"

#include <fmt/core.h>

#include <array>

#include "base/check.h"
#include "base/json.h"

namespace cairn {

namespace {
constexpr std::array<std::string_view, 4> kClasses{"exact", "reassociates", "algebraic", "changes_precision"};
constexpr std::array<std::string_view, 6> kRungs{"wellformed", "legal", "identity", "rule", "numeric", "executed"};

std::optional<Rung> parse_rung(std::string_view text) {
  for (std::size_t i = 0; i < kRungs.size(); ++i) {
    if (kRungs[i] == text) return static_cast<Rung>(i);
  }
  return std::nullopt;
}

Error bad(std::string message) { return Error{Code::parse, "certificate: " + std::move(message), {}, {}}; }

Result<Digest> get_digest(const Json& object, const char* key) {
  CAIRN_TRY(const std::string text, get_string(object, key));
  Digest d;
  if (!parse_digest(text, &d)) return bad(fmt::format("{} is no digest of 32 hex digits: {}", key, text));
  return d;
}

Result<Json> get_array(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_array()) {
    return bad(fmt::format("{} must be an array", key));
  }
  return object[key];
}

Result<Certificate> parse_one(const Json& j) {
  Certificate c;
  CAIRN_TRY(const std::string rung, get_string(j, "rung"));
  const std::optional<Rung> r = parse_rung(rung);
  if (!r) return bad(fmt::format("unknown rung {}", rung));
  c.rung = *r;
  CAIRN_TRY(c.held, get_bool(j, "held"));
  CAIRN_TRY(c.reason, get_string(j, "reason"));
  CAIRN_TRY(const Json facts, get_array(j, "facts"));
  for (const Json& f : facts) {
    if (!f.is_array() || f.size() != 2 || !f[0].is_string() || !f[1].is_string()) {
      return bad("a fact must be a pair of strings");
    }
    c.facts.emplace_back(f[0].get<std::string>(), f[1].get<std::string>());
  }
  return c;
}
}  // namespace

std::string_view exactness_name(Exactness e) { return kClasses[static_cast<std::size_t>(e)]; }

std::optional<Exactness> parse_exactness(std::string_view text) {
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    if (kClasses[i] == text) return static_cast<Exactness>(i);
  }
  return std::nullopt;
}

std::string_view rung_name(Rung rung) { return kRungs[static_cast<std::size_t>(rung)]; }

const Certificate* CertificateSet::find(Rung rung) const {
  for (const Certificate& c : certificates) {
    if (c.rung == rung) return &c;
  }
  return nullptr;
}

bool CertificateSet::ok() const {
  bool wellformed = false;
  bool stronger = false;
  for (const Certificate& c : certificates) {
    if (!c.held) return false;
    (c.rung == Rung::wellformed ? wellformed : stronger) = true;
  }
  return wellformed && stronger;
}

std::string serialize(const CertificateSet& set) {
  Json j;
  j["version"] = set.version;
  j["before"] = set.before.hex();
  j["after"] = set.after.hex();
  j["claim"] = std::string(exactness_name(set.claim));
  j["action"] = set.action;
  j["conditions"] = Json::array();
  for (const SideCondition& c : set.conditions) {
    Json one;
    one["text"] = c.text;
    one["proved"] = c.proved;
    j["conditions"].push_back(std::move(one));
  }
  j["certificates"] = Json::array();
  for (const Certificate& c : set.certificates) {
    Json one;
    one["rung"] = std::string(rung_name(c.rung));
    one["held"] = c.held;
    one["reason"] = c.reason;
    one["facts"] = Json::array();
    for (const auto& [key, value] : c.facts) one["facts"].push_back(Json::array({key, value}));
    j["certificates"].push_back(std::move(one));
  }
  return dump_json(j);
}

Result<CertificateSet> parse_certificates(const std::string& json) {
  CAIRN_TRY(const Json j, parse_json(json, "certificate"));
  CertificateSet set;
  CAIRN_TRY(const std::int64_t version, get_int(j, "version"));
  if (version != 1) return bad(fmt::format("version {} found, this build reads version 1", version));
  CAIRN_TRY(set.before, get_digest(j, "before"));
  CAIRN_TRY(set.after, get_digest(j, "after"));
  CAIRN_TRY(const std::string claim, get_string(j, "claim"));
  const std::optional<Exactness> e = parse_exactness(claim);
  if (!e) return bad(fmt::format("unknown class {}", claim));
  set.claim = *e;
  CAIRN_TRY(set.action, get_string(j, "action"));
  CAIRN_TRY(const Json conditions, get_array(j, "conditions"));
  for (const Json& c : conditions) {
    SideCondition s;
    CAIRN_TRY(s.text, get_string(c, "text"));
    CAIRN_TRY(s.proved, get_bool(c, "proved"));
    set.conditions.push_back(std::move(s));
  }
  CAIRN_TRY(const Json certificates, get_array(j, "certificates"));
  for (const Json& c : certificates) {
    CAIRN_TRY(Certificate one, parse_one(c));
    set.certificates.push_back(std::move(one));
  }
  return set;
}

}  // namespace cairn
