#include "eval/bank.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>
#include <sys/mman.h>

namespace cairn {

namespace {
constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlign = 64;

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

// First byte of [begin, end) that is not `fill`, or end.
const unsigned char* find_other(const unsigned char* begin, const unsigned char* end, unsigned char fill) {
  return std::find_if(begin, end, [fill](unsigned char c) { return c != fill; });
}
}  // namespace

Bank::Bank(Bank&& other) noexcept
    : tensors_(std::move(other.tensors_)), workspace_(std::move(other.workspace_)),
      map_(std::exchange(other.map_, nullptr)), map_bytes_(std::exchange(other.map_bytes_, 0)) {}

Bank& Bank::operator=(Bank&& other) noexcept {
  std::swap(tensors_, other.tensors_);
  std::swap(workspace_, other.workspace_);
  std::swap(map_, other.map_);
  std::swap(map_bytes_, other.map_bytes_);
  return *this;
}

Bank::~Bank() {
  if (map_ != nullptr) ::munmap(map_, map_bytes_);
}

Result<Bank> Bank::create(const std::vector<JobParam>& params, std::int64_t workspace_bytes, Side side) {
  Bank bank;
  for (const JobParam& p : params) bank.tensors_.push_back({p.name, nullptr, 0, nullptr, static_cast<std::size_t>(p.bytes)});
  bank.workspace_ = {"the workspace", nullptr, 0, nullptr, static_cast<std::size_t>(workspace_bytes)};
  std::vector<Region*> regions;
  for (Region& r : bank.tensors_) regions.push_back(&r);
  regions.push_back(&bank.workspace_);
  std::size_t total = kPage;
  for (Region* r : regions) {
    r->inner = round_up(std::max<std::size_t>(r->bytes, 1), kPage);
    total += r->inner + kPage;
  }
  void* map = ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) {
    return Error{Code::environment, fmt::format("cannot map {} bytes for buffers: {}", total, std::strerror(errno)), {}, {}};
  }
  bank.map_ = static_cast<unsigned char*>(map);
  bank.map_bytes_ = total;
  unsigned char* at = bank.map_;
  ::mprotect(at, kPage, PROT_NONE);
  at += kPage;
  for (Region* r : regions) {
    r->base = at;
    r->data = side == Side::start ? at : at + (r->inner - r->bytes) / kAlign * kAlign;
    at += r->inner;
    ::mprotect(at, kPage, PROT_NONE);
    at += kPage;
  }
  return bank;
}

std::vector<void*> Bank::pointers() const {
  std::vector<void*> list;
  for (const Region& r : tensors_) list.push_back(r.data);
  return list;
}

void Bank::poison(const std::vector<JobParam>& params, unsigned char fill) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    Region& r = tensors_[i];
    if (params[i].role == Role::out) {
      std::memset(r.base, fill, r.inner);
    } else {
      std::memset(r.base, fill, static_cast<std::size_t>(r.data - r.base));
      std::memset(r.data + r.bytes, fill, static_cast<std::size_t>(r.base + r.inner - (r.data + r.bytes)));
    }
  }
  std::memset(workspace_.base, fill, workspace_.inner);
}

void Bank::load(const std::vector<JobParam>& params, const unsigned char* inputs) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!params[i].is_input()) continue;
    std::memcpy(tensors_[i].data, inputs, tensors_[i].bytes);
    inputs += tensors_[i].bytes;
  }
}

std::string Bank::find_broken_canary(unsigned char fill) const {
  const auto check = [fill](const Region& r) -> std::string {
    const unsigned char* at = find_other(r.base, r.data, fill);
    if (at != r.data) return fmt::format("wrote {} bytes before the start of {}", r.data - at, r.name);
    const unsigned char* end = r.base + r.inner;
    at = find_other(r.data + r.bytes, end, fill);
    if (at != end) return fmt::format("wrote {} bytes after the end of {}", at - (r.data + r.bytes), r.name);
    return {};
  };
  for (const Region& r : tensors_) {
    if (std::string text = check(r); !text.empty()) return text;
  }
  return check(workspace_);
}

void Bank::protect_inputs(const std::vector<JobParam>& params) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (params[i].is_output()) continue;
    ::mprotect(tensors_[i].base, tensors_[i].inner, PROT_READ);
  }
}

std::string Bank::describe_address(std::uintptr_t address) const {
  const auto describe = [address](const Region& r) -> std::string {
    const auto begin = reinterpret_cast<std::uintptr_t>(r.data);
    const auto base = reinterpret_cast<std::uintptr_t>(r.base);
    if (address >= begin && address < begin + r.bytes) return fmt::format("byte {} of {}", address - begin, r.name);
    if (address >= base - kPage && address < begin) return fmt::format("{} bytes before the start of {}", begin - address, r.name);
    if (address >= begin + r.bytes && address < base + r.inner + kPage) {
      return fmt::format("{} bytes after the end of {}", address - (begin + r.bytes), r.name);
    }
    return {};
  };
  // A guard page stands between two regions: the nearer end names it.
  std::string first;
  for (const Region& r : tensors_) {
    const std::string text = describe(r);
    if (text.empty()) continue;
    if (text.find("before") == std::string::npos) return text;
    if (first.empty()) first = text;
  }
  return first.empty() ? describe(workspace_) : first;
}

bool Bank::is_input_address(std::uintptr_t address, const std::vector<JobParam>& params) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const auto base = reinterpret_cast<std::uintptr_t>(tensors_[i].base);
    if (!params[i].is_output() && address >= base && address < base + tensors_[i].inner) return true;
  }
  return false;
}

}  // namespace cairn
