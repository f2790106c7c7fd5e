// Every file of tests/leir/ok prints to a fixpoint in every profile; every file of tests/leir/parse_bad is refused
// with the message of its first line. CAIRN_CORPUS names JSON-lines files to be read in the same way.
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/json.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "support/leir_files.h"

namespace cairn {
namespace {

// Prints and reparses; the text is a fixpoint and the hash stays.
void check_round_trip(const Program& program, const std::string& name) {
  const Digest hash = canonical_hash(program);
  for (const Profile profile : {Profile::leir, Profile::short_form}) {
    const std::string text = print_program(program, profile);
    ParseOptions options;
    options.file = name;
    const Result<Program> again = parse_program(text, options);
    ASSERT_TRUE(again.ok()) << name << "\n" << render(again.error());
    EXPECT_EQ(print_program(*again, profile), text) << name;
    EXPECT_EQ(canonical_hash(*again).hex(), hash.hex()) << name << "\n" << text;
    EXPECT_TRUE(again->notes().empty() || again->tensors().empty() || !again->tensors()[0].declared) << name;
  }
}

TEST(TextFiles, OkFilesRoundTrip) {
  const std::vector<LeirFile> files = load_leir_files("ok");
  ASSERT_GE(files.size(), 28u);
  for (const LeirFile& file : files) {
    ParseOptions options;
    options.file = file.name;
    const Result<Program> program = parse_program(file.text, options);
    ASSERT_TRUE(program.ok()) << render(program.error());
    EXPECT_TRUE(program->conflicts().empty()) << file.name;
    EXPECT_TRUE(program->notes().empty()) << file.name;
    EXPECT_EQ(file.text.substr(0, 2), "% ") << file.name << ": expected a first comment line saying what it is";
    check_round_trip(*program, file.name);
  }
}

TEST(TextFiles, BadFilesAreRefusedWithAPlace) {
  const std::vector<LeirFile> files = load_leir_files("parse_bad");
  ASSERT_GE(files.size(), 40u);
  constexpr std::string_view kHead = "% expect: ";
  for (const LeirFile& file : files) {
    ASSERT_EQ(file.text.substr(0, kHead.size()), kHead) << file.name;
    const std::string expected = file.text.substr(kHead.size(), file.text.find('\n') - kHead.size());
    const Result<Program> program = parse_program(file.text);
    ASSERT_FALSE(program.ok()) << file.name;
    EXPECT_EQ(program.error().code, Code::parse) << file.name;
    EXPECT_EQ(program.error().message, expected) << file.name;
    EXPECT_EQ(program.error().where.line, 2u) << file.name;
    EXPECT_GT(program.error().where.column, 0u) << file.name;
  }
}

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

// What is read as Step-TP is written as Step-TP and read again as the same program.
void check_steptp_round_trip(const Program& program, const std::string& name) {
  const Result<std::string> text = print_steptp(program);
  ASSERT_TRUE(text.ok()) << name << "\n" << render(text.error());
  ParseOptions bare;
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.declared) bare.known.push_back(tensor);
  }
  const Result<Program> again = parse_program(*text, bare);
  ASSERT_TRUE(again.ok()) << name << "\n" << render(again.error());
  EXPECT_EQ(canonical_hash(*again), canonical_hash(program)) << name << "\n" << *text;
}

// Reads one text of a row; "unparsable" in the row's reason allows a refusal.
void check_row_text(const Json& row, const char* key, const std::string& where) {
  if (!row.contains(key)) return;
  ParseOptions options;
  options.file = where;
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
  const bool broken = row.value("why", std::string()).find("unparsable") != std::string::npos;
  if (program.ok()) {
    check_round_trip(*program, where);
    check_steptp_round_trip(*program, where);
  } else {
    EXPECT_TRUE(broken) << render(program.error());
  }
}

TEST(TextFiles, CorpusReadsAndRoundTrips) {
  const char* paths = std::getenv("CAIRN_CORPUS");
  if (paths == nullptr) {
    std::printf("CAIRN_CORPUS is not set (colon-separated JSON-lines files): only tests/leir/ok was read\n");
    return;
  }
  std::string_view rest = paths;
  while (!rest.empty()) {
    const std::string path(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
    const Result<std::string> bytes = read_file(path);
    ASSERT_TRUE(bytes.ok()) << render(bytes.error());
    std::size_t line = 0;
    for (std::size_t at = 0; at < bytes->size();) {
      const std::size_t end = std::min(bytes->find('\n', at), bytes->size());
      ++line;
      const Result<Json> row = parse_json(std::string_view(*bytes).substr(at, end - at), path);
      ASSERT_TRUE(row.ok()) << render(row.error());
      for (const char* key : {"leir", "before", "after"}) check_row_text(*row, key, path + " row " + std::to_string(line));
      at = end + 1;
    }
    std::printf("%s: %zu rows read\n", path.c_str(), line);
  }
}

}  // namespace
}  // namespace cairn
