#include "trace/index.h"

#include <cstdlib>
#include <filesystem>

#include "base/hash.h"
#include "trace/names.h"
#include "trace/reader.h"

namespace kerf::trace {
namespace {

constexpr char kIndexFile[] = "index.sqlite";
// Below this, dead rows are cheaper than a rebuild.
constexpr int64_t kToleratedDead = 1000;

std::string IndexPath(const std::string& run_path) {
  return JoinPath(JoinPath(run_path, kPrivateFolder), kIndexFile);
}

std::string CacheHome(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const char* home = std::getenv("XDG_CACHE_HOME");
  // The specification says that a relative one is to be ignored.
  return home != nullptr && home[0] == '/' ? home : ExpandHome("~/.cache");
}

Result<std::unique_ptr<IndexStore>> OpenStore(const std::string& path) {
  KERF_ASSIGN_OR_RETURN(Database database, Database::Open(path));
  auto store = std::make_unique<IndexStore>(std::move(database));
  Status prepared = store->Prepare();
  if (!prepared.ok() && prepared.error().code == ErrorCode::kCorrupt) {
    KERF_RETURN_IF_ERROR(store->database().Wipe());
    prepared = store->Prepare();
  }
  if (!prepared.ok()) return std::move(prepared).error();
  return store;
}

Result<std::unique_ptr<IndexStore>> OpenBeside(FileSystem& fs, const std::string& run_path) {
  KERF_RETURN_IF_ERROR(fs.CreateDir(JoinPath(run_path, kPrivateFolder)));
  return OpenStore(IndexPath(run_path));
}

Result<std::unique_ptr<IndexStore>> OpenInCache(FileSystem& fs, const std::string& run_path,
                                                const std::string& cache_home) {
  const std::string folder = JoinPath(CacheHome(cache_home), "kerf/index");
  KERF_RETURN_IF_ERROR(fs.CreateDirs(folder));
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(folder, error);
  if (error) return IoError(folder + ": " + error.message());
  return OpenStore(JoinPath(real.string(), Hex64(Xxh3(run_path)) + ".sqlite"));
}

}  // namespace

Result<SearchTarget> FindSearchTarget(FileSystem& fs, const std::string& raw_path) {
  const std::string path = NamedPath(ExpandHome(raw_path));
  SearchTarget target;
  if (IsThere(fs, IndexPath(path)) && !IsThere(fs, JoinPath(path, kJournalName))) {
    target.runs.push_back(path);
    return target;
  }
  KERF_ASSIGN_OR_RETURN(const std::vector<Run> runs, FindRuns(fs, path));
  for (const Run& run : runs) target.runs.push_back(run.path);
  const bool is_op = runs.size() == 1 && runs[0].ops.size() == 1 &&
                     runs[0].path == ParentPath(path) && runs[0].ops[0] == BaseName(path);
  if (is_op) target.op = runs[0].ops[0];
  return target;
}

TraceIndex::TraceIndex(FileSystem& fs, Clock& clock, std::string run_path, Options options,
                       std::unique_ptr<IndexStore> store)
    : fs_(fs),
      clock_(clock),
      run_path_(std::move(run_path)),
      options_(std::move(options)),
      store_(std::move(store)) {}

Result<std::unique_ptr<TraceIndex>> TraceIndex::Open(FileSystem& fs, Clock& clock,
                                                     const std::string& run_path, Options options) {
  // SQLite is told the real path, because it is told to follow no link: one planted in a log
  // directory must not lead it to another file.
  std::error_code error;
  const std::string real = std::filesystem::canonical(ExpandHome(run_path), error).string();
  if (error) return NotFound(run_path + ": " + error.message() + "; give a log directory");
  Result<std::unique_ptr<IndexStore>> store = OpenBeside(fs, real);
  if (!store.ok() && store.error().code != ErrorCode::kUnavailable) {
    Result<std::unique_ptr<IndexStore>> elsewhere = OpenInCache(fs, real, options.cache_home);
    if (!elsewhere.ok()) {
      return Error{elsewhere.error().code, "no place for the index: " + store.error().message +
                                               "; and " + elsewhere.error().message +
                                               "; set XDG_CACHE_HOME to a writable directory"};
    }
    store = std::move(elsewhere);
  }
  if (!store.ok()) return std::move(store).error();
  return std::unique_ptr<TraceIndex>(
      new TraceIndex(fs, clock, run_path, std::move(options), std::move(*store)));
}

Status TraceIndex::Recreate() {
  const std::string path = store_->database().path();
  KERF_RETURN_IF_ERROR(store_->database().Wipe());
  store_.reset();
  KERF_ASSIGN_OR_RETURN(store_, OpenStore(path));
  return {};
}

Result<IndexReport> TraceIndex::Update() {
  IndexReport report;
  for (int attempt = 0;; ++attempt) {
    IndexUpdater updater(fs_, clock_, *store_, run_path_, options_.progress);
    const Status updated = updater.Update();
    report.added = updater.added();
    report.removed = updater.removed();
    report.unread = updater.unread();
    report.skipped = updater.skipped();
    if (updated.ok()) break;
    if (updated.error().code == ErrorCode::kUnavailable) {
      report.complete = false;
      return report;
    }
    if (updated.error().code != ErrorCode::kCorrupt || attempt > 0) return updated.error();
    KERF_RETURN_IF_ERROR(Recreate());
  }
  if (report.removed == 0) return report;
  KERF_ASSIGN_OR_RETURN(const int64_t dead, store_->CountDead());
  if (dead < kToleratedDead) return report;
  KERF_ASSIGN_OR_RETURN(const int64_t live, store_->CountSteps());
  if (dead <= live) return report;
  Result<IndexReport> rebuilt = Rebuild();
  // That can wait until nobody else is writing.
  const bool busy = !rebuilt.ok() && rebuilt.error().code == ErrorCode::kUnavailable;
  return busy ? report : rebuilt;
}

Result<IndexReport> TraceIndex::Rebuild() {
  for (int attempt = 0;; ++attempt) {
    IndexUpdater updater(fs_, clock_, *store_, run_path_, options_.progress);
    const Status rebuilt = updater.Rebuild();
    if (rebuilt.ok()) {
      KERF_ASSIGN_OR_RETURN(const int64_t steps, store_->CountSteps());
      return IndexReport{steps, updater.added(),  updater.removed(),
                         true,  updater.unread(), updater.skipped()};
    }
    if (rebuilt.error().code != ErrorCode::kCorrupt || attempt > 0) return rebuilt.error();
    KERF_RETURN_IF_ERROR(Recreate());
  }
}

}  // namespace kerf::trace
