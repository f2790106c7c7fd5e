// JSON and safetensors.
#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/file.h"
#include "base/safetensors.h"

namespace cairn {
namespace {

TEST(JsonText, KeepsOrderAndNamesNonFiniteNumbers) {
  const auto j = parse_json(R"({"b":1,"a":[true,null,"x"]})");
  ASSERT_TRUE(j.ok());
  EXPECT_EQ(dump_json(*j), R"({"b":1,"a":[true,null,"x"]})");
  Json n = {{"x", std::nan("")}, {"y", {HUGE_VAL, -HUGE_VAL, 1.5}}};
  EXPECT_EQ(dump_json(n), R"({"x":"nan","y":["inf","-inf",1.5]})");
  EXPECT_TRUE(std::isnan(get_double(parse_json(dump_json(n)).value(), "x").value()));
  EXPECT_EQ(dump_json_pretty(Json{{"a", 1}}), "{\n  \"a\": 1\n}");
  EXPECT_NO_THROW(dump_json(Json("\xff bad utf-8")));
}

TEST(JsonText, RefusesWithThePlace) {
  const auto e = parse_json("{\"a\": 1,\n \"b\": }", "x.json");
  ASSERT_FALSE(e.ok());
  EXPECT_EQ(e.error().code, Code::parse);
  EXPECT_EQ(e.error().where.file, "x.json");
  EXPECT_EQ(e.error().where.line, 2u);
  EXPECT_EQ(e.error().where.column, 7u);
  const auto overflow = parse_json("{\"a\": 1,\n \"b\": 1e999}", "x.json");
  ASSERT_FALSE(overflow.ok());
  EXPECT_EQ(overflow.error().message, "not JSON: number overflow parsing '1e999'");
  EXPECT_EQ(overflow.error().where.line, 2u);
  EXPECT_EQ(overflow.error().where.column, 7u);
  for (const std::string bad : {"", "{", "[1] 2", "\"\xff\"", "{\"a\":1e999}", "nan", "[1,]", std::string(100000, '[').c_str()}) {
    EXPECT_FALSE(parse_json(bad).ok()) << bad.substr(0, 20);
  }
}

TEST(JsonText, TypedLookupsNameKeyAndTypes) {
  const Json j = parse_json(R"({"s":"x","i":3,"d":1.5,"b":false,"big":18446744073709551615})").value();
  EXPECT_EQ(get_string(j, "s").value(), "x");
  EXPECT_EQ(get_int(j, "i").value(), 3);
  EXPECT_EQ(get_double(j, "i").value(), 3.0);
  EXPECT_EQ(get_double(j, "d").value(), 1.5);
  EXPECT_FALSE(get_bool(j, "b").value());
  EXPECT_EQ(get_int(j, "s").error().message, "\"s\" is string, expected an integer");
  EXPECT_EQ(get_bool(j, "none").error().message, "\"none\" is missing, expected true or false");
  EXPECT_FALSE(get_int(j, "d").ok());
  EXPECT_FALSE(get_int(j, "big").ok());
  EXPECT_FALSE(get_int(Json::array(), "d").ok());
}

class SafeTensors : public testing::Test {
 protected:
  void SetUp() override { dir_.emplace(ScratchDir::create().value()); }
  std::string path() const { return join_path(dir_->path(), "t.safetensors"); }
  Result<std::map<std::string, TensorData>> read(const std::string& header, std::size_t data) {
    std::string bytes(8, '\0');
    const std::uint64_t size = header.size();
    std::memcpy(bytes.data(), &size, 8);
    EXPECT_TRUE(write_file_atomic(path(), bytes + header + std::string(data, 'd')).ok());
    return read_safetensors(path());
  }
  std::optional<ScratchDir> dir_;
};

TEST_F(SafeTensors, RoundTrip) {
  std::map<std::string, TensorData> tensors;
  tensors["w"] = {"F32", {2, 3}, std::string(24, 'w')};
  tensors["empty"] = {"BF16", {0, 3}, ""};
  tensors["scalar"] = {"I64", {}, std::string(8, 's')};
  ASSERT_TRUE(write_safetensors(path(), tensors).ok());
  const auto back = read_safetensors(path());
  ASSERT_TRUE(back.ok()) << render(back.error());
  ASSERT_EQ(back->size(), 3u);
  EXPECT_EQ(back->at("w").bytes, tensors["w"].bytes);
  EXPECT_EQ(back->at("w").shape, tensors["w"].shape);
  EXPECT_EQ(back->at("scalar").dtype, "I64");
  tensors["w"].bytes.pop_back();
  EXPECT_FALSE(write_safetensors(path(), tensors).ok());
}

TEST_F(SafeTensors, RefusesBadFiles) {
  EXPECT_TRUE(read(R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4).ok());
  struct {
    const char* header;
    std::size_t data;
    const char* says;
  } cases[] = {
      {R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "twice"},
      {R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "overlap"},
      {R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "hole"},
      {R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3, "ends at byte"},
      {R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5, "after the last"},
      {R"({"x":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", 4, "unknown dtype"},
      {R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "extent"},
      {R"({"x":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,4]}})", 4, "do not fill"},
      {R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "do not fill"},
      {R"({"x":3})", 0, "expected an object"},
      {R"([])", 0, "no object"},
      {R"({"x":)", 0, "not JSON"},
  };
  for (const auto& c : cases) {
    const auto r = read(c.header, c.data);
    ASSERT_FALSE(r.ok()) << c.header;
    EXPECT_EQ(r.error().code, Code::parse);
    EXPECT_NE(r.error().message.find(c.says), std::string::npos) << r.error().message;
  }
  ASSERT_TRUE(write_file_atomic(path(), "abc").ok());
  EXPECT_FALSE(read_safetensors(path()).ok());
  ASSERT_TRUE(write_file_atomic(path(), std::string(16, '\xff')).ok());
  EXPECT_FALSE(read_safetensors(path()).ok());
}

}  // namespace
}  // namespace cairn
