#include "trace/append_stream.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "base/json_reader.h"
#include "trace/append_request.h"

namespace kerf::trace {
namespace {

constexpr size_t kMaxBatchBytes = size_t{32} << 20;
constexpr size_t kMaxQueueBytes = size_t{64} << 20;
constexpr size_t kReadChunk = size_t{1} << 20;
constexpr size_t kMaxLine = size_t{2} << 30;

// One input line on its way to the disk.
struct Item {
  int64_t line_number = 0;
  size_t bytes = 0;
  Result<Submission> submission = Submission{};
};

class ItemQueue {
 public:
  void Push(Item item) {
    std::unique_lock lock(mu_);
    has_room_.wait(lock, [&] { return bytes_ < kMaxQueueBytes || stopped_; });
    bytes_ += item.bytes;
    items_.push_back(std::move(item));
    has_items_.notify_one();
  }

  // Nothing more is waiting to be read: what is here is a batch.
  void Flush() {
    const std::lock_guard lock(mu_);
    batch_ready_ = !items_.empty();
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

  // At least one item, unless closed and empty; as many as make a batch when `batch`.
  std::vector<Item> Take(bool batch) {
    std::unique_lock lock(mu_);
    has_items_.wait(lock, [&] {
      return closed_ || (batch ? batch_ready_ || bytes_ >= kMaxBatchBytes : !items_.empty());
    });
    std::vector<Item> taken;
    size_t bytes = 0;
    while (!items_.empty() && (taken.empty() || (batch && bytes < kMaxBatchBytes))) {
      bytes += items_.front().bytes;
      taken.push_back(std::move(items_.front()));
      items_.pop_front();
    }
    bytes_ -= bytes;
    if (items_.empty()) batch_ready_ = false;
    has_room_.notify_one();
    return taken;
  }

 private:
  std::mutex mu_;
  std::condition_variable has_items_;
  std::condition_variable has_room_;
  // guarded by mu_
  std::deque<Item> items_;
  size_t bytes_ = 0;
  bool batch_ready_ = false;
  bool closed_ = false;
  bool stopped_ = false;
};

class InputReader {
 public:
  InputReader(int fd, Names names, const Redactor& redactor, ItemQueue& queue)
      : fd_(fd),
        wake_fd_(::eventfd(0, EFD_CLOEXEC)),
        names_(names),
        redactor_(redactor),
        queue_(queue) {}
  ~InputReader() { ::close(wake_fd_); }
  InputReader(const InputReader&) = delete;
  InputReader& operator=(const InputReader&) = delete;

  // Runs in its own thread until the end of the input.
  void Run() {
    while (WaitForInput(-1) && !queue_.stopped() && ReadMore()) {
      TakeLines(/*at_end=*/false);
      if (!WaitForInput(0)) queue_.Flush();
      if (buffer_.size() > kMaxLine) {
        status_ = InvalidInput("line " + std::to_string(line_number_ + 1) +
                               " is longer than 2 GiB; give longer texts in parts");
        break;
      }
    }
    if (status_.ok()) TakeLines(/*at_end=*/true);
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
    const size_t old_size = buffer_.size();
    buffer_.resize(old_size + kReadChunk);
    ssize_t n = 0;
    do {
      n = ::read(fd_, buffer_.data() + old_size, kReadChunk);
    } while (n < 0 && errno == EINTR);
    buffer_.resize(old_size + static_cast<size_t>(n < 0 ? 0 : n));
    if (n < 0) status_ = ErrnoError("read", "the input", errno);
    return n > 0;
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
    size_t at = 0;
    std::string_view rest = buffer_;
    while (at < rest.size()) {
      // What was searched before has no LF in it: a long line is not searched again from its start.
      const size_t from = std::max(at, searched_);
      size_t end = rest.find('\n', from);
      if (end == std::string_view::npos) {
        searched_ = rest.size();
        if (!at_end) break;
        end = rest.size();
      }
      TakeLine(rest.substr(at, end - at));
      at = std::min(end + 1, rest.size());
      searched_ = 0;
    }
    buffer_.erase(0, at);
    searched_ = searched_ > at ? searched_ - at : 0;
  }

  void TakeLine(std::string_view line) {
    ++line_number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    queue_.Push({line_number_, line.size(), Prepare(line)});
  }

  Result<Submission> Prepare(std::string_view line) {
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
                          PrepareRecord(std::move(request.input), names_, redactor_));
    return Submission{std::move(request.op), std::move(request.task), std::move(record)};
  }

  const int fd_;
  const int wake_fd_;
  const Names names_;
  const Redactor& redactor_;
  ItemQueue& queue_;
  std::string buffer_;
  size_t searched_ = 0;
  int64_t line_number_ = 0;
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

// Records the items and returns their answers.
std::string RecordItems(Recorder& recorder, std::vector<Item> items, AppendSummary& summary) {
  std::vector<Submission> submissions;
  for (Item& item : items) {
    if (item.submission.ok()) submissions.push_back(std::move(*item.submission));
  }
  const std::vector<Result<Recorded>> results = recorder.RecordAll(std::move(submissions));
  std::string answers;
  size_t next = 0;
  for (const Item& item : items) {
    const Result<Recorded> result =
        item.submission.ok() ? results[next++] : Result<Recorded>(item.submission.error());
    (result.ok() ? summary.recorded : summary.refused) += 1;
    answers += AnswerLine(result, item.line_number);
  }
  return answers;
}

}  // namespace

AppendSummary RunAppendStream(Recorder& recorder, const Redactor& redactor,
                              const AppendStreamOptions& options,
                              const std::function<Status(std::string_view)>& answer) {
  AppendSummary summary;
  ItemQueue queue;
  InputReader reader(options.input_fd, recorder.names(), redactor, queue);
  std::thread reading([&] { reader.Run(); });
  const bool batch = options.durability == Durability::kBatch;
  while (true) {
    std::vector<Item> items = queue.Take(batch);
    if (items.empty()) break;
    const std::string answers = RecordItems(recorder, std::move(items), summary);
    summary.status = answer(answers);
    if (!summary.status.ok()) {
      reader.Stop();
      break;
    }
  }
  reading.join();
  if (summary.status.ok()) summary.status = reader.status();
  return summary;
}

}  // namespace kerf::trace
