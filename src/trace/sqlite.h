// SQLite behind Result<>: the only header through which kerf's code sees it.
//
//   KERF_ASSIGN_OR_RETURN(Database database, Database::Open(path));
//   KERF_ASSIGN_OR_RETURN(Statement select, database.Prepare("SELECT id FROM step WHERE task =
//   ?1")); select.Bind(1, task); for (;;) {
//     KERF_ASSIGN_OR_RETURN(const bool row, select.Step());
//     if (!row) break;
//     … select.Int(0) …
//   }
//
// Not thread-safe: every thread opens its own Database. Statements must not outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kerf::trace {

class Statement {
 public:
  // Parameters and columns are numbered as SQLite does: ?1 is 1, the first column is 0. A bound
  // text must live until the next Reset().
  Statement& Bind(int parameter, int64_t value);
  Statement& Bind(int parameter, std::string_view text);
  // Whether there is a row. An SQLITE_ERROR here is kInvalidInput: our SQL was accepted, so it is a
  // full-text query that was not.
  Result<bool> Step();
  // Runs a statement that gives no rows, and makes it ready for the next time.
  Status Run();
  void Reset();
  [[nodiscard]] int64_t Int(int column) const;
  [[nodiscard]] double Real(int column) const;
  [[nodiscard]] std::string Text(int column) const;

 private:
  friend class Database;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

class Database {
 public:
  // Creates the file when it is missing. kDenied when it cannot be written to; kCorrupt is found by
  // the first use, not here. No component of `path` may be a symbolic link.
  static Result<Database> Open(const std::string& path);

  // How to cache and to sync; for each connection. The first call that looks into the file.
  Status SetUp();
  Status Exec(const std::string& sql);
  // kCorrupt when the tables are not those the SQL expects.
  Result<Statement> Prepare(const std::string& sql);
  // The first column of the first row; 0 when there is none.
  Result<int64_t> QueryInt(const std::string& sql);
  // Readers see the last committed state while another process writes. kUnavailable when the file
  // is in use just now.
  Status UseConcurrentReaders();
  // Empties the file, whatever it holds, also when that is not a database. Other processes that use
  // it see an empty one.
  Status Wipe();
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] sqlite3* handle() { return handle_.get(); }

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  std::unique_ptr<sqlite3, Closer> handle_;
  std::string path_;
};

// Everything between Begin() and Commit() happens or does not; undone by the destructor. One at a
// time.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  // Waits up to two seconds for another writer, then kUnavailable.
  Status Begin();
  Status Commit();

 private:
  Database& database_;
  bool active_ = false;
};

}  // namespace kerf::trace
