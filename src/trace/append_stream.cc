#include "trace/append_stream.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "base/json_reader.h"
#include "base/worker.h"
#include "trace/append_request.h"
#include "trace/line_buffer.h"

namespace kerf::trace {
namespace {

// The first batches are small, so that the disk has work soon; later ones large, so that waiting
// for it is rare.
constexpr size_t kFirstBatchBytes = size_t{256} << 10;
// Small records need more memory for their journal lines and file names than for their texts.
constexpr size_t kMaxBatchItems = 2048;
// Batches whose answers wait for the device; more bring nothing.
constexpr size_t kMaxBatchesOnTheWay = 8;
constexpr auto kLookAgain = std::chrono::milliseconds(2);
constexpr size_t kMaxLine = size_t{2} << 30;

// One input line on its way to the disk.
struct Item {
  int64_t line_number = 0;
  size_t bytes = 0;
  Result<Submission> submission = Submission{};
  // When hashing is another thread's work.
  std::shared_future<Status> hashed;
};

// Files stay where they are when their item moves.
std::vector<PreparedFile*> FilesOf(const std::vector<Item*>& items) {
  std::vector<PreparedFile*> files;
  for (Item* item : items) {
    if (!item->submission.ok()) continue;
    for (PreparedFile& file : item->submission->record.files) files.push_back(&file);
  }
  return files;
}

class ItemQueue {
 public:
  enum class Why { kItems, kLastItems, kSlow, kPause, kEnd };

  // `hashes_elsewhere`: another thread hashes the items that come.
  ItemQueue(bool batches, size_t max_batch_bytes, bool hashes_elsewhere)
      : batches_(batches), max_bytes_(max_batch_bytes), hashes_elsewhere_(hashes_elsewhere) {}

  void Push(Item item) {
    std::unique_lock lock(mu_);
    has_room_.wait(lock, [&] { return !IsFull(max_bytes_) || stopped_; });
    bytes_ += item.bytes;
    paused_ = false;
    items_.push_back(std::move(item));
    // Every one would be a change of threads; two are worth it, for their hashes.
    if (IsReady() || (!hashes_elsewhere_ && items_.size() % 2 == 0)) has_items_.notify_one();
  }

  // Nothing more is waiting to be read: what is here is a batch.
  void Flush() {
    const std::lock_guard lock(mu_);
    batch_ready_ = !items_.empty();
    paused_ = true;
    has_items_.notify_one();
  }

  // No more items will come.
  void Close() {
    const std::lock_guard lock(mu_);
    closed_ = true;
    has_items_.notify_one();
  }

  // Nobody will take items any more.
  void Stop() {
    const std::lock_guard lock(mu_);
    stopped_ = true;
    has_room_.notify_one();
  }
  bool stopped() {
    const std::lock_guard lock(mu_);
    return stopped_;
  }

  // Whether the taking side is busy: then the reading side does the hashing, else the taking side,
  // which would only wait. So both have about as much to do.
  bool IsBehind() {
    const std::lock_guard lock(mu_);
    return bytes_ >= batch_bytes_ / 2;
  }

  // At least one item, unless closed and empty; as many as make a batch, for batches. kLastItems:
  // for now nothing comes after them. None when `impatient` and there will be none for a while:
  // then why says whether to look again soon.
  std::vector<Item> Take(bool impatient, Why& why) {
    std::unique_lock lock(mu_);
    while (!IsReady()) {
      if (!hashes_elsewhere_ && items_.size() - hashed_ >= 2) {
        // Only this side removes items, and adding to a deque moves none.
        const std::vector<Item*> two = {&items_[hashed_], &items_[hashed_ + 1]};
        hashed_ += 2;
        lock.unlock();
        HashFiles(FilesOf(two));
        lock.lock();
        continue;
      }
      if (impatient &&
          (paused_ || has_items_.wait_for(lock, kLookAgain) == std::cv_status::timeout)) {
        why = paused_ ? Why::kPause : Why::kSlow;
        return {};
      }
      if (!impatient) has_items_.wait(lock);
    }
    std::vector<Item> taken;
    size_t bytes = 0;
    while (!items_.empty() &&
           (taken.empty() || (batches_ && bytes < batch_bytes_ && taken.size() < kMaxBatchItems))) {
      bytes += items_.front().bytes;
      taken.push_back(std::move(items_.front()));
      items_.pop_front();
    }
    bytes_ -= bytes;
    why = taken.empty()                            ? Why::kEnd
          : items_.empty() && (paused_ || closed_) ? Why::kLastItems
                                                   : Why::kItems;
    hashed_ -= std::min(hashed_, taken.size());
    if (items_.empty()) batch_ready_ = false;
    batch_bytes_ = std::min(batch_bytes_ * 2, max_bytes_);
    has_room_.notify_one();
    lock.unlock();
    FinishHashing(taken);
    return taken;
  }

 private:
  [[nodiscard]] bool IsReady() const {
    return closed_ || (batches_ ? batch_ready_ || IsFull(batch_bytes_) : !items_.empty());
  }
  [[nodiscard]] bool IsFull(size_t max_bytes) const {
    return bytes_ >= max_bytes || items_.size() >= kMaxBatchItems;
  }

  static void FinishHashing(std::vector<Item>& items) {
    std::vector<Item*> all;
    all.reserve(items.size());
    for (Item& item : items) {
      if (item.hashed.valid()) item.hashed.wait();
      all.push_back(&item);
    }
    HashFiles(FilesOf(all));
  }

  const bool batches_;
  const size_t max_bytes_;  // of a batch, and of what waits here
  const bool hashes_elsewhere_;
  std::mutex mu_;
  std::condition_variable has_items_;
  std::condition_variable has_room_;
  // guarded by mu_
  std::deque<Item> items_;
  size_t hashed_ = 0;  // items at the front that the taking side has hashed
  size_t bytes_ = 0;
  size_t batch_bytes_ = std::min(kFirstBatchBytes, max_bytes_);
  bool batch_ready_ = false;
  bool paused_ = false;  // the sender waits, perhaps for an answer
  bool closed_ = false;
  bool stopped_ = false;
};

class InputReader {
 public:
  // Without hashers the two sides of the queue hash.
  InputReader(const AppendStreamOptions& options, Names names, const Redactor& redactor,
              ItemQueue& queue, std::vector<std::unique_ptr<Worker>>& hashers)
      : fd_(options.input_fd),
        stop_(options.stop),
        wake_fd_(::eventfd(0, EFD_CLOEXEC)),
        names_(names),
        redactor_(redactor),
        queue_(queue),
        hashers_(hashers) {}
  ~InputReader() { ::close(wake_fd_); }
  InputReader(const InputReader&) = delete;
  InputReader& operator=(const InputReader&) = delete;

  // Runs in its own thread until the end of the input.
  void Run() {
    while (WaitForMore() && !queue_.stopped() && ReadMore()) {
      TakeLines(/*at_end=*/false);
      if (!WaitForInput(0)) queue_.Flush();
      if (lines_.pending() > kMaxLine) {
        status_ = InvalidInput("line " + std::to_string(line_number_ + 1) +
                               " is longer than 2 GiB; give longer texts in parts");
        break;
      }
    }
    if (status_.ok() && !IsToStop()) TakeLines(/*at_end=*/true);
    queue_.Close();
  }

  // Ends Run() soon, from another thread, also while it waits for input.
  void Stop() {
    queue_.Stop();
    const uint64_t one = 1;
    (void)!::write(wake_fd_, &one, sizeof one);
  }

  // After Run().
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  bool ReadMore() {
    const Result<bool> more = lines_.Read(fd_);
    if (!more.ok()) status_ = more.error();
    return more.ok() && *more;
  }

  [[nodiscard]] bool IsToStop() const { return stop_ && stop_(); }

  // False when nothing more is to be read.
  [[nodiscard]] bool WaitForMore() const {
    constexpr int kAskAgainMs = 100;
    while (!queue_.stopped() && !IsToStop()) {
      if (WaitForInput(stop_ ? kAskAgainMs : -1)) return true;
    }
    return false;
  }

  // True when a read would return at once (data, end or error); false after the time-out or Stop().
  [[nodiscard]] bool WaitForInput(int timeout_ms) const {
    pollfd fds[] = {{fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
    int ready = 0;
    do {
      ready = ::poll(fds, 2, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    return ready > 0 && fds[1].revents == 0 && fds[0].revents != 0;
  }

  void TakeLines(bool at_end) {
    while (const std::optional<std::span<char>> line = lines_.Next(at_end)) TakeLine(*line);
    PushHeld();
  }

  void TakeLine(std::span<char> line) {
    ++line_number_;
    const auto text = [&] { return std::string_view(line.data(), line.size()); };
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (line_number_ == 1 && text().starts_with(kByteOrderMark)) {
      line = line.subspan(kByteOrderMark.size());
    }
    if (text().ends_with('\r')) line = line.first(line.size() - 1);
    if (text().find_first_not_of(" \t") == std::string_view::npos) return;
    Item item{line_number_, line.size(), Prepare(line)};
    if (!item.submission.ok()) {  // the message may quote the line
      Error error = item.submission.error();
      Redactor::Counts counts;
      redactor_.Redact(error.message, counts);
      item.submission = std::move(error);
    }
    held_.push_back(std::move(item));
    if (held_.size() == 2) PushHeld();
  }

  // Two at a time: that is how hashing is quickest.
  void PushHeld() {
    if (held_.empty()) return;
    std::vector<Item*> items;
    for (Item& item : held_) items.push_back(&item);
    if (!hashers_.empty()) {
      Worker& hasher = *hashers_[turn_++ % hashers_.size()];
      const std::shared_future<Status> hashed = hasher.Do([files = FilesOf(items)]() -> Status {
        HashFiles(files);
        return {};
      });
      for (Item& item : held_) item.hashed = hashed;
    } else if (queue_.IsBehind()) {
      HashFiles(FilesOf(items));
    }
    for (Item& item : held_) queue_.Push(std::move(item));
    held_.clear();
  }

  Result<Submission> Prepare(std::span<char> line) {
    KERF_ASSIGN_OR_RETURN(AppendRequest request, ParseAppendRequest(line));
    Redactor::Counts counts;
    for (std::string* name : {&request.op, &request.task}) {
      std::string probe = *name;
      if (redactor_.Redact(probe, counts)) {
        return InvalidInput("op_name or task_id contains a credential (" + counts.begin()->first +
                            "); use another name");
      }
    }
    KERF_ASSIGN_OR_RETURN(PreparedRecord record,
                          PrepareTexts(std::move(request.input), names_, redactor_));
    record.keeps = lines_.Keeper();
    return Submission{std::move(request.op), std::move(request.task), std::move(record)};
  }

  const int fd_;
  const std::function<bool()> stop_;
  const int wake_fd_;
  const Names names_;
  const Redactor& redactor_;
  ItemQueue& queue_;
  std::vector<std::unique_ptr<Worker>>& hashers_;
  size_t turn_ = 0;
  LineBuffer lines_;
  int64_t line_number_ = 0;
  std::vector<Item> held_;  // read, not passed on yet
  Status status_;
};

std::string AnswerLine(const Result<Recorded>& result, int64_t line_number) {
  std::string out;
  if (!result.ok()) {
    out = "{\"ok\":false,\"line\":" + std::to_string(line_number) + ",\"error\":{\"code\":\"";
    out += ErrorCodeName(result.error().code);
    out += "\",\"message\":";
    AppendJsonString(out, result.error().message);
    return out + "}}\n";
  }
  out = "{\"ok\":true,\"op_name\":";
  AppendJsonString(out, result->op);
  out += ",\"task_id\":";
  AppendJsonString(out, result->task);
  out += ",\"step\":" + std::to_string(result->step) + ",\"files\":[";
  for (const std::string& file : result->files) {
    if (out.back() != '[') out += ',';
    AppendJsonString(out, file);
  }
  return out + "]}\n";
}

// Takes items to the disk and their answers back, in order. Some batches are on their way to the
// device while the next one is written.
class Committer {
 public:
  Committer(Recorder& recorder, AppendSummary& summary) : recorder_(recorder), summary_(summary) {}

  // Returns the answers that became due. `more`: others follow, so that nobody waits for these yet.
  std::string Add(std::vector<Item> items, bool more) {
    std::deque<Submission> waiting;
    for (Item& item : items) {
      if (item.submission.ok()) waiting.push_back(std::move(item.submission).value());
      items_.push_back(std::move(item));
    }
    while (!waiting.empty()) {
      recorder_.SealFirst();
      pending_.push_back(recorder_.Begin(waiting, more));
      while (pending_.size() > kMaxBatchesOnTheWay) FinishFirst();
    }
    while (!pending_.empty() && Recorder::IsDone(*pending_.front())) FinishFirst();
    return Answers();
  }

  // Waits for the commits of what the device has.
  std::string Settle() {
    while (!pending_.empty() && Recorder::IsSynced(*pending_.front())) FinishFirst();
    return Answers();
  }

  // Waits for what is on its way.
  std::string Drain() {
    while (!pending_.empty()) FinishFirst();
    return Answers();
  }

  [[nodiscard]] bool waits() const { return !pending_.empty(); }

 private:
  void FinishFirst() {
    Recorder::BatchPtr first = std::move(pending_.front());
    pending_.pop_front();
    for (Result<Recorded>& result : recorder_.Finish(std::move(first))) {
      results_.push_back(std::move(result));
    }
  }

  // For all items at the front whose result is known.
  std::string Answers() {
    std::string answers;
    for (; !items_.empty(); items_.pop_front()) {
      const Item& item = items_.front();
      if (item.submission.ok() && results_.empty()) break;
      const Result<Recorded> result =
          item.submission.ok() ? results_.front() : Result<Recorded>(item.submission.error());
      if (item.submission.ok()) results_.pop_front();
      (result.ok() ? summary_.recorded : summary_.refused) += 1;
      answers += AnswerLine(result, item.line_number);
    }
    return answers;
  }

  Recorder& recorder_;
  AppendSummary& summary_;
  std::deque<Recorder::BatchPtr> pending_;
  std::deque<Item> items_;  // not answered yet
  std::deque<Result<Recorded>> results_;
};

}  // namespace

AppendSummary RunAppendStream(Recorder& recorder, const Redactor& redactor,
                              const AppendStreamOptions& options,
                              const std::function<Status(std::string_view)>& answer) {
  AppendSummary summary;
  const bool batch = options.durability == Durability::kBatch;
  const size_t hasher_count = batch ? options.hashers : 0;
  ItemQueue queue(batch, options.batch_bytes, hasher_count > 0);
  std::vector<std::unique_ptr<Worker>> hashers;  // what they work on is in the queue
  while (hashers.size() < hasher_count) hashers.push_back(std::make_unique<Worker>());
  InputReader reader(options, recorder.names(), redactor, queue, hashers);
  std::thread reading([&] { reader.Run(); });
  Committer committer(recorder, summary);
  for (ItemQueue::Why why = ItemQueue::Why::kItems;
       summary.status.ok() && why != ItemQueue::Why::kEnd;) {
    std::vector<Item> items = queue.Take(committer.waits(), why);
    std::string answers = committer.Add(std::move(items), batch && why == ItemQueue::Why::kItems);
    // When nothing more comes, the last batch is answered now: its sender may be waiting for that.
    if (!batch || why == ItemQueue::Why::kPause || why == ItemQueue::Why::kEnd) {
      answers += committer.Drain();
    } else if (why == ItemQueue::Why::kSlow) {
      answers += committer.Settle();
    }
    if (!answers.empty()) summary.status = answer(answers);
  }
  if (!summary.status.ok()) reader.Stop();
  reading.join();
  if (summary.status.ok()) summary.status = reader.status();
  return summary;
}

}  // namespace kerf::trace
