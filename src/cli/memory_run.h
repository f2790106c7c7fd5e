// The memory behind one search: which file, what the run reads of it, and what it writes back.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "memory/guide.h"
#include "memory/recall.h"
#include "memory/store.h"

namespace cairn {

// What identifies the run besides its time.
struct MemoryRunInfo {
  std::string task, algorithm, directory;   // directory: of the journal; empty: none, the run cannot be resumed
  Program naive;
  std::string device;                       // Evaluator::device()
  std::uint64_t seed = 1;
};

class MemoryRun {
 public:
  // Opens the file that the settings name, creates it on first use, and fixes the snapshot and `now` of the run; a run that
  // resumes reads the snapshot it began with. With `--memory off` there is no file: the run remembers only itself. An
  // unusable file that the user named is an error, an unusable default file a note.
  static Result<std::unique_ptr<MemoryRun>> open(Session& session, const MemoryRunInfo& info, const Target& target);
  MemoryGuide& guide() { return *guide_; }
  // What tells this snapshot from another in the journal's header: mode, `now`, digest of its rows.
  const std::string& mark() const { return mark_; }
  // Traces that ended best on the nearest tasks, to be tried first.
  const std::vector<std::vector<Action>>& recalled() const { return recalled_; }
  const std::string& run() const { return record_.id; }
  std::size_t snapshot_rows() const { return snapshot_rows_; }
  std::uint64_t decisions() const { return decisions_; }   // taken so far
  // Records that the run ended. Returns what could not be written, as notes.
  std::vector<std::string> finish(Clock& clock);

 private:
  MemoryRun() = default;
  void note_failure(const Error& error);

  std::optional<MemoryStore> store_;
  std::unique_ptr<MemoryGuide> guide_;
  RunRecord record_;
  std::string mark_;
  std::size_t snapshot_rows_ = 0;
  std::uint64_t decisions_ = 0;
  std::vector<std::vector<Action>> recalled_;
  std::vector<std::string> notes_;
};

// True if searches by these settings read or write a memory: the memory proposes, a file was named, or the command remembers
// by itself and there is a file for it.
bool needs_memory(const Session& session, bool remembers);
// The memory file that the settings name: empty if there is none.
std::string memory_path(const Settings& settings);
// The same for a search: a simulated device's outcomes stay out of a file that was not named for them.
std::string search_memory_path(const Session& session);
// The mode of that name, or a usage error that names the known ones; `what` is the option that gave it.
Result<MemoryMode> expect_memory_mode(const std::string& what, const std::string& name);
Result<MemoryMode> memory_mode(const Settings& settings);

}  // namespace cairn
