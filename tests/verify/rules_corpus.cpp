// CAIRN_CORPUS names JSON-lines files of Step-TP programs: originals verify, what is labelled broken does not.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace cairn {
namespace {

Dtype corpus_dtype(std::string name) {
  if (name.rfind("float", 0) == 0) name = "f" + name.substr(5);
  if (name.rfind("int", 0) == 0) name = "i" + name.substr(3);
  return parse_dtype(name).value_or(Dtype::undef);
}

Role corpus_role(const std::string& name) {
  for (const Role role : {Role::in, Role::param, Role::constant, Role::io, Role::out}) {
    if (role_name(role) == name) return role;
  }
  return Role::in;
}

class Corpus {
 public:
  // 0 if the text verifies, the rule that refuses it, or -1 where it does not parse.
  int judge(const Json& row, const char* key) {
    ParseOptions options;
    options.reading = Reading::steptp;
    for (const Json& known : row.value("known", Json::array())) {
      Tensor tensor;
      tensor.name = known["name"];
      tensor.role = corpus_role(known["role"]);
      tensor.dtype = corpus_dtype(known["dtype"]);
      tensor.shape = known["shape"].get<Shape>();
      options.known.push_back(std::move(tensor));
    }
    const Result<Program> program = parse_program(row[key].get<std::string>(), options);
    if (!program.ok()) return -1;
    const auto before = std::chrono::steady_clock::now();
    const VerifyReport report = verify_program(*program, Target{});
    slowest_ = std::max(slowest_, std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    return report.ok() ? 0 : report.first_refusal()->rule;
  }

  void take(const Json& row) {
    if (row.contains("leir")) {
      const bool original = row["strategy"].is_null();
      const int rule = judge(row, "leir");
      ++counts_[(original ? "original" : "step") + name(rule)];
      originals_ += original ? 1 : 0;
      refused_originals_ += original && rule != 0 ? 1 : 0;
      return;
    }
    const std::string label = row.value("label", std::string());
    const bool unsafe = row.value("parallel_unsafe", false);
    const int before = judge(row, "before");
    const int after = judge(row, "after");
    ++counts_[label + (unsafe ? ", unsafe" : "") + name(after)];
    if (label == "invalid" || unsafe) {
      EXPECT_NE(after, 0) << row.value("id", std::string()) << ": " << row.value("why", std::string());
    }
    if (label == "original_invalid") {
      EXPECT_TRUE(before != 0) << row.value("id", std::string());
    }
  }

  void finish(const std::string& path) const {
    for (const auto& [what, count] : counts_) std::printf("%s: %d\n", what.c_str(), count);
    std::printf("%s: slowest %.1f ms\n", path.c_str(), slowest_ * 1e3);
    EXPECT_LE(refused_originals_ * 100, originals_) << "originals refused";
  }

 private:
  static std::string name(int rule) {
    return rule == 0 ? " verified" : rule < 0 ? " not parsed" : " refused by rule " + std::to_string(rule);
  }
  std::map<std::string, int> counts_;
  int originals_ = 0;
  int refused_originals_ = 0;
  double slowest_ = 0;
};

TEST(RulesCorpus, LabelsAreMet) {
  const char* paths = std::getenv("CAIRN_CORPUS");
  if (paths == nullptr) GTEST_SKIP() << "CAIRN_CORPUS is not set (colon-separated JSON-lines files)";
  std::string_view rest = paths;
  while (!rest.empty()) {
    const std::string path(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
    const Result<std::string> bytes = read_file(path);
    ASSERT_TRUE(bytes.ok()) << render(bytes.error());
    Corpus corpus;
    for (std::size_t at = 0; at < bytes->size();) {
      const std::size_t end = std::min(bytes->find('\n', at), bytes->size());
      const Result<Json> row = parse_json(std::string_view(*bytes).substr(at, end - at), path);
      ASSERT_TRUE(row.ok()) << render(row.error());
      corpus.take(*row);
      at = end + 1;
    }
    corpus.finish(path);
  }
}

}  // namespace
}  // namespace cairn
