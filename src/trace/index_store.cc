// Layout of index.sqlite:
//
//   op     one row per folder of the run: how far it was read
//   step   one row per step; its id grows with its time
//   text   FTS5 without a copy of the texts (content=''): a row per step under the step's id, a
//          column per part, and a hidden column with a word for each value a filter can ask for
//   dead   ids of text rows whose step is gone
//   fact   numbers about the whole run
//
// FTS5 can take a row out of a table without copies only when it is given the very same texts
// again, and the files may be gone or changed. So the row stays, no step answers to its id, and the
// id is not used again. The index is rebuilt when more are dead than alive.
#include "trace/index_store.h"

#include <algorithm>

#include "base/hash.h"
#include "trace/full_text.h"

namespace kerf::trace {
namespace {

constexpr int64_t kApplicationId = 0x6b657266;  // "kerf"
constexpr int64_t kTablesVersion = 1;           // of the tables, the tokenizer and the parts

// Sixteen steps can have the same millisecond; more shift to later ids. Finer ids would cost a byte
// or two in every one of the index's millions of entries.
constexpr int64_t kIdsPerMilli = 16;
constexpr char kMaxShift[] = "max_shift";

constexpr char kTables[] = R"sql(
CREATE TABLE op(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, has_journal INTEGER, journal_bytes INTEGER,
  journal_mtime_ns INTEGER, mark_end INTEGER, mark_settled INTEGER, mark_line_begin INTEGER,
  mark_line_hash INTEGER, folder_stamp INTEGER, unjournaled_steps INTEGER);
CREATE TABLE step(id INTEGER PRIMARY KEY, op INTEGER NOT NULL, task TEXT NOT NULL, step INTEGER NOT NULL,
  kind INTEGER, action TEXT, check_name TEXT, attempt INTEGER, verification INTEGER, time_us INTEGER,
  names TEXT, files TEXT, journaled INTEGER, provisional INTEGER, signature INTEGER);
CREATE INDEX step_place ON step(op, task, step);
CREATE INDEX step_provisional ON step(op) WHERE provisional;
CREATE TABLE dead(id INTEGER PRIMARY KEY);
CREATE TABLE fact(name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
CREATE VIRTUAL TABLE text USING fts5(result, log, reasoning, prompt, kerf_facet, content='', tokenize='kerf');
INSERT INTO text(text, rank) VALUES('rank', 'bm25(1.0, 1.0, 1.0, 1.0, 0.0)');
INSERT INTO text(text, rank) VALUES('hashsize', 16777216);
)sql";

constexpr char kOpColumns[] =
    "SELECT id, name, has_journal, journal_bytes, journal_mtime_ns, mark_end, mark_settled,"
    " mark_line_begin, mark_line_hash, folder_stamp, unjournaled_steps FROM op";

OpState ReadOpState(const Statement& row) {
  OpState op;
  op.id = row.Int(0);
  op.name = row.Text(1);
  op.has_journal = row.Int(2) != 0;
  op.journal_bytes = row.Int(3);
  op.journal_mtime_ns = row.Int(4);
  op.mark.end = static_cast<uint64_t>(row.Int(5));
  op.mark.settled = static_cast<uint64_t>(row.Int(6));
  op.mark.line_begin = static_cast<uint64_t>(row.Int(7));
  op.mark.line_hash = static_cast<uint64_t>(row.Int(8));
  op.folder_stamp = row.Int(9);
  op.unjournaled_steps = row.Int(10);
  return op;
}

std::string Facets(const OpState& op, const Step& step) {
  std::string words = FacetWord('o', op.name) + " " + FacetWord('t', step.task) + " " +
                      FacetWord('a', step.action) + " " + FacetWord('k', RecordKindName(step.kind));
  if (!step.check.empty()) words += " " + FacetWord('a', step.check);
  if (step.verification != Verification::kNone) {
    words += " " + FacetWord('v', VerificationName(step.verification));
  }
  return words;
}

}  // namespace

std::string FacetWord(char what, std::string_view value) { return what + Hex64(Xxh3(value)); }

std::string JoinNames(const std::vector<StepFile>& files) {
  std::string joined;
  for (const StepFile& file : files) {
    if (!joined.empty()) joined += '\0';
    joined += file.name;
  }
  return joined;
}

std::vector<std::string> SplitNames(const std::string& joined) {
  std::vector<std::string> names;
  for (size_t at = 0; at < joined.size();) {
    const size_t end = std::min(joined.find('\0', at), joined.size());
    names.push_back(joined.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

Result<bool> IndexStore::IsCurrent() {
  KERF_ASSIGN_OR_RETURN(const int64_t application, database_.QueryInt("PRAGMA application_id"));
  KERF_ASSIGN_OR_RETURN(const int64_t version, database_.QueryInt("PRAGMA user_version"));
  return application == kApplicationId && version == kTablesVersion;
}

Status IndexStore::Prepare() {
  KERF_RETURN_IF_ERROR(database_.SetUp());
  KERF_RETURN_IF_ERROR(InstallFullText(database_));
  KERF_ASSIGN_OR_RETURN(bool current, IsCurrent());
  if (current) return {};
  Status created = Create();
  if (created.ok() || created.error().code != ErrorCode::kUnavailable) return created;
  // Whoever made us wait may have made the tables, and be filling them now.
  KERF_ASSIGN_OR_RETURN(current, IsCurrent());
  if (current) return {};
  return created;
}

Status IndexStore::Create() {
  KERF_ASSIGN_OR_RETURN(const int64_t objects,
                        database_.QueryInt("SELECT count(*) FROM sqlite_schema"));
  if (objects > 0) KERF_RETURN_IF_ERROR(database_.Wipe());
  KERF_RETURN_IF_ERROR(database_.UseConcurrentReaders());
  Transaction transaction(database_);
  KERF_RETURN_IF_ERROR(transaction.Begin());
  KERF_ASSIGN_OR_RETURN(const bool current, IsCurrent());
  if (current) return {};  // another process was quicker
  KERF_RETURN_IF_ERROR(database_.Exec(kTables));
  KERF_RETURN_IF_ERROR(database_.Exec("PRAGMA application_id=" + std::to_string(kApplicationId) +
                                      "; PRAGMA user_version=" + std::to_string(kTablesVersion)));
  return transaction.Commit();
}

Status IndexStore::Clear() {
  cache_.clear();
  KERF_RETURN_IF_ERROR(database_.Exec(
      "DROP TABLE text; DROP TABLE step; DROP TABLE op; DROP TABLE dead; DROP TABLE fact"));
  return database_.Exec(kTables);
}

// Keyed by the literal's address: each call site has its own statement.
Result<Statement*> IndexStore::Cached(const char* sql) {
  auto found = cache_.find(sql);
  if (found == cache_.end()) {
    KERF_ASSIGN_OR_RETURN(Statement statement, database_.Prepare(sql));
    found = cache_.emplace(sql, std::move(statement)).first;
  }
  found->second.Reset();
  return &found->second;
}

Result<std::map<std::string, OpState>> IndexStore::LoadOps() {
  KERF_ASSIGN_OR_RETURN(Statement select, database_.Prepare(kOpColumns));
  std::map<std::string, OpState> ops;
  for (;;) {
    KERF_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return ops;
    OpState op = ReadOpState(select);
    ops.emplace(op.name, op);
  }
}

Result<OpState> IndexStore::LoadOp(const std::string& name) {
  KERF_ASSIGN_OR_RETURN(Statement select,
                        database_.Prepare(std::string(kOpColumns) + " WHERE name = ?1"));
  select.Bind(1, name);
  KERF_ASSIGN_OR_RETURN(const bool row, select.Step());
  if (row) return ReadOpState(select);
  OpState unknown;
  unknown.name = name;
  return unknown;
}

Status IndexStore::SaveOp(OpState& op) {
  KERF_ASSIGN_OR_RETURN(
      Statement * save,
      Cached(
          "INSERT INTO op(id, name, has_journal, journal_bytes, journal_mtime_ns, mark_end, "
          "mark_settled,"
          " mark_line_begin, mark_line_hash, folder_stamp, unjournaled_steps)"
          " VALUES(nullif(?1, 0), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
          " ON CONFLICT(name) DO UPDATE SET has_journal=?3, journal_bytes=?4, journal_mtime_ns=?5,"
          " mark_end=?6, mark_settled=?7, mark_line_begin=?8, mark_line_hash=?9,"
          " folder_stamp=?10, unjournaled_steps=?11 RETURNING id"));
  save->Bind(1, op.id).Bind(2, op.name).Bind(3, int64_t{op.has_journal});
  save->Bind(4, op.journal_bytes).Bind(5, op.journal_mtime_ns);
  save->Bind(6, static_cast<int64_t>(op.mark.end)).Bind(7, static_cast<int64_t>(op.mark.settled));
  save->Bind(8, static_cast<int64_t>(op.mark.line_begin));
  save->Bind(9, static_cast<int64_t>(op.mark.line_hash));
  save->Bind(10, op.folder_stamp).Bind(11, op.unjournaled_steps);
  KERF_ASSIGN_OR_RETURN(const bool row, save->Step());
  if (row) op.id = save->Int(0);
  save->Reset();
  return {};
}

Result<int64_t> IndexStore::RemoveOp(int64_t op_id) {
  KERF_ASSIGN_OR_RETURN(const std::vector<IndexedRow> rows, Rows(op_id));
  for (const IndexedRow& row : rows) KERF_RETURN_IF_ERROR(Remove(row.id));
  KERF_ASSIGN_OR_RETURN(Statement * remove, Cached("DELETE FROM op WHERE id = ?1"));
  KERF_RETURN_IF_ERROR(remove->Bind(1, op_id).Run());
  return static_cast<int64_t>(rows.size());
}

Result<std::vector<IndexedRow>> IndexStore::ReadRows(Statement& select) {
  std::vector<IndexedRow> rows;
  for (;;) {
    KERF_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) break;
    rows.push_back({select.Int(0), static_cast<uint64_t>(select.Int(1)), select.Int(2) != 0});
  }
  select.Reset();
  return rows;
}

Result<std::vector<IndexedRow>> IndexStore::Rows(int64_t op_id) {
  KERF_ASSIGN_OR_RETURN(
      Statement * select,
      Cached("SELECT id, signature, provisional FROM step WHERE op = ?1 ORDER BY task, step"));
  return ReadRows(select->Bind(1, op_id));
}

Result<std::vector<IndexedRow>> IndexStore::ProvisionalRows(int64_t op_id) {
  KERF_ASSIGN_OR_RETURN(
      Statement * select,
      Cached("SELECT id, signature, provisional FROM step WHERE op = ?1 AND provisional"));
  return ReadRows(select->Bind(1, op_id));
}

Result<std::vector<IndexedRow>> IndexStore::RowsAt(int64_t op_id, const Step& step) {
  KERF_ASSIGN_OR_RETURN(
      Statement * select,
      Cached("SELECT id, signature, provisional FROM step WHERE op = ?1 AND task = ?2 AND step = ?3"
             " AND (kind = ?4) = ?5 AND check_name = ?6 AND attempt = ?7 AND journaled"));
  select->Bind(1, op_id).Bind(2, step.task).Bind(3, step.step);
  select->Bind(4, static_cast<int64_t>(RecordKind::kConductor));
  select->Bind(5, int64_t{step.kind == RecordKind::kConductor});
  return ReadRows(select->Bind(6, step.check).Bind(7, step.attempt));
}

Status IndexStore::AddAll(const OpState& op, std::vector<NewRow> rows,
                          const std::function<PartTexts(NewRow&)>& texts) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const NewRow& a, const NewRow& b) { return a.time_us < b.time_us; });
  int64_t id = 0;
  for (NewRow& row : rows) {
    KERF_ASSIGN_OR_RETURN(id, FreeId(row.time_us, id));
    const PartTexts parts = texts(row);
    KERF_RETURN_IF_ERROR(Add(op, id, row, parts));
  }
  return {};
}

Status IndexStore::Add(const OpState& op, int64_t id, const NewRow& row, const PartTexts& parts) {
  const Step& step = *row.step;
  KERF_ASSIGN_OR_RETURN(Statement * insert,
                        Cached("INSERT INTO step VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
                               "?11, ?12, ?13, ?14, ?15)"));
  const std::string files = JoinNames(step.files);
  insert->Bind(1, id).Bind(2, op.id).Bind(3, step.task).Bind(4, step.step);
  insert->Bind(5, static_cast<int64_t>(step.kind)).Bind(6, step.action).Bind(7, step.check);
  insert->Bind(8, step.attempt).Bind(9, static_cast<int64_t>(step.verification));
  insert->Bind(10, row.time_us).Bind(11, step.names).Bind(12, files);
  insert->Bind(13, int64_t{step.journaled}).Bind(14, int64_t{row.provisional});
  insert->Bind(15, static_cast<int64_t>(row.signature));
  KERF_RETURN_IF_ERROR(insert->Run());
  KERF_ASSIGN_OR_RETURN(Statement * text,
                        Cached("INSERT INTO text(rowid, result, log, reasoning, prompt, kerf_facet)"
                               " VALUES(?1, ?2, ?3, ?4, ?5, ?6)"));
  const std::string facets = Facets(op, step);
  text->Bind(1, id).Bind(2, parts[0]).Bind(3, parts[1]).Bind(4, parts[2]).Bind(5, parts[3]);
  return text->Bind(6, facets).Run();
}

Status IndexStore::Remove(int64_t row_id) {
  KERF_ASSIGN_OR_RETURN(Statement * remove, Cached("DELETE FROM step WHERE id = ?1"));
  KERF_RETURN_IF_ERROR(remove->Bind(1, row_id).Run());
  KERF_ASSIGN_OR_RETURN(Statement * bury, Cached("INSERT OR IGNORE INTO dead VALUES(?1)"));
  return bury->Bind(1, row_id).Run();
}

Status IndexStore::SetProvisional(int64_t row_id, bool provisional) {
  KERF_ASSIGN_OR_RETURN(Statement * update,
                        Cached("UPDATE step SET provisional = ?2 WHERE id = ?1"));
  return update->Bind(1, row_id).Bind(2, int64_t{provisional}).Run();
}

Result<int64_t> IndexStore::GetFact(const std::string& name) {
  KERF_ASSIGN_OR_RETURN(Statement * select, Cached("SELECT value FROM fact WHERE name = ?1"));
  KERF_ASSIGN_OR_RETURN(const bool row, select->Bind(1, name).Step());
  const int64_t value = row ? select->Int(0) : 0;
  select->Reset();
  return value;
}

Status IndexStore::SetFact(const std::string& name, int64_t value) {
  KERF_ASSIGN_OR_RETURN(Statement * save, Cached("INSERT OR REPLACE INTO fact VALUES(?1, ?2)"));
  return save->Bind(1, name).Bind(2, value).Run();
}

int64_t IndexStore::FirstId(int64_t time_us) {
  // 2^58 ids are enough until the year 11000; what lies beyond is somebody's joke.
  constexpr int64_t kLargest = int64_t{1} << 58;
  return std::min(std::max(time_us, int64_t{0}) / 1000, kLargest / kIdsPerMilli) * kIdsPerMilli + 1;
}

Result<int64_t> IndexStore::LastId(int64_t time_us) {
  KERF_ASSIGN_OR_RETURN(const int64_t shift, GetFact(kMaxShift));
  return FirstId(time_us) + shift;
}

Result<int64_t> IndexStore::FreeId(int64_t time_us, int64_t after) {
  KERF_ASSIGN_OR_RETURN(Statement * taken, Cached("SELECT EXISTS(SELECT 1 FROM step WHERE id = ?1) "
                                                  "OR EXISTS(SELECT 1 FROM dead WHERE id = ?1)"));
  const int64_t first = FirstId(time_us);
  int64_t id = std::max(first, after + 1);
  for (;; ++id) {
    KERF_ASSIGN_OR_RETURN(const bool row, taken->Bind(1, id).Step());
    const bool is_taken = row && taken->Int(0) != 0;
    taken->Reset();
    if (!is_taken) break;
  }
  KERF_ASSIGN_OR_RETURN(const int64_t shift, GetFact(kMaxShift));
  if (id - first > shift) KERF_RETURN_IF_ERROR(SetFact(kMaxShift, id - first));
  return id;
}

}  // namespace kerf::trace
