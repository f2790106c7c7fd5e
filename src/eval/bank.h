// Guarded buffers shared with a kernel's process: canary bytes around every tensor, pages without access
// around those, so that a stray access is seen or faults.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/job.h"

namespace cairn {

// One tensor or workspace: [guard page][pages holding canaries, data, canaries][guard page].
struct Region {
  std::string name;
  unsigned char* base = nullptr;   // first byte after the leading guard page
  std::size_t inner = 0;           // bytes between the guard pages, whole pages
  unsigned char* data = nullptr;   // 64-byte aligned
  std::size_t bytes = 0;
};

// Where data stands between its guard pages: against the trailing one (to 64 bytes), or against the leading one.
enum class Side : std::uint8_t { end, start };

// A set of buffers for one call: a region a parameter and one for the workspace.
class Bank {
 public:
  Bank() = default;
  Bank(Bank&& other) noexcept;
  Bank& operator=(Bank&& other) noexcept;
  ~Bank();
  // Maps shared memory for the parameters; refuses with environment when memory is out.
  static Result<Bank> create(const std::vector<JobParam>& params, std::int64_t workspace_bytes, Side side);

  const std::vector<Region>& tensors() const { return tensors_; }
  const Region& workspace() const { return workspace_; }
  std::vector<void*> pointers() const;
  // Fills outputs, workspace and canaries with a byte.
  void poison(const std::vector<JobParam>& params, unsigned char fill);
  // Copies inputs from their concatenated bytes.
  void load(const std::vector<JobParam>& params, const unsigned char* inputs);
  // First tensor whose canaries changed, with the place, or empty. Expects canaries of `fill`.
  std::string find_broken_canary(unsigned char fill) const;
  // Takes the right to write pure inputs away (in the calling process).
  void protect_inputs(const std::vector<JobParam>& params) const;
  // "3 bytes after the end of tensor A", or empty if the address belongs to no region.
  std::string describe_address(std::uintptr_t address) const;
  // True if the address lies in a pure input's data pages.
  bool is_input_address(std::uintptr_t address, const std::vector<JobParam>& params) const;

 private:
  std::vector<Region> tensors_;
  Region workspace_;
  unsigned char* map_ = nullptr;
  std::size_t map_bytes_ = 0;
};

}  // namespace cairn
