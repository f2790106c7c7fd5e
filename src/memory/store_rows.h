// Rows of the memory file: columns in one order for writing and reading.
#pragma once
#include <string>
#include <vector>

#include "memory/store.h"
#include "memory/store_sqlite.h"

namespace cairn {

Result<void> write_content(const Database& database, const MemoryContent& content);
// Everything, with the evidence that the query selects; of one instant within a transaction.
Result<MemoryContent> read_content(const Database& database, const EvidenceQuery& query);
// Evidence that the query selects, by id.
Result<std::vector<Evidence>> read_evidence(const Database& database, const EvidenceQuery& query);
Result<std::vector<DirectionCard>> read_directions(const Database& database);
Result<std::vector<LocalCard>> read_locals(const Database& database);
Result<std::vector<EdgeCard>> read_edges(const Database& database);
Result<std::vector<RunRecord>> read_runs(const Database& database);
Result<std::vector<DecisionRecord>> read_decisions(const Database& database);
Result<std::vector<NodeStatistics>> read_statistics(const Database& database);
Result<std::vector<DeviceRows>> read_devices(const Database& database);
// A condition over the table evidence and its parameters, bound in this order.
struct RowSelection {
  std::string sql;
  std::vector<std::string> texts;
  std::vector<std::int64_t> integers;
  Statement& bind_to(Statement& statement) const;
};
RowSelection select_rows(const EvidenceQuery& query);
// What prune takes.
RowSelection select_prunable(std::int64_t older_than, const EvidenceQuery& query, std::uint64_t keep);
// Deletes the rows, and the decisions and the record of runs that have no rows left.
Result<void> delete_evidence(const Database& database, const RowSelection& selection, std::uint64_t* deleted);

}  // namespace cairn
