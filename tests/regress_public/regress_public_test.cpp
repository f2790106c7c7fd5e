// Faults of the public Step-TP code as cases: each file holds the situation, and what Cairn does with it.
//
//   ## name | check | refused PART            the verifier: the first refusal has PART; or `ok`
//   ## name | parse | refused PART            the parser
//   ## name | apply ACTION ; ACTION | refused PART      the last action is refused; or `ok`: verified and certified;
//                                             or `gives`: the program after `--`, by canonical hash
//   ## name | sites STRATEGY | none           or `some N`: at least N
//   ## name | pair CLAIM | refused PART       certify() of the programs before and after `--`; or `ok`
//   ## name | hash | same                     canonical hashes of the two; or `differ`
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/strategy.h"
#include "verify/verify.h"

namespace cairn {
namespace {

struct PublicCase {
  std::string name, task, expected, before, after;
};

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(by, from), text.size());
    parts.emplace_back(trim(std::string_view(text).substr(from, to - from)));
    from = to + by.size();
  }
  return parts;
}
std::vector<PublicCase> read_cases(const std::string& path) {
  const Result<std::string> text = read_file(path);
  EXPECT_TRUE(text.ok());
  std::vector<PublicCase> cases;
  std::string* into = nullptr;
  for (const std::string& line : split(*text, "\n")) {
    if (line.starts_with("## ")) {
      std::vector<std::string> fields = split(line.substr(3), " | ");
      EXPECT_EQ(fields.size(), 3u) << path << ": " << line;
      fields.resize(3);
      cases.push_back({fields[0], fields[1], fields[2], "", ""});
      into = &cases.back().before;
    } else if (line == "--") {
      into = &cases.back().after;
    } else if (into != nullptr) {
      *into += line + "\n";
    }
  }
  return cases;
}
std::vector<std::string> list_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(CAIRN_SOURCE_DIR) + "/tests/regress_public/cases")) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path().stem().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Program parsed(const std::string& text) {
  Result<Program> p = parse_program(text);
  EXPECT_TRUE(p.ok()) << (p ? "" : render(p.error())) << "\n" << text;
  return p ? *std::move(p) : Program();
}
bool starts(const std::string& s, const char* prefix) { return s.starts_with(prefix); }
std::string rest(const std::string& s, const char* prefix) { return std::string(trim(std::string_view(s).substr(std::string_view(prefix).size()))); }

// The message must be there and hold the expected part.
void expect_refusal(const std::string& expected, const std::string& message) {
  ASSERT_TRUE(starts(expected, "refused")) << "accepted, expected: " << expected;
  EXPECT_NE(message.find(rest(expected, "refused")), std::string::npos) << message;
}
void expect_ok(const std::string& expected, const std::string& what) { EXPECT_EQ(expected, "ok") << what; }

void run_check(const PublicCase& c) {
  const Result<void> ok = check_program(parsed(c.before), described_target());
  if (ok) expect_ok(c.expected, "the program verifies");
  else expect_refusal(c.expected, render(ok.error()));
}
void run_parse(const PublicCase& c) {
  const Result<Program> p = parse_program(c.before);
  if (p) expect_ok(c.expected, "the text parses");
  else expect_refusal(c.expected, render(p.error()));
}
void run_pair(const PublicCase& c, const std::string& claim) {
  const auto exactness = parse_exactness(claim);
  ASSERT_TRUE(exactness.has_value()) << claim;
  const CertificateSet set = certify(parsed(c.before), parsed(c.after), *exactness, nullptr, CertifyOptions{described_target(), 1, true, {}, 5});
  if (set.ok()) {
    expect_ok(c.expected, serialize(set));
    return;
  }
  std::string reasons;
  for (const Certificate& one : set.certificates) reasons += one.held ? "" : one.reason + "\n";
  expect_refusal(c.expected, reasons);
}
void run_apply(const PublicCase& c, const std::string& actions) {
  const Target target = described_target();
  Program now = parsed(c.before);
  ASSERT_TRUE(check_program(now, target).ok()) << render(check_program(now, target).error());
  for (const std::string& text : split(actions, " ; ")) {
    const Result<Action> action = parse_action(text);
    ASSERT_TRUE(action.ok()) << render(action.error());
    const Result<Step> step = apply_action(now, target, *action);
    if (!step) {
      expect_refusal(c.expected, render(step.error()));
      return;
    }
    const Result<Step> again = apply_action(now, target, *action);   // no hash seed, no random choice
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(print_program(again->after), print_program(step->after));
    const ActionEvidence evidence = evidence_of(now, target, *action, *step);
    CertifyOptions options;
    options.target = target;
    const CertificateSet set = certify(now, step->after, step->exactness, &evidence, options);
    EXPECT_TRUE(set.ok()) << serialize(set);
    for (const Tensor& t : now.tensors()) {   // outputs keep role, dtype and scope
      if (t.role == Role::tmp) continue;
      const Tensor* after = step->after.find(t.name);
      ASSERT_NE(after, nullptr) << t.name;
      EXPECT_TRUE(after->role == t.role && after->dtype == t.dtype && after->scope == t.scope) << t.name;
    }
    now = step->after;
  }
  if (c.expected == "gives") EXPECT_EQ(canonical_hash(now), canonical_hash(parsed(c.after))) << print_program(now);
  else expect_ok(c.expected, print_program(now));
}
void run_sites(const PublicCase& c, const std::string& name) {
  const Strategy* strategy = find_strategy(name);
  ASSERT_NE(strategy, nullptr) << name;
  const std::size_t n = strategy->sites(parsed(c.before), described_target()).size();
  if (c.expected == "none") EXPECT_EQ(n, 0u);
  else EXPECT_GE(n, static_cast<std::size_t>(std::stoul(rest(c.expected, "some"))));
}

class RegressPublic : public ::testing::TestWithParam<std::string> {};

TEST_P(RegressPublic, IsRefusedOrHandled) {
  const std::vector<PublicCase> cases = read_cases(std::string(CAIRN_SOURCE_DIR) + "/tests/regress_public/cases/" + GetParam() + ".txt");
  ASSERT_FALSE(cases.empty());
  for (const PublicCase& c : cases) {
    SCOPED_TRACE(GetParam() + ": " + c.name);
    if (c.task == "check") run_check(c);
    else if (c.task == "parse") run_parse(c);
    else if (c.task == "hash") EXPECT_EQ(canonical_hash(parsed(c.before)) == canonical_hash(parsed(c.after)), c.expected == "same");
    else if (starts(c.task, "pair ")) run_pair(c, rest(c.task, "pair "));
    else if (starts(c.task, "apply ")) run_apply(c, rest(c.task, "apply "));
    else if (starts(c.task, "sites ")) run_sites(c, rest(c.task, "sites "));
    else ADD_FAILURE() << "unknown task " << c.task;
  }
}
INSTANTIATE_TEST_SUITE_P(Faults, RegressPublic, ::testing::ValuesIn(list_files()), [](const auto& p) { return "F" + p.param; });

// The table of tests/regress_public/README.md has a row for each of the 34, and names every file of cases.
TEST(RegressPublicTable, NamesEveryFaultAndFile) {
  const Result<std::string> readme = read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/regress_public/README.md");
  ASSERT_TRUE(readme.ok());
  for (int fault = 1; fault <= 34; ++fault) EXPECT_NE(readme->find("\n| " + std::to_string(fault) + " |"), std::string::npos) << fault;
  for (const std::string& file : list_files()) EXPECT_NE(readme->find(file), std::string::npos) << file;
}

}  // namespace
}  // namespace cairn
