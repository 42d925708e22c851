#include "base/fake_file_system.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <set>

namespace kerf {

// A file or folder, independent of its names, in two states: as programs see it, and as the device
// holds it.
struct FakeFileSystem::Node {
  using Entries = std::map<std::string, std::shared_ptr<Node>>;

  FileKind kind = FileKind::kFile;
  std::string bytes;
  std::string synced_bytes;
  Entries entries;
  Entries synced_entries;
  int64_t mtime_ns = 0;
  bool locked = false;
};

// Everything below is guarded by `mu`.
struct FakeFileSystem::Disk {
  using NodePtr = std::shared_ptr<Node>;

  // A name in a folder; `node` is null when the folder has no such entry.
  struct Place {
    NodePtr parent;
    std::string name;
    NodePtr node;
  };

  std::mutex mu;
  std::condition_variable unlocked;
  NodePtr root = MakeNode(FileKind::kDirectory);
  int generation = 0;  // open files and locks of an earlier one are dead
  int64_t now_ns = 0;
  int calls = 0;
  int fail_from_call = std::numeric_limits<int>::max();
  int fail_to_call = std::numeric_limits<int>::max();
  int fail_errno = 0;
  bool crashing = false;
  uint64_t write_budget = std::numeric_limits<uint64_t>::max();
  int write_errno = 0;

  NodePtr MakeNode(FileKind kind) {
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->mtime_ns = ++now_ns;
    return node;
  }

  // The parent must exist; the entry need not.
  Result<Place> Find(const std::string& operation, const std::string& path) {
    Place place{nullptr, "", root};
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      const std::string name = path.substr(begin, end - begin);
      begin = end + 1;
      if (name.empty() || name == ".") continue;
      if (place.node == nullptr) return ErrnoError(operation, path, ENOENT);
      if (place.node->kind != FileKind::kDirectory) return ErrnoError(operation, path, ENOTDIR);
      const auto entry = place.node->entries.find(name);
      place = {place.node, name, entry == place.node->entries.end() ? nullptr : entry->second};
    }
    return place;
  }

  Result<NodePtr> FindExisting(const std::string& operation, const std::string& path) {
    KERF_ASSIGN_OR_RETURN(Place place, Find(operation, path));
    if (place.node == nullptr) return ErrnoError(operation, path, ENOENT);
    return place.node;
  }

  // Every mutating call passes here first.
  Status CountCall(const std::string& operation, const std::string& path) {
    if (++calls < fail_from_call || calls > fail_to_call) return {};
    if (crashing) return IoError("cannot " + operation + " " + path + ": the machine has crashed");
    return ErrnoError(operation, path, fail_errno);
  }

  void Restart(bool lose_unsynced) {
    ++generation;
    std::set<Node*> seen;
    Revive(*root, lose_unsynced, seen);
    ClearFaults();
    unlocked.notify_all();
  }

  void Revive(Node& node, bool lose_unsynced, std::set<Node*>& seen) {
    if (!seen.insert(&node).second) return;
    node.locked = false;
    if (lose_unsynced) {
      node.bytes = node.synced_bytes;
      node.entries = node.synced_entries;
    }
    for (auto& [name, child] : node.entries) Revive(*child, lose_unsynced, seen);
  }

  void SyncTree(Node& node) {
    node.synced_bytes = node.bytes;
    node.synced_entries = node.entries;
    for (auto& [name, child] : node.entries) SyncTree(*child);
  }

  void ClearFaults() {
    fail_from_call = std::numeric_limits<int>::max();
    fail_to_call = std::numeric_limits<int>::max();
    crashing = false;
    write_budget = std::numeric_limits<uint64_t>::max();
  }
};

class FakeFileSystem::OpenFile : public File {
 public:
  OpenFile(std::shared_ptr<Disk> disk, std::shared_ptr<Node> node, std::string path, bool append)
      : disk_(std::move(disk)),
        node_(std::move(node)),
        path_(std::move(path)),
        append_(append),
        generation_(disk_->generation) {}

  ~OpenFile() override { Unlock(); }

  Status Write(std::string_view bytes) override {
    const std::lock_guard hold(disk_->mu);
    KERF_RETURN_IF_ERROR(Mutate("write"));
    const auto written = static_cast<size_t>(std::min<uint64_t>(bytes.size(), disk_->write_budget));
    if (append_) offset_ = node_->bytes.size();
    if (node_->bytes.size() < offset_ + written) node_->bytes.resize(offset_ + written);
    node_->bytes.replace(offset_, written, bytes.substr(0, written));
    offset_ += written;
    node_->mtime_ns = ++disk_->now_ns;
    if (disk_->write_budget != std::numeric_limits<uint64_t>::max()) {
      disk_->write_budget -= written;
    }
    if (written < bytes.size()) return ErrnoError("write", path_, disk_->write_errno);
    return {};
  }

  void StartSync() override {}  // a hint: nothing is durable by it

  Status Sync() override {
    const std::lock_guard hold(disk_->mu);
    KERF_RETURN_IF_ERROR(Mutate("sync"));
    node_->synced_bytes = node_->bytes;
    return {};
  }

  Result<uint64_t> Size() override {
    const std::lock_guard hold(disk_->mu);
    KERF_RETURN_IF_ERROR(Alive("stat"));
    return uint64_t{node_->bytes.size()};
  }

  Result<std::string> ReadAt(uint64_t offset, uint64_t length) override {
    const std::lock_guard hold(disk_->mu);
    KERF_RETURN_IF_ERROR(Alive("read"));
    // As on the real disk: what OpenNew() gives is for writing only.
    if (!append_) return ErrnoError("read", path_, EBADF);
    if (offset >= node_->bytes.size()) return std::string();
    return node_->bytes.substr(offset, length);
  }

  Status Truncate(uint64_t size) override {
    const std::lock_guard hold(disk_->mu);
    KERF_RETURN_IF_ERROR(Mutate("truncate"));
    node_->bytes.resize(size);
    node_->mtime_ns = ++disk_->now_ns;
    return {};
  }

  Status Lock() override {
    std::unique_lock hold(disk_->mu);
    if (holds_lock_) return {};
    disk_->unlocked.wait(hold, [&] { return !node_->locked || generation_ != disk_->generation; });
    KERF_RETURN_IF_ERROR(Alive("lock"));
    node_->locked = true;
    holds_lock_ = true;
    return {};
  }

  void Unlock() override {
    const std::lock_guard hold(disk_->mu);
    if (holds_lock_ && generation_ == disk_->generation) node_->locked = false;
    holds_lock_ = false;
    disk_->unlocked.notify_all();
  }

  bool IsStillAt(const std::string& path) override {
    const std::lock_guard hold(disk_->mu);
    const Result<Disk::Place> place = disk_->Find("stat", path);
    return Alive("stat").ok() && place.ok() && place->node == node_;
  }

 private:
  [[nodiscard]] Status Alive(const std::string& operation) const {
    if (generation_ == disk_->generation) return {};
    return IoError("cannot " + operation + " " + path_ + ": it was open when the machine crashed");
  }

  Status Mutate(const std::string& operation) {
    KERF_RETURN_IF_ERROR(disk_->CountCall(operation, path_));
    return Alive(operation);
  }

  const std::shared_ptr<Disk> disk_;
  const std::shared_ptr<Node> node_;
  const std::string path_;
  const bool append_;
  const int generation_;
  size_t offset_ = 0;
  bool holds_lock_ = false;
};

class FakeFileSystem::HeldLock : public FileLock {
 public:
  HeldLock(std::shared_ptr<Disk> disk, std::shared_ptr<Node> node)
      : disk_(std::move(disk)), node_(std::move(node)), generation_(disk_->generation) {}

  ~HeldLock() override {
    const std::lock_guard hold(disk_->mu);
    if (generation_ != disk_->generation) return;
    node_->locked = false;
    node_->bytes.clear();
    disk_->unlocked.notify_all();
  }

 private:
  const std::shared_ptr<Disk> disk_;
  const std::shared_ptr<Node> node_;
  const int generation_;
};

FakeFileSystem::FakeFileSystem() : disk_(std::make_shared<Disk>()) {}
FakeFileSystem::~FakeFileSystem() = default;

void FakeFileSystem::Crash() {
  const std::lock_guard hold(disk_->mu);
  disk_->Restart(/*lose_unsynced=*/true);
}

void FakeFileSystem::Kill() {
  const std::lock_guard hold(disk_->mu);
  disk_->Restart(/*lose_unsynced=*/false);
}

void FakeFileSystem::CutFile(const std::string& path, uint64_t size) {
  const std::lock_guard hold(disk_->mu);
  const auto node = disk_->FindExisting("cut", path);
  KERF_CHECK(node.ok() && (*node)->kind == FileKind::kFile, "a test cuts a file that is not there");
  (*node)->bytes.resize(std::min<uint64_t>(size, (*node)->bytes.size()));
  (*node)->synced_bytes = (*node)->bytes;
}

void FakeFileSystem::AddSymlink(const std::string& path, const std::string& target) {
  const std::lock_guard hold(disk_->mu);
  const Result<Disk::Place> place = disk_->Find("link", path);
  KERF_CHECK(place.ok() && place->node == nullptr, "a test adds a link where it cannot");
  auto node = disk_->MakeNode(FileKind::kSymlink);
  node->bytes = target;
  node->synced_bytes = target;
  place->parent->entries[place->name] = node;
  place->parent->synced_entries[place->name] = node;
}

void FakeFileSystem::FailAfter(int n, int error_number) {
  const std::lock_guard hold(disk_->mu);
  disk_->fail_from_call = disk_->calls + n;
  disk_->fail_errno = error_number;
}

void FakeFileSystem::FailOnce(int n, int error_number) {
  FailAfter(n, error_number);
  const std::lock_guard hold(disk_->mu);
  disk_->fail_to_call = disk_->fail_from_call;
}

void FakeFileSystem::FailWriteAfterBytes(uint64_t bytes, int error_number) {
  const std::lock_guard hold(disk_->mu);
  disk_->write_budget = bytes;
  disk_->write_errno = error_number;
}

void FakeFileSystem::CrashAfter(int n) {
  const std::lock_guard hold(disk_->mu);
  disk_->fail_from_call = disk_->calls + n;
  disk_->crashing = true;
}

void FakeFileSystem::ClearFaults() {
  const std::lock_guard hold(disk_->mu);
  disk_->ClearFaults();
}

int FakeFileSystem::mutating_calls() const {
  const std::lock_guard hold(disk_->mu);
  return disk_->calls;
}

Status FakeFileSystem::CreateDirs(const std::string& path) {
  {
    const std::lock_guard hold(disk_->mu);
    const Result<Disk::Place> place = disk_->Find("create directory", path);
    if (place.ok() && place->node != nullptr) {
      if (place->node->kind == FileKind::kDirectory) return {};
      return InvalidInput(path + " exists and is not a directory");
    }
  }
  KERF_RETURN_IF_ERROR(CreateDirs(ParentPath(path)));
  return CreateDir(path);
}

Status FakeFileSystem::CreateDir(const std::string& path) {
  const std::lock_guard hold(disk_->mu);
  KERF_ASSIGN_OR_RETURN(Disk::Place place, disk_->Find("create directory", path));
  if (place.node == nullptr) {
    KERF_RETURN_IF_ERROR(disk_->CountCall("create directory", path));
    place.node = disk_->MakeNode(FileKind::kDirectory);
    place.parent->entries[place.name] = place.node;
    place.parent->synced_entries[place.name] = place.node;
    return {};
  }
  if (place.node->kind == FileKind::kSymlink) {
    return Denied(path + " is a symbolic link; kerf does not write through links, remove it");
  }
  if (place.node->kind == FileKind::kDirectory) return {};
  return InvalidInput(path + " exists and is not a directory");
}

Result<std::unique_ptr<File>> FakeFileSystem::OpenNew(const std::string& path) {
  const std::lock_guard hold(disk_->mu);
  KERF_RETURN_IF_ERROR(disk_->CountCall("create", path));
  KERF_ASSIGN_OR_RETURN(Disk::Place place, disk_->Find("create", path));
  if (place.node != nullptr) return ErrnoError("create", path, EEXIST);
  place.node = disk_->MakeNode(FileKind::kFile);
  place.parent->entries[place.name] = place.node;
  return std::unique_ptr<File>(std::make_unique<OpenFile>(disk_, place.node, path, false));
}

Result<std::unique_ptr<File>> FakeFileSystem::OpenAppend(const std::string& path) {
  const std::lock_guard hold(disk_->mu);
  KERF_ASSIGN_OR_RETURN(Disk::Place place, disk_->Find("open", path));
  if (place.node == nullptr) {
    KERF_RETURN_IF_ERROR(disk_->CountCall("open", path));
    place.node = disk_->MakeNode(FileKind::kFile);
    place.parent->entries[place.name] = place.node;
  }
  if (place.node->kind == FileKind::kSymlink) return ErrnoError("open", path, ELOOP);
  if (place.node->kind == FileKind::kDirectory) return ErrnoError("open", path, EISDIR);
  return std::unique_ptr<File>(std::make_unique<OpenFile>(disk_, place.node, path, true));
}

Result<std::string> FakeFileSystem::ReadFile(const std::string& path) {
  return ReadRange(path, 0, std::numeric_limits<uint64_t>::max());
}

Result<std::string> FakeFileSystem::ReadRange(const std::string& path, uint64_t offset,
                                              uint64_t length) {
  const std::lock_guard hold(disk_->mu);
  KERF_ASSIGN_OR_RETURN(const Disk::NodePtr node, disk_->FindExisting("read", path));
  if (node->kind != FileKind::kFile) return InvalidInput(path + " is not a regular file");
  if (offset >= node->bytes.size()) return std::string();
  return node->bytes.substr(offset, length);
}

Result<std::vector<DirEntry>> FakeFileSystem::List(const std::string& dir) {
  const std::lock_guard hold(disk_->mu);
  KERF_ASSIGN_OR_RETURN(const Disk::NodePtr node, disk_->FindExisting("list", dir));
  if (node->kind != FileKind::kDirectory) return ErrnoError("list", dir, ENOTDIR);
  std::vector<DirEntry> entries;
  // Backwards, because callers may not rely on sorted names.
  for (auto it = node->entries.rbegin(); it != node->entries.rend(); ++it) {
    entries.push_back({it->first, it->second->kind});
  }
  return entries;
}

Result<std::optional<FileInfo>> FakeFileSystem::Stat(const std::string& path) {
  const std::lock_guard hold(disk_->mu);
  const Result<Disk::Place> place = disk_->Find("stat", path);
  if (!place.ok() || place->node == nullptr) return std::optional<FileInfo>();
  const Node& node = *place->node;
  return std::optional<FileInfo>(FileInfo{node.kind, node.bytes.size(), node.mtime_ns});
}

Status FakeFileSystem::Rename(const std::string& from, const std::string& to) {
  const std::lock_guard hold(disk_->mu);
  const std::string operation = "rename " + from + " to";
  KERF_RETURN_IF_ERROR(disk_->CountCall(operation, to));
  KERF_ASSIGN_OR_RETURN(const Disk::Place source, disk_->Find(operation, from));
  KERF_ASSIGN_OR_RETURN(const Disk::Place target, disk_->Find(operation, to));
  if (source.node == nullptr) return ErrnoError(operation, to, ENOENT);
  if (source.parent == nullptr || target.parent == nullptr) {
    return ErrnoError(operation, to, EBUSY);
  }
  if (target.node == source.node) return {};
  if (target.node != nullptr) {
    const bool from_dir = source.node->kind == FileKind::kDirectory;
    const bool to_dir = target.node->kind == FileKind::kDirectory;
    if (to_dir && !from_dir) return ErrnoError(operation, to, EISDIR);
    if (from_dir && !to_dir) return ErrnoError(operation, to, ENOTDIR);
    if (to_dir && !target.node->entries.empty()) return ErrnoError(operation, to, ENOTEMPTY);
  }
  source.parent->entries.erase(source.name);
  target.parent->entries[target.name] = source.node;
  return {};
}

Status FakeFileSystem::Remove(const std::string& path) {
  const std::lock_guard hold(disk_->mu);
  KERF_RETURN_IF_ERROR(disk_->CountCall("remove", path));
  KERF_ASSIGN_OR_RETURN(const Disk::Place place, disk_->Find("remove", path));
  if (place.node == nullptr) return ErrnoError("remove", path, ENOENT);
  if (place.parent == nullptr) return ErrnoError("remove", path, EBUSY);
  if (!place.node->entries.empty()) return ErrnoError("remove", path, ENOTEMPTY);
  place.parent->entries.erase(place.name);
  return {};
}

Status FakeFileSystem::SetMode(const std::string& path, int /*mode*/) {
  const std::lock_guard hold(disk_->mu);
  KERF_RETURN_IF_ERROR(disk_->CountCall("set the mode of", path));
  KERF_RETURN_IF_ERROR(disk_->FindExisting("set the mode of", path));
  return {};
}

Status FakeFileSystem::SyncDir(const std::string& dir) {
  const std::lock_guard hold(disk_->mu);
  KERF_RETURN_IF_ERROR(disk_->CountCall("sync directory", dir));
  KERF_ASSIGN_OR_RETURN(const Disk::NodePtr node, disk_->FindExisting("open directory", dir));
  if (node->kind != FileKind::kDirectory) return ErrnoError("open directory", dir, ENOTDIR);
  node->synced_entries = node->entries;
  return {};
}

Result<std::unique_ptr<SyncPoint>> FakeFileSystem::OpenSyncPoint(const std::string& path) {
  class FakeSyncPoint : public SyncPoint {
   public:
    FakeSyncPoint(FakeFileSystem& fs, std::string path) : fs_(fs), path_(std::move(path)) {}
    Status Sync() override { return fs_.SyncAll(path_); }

   private:
    FakeFileSystem& fs_;
    std::string path_;
  };
  return std::unique_ptr<SyncPoint>(std::make_unique<FakeSyncPoint>(*this, path));
}

Status FakeFileSystem::SyncAll(const std::string& path) {
  const std::lock_guard hold(disk_->mu);
  KERF_RETURN_IF_ERROR(disk_->CountCall("sync the file system of", path));
  KERF_RETURN_IF_ERROR(disk_->FindExisting("open", path));
  disk_->SyncTree(*disk_->root);
  return {};
}

Result<std::unique_ptr<FileLock>> FakeFileSystem::TryLock(const std::string& path,
                                                          const std::string& owner) {
  const std::lock_guard hold(disk_->mu);
  KERF_RETURN_IF_ERROR(disk_->CountCall("open lock", path));
  KERF_ASSIGN_OR_RETURN(Disk::Place place, disk_->Find("open lock", path));
  if (place.node == nullptr) {
    place.node = disk_->MakeNode(FileKind::kFile);
    place.parent->entries[place.name] = place.node;
  }
  if (place.node->kind == FileKind::kSymlink) return ErrnoError("open lock", path, ELOOP);
  if (place.node->kind == FileKind::kDirectory) return ErrnoError("open lock", path, EISDIR);
  if (place.node->locked) {
    return Unavailable(place.node->bytes.empty() ? "another process" : place.node->bytes);
  }
  place.node->locked = true;
  place.node->bytes = owner;
  return std::unique_ptr<FileLock>(std::make_unique<HeldLock>(disk_, place.node));
}

}  // namespace kerf
