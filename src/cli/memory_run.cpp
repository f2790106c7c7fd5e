#include "cli/memory_run.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fmt/core.h>

#include "base/file.h"
#include "cli/version.h"
#include "memory/cards.h"
#include "memory/decision_json.h"
#include "memory/exchange.h"
#include "memory/texts.h"

namespace cairn {

namespace {

constexpr const char* kSnapshotFile = "memory-snapshot.db";
constexpr const char* kRecallFile = "memory-recall.txt";
constexpr std::size_t kRecalled = 4;   // traces

// Makes a file with what our own runs learned. It gets its name when it is whole: no process finds it without the prior, and
// a process that is killed or a full disk leaves none. Who comes second keeps what is there.
Result<void> begin_memory(const std::string& path) {
  CAIRN_CHECKED(make_directories(dirname_of(path)));
  const std::string draft = fmt::format("{}.{}", path, ::getpid());
  const auto make = [&]() -> Result<void> {
    CAIRN_TRY(MemoryStore store, MemoryStore::open(draft, MemoryStore::Mode::write));
    CAIRN_TRY(const MemoryContent prior, parse_exchange(std::string(memory_prior_text()), "prior.jsonl"));
    return store.put(prior);
  };
  Result<void> made = make();
  if (made.ok() && ::link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST) made = errno_error("create", path, errno);
  for (const char* tail : {"", "-wal", "-shm"}) remove_tree(draft + tail);
  // The message names the file that was asked for.
  if (!made.ok()) {
    std::string& message = made.error().message;
    if (const auto at = message.find(draft); at != std::string::npos) message.replace(at, draft.size(), path);
  }
  return made;
}

Result<MemoryStore> open_or_begin(const std::string& path) {
  if (!file_exists(path)) CAIRN_CHECKED(begin_memory(path));
  return MemoryStore::open(path, MemoryStore::Mode::write);
}

// What a run read when it began, kept beside its journal.
struct Snapshot {
  RunRecord run;
  std::vector<DirectionCard> directions;
  std::vector<EdgeCard> edges;
  std::vector<Evidence> rows;
};

// Inner rows enter no mean.
void drop_inner(std::vector<Evidence>* rows) {
  std::erase_if(*rows, [](const Evidence& row) { return row.kind == EvidenceKind::inner; });
}

Digest digest_rows(const std::vector<Evidence>& rows) {
  std::string text;
  for (const Evidence& row : rows) text += fmt::format("{} {} {}\n", row.id.hex(), row.credit, evidence_kind_name(row.kind));
  return digest_bytes(text);
}

Result<Snapshot> read_snapshot(const std::string& path) {
  CAIRN_TRY(const MemoryStore store, MemoryStore::open(path, MemoryStore::Mode::read));
  CAIRN_TRY(MemoryContent content, store.snapshot());
  if (content.runs.empty()) return Error{Code::parse, path + ": no run is named, expected the one that began here", {}, {}};
  // Runs are listed by id; the one that began here is the newest.
  const auto newest = std::max_element(content.runs.begin(), content.runs.end(), [](const RunRecord& a, const RunRecord& b) { return a.started < b.started; });
  return Snapshot{*newest, std::move(content.directions), std::move(content.edges), std::move(content.evidence)};
}

Result<void> write_snapshot(const Snapshot& snapshot, const std::string& path) {
  const std::string draft = fmt::format("{}.{}", path, ::getpid());
  {
    CAIRN_TRY(MemoryStore store, MemoryStore::open(draft, MemoryStore::Mode::write));
    MemoryContent content;
    content.directions = snapshot.directions;
    content.edges = snapshot.edges;
    content.runs = {snapshot.run};
    content.evidence = snapshot.rows;
    CAIRN_CHECKED(store.put(content));
  }
  if (std::rename(draft.c_str(), path.c_str()) != 0) return Error{Code::io, fmt::format("{}: cannot be renamed to {}", draft, path), {}, {}};
  return {};
}

}  // namespace

bool needs_memory(const Session& session, bool remembers) {
  if (session.settings.value("proposer") == "memory") return true;
  return !search_memory_path(session).empty() && (remembers || session.settings.get("memory").source != "default");
}

std::string memory_path(const Settings& settings) {
  const std::string& path = settings.value("memory");
  if (path == "off") return {};
  return path.empty() ? default_memory_path() : path;
}

std::string search_memory_path(const Session& session) {
  const bool named = session.settings.get("memory").source != "default";
  return session.simulated && !named ? std::string() : memory_path(session.settings);
}

Result<MemoryMode> expect_memory_mode(const std::string& what, const std::string& name) {
  if (const auto mode = parse_memory_mode(name)) return *mode;
  std::string known;
  for (int k = 0; k <= static_cast<int>(MemoryMode::no_trigger); ++k) known += fmt::format(" {}", memory_mode_name(static_cast<MemoryMode>(k)));
  return Error{Code::usage, fmt::format("unknown {} '{}'", what, name), {}, {"known:" + known}};
}

Result<MemoryMode> memory_mode(const Settings& settings) { return expect_memory_mode("memory-mode", settings.value("memory-mode")); }

void MemoryRun::note_failure(const Error& error) {
  // Once is enough: a full disk stays full.
  if (notes_.empty() || notes_.back().find(error.message) == std::string::npos) notes_.push_back("the memory was not updated: " + error.message);
}

Result<std::unique_ptr<MemoryRun>> MemoryRun::open(Session& session, const MemoryRunInfo& info, const Target& target) {
  std::unique_ptr<MemoryRun> run(new MemoryRun);
  CAIRN_TRY(const MemoryMode mode, memory_mode(session.settings));
  const std::string path = search_memory_path(session);
  if (!path.empty()) {
    Result<MemoryStore> store = open_or_begin(path);
    const bool named = session.settings.get("memory").source != "default";
    if (!store.ok() && named) return store.error();
    if (store.ok()) run->store_.emplace(std::move(store.value()));
    else run->notes_.push_back("no memory: " + store.error().message);
  }
  const TaskMark task = mark_task(info.task, info.naive, target);
  Snapshot snapshot;
  const std::string kept = info.directory.empty() ? std::string() : join_path(info.directory, kSnapshotFile);
  if (!kept.empty() && file_exists(kept) && file_exists(join_path(info.directory, "journal.jsonl"))) {
    CAIRN_TRY(snapshot, read_snapshot(kept));
    CAIRN_TRY(const std::string recalled, read_file(join_path(info.directory, kRecallFile)));
    CAIRN_TRY(run->recalled_, parse_traces(recalled));
  } else {
    if (run->store_) {
      CAIRN_TRY(MemoryContent content, run->store_->snapshot());
      snapshot.directions = std::move(content.directions);
      snapshot.edges = std::move(content.edges);
      snapshot.rows = std::move(content.evidence);
      run->recalled_ = recall_traces(snapshot.rows, task, {}, kRecalled);
      drop_inner(&snapshot.rows);
    } else {
      snapshot.directions = built_in_cards().directions;
      snapshot.edges = built_in_cards().edges;
    }
    snapshot.run.started = session.clock.epoch();
    snapshot.run.task = info.task;
    snapshot.run.family = task.family;
    snapshot.run.mode = memory_mode_name(mode);
    snapshot.run.device = info.device;
    snapshot.run.target = target_digest(target).hex();
    snapshot.run.seed = info.seed;
    const std::string identity = fmt::format("{} {} {} {} {} {} {} {} {}", info.task, info.algorithm, info.seed, snapshot.run.mode, info.device,
                                             snapshot.run.target, snapshot.run.started, session.clock.now(), ::getpid());
    snapshot.run.id = digest_bytes(identity).hex();
    if (!kept.empty()) {
      CAIRN_CHECKED(write_file_atomic(join_path(info.directory, kRecallFile), print_traces(run->recalled_)));
      CAIRN_CHECKED(write_snapshot(snapshot, kept));
    }
  }
  run->record_ = snapshot.run;
  run->mark_ = fmt::format("{} {} {}", memory_mode_name(mode), snapshot.run.started, digest_rows(snapshot.rows).hex());
  run->snapshot_rows_ = snapshot.rows.size();
  GuideOptions options;
  options.mode = mode;
  options.triggers = list_triggers(snapshot.directions);
  options.edges = std::move(snapshot.edges);
  options.run = snapshot.run.id;
  options.task = task;
  options.device = mark_device(info.device, target);
  options.implementer = fmt::format("strategy@{}", kVersion);
  options.now = snapshot.run.started;
  if (run->store_) {
    if (Result<void> begun = run->store_->put_run(snapshot.run); !begun.ok()) run->note_failure(begun.error());
    MemoryRun* self = run.get();
    options.store = [self](const std::vector<Evidence>& rows) -> Result<void> {
      if (Result<void> written = self->store_->put(rows); !written.ok()) self->note_failure(written.error());
      return {};
    };
    options.note = [self](std::uint64_t number, const Decision& decision, const DecisionState& state) -> Result<void> {
      ++self->decisions_;
      const Result<void> written = self->store_->put_decision(self->record_.id, number, print_decision(decision, state));
      if (!written.ok()) self->note_failure(written.error());
      return {};
    };
  }
  run->guide_ = std::make_unique<MemoryGuide>(std::move(options), std::move(snapshot.rows), target);
  return run;
}

std::vector<std::string> MemoryRun::finish(Clock& clock) {
  if (store_) {
    record_.finished = clock.epoch();
    if (Result<void> ended = store_->put_run(record_); !ended.ok()) note_failure(ended.error());
  }
  return notes_;
}

}  // namespace cairn
