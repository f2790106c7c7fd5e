#include "eval/reference_cache.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

namespace cairn {

namespace {
constexpr std::string_view kMagic = "cairn references 1\n";

class Writer {
 public:
  template <class T>
  void number(T x) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  template <class T>
  void list(const std::vector<T>& items) {
    number(static_cast<std::uint64_t>(items.size()));
    if (!items.empty()) bytes_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
  }
  void text(const std::string& s) {
    number(static_cast<std::uint64_t>(s.size()));
    bytes_ += s;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_{kMagic};
};

class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}
  bool failed() const { return failed_; }
  bool ended() const { return rest_.empty(); }
  template <class T>
  T number() {
    T x{};
    take(&x, sizeof x);
    return x;
  }
  template <class T>
  void list(std::vector<T>* items) {
    const auto n = number<std::uint64_t>();
    if (failed_ || n > rest_.size() / sizeof(T)) {
      failed_ = true;
      return;
    }
    items->resize(n);
    if (n > 0) take(items->data(), n * sizeof(T));
  }
  std::string text() {
    std::vector<char> letters;
    list(&letters);
    return {letters.begin(), letters.end()};
  }

 private:
  void take(void* to, std::size_t n) {
    if (failed_ || n > rest_.size()) {
      failed_ = true;
      return;
    }
    std::memcpy(to, rest_.data(), n);
    rest_.remove_prefix(n);
  }
  std::string_view rest_;
  bool failed_ = false;
};
}  // namespace

std::string print_sets(const std::vector<StoredSet>& sets) {
  Writer w;
  w.number(static_cast<std::uint64_t>(sets.size()));
  for (const StoredSet& set : sets) {
    w.text(set.name);
    w.number(set.inputs);
    w.number(static_cast<std::uint64_t>(set.outputs.size()));
    for (const OutputReference& r : set.outputs) {
      w.text(r.name);
      w.text(std::string(dtype_name(r.dtype)));
      w.list(r.shape);
      w.list(r.floats);
      w.list(r.ints);
      w.list(r.own);
      w.list(r.gamma);
      w.list(r.skip);
    }
    w.number(static_cast<std::uint64_t>(set.reactions.size()));
    for (const Reaction& reaction : set.reactions) {
      w.list(reaction.elements);
      w.list(reaction.change);
    }
  }
  std::string bytes = w.take();
  const Digest digest = digest_bytes(bytes);
  bytes.append(reinterpret_cast<const char*>(&digest), sizeof digest);
  return bytes;
}

std::optional<std::vector<StoredSet>> parse_sets(const std::string& bytes) {
  Digest digest;
  if (bytes.size() < kMagic.size() + sizeof digest || bytes.compare(0, kMagic.size(), kMagic) != 0) return std::nullopt;
  const std::size_t end = bytes.size() - sizeof digest;
  std::memcpy(&digest, bytes.data() + end, sizeof digest);
  if (!(digest_bytes(bytes.data(), end) == digest)) return std::nullopt;
  Reader r(std::string_view(bytes).substr(kMagic.size(), end - kMagic.size()));
  std::vector<StoredSet> sets;
  for (auto n = r.number<std::uint64_t>(); n > 0 && !r.failed(); --n) {
    StoredSet& set = sets.emplace_back();
    set.name = r.text();
    set.inputs = r.number<Digest>();
    for (auto k = r.number<std::uint64_t>(); k > 0 && !r.failed(); --k) {
      OutputReference& out = set.outputs.emplace_back();
      out.name = r.text();
      const auto dtype = parse_dtype(r.text());
      if (!dtype) return std::nullopt;
      out.dtype = *dtype;
      r.list(&out.shape);
      r.list(&out.floats);
      r.list(&out.ints);
      r.list(&out.own);
      r.list(&out.gamma);
      r.list(&out.skip);
    }
    for (auto k = r.number<std::uint64_t>(); k > 0 && !r.failed(); --k) {
      Reaction& reaction = set.reactions.emplace_back();
      r.list(&reaction.elements);
      r.list(&reaction.change);
    }
  }
  if (r.failed() || !r.ended()) return std::nullopt;
  return sets;
}

ReferenceCache::ReferenceCache(std::string directory, std::uint64_t max_bytes)
    : directory_(directory.empty() ? std::string() : join_path(directory, "references")), max_bytes_(max_bytes) {}

std::optional<std::vector<StoredSet>> ReferenceCache::find(const std::string& key) const {
  if (directory_.empty()) return std::nullopt;
  const std::string path = join_path(directory_, key);
  const auto bytes = read_file(path);
  if (!bytes.ok()) return std::nullopt;
  auto sets = parse_sets(*bytes);
  if (sets) ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);   // used just now
  return sets;
}

void ReferenceCache::store(const std::string& key, const std::vector<StoredSet>& sets) const {
  if (directory_.empty()) return;
  const std::string bytes = print_sets(sets);
  if (bytes.size() > max_bytes_ / 4 || !make_directories(directory_).ok()) return;
  if (write_file_atomic(join_path(directory_, key), bytes).ok()) evict(key);
}

void ReferenceCache::evict(const std::string& keep) const {
  struct File {
    timespec used;
    std::uint64_t bytes;
    std::string name;
  };
  std::vector<File> files;
  std::uint64_t total = 0;
  const auto names = list_directory(directory_);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    struct stat facts{};
    if (::stat(join_path(directory_, name).c_str(), &facts) != 0) continue;
    total += static_cast<std::uint64_t>(facts.st_size);
    if (name != keep) files.push_back({facts.st_mtim, static_cast<std::uint64_t>(facts.st_size), name});
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const File& file : files) {
    if (total <= max_bytes_) break;
    remove_tree(join_path(directory_, file.name));
    total -= file.bytes;
  }
}

}  // namespace cairn
