// Writes an instruction log from within a kernel's process: standard library and POSIX only.
//
//   kerf_log::LogFile file;
//   if (!file.Open("run.kilog")) … file.error() …
//   kerf_log::CoreLog core(file, kerf_log::CoreKind::kAiv, /*block=*/0, /*lane=*/1);
//   const uint32_t site = core.SiteOf(location.file_name(), location.line(), location.column(),
//                                     location.function_name());
//   core.Begin(Op::TADD, Pipe::kVector, site).operations = 8192;
//   core.Add(dst); core.Add(a); core.Add(b);
//   core.End();
//
// LogFile: any thread. CoreLog: one thread at a time, one per core, closed before its LogFile. A
// record costs a copy into a buffer of 64 KiB; full buffers are written by a thread of the LogFile,
// while the core goes on. An instruction that may block for ever (CROSS_WAIT) is recorded before it
// blocks, and Flush() makes it readable when the process is then killed.
//
// The objects may be handed to a shared library that was compiled with the same header.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "kerf_log/record.h"

namespace kerf_log {

class LogFile {
 public:
  LogFile() = default;
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile() { Close(); }

  // Creates or empties the file. false: see error().
  bool Open(const char* path) {
    return Adopt(::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640));
  }
  // Takes over an open descriptor; -1 is the failure of whoever opened it.
  bool Adopt(int fd) {
    fd_ = fd;
    if (fd < 0) return Fail("cannot open the instruction log");
    const FileHeader header;
    return WriteAll(&header, sizeof header);
  }

  // Records beyond `instructions` of all cores together are counted and not kept. 0 = no limit.
  void set_limit(uint64_t instructions) { limit_ = instructions; }

  // Writes what ends the file. Called by the destructor.
  void Close() {
    if (writer_.joinable()) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        closing_ = true;
        changed_.notify_all();
      }
      writer_.join();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (fd_ < 0) return;
    ChunkHeader end;
    end.type = ChunkType::kEnd;
    end.dropped = dropped_ > 0xffffffffU ? 0xffffffffU : static_cast<uint32_t>(dropped_);
    FlushTables();
    WriteAll(&end, sizeof end);
    ::close(fd_);
    fd_ = -1;
  }

  [[nodiscard]] bool ok() const { return error_.empty(); }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] uint64_t dropped() const { return dropped_; }

 private:
  friend class CoreLog;

  struct SiteKey {
    uint32_t file, function, line, column, caller;
    uint64_t pc;
    bool operator==(const SiteKey& o) const {
      return file == o.file && function == o.function && line == o.line && column == o.column &&
             caller == o.caller && pc == o.pc;
    }
  };
  struct SiteHash {
    size_t operator()(const SiteKey& k) const {
      uint64_t h = k.pc + 0x9e3779b97f4a7c15U;
      for (const uint32_t part : {k.file, k.function, k.line, k.column, k.caller})
        h = (h ^ part) * 0xff51afd7ed558ccdU;
      return static_cast<size_t>(h ^ (h >> 29));
    }
  };

  bool Fail(const char* what) {
    if (error_.empty()) error_ = std::string(what) + ": " + std::strerror(errno);
    return false;
  }

  bool WriteAll(const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0 && error_.empty()) {
      const ssize_t n = ::write(fd_, at, size);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return Fail("cannot write the instruction log");
      at += n;
      size -= static_cast<size_t>(n);
    }
    return error_.empty();
  }

  uint32_t StringId(const char* text) {
    if (text == nullptr || *text == 0) return 0;
    const auto [found, fresh] =
        strings_.try_emplace(text, static_cast<uint32_t>(strings_.size() + 1));
    if (fresh) {
      new_strings_.insert(new_strings_.end(), text, text + std::strlen(text) + 1);
      ++new_string_count_;
    }
    return found->second;
  }

  uint32_t Intern(const char* file, const char* function, uint32_t line, uint32_t column,
                  uint32_t caller, uint64_t pc) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const SiteKey key{StringId(file), StringId(function), line, column, caller, pc};
    const auto [found, fresh] = sites_.try_emplace(key, static_cast<uint32_t>(sites_.size() + 1));
    if (fresh) {
      Site site;
      site.file = key.file;
      site.function = key.function;
      site.line = line;
      site.column = column;
      site.caller = caller;
      site.pc = pc;
      new_sites_.push_back(site);
    }
    return found->second;
  }

  // Strings and sites come before the records that name them.
  void FlushTables() {
    if (!new_strings_.empty()) {
      ChunkHeader header;
      header.type = ChunkType::kStrings;
      header.count = new_string_count_;
      new_strings_.resize((new_strings_.size() + 31) / 32 * 32);
      header.bytes = new_strings_.size();
      WriteAll(&header, sizeof header);
      WriteAll(new_strings_.data(), new_strings_.size());
      new_strings_.clear();
      new_string_count_ = 0;
    }
    if (!new_sites_.empty()) {
      ChunkHeader header;
      header.type = ChunkType::kSites;
      header.bytes = new_sites_.size() * sizeof(Site);
      WriteAll(&header, sizeof header);
      WriteAll(new_sites_.data(), header.bytes);
      new_sites_.clear();
    }
  }

  uint32_t AddCore(CoreKind kind, uint32_t block, uint8_t lane) {
    std::unique_lock<std::mutex> lock(mutex_);
    Drain(lock);
    ChunkHeader header;
    header.type = ChunkType::kCore;
    header.core = cores_++;
    header.kind = kind;
    header.block = block;
    header.lane = lane;
    if (fd_ >= 0) WriteAll(&header, sizeof header);
    return header.core;
  }

  using Buffer = std::unique_ptr<char[]>;
  static constexpr size_t kBuffer = size_t{64} << 10;
  static constexpr size_t kMostWaiting = 16;  // buffers; then the cores wait for the disk
  // Waking the writer costs as much as a hundred records.
  static constexpr size_t kWorthWaking = 4;

  // Nothing waits to be written afterwards.
  void Drain(std::unique_lock<std::mutex>& lock) {
    if (waiting_.empty() && !writing_) return;
    draining_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return waiting_.empty() && !writing_; });
    draining_ = false;
  }

  // `records` begins with the room for its chunk's header, so that one write does it. With `now` it
  // is in the file afterwards; else later, and `records` is another buffer.
  void WriteRecords(uint32_t core, Buffer& records, size_t bytes, uint32_t count, bool now) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (fd_ < 0) return;
    // Once full, full for every core: no stream has a hole.
    if (dropped_ != 0 || (limit_ != 0 && written_ + count > limit_)) {
      dropped_ += count;
      return;
    }
    written_ += count;
    ChunkHeader header;
    header.type = ChunkType::kRecords;
    header.core = core;
    header.bytes = bytes - sizeof header;
    header.count = count;
    std::memcpy(records.get(), &header, sizeof header);
    // Tables are written by whoever finds new ones, after all that waits: they come first.
    if (now || !new_strings_.empty() || !new_sites_.empty()) {
      Drain(lock);
      FlushTables();
      WriteAll(records.get(), bytes);
      return;
    }
    if (!writer_.joinable()) writer_ = std::thread([this] { WriteWaiting(); });
    changed_.wait(lock, [&] { return waiting_.size() < kMostWaiting; });
    waiting_.push_back({std::move(records), bytes});
    if (spare_.empty()) {
      records.reset(new char[kBuffer]);
    } else {
      records = std::move(spare_.back());
      spare_.pop_back();
    }
    if (waiting_.size() >= kWorthWaking) changed_.notify_all();
  }

  void WriteWaiting() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] {
        return closing_ || waiting_.size() >= kWorthWaking || (draining_ && !waiting_.empty());
      });
      if (waiting_.empty()) return;
      while (!waiting_.empty()) WriteNext(lock);
    }
  }

  void WriteNext(std::unique_lock<std::mutex>& lock) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    writing_ = true;
    lock.unlock();
    // Nobody else writes meanwhile.
    WriteAll(next.data.get(), next.bytes);
    lock.lock();
    writing_ = false;
    spare_.push_back(std::move(next.data));
    changed_.notify_all();
  }

  struct Waiting {
    Buffer data;
    size_t bytes = 0;
  };

  std::thread writer_;  // started with the first full buffer
  std::condition_variable changed_;
  std::mutex mutex_;  // guards everything below; while `writing_`, `error_` is the writer's
  std::deque<Waiting> waiting_;
  std::vector<Buffer> spare_;
  bool writing_ = false;
  bool draining_ = false;
  bool closing_ = false;
  int fd_ = -1;
  uint32_t cores_ = 0;
  uint64_t limit_ = 0;
  uint64_t written_ = 0;
  uint64_t dropped_ = 0;
  std::string error_;
  std::unordered_map<std::string, uint32_t> strings_;
  std::unordered_map<SiteKey, uint32_t, SiteHash> sites_;
  std::vector<char> new_strings_;
  uint32_t new_string_count_ = 0;
  std::vector<Site> new_sites_;
};

class CoreLog {
 public:
  CoreLog(LogFile& file, CoreKind kind, uint32_t block, uint8_t lane = 0)
      : file_(file), core_(file.AddCore(kind, block, lane)), buffer_(new char[kBuffer]) {}
  CoreLog(const CoreLog&) = delete;
  CoreLog& operator=(const CoreLog&) = delete;
  ~CoreLog() { Flush(); }

  // The id of a place in the source. `file` and `function` must be literals (as
  // std::source_location gives them): the fast path compares their addresses. The caller is the
  // innermost frame pushed, unless one is given.
  uint32_t SiteOf(const char* file, uint32_t line, uint32_t column = 0,
                  const char* function = nullptr, uint64_t pc = 0) {
    const uint32_t caller = frames_.empty() ? 0 : frames_.back();
    const uint64_t hash = (reinterpret_cast<uintptr_t>(file) ^ (uint64_t{line} << 20) ^
                           (uint64_t{column} << 44) ^ pc) *
                              0x9e3779b97f4a7c15U +
                          caller * 0xff51afd7ed558ccdU;
    Cached& slot = cache_[(hash >> 32) % kCache];
    if (slot.file == file && slot.function == function && slot.line == line &&
        slot.column == column && slot.caller == caller && slot.pc == pc && slot.id != 0)
      return slot.id;
    slot = {file,
            function,
            pc,
            line,
            column,
            caller,
            file_.Intern(file, function, line, column, caller, pc)};
    return slot.id;
  }

  // Call stack: the site of a call stands above the sites used until PopFrame().
  void PushFrame(uint32_t site) { frames_.push_back(site); }
  void PopFrame() { frames_.pop_back(); }

  // The record to fill in until End(); op, pipe and site are set.
  Instruction& Begin(Op op, Pipe pipe, uint32_t site) {
    if (kBuffer - used_ < sizeof(Instruction) + kMostOperands * sizeof(Operand)) Write(false);
    begun_ = used_;
    Instruction* record = new (buffer_.get() + used_) Instruction;
    record->op = op;
    record->pipe = static_cast<uint8_t>(pipe);
    record->site = site;
    used_ += sizeof(Instruction);
    return *record;
  }
  // Of the instruction begun; more than kMostOperands are left out.
  void Add(const Operand& operand) { AddOperand() = operand; }
  // The same, for the caller to fill in.
  Operand& AddOperand() {
    Instruction& record = *reinterpret_cast<Instruction*>(buffer_.get() + begun_);
    if (record.operands == kMostOperands) return left_out_;
    ++record.operands;
    Operand* operand = new (buffer_.get() + used_) Operand;
    used_ += sizeof(Operand);
    return *operand;
  }
  void End() { ++count_; }

  // A flag, a barrier or a signal: one record without operands.
  void AddSync(Op op, Pipe pipe, uint32_t site, const Sync& sync) {
    Begin(op, pipe, site).sync = sync;
    End();
  }

  // What was ended is in the file afterwards.
  void Flush() { Write(true); }

  [[nodiscard]] uint32_t core() const { return core_; }

 private:
  struct Cached {
    const char* file = nullptr;
    const char* function = nullptr;
    uint64_t pc = 0;
    uint32_t line = 0, column = 0, caller = 0, id = 0;
  };
  static constexpr size_t kBuffer = LogFile::kBuffer;
  static constexpr size_t kCache = 1024;

  void Write(bool now) {
    if (count_ != 0) file_.WriteRecords(core_, buffer_, used_, count_, now);
    used_ = sizeof(ChunkHeader);
    count_ = 0;
  }

  LogFile& file_;
  const uint32_t core_;
  LogFile::Buffer buffer_;
  size_t used_ = sizeof(ChunkHeader);
  size_t begun_ = 0;
  uint32_t count_ = 0;
  Operand left_out_;
  std::vector<uint32_t> frames_;
  std::vector<Cached> cache_ = std::vector<Cached>(kCache);
};

}  // namespace kerf_log
