#include "trace/sqlite.h"

#include <sqlite3.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace kerf::trace {
namespace {

constexpr int kBusyMillis = 2000;

Error ErrorOf(sqlite3* handle, int code, const std::string& path) {
  const std::string message =
      "index " + path + ": " + (handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle));
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Unavailable(message + "; another process is writing it, try again");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_SCHEMA:
      return Corrupt(message + "; rebuild it with 'kerf trace index'");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Denied(message);
    case SQLITE_FULL:
      return IoError(message + "; free some space");
    case SQLITE_ERROR:
      return InvalidInput(message);
    default:
      return IoError(message);
  }
}

std::string PathOf(sqlite3* handle) {
  const char* path = sqlite3_db_filename(handle, "main");
  return path == nullptr ? "" : path;
}

// Readers beside a writer need memory shared by all of them, which hosts that mount one directory
// do not have.
bool IsNetworkFileSystem(const std::string& path) {
  // NFS, SMB, CIFS, Lustre, GPFS, Ceph, AFS, 9P, FUSE: linux/magic.h and the file systems' own
  // headers.
  constexpr std::array<uint32_t, 9> kMagic = {0x6969,     0xFE534D42, 0xFF534D42,
                                              0x0BD00BD0, 0x47504653, 0x00C36400,
                                              0x5346414F, 0x01021997, 0x65735546};
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return false;
  return std::find(kMagic.begin(), kMagic.end(), static_cast<uint32_t>(info.f_type)) !=
         kMagic.end();
}

}  // namespace

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement& Statement::Bind(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
  return *this;
}

Statement& Statement::Bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL.
  const char* bytes = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(statement_.get(), parameter, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* handle = sqlite3_db_handle(statement_.get());
  return ErrorOf(handle, code, PathOf(handle));
}

Status Statement::Run() {
  const Result<bool> row = Step();
  Reset();
  if (!row.ok()) return row.error();
  return {};
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double Statement::Real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

void Database::Closer::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::Open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &handle,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX,
      nullptr);
  Database database(handle, path);
  if (code != SQLITE_OK) return ErrorOf(handle, code, path);
  // SQLite falls back to reading only without a word.
  if (sqlite3_db_readonly(handle, "main") == 1) return Denied("index " + path + " is read-only");
  sqlite3_busy_timeout(handle, kBusyMillis);
  return database;
}

Status Database::SetUp() {
  // A cache: NORMAL keeps it consistent, though not the newest, after a power cut.
  return Exec(
      "PRAGMA synchronous=NORMAL; PRAGMA secure_delete=OFF; PRAGMA temp_store=MEMORY;"
      "PRAGMA cache_size=-32768");
}

Status Database::Exec(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return ErrorOf(handle_.get(), code, path_);
  return {};
}

Result<Statement> Database::Prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.c_str(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code == SQLITE_OK) return Statement(statement);
  Error error = ErrorOf(handle_.get(), code, path_);
  if (code == SQLITE_ERROR) error.code = ErrorCode::kCorrupt;
  return error;
}

Result<int64_t> Database::QueryInt(const std::string& sql) {
  KERF_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  KERF_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Int(0) : 0;
}

Status Database::UseConcurrentReaders() {
  return Exec(IsNetworkFileSystem(path_) ? "PRAGMA journal_mode=TRUNCATE"
                                         : "PRAGMA journal_mode=WAL");
}

Status Database::Wipe() {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_RESET_DATABASE, 1, nullptr);
  Status wiped = Exec("VACUUM");
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_RESET_DATABASE, 0, nullptr);
  return wiped;
}

Transaction::~Transaction() {
  if (active_) (void)database_.Exec("ROLLBACK");
}

Status Transaction::Begin() {
  KERF_RETURN_IF_ERROR(database_.Exec("BEGIN IMMEDIATE"));
  active_ = true;
  return {};
}

Status Transaction::Commit() {
  KERF_RETURN_IF_ERROR(database_.Exec("COMMIT"));
  active_ = false;
  return {};
}

}  // namespace kerf::trace
