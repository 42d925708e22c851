// The tables of the index. docs/decisions/0004-search-index.md says why they are as they are.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "artifact/step.h"
#include "base/result.h"
#include "trace/journal_tail.h"
#include "trace/sqlite.h"
#include "trace/step_texts.h"

namespace kerf::trace {

// What was known of one folder of the run when it was last read.
struct OpState {
  int64_t id = 0;  // 0: not in the index
  std::string name;
  bool has_journal = false;
  int64_t journal_bytes = 0;
  int64_t journal_mtime_ns = 0;
  JournalMark mark;
  // Of the folders, hashed; 0: they changed so recently that a later change might not show.
  int64_t folder_stamp = 0;
  int64_t unjournaled_steps = 0;
};

struct IndexedRow {
  int64_t id = 0;
  uint64_t signature = 0;
  bool provisional = false;
};

struct NewRow {
  const Step* step = nullptr;
  int64_t time_us = 0;  // 0: unknown
  uint64_t signature = 0;
  bool provisional = false;
};

// A word of the hidden column that holds the values filters ask for. `what` is one letter.
std::string FacetWord(char what, std::string_view value);
inline constexpr char kFacetColumn[] = "kerf_facet";

// File names of a row, as they are stored: any name is possible, none contains a NUL.
std::string JoinNames(const std::vector<StepFile>& files);
std::vector<std::string> SplitNames(const std::string& joined);

class IndexStore {
 public:
  explicit IndexStore(Database database) : database_(std::move(database)) {}

  // Makes the tables when the file is empty, of another version of kerf, or of another program.
  Status Prepare();
  // Empties every table; inside the caller's transaction.
  Status Clear();

  Result<std::map<std::string, OpState>> LoadOps();
  Result<OpState> LoadOp(const std::string& name);
  // Inserts when op.id is 0, and sets it.
  Status SaveOp(OpState& op);
  // With its steps; how many those were.
  Result<int64_t> RemoveOp(int64_t op_id);

  Result<std::vector<IndexedRow>> Rows(int64_t op_id);
  Result<std::vector<IndexedRow>> ProvisionalRows(int64_t op_id);
  // Journaled rows of the step's place, whatever they hold.
  Result<std::vector<IndexedRow>> RowsAt(int64_t op_id, const Step& step);
  // Adds the rows oldest first, because full text is written fastest in the order of its ids.
  // `texts` is asked for the parts of one step at a time.
  using PartTexts = std::array<std::string, kAllParts.size()>;
  Status AddAll(const OpState& op, std::vector<NewRow> rows,
                const std::function<PartTexts(NewRow&)>& texts);
  Status Remove(int64_t row_id);
  Status SetProvisional(int64_t row_id, bool provisional);

  Result<int64_t> CountSteps() { return database_.QueryInt("SELECT count(*) FROM step"); }
  // Full-text rows whose step is gone: see Remove().
  Result<int64_t> CountDead() { return database_.QueryInt("SELECT count(*) FROM dead"); }
  Result<int64_t> GetFact(const std::string& name);
  Status SetFact(const std::string& name, int64_t value);

  // Ids grow with time, so that the newest matches can be had without sorting: every step at or
  // after `time_us` has an id of at least FirstId(time_us); every step up to it, at most
  // LastId(time_us).
  static int64_t FirstId(int64_t time_us);
  Result<int64_t> LastId(int64_t time_us);

  Database& database() { return database_; }

 private:
  Result<Statement*> Cached(const char* sql);
  Result<std::vector<IndexedRow>> ReadRows(Statement& select);
  Status Add(const OpState& op, int64_t id, const NewRow& row, const PartTexts& parts);
  // The first free id of that time that is larger than `after`.
  Result<int64_t> FreeId(int64_t time_us, int64_t after);
  Result<bool> IsCurrent();
  Status Create();

  // The statements go before the database.
  Database database_;
  std::map<const char*, Statement> cache_;
};

}  // namespace kerf::trace
