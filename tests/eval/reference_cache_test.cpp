// Kept references: what is read back is what was stored, and nothing stale or damaged is believed.
#include "eval/reference_cache.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>

#include "eval/reference.h"
#include "eval_tasks.h"

namespace cairn {
namespace {
using testing_eval::parse_text;

StoredSet sample_set(std::size_t n) {
  StoredSet set;
  set.name = "normal";
  set.inputs = digest_bytes("inputs");
  OutputReference r;
  r.name = "D";
  r.dtype = Dtype::f32;
  r.shape = {static_cast<std::int64_t>(n)};
  for (std::size_t i = 0; i < n; ++i) r.floats.push_back(i % 3 == 0 ? std::nan("") : 0.1 * static_cast<double>(i));
  r.own.assign(n, 1e-7F);
  r.skip.assign(n, 1);
  set.outputs = {r};
  set.reactions = {{{1, 2}, {0.5, -0.5}}};
  return set;
}

// To the bit, NaN included.
bool same(const std::vector<StoredSet>& a, const std::vector<StoredSet>& b) { return print_sets(a) == print_sets(b); }

TEST(ReferenceCache, ReadsBackWhatItWrote) {
  const auto scratch = ScratchDir::create().value();
  const ReferenceCache cache(scratch.path());
  const std::vector<StoredSet> sets = {sample_set(5), sample_set(0)};
  EXPECT_FALSE(cache.find("k").has_value());
  cache.store("k", sets);
  const auto found = cache.find("k");
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(same(*found, sets));
  EXPECT_EQ(found->at(0).outputs.at(0).shape, (Shape{5}));
  EXPECT_EQ(found->at(0).reactions.at(0).elements, (std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(ReferenceCache("").find("k").has_value());
}

TEST(ReferenceCache, DamagedFilesAreAbsent) {
  const std::string good = print_sets({sample_set(7)});
  ASSERT_TRUE(parse_sets(good).has_value());
  for (std::size_t cut = 0; cut < good.size(); cut += 5) EXPECT_FALSE(parse_sets(good.substr(0, cut)).has_value()) << cut;
  for (std::size_t at = 0; at < good.size(); at += 3) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    EXPECT_FALSE(parse_sets(bad).has_value()) << at;
  }
  EXPECT_FALSE(parse_sets(good + "x").has_value());
}

TEST(ReferenceCache, DropsWhatWasNotUsedForTheLongestTime) {
  const auto scratch = ScratchDir::create().value();
  const std::vector<StoredSet> sets = {sample_set(1000)};
  const std::uint64_t each = print_sets(sets).size();
  const ReferenceCache cache(scratch.path(), 5 * each);   // a quarter holds one
  const auto age = [&](const std::string& key, long seconds) {
    const timespec when[2] = {{1'000'000 + seconds, 0}, {1'000'000 + seconds, 0}};
    ::utimensat(AT_FDCWD, join_path(scratch.path(), "references/" + key).c_str(), when, 0);
  };
  for (int i = 0; i < 5; ++i) {
    cache.store(std::to_string(i), sets);
    age(std::to_string(i), i);
  }
  EXPECT_TRUE(cache.find("0").has_value());   // used just now
  cache.store("5", sets);
  EXPECT_TRUE(cache.find("0").has_value());
  EXPECT_FALSE(cache.find("1").has_value());
  EXPECT_TRUE(cache.find("5").has_value());
  cache.store("large", {sample_set(2000)});
  EXPECT_FALSE(cache.find("large").has_value());
}

TEST(ReferenceCache, ReferencesAreComputedOnce) {
  const auto scratch = ScratchDir::create().value();
  const auto compiler = Compiler::create("", 60).value();
  EvalTask task;
  task.name = "t";
  task.naive = parse_text("in A^{f32}_{8,16};param C^{f32}_{16};out D^{f32}_{8};\n"
                          "L^{8}_{i=0}L^{16}_{j=0}[D^{f32,g}_{i}=D^{f32,g}_{i}+A^{f32,g}_{i,j}*C^{f32,g}_{j};];\n");
  ReferenceOptions options;
  options.families = {Family::normal, Family::one_hot, Family::nonfinite, Family::zeros};
  options.cache_directory = scratch.path();
  options.worth_keeping = 0;
  const auto stored = [](const References& r) {
    std::vector<StoredSet> sets;
    for (const CheckSet& s : r.sets()) sets.push_back({s.name, s.inputs, s.outputs, s.reactions});
    return print_sets(sets);
  };
  const auto first = References::create(task, *compiler, make_inputs, options);
  ASSERT_TRUE(first.ok()) << render(first.error());
  EXPECT_FALSE((*first)->from_cache());
  const auto second = References::create(task, *compiler, make_inputs, options);
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE((*second)->from_cache());
  EXPECT_EQ(stored(**second), stored(**first));
  EXPECT_EQ((*second)->families(), (*first)->families());
  for (std::size_t i = 0; i < (*first)->sets().size(); ++i) {
    EXPECT_EQ(read_file((*second)->sets()[i].inputs_path).value(), read_file((*first)->sets()[i].inputs_path).value());
  }
  // Other inputs under the same key are noticed; another seed, other fixed values or another program are other keys.
  const InputMaker shifted = [](const Program& program, Family family, std::uint64_t seed) { return make_inputs(program, family, seed + 1); };
  EXPECT_FALSE(References::create(task, *compiler, shifted, options).value()->from_cache());
  task.fixed_inputs["C"] = Value::zeros(Dtype::f32, {16});
  EXPECT_FALSE(References::create(task, *compiler, make_inputs, options).value()->from_cache());
  EXPECT_TRUE(References::create(task, *compiler, make_inputs, options).value()->from_cache());
  task.seed = 2;
  EXPECT_FALSE(References::create(task, *compiler, make_inputs, options).value()->from_cache());
  // What is quickly computed is not kept.
  options.cache_directory = join_path(scratch.path(), "other");
  options.worth_keeping = 1000;
  EXPECT_FALSE(References::create(task, *compiler, make_inputs, options).value()->from_cache());
  EXPECT_FALSE(References::create(task, *compiler, make_inputs, options).value()->from_cache());
}

}  // namespace
}  // namespace cairn
