#include "cli/verify_stream.h"

#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/json_writer.h"

namespace kerf::cli {
namespace {

// Lines from a descriptor, one at a time, without waiting for more than the next one.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}
  // False at the end.
  Result<bool> Next(std::string& line) {
    constexpr size_t kMost = size_t{64} << 20;
    for (size_t looked_at = begin_;;) {  // a long line comes in many pieces
      const size_t end = buffer_.find('\n', looked_at);
      if (end != std::string::npos) {
        line = buffer_.substr(begin_, end - begin_);
        begin_ = end + 1;
        return true;
      }
      buffer_.erase(0, begin_);
      begin_ = 0;
      looked_at = buffer_.size();
      if (buffer_.size() > kMost)
        return InvalidInput("a line on standard input is longer than 64 MiB");
      char bytes[65536];
      const ssize_t n = ::read(fd_, bytes, sizeof bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoError("read", "standard input", errno);
      if (n == 0) {
        line = std::exchange(buffer_, "");
        return !line.empty();
      }
      buffer_.append(bytes, static_cast<size_t>(n));
    }
  }

 private:
  const int fd_;
  std::string buffer_;
  size_t begin_ = 0;
};

std::string ErrorLine(const std::string& id, const Error& error) {
  std::string line;
  JsonWriter json(line);
  json.BeginObject().Key("id").Raw(id).Key("ok").Bool(false).Key("error").BeginObject();
  json.Key("code").String(ErrorCodeName(error.code)).Key("message").String(error.message);
  json.EndObject().EndObject().EndLine();
  return line;
}

std::string VerdictLine(const std::string& id, const Verdict& verdict) {
  std::string line;
  JsonWriter json(line);
  json.BeginObject().Key("id").Raw(id).Key("ok").Bool(true).Key("verdict").Raw(
      VerdictJson(verdict));
  json.EndObject().EndLine();
  return line;
}

// What was asked and not yet judged, and what was judged and not yet answered.
class Desk {
 public:
  // Lines that are read ahead of the verifiers: enough to keep them busy.
  Desk(size_t ahead, Output& out) : ahead_(ahead), out_(out) {}

  // False when nobody reads the answers any more.
  bool Ask(StreamedCandidate candidate) {
    std::unique_lock lock(mu_);
    changed_.wait(lock, [&] { return questions_.size() < ahead_ || !written_.ok(); });
    if (!written_.ok()) return false;
    questions_.emplace_back(asked_++, std::move(candidate));
    changed_.notify_all();
    return true;
  }
  void Close() {
    const std::lock_guard lock(mu_);
    closed_ = true;
    changed_.notify_all();
  }
  // False when there are no more.
  bool Take(std::pair<size_t, StreamedCandidate>& question) {
    std::unique_lock lock(mu_);
    changed_.wait(lock, [&] { return !questions_.empty() || closed_; });
    if (questions_.empty()) return false;
    question = std::move(questions_.front());
    questions_.pop_front();
    changed_.notify_all();
    return true;
  }
  void Answer(size_t number, std::string line, bool passed) {
    const std::lock_guard lock(mu_);
    all_passed_ = all_passed_ && passed;
    answers_[number] = std::move(line);
    for (auto next = answers_.find(answered_); next != answers_.end();
         next = answers_.find(answered_)) {
      out_.Data(next->second);
      answers_.erase(next);
      ++answered_;
    }
    if (const Status flushed = out_.Flush(); !flushed.ok() && written_.ok()) written_ = flushed;
    changed_.notify_all();
  }

  Result<bool> Outcome() {
    const std::lock_guard lock(mu_);
    KERF_RETURN_IF_ERROR(written_);
    return all_passed_;
  }

 private:
  const size_t ahead_;
  Output& out_;
  std::mutex mu_;
  std::condition_variable changed_;
  // Guarded by mu_.
  std::deque<std::pair<size_t, StreamedCandidate>> questions_;
  std::map<size_t, std::string> answers_;
  size_t asked_ = 0;
  size_t answered_ = 0;
  bool closed_ = false;
  bool all_passed_ = true;
  Status written_;
};

void Work(Desk& desk, const StreamVerify& verify) {
  for (std::pair<size_t, StreamedCandidate> question; desk.Take(question);) {
    const StreamedCandidate& streamed = question.second;
    const Result<Verdict> verdict = streamed.candidate.ok()
                                        ? verify(*streamed.candidate)
                                        : Result<Verdict>(streamed.candidate.error());
    desk.Answer(
        question.first,
        verdict.ok() ? VerdictLine(streamed.id, *verdict) : ErrorLine(streamed.id, verdict.error()),
        verdict.ok() && verdict->passed());
  }
}

}  // namespace

Result<bool> VerifyStream(int fd, const StreamParse& parse, const std::vector<StreamVerify>& verify,
                          Output& out) {
  Desk desk(verify.size(), out);
  std::vector<std::jthread> workers;
  for (const StreamVerify& one : verify) workers.emplace_back([&desk, &one] { Work(desk, one); });
  LineReader reader(fd);
  Status failed;
  for (std::string line;;) {
    const Result<bool> more = reader.Next(line);
    if (!more.ok()) failed = more.error();
    if (!more.ok() || !*more) break;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (!desk.Ask(parse(line))) break;
  }
  desk.Close();
  workers.clear();
  KERF_RETURN_IF_ERROR(failed);
  return desk.Outcome();
}

}  // namespace kerf::cli
