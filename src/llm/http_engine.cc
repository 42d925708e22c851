// One loop around curl_multi_poll(). Everything of curl, all sinks and all timers are used from its
// thread only; other threads put functions into a queue and wake it.
#include "llm/http_engine.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <map>
#include <mutex>
#include <thread>

#include "llm/curl_library.h"
#include "llm/white_space.h"

namespace kerf::llm {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Time = SteadyClock::time_point;

double SecondsSince(Time start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

Time AfterSeconds(Time start, double seconds) {
  return start + std::chrono::duration_cast<SteadyClock::duration>(
                     std::chrono::duration<double>(std::min(seconds, 1e7)));
}

// One request under way.
struct Transfer {
  uint64_t id = 0;
  HttpRequest request;
  std::unique_ptr<HttpSink> sink;
  CURL* easy = nullptr;
  curl_slist* list = nullptr;
  char error[CURL_ERROR_SIZE] = {};
  int status = 0;
  HttpHeaders headers;
  bool headers_given = false;
  bool refused = false;  // by the sink
  bool first_byte = false;
  Time started = SteadyClock::now();
  Time last_byte = started;

  void GiveHeaders() {
    if (std::exchange(headers_given, true)) return;
    sink->OnHeaders(status, headers);
  }

  // When it has waited too long for bytes, and for which.
  [[nodiscard]] Time Deadline() const {
    return first_byte ? AfterSeconds(last_byte, request.timeouts.idle_s)
                      : AfterSeconds(started, request.timeouts.first_byte_s);
  }

  // "HTTP/1.1 200 OK" starts over: an interim answer may come before the real one.
  void OnHeaderLine(std::string_view line) {
    line = TrimRight(line);
    if (line.starts_with("HTTP/")) {
      headers.clear();
      const size_t space = line.find(' ');
      status = space == std::string_view::npos ? 0 : std::atoi(line.data() + space + 1);
      return;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    headers.emplace_back(std::move(name), value);
  }

  size_t OnBytes(std::string_view bytes) {
    first_byte = true;
    last_byte = SteadyClock::now();
    GiveHeaders();
    if (sink->OnBody(bytes)) return bytes.size();
    refused = true;
    return 0;
  }
};

size_t HeaderCallback(char* data, size_t size, size_t count, void* transfer) {
  static_cast<Transfer*>(transfer)->OnHeaderLine({data, size * count});
  return size * count;
}

size_t WriteCallback(char* data, size_t size, size_t count, void* transfer) {
  return static_cast<Transfer*>(transfer)->OnBytes({data, size * count});
}

HttpOutcome::Kind KindOf(CURLcode code, const Transfer& transfer) {
  switch (code) {
    case CURLE_OK:
      return HttpOutcome::Kind::kAnswered;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return HttpOutcome::Kind::kNoConnect;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
      return HttpOutcome::Kind::kTls;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return HttpOutcome::Kind::kBadUrl;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpOutcome::Kind::kTimeout;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return HttpOutcome::Kind::kCut;
    default:
      return transfer.first_byte && !transfer.refused ? HttpOutcome::Kind::kCut
                                                      : HttpOutcome::Kind::kFailed;
  }
}

}  // namespace

class HttpEngine::Loop {
 public:
  explicit Loop(const CurlLibrary& curl) : curl_(curl), multi_(curl.multi_init()) {
    curl_.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 64L);
    thread_ = std::thread([this] { Run(); });
  }

  ~Loop() {
    ending_ = true;
    curl_.multi_wakeup(multi_);
    thread_.join();
    curl_.multi_cleanup(multi_);
  }

  void Post(std::function<void()> task) {
    {
      const std::lock_guard lock(mu_);
      posted_.push_back(std::move(task));
    }
    curl_.multi_wakeup(multi_);
  }

  void After(double seconds, std::function<void()> task) {
    timers_.emplace(AfterSeconds(SteadyClock::now(), seconds), std::move(task));
  }

  uint64_t Send(HttpRequest request, std::unique_ptr<HttpSink> sink) {
    auto transfer = std::make_unique<Transfer>();
    transfer->id = ++last_id_;
    transfer->request = std::move(request);
    transfer->sink = std::move(sink);
    transfer->easy = curl_.easy_init();
    SetOptions(*transfer);
    curl_.multi_add_handle(multi_, transfer->easy);
    by_handle_[transfer->easy] = transfer->id;
    const uint64_t id = transfer->id;
    transfers_[id] = std::move(transfer);
    return id;
  }

  void Cancel(uint64_t id) { End(id, HttpOutcome::Kind::kCancelled, "cancelled"); }

  [[nodiscard]] std::string Version() const { return curl_.version_info(CURLVERSION_NOW)->version; }

 private:
  void SetOptions(Transfer& transfer) {
    CURL* easy = transfer.easy;
    const HttpRequest& request = transfer.request;
    for (const auto& [name, value] : request.headers) AddHeader(transfer, name + ": " + value);
    AddHeader(transfer, "Content-Type: application/json");
    AddHeader(transfer, "Accept: text/event-stream, application/json");
    AddHeader(transfer, "Expect:");  // no round trip before large bodies
    const auto milliseconds = [](double seconds) {
      return static_cast<long>(std::clamp(seconds * 1000, 1.0, 1e9));
    };
    curl_.easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_.easy_setopt(easy, CURLOPT_HTTPHEADER, transfer.list);
    curl_.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                      static_cast<curl_off_t>(request.body.size()));
    curl_.easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_.easy_setopt(easy, CURLOPT_USERAGENT, "kerf");
    curl_.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.timeouts.connect_s));
    curl_.easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(request.timeouts.total_s));
    curl_.easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error);
    curl_.easy_setopt(easy, CURLOPT_HEADERFUNCTION, HeaderCallback);
    curl_.easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    curl_.easy_setopt(easy, CURLOPT_WRITEFUNCTION, WriteCallback);
    curl_.easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
    if (!request.ca_file.empty()) {
      curl_.easy_setopt(easy, CURLOPT_CAINFO, request.ca_file.c_str());
    }
    if (!request.ca_dir.empty()) curl_.easy_setopt(easy, CURLOPT_CAPATH, request.ca_dir.c_str());
    if (request.insecure) {
      curl_.easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
      curl_.easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
  }

  void AddHeader(Transfer& transfer, const std::string& line) {
    transfer.list = curl_.slist_append(transfer.list, line.c_str());
  }

  void End(uint64_t id, HttpOutcome::Kind kind, std::string message) {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) return;
    const std::unique_ptr<Transfer> transfer = std::move(found->second);
    transfers_.erase(found);
    by_handle_.erase(transfer->easy);
    curl_.multi_remove_handle(multi_, transfer->easy);
    curl_.easy_cleanup(transfer->easy);
    curl_.slist_free_all(transfer->list);
    if (transfer->status != 0) transfer->GiveHeaders();
    transfer->sink->OnDone(
        {kind, transfer->status, std::move(message), SecondsSince(transfer->started)});
  }

  void EndFinished() {
    int left = 0;
    while (CURLMsg* message = curl_.multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const auto found = by_handle_.find(message->easy_handle);
      if (found == by_handle_.end()) continue;
      const CURLcode code = message->data.result;
      const Transfer& transfer = *transfers_.at(found->second);
      std::string words = transfer.error[0] != 0 ? transfer.error : curl_.easy_strerror(code);
      End(found->second, KindOf(code, transfer), code == CURLE_OK ? "" : std::move(words));
    }
  }

  void EndOverdue() {
    const Time now = SteadyClock::now();
    std::vector<uint64_t> overdue;
    for (const auto& [id, transfer] : transfers_) {
      if (transfer->Deadline() <= now) overdue.push_back(id);
    }
    for (const uint64_t id : overdue) {
      const Transfer& transfer = *transfers_.at(id);
      const double limit = transfer.first_byte ? transfer.request.timeouts.idle_s
                                               : transfer.request.timeouts.first_byte_s;
      std::string seconds = std::to_string(limit);
      seconds.resize(seconds.find('.') + 2);
      End(id, HttpOutcome::Kind::kTimeout,
          (transfer.first_byte ? "no byte for " : "no answer for ") + seconds + " s");
    }
  }

  void RunPosted() {
    std::vector<std::function<void()>> tasks;
    {
      const std::lock_guard lock(mu_);
      tasks.swap(posted_);
    }
    for (const std::function<void()>& task : tasks) task();
  }

  void RunTimers() {
    const Time now = SteadyClock::now();
    while (!timers_.empty() && timers_.begin()->first <= now) {
      const std::function<void()> task = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      task();
    }
  }

  [[nodiscard]] int WaitMilliseconds() {
    {
      const std::lock_guard lock(mu_);
      if (!posted_.empty()) return 0;
    }
    Time next = SteadyClock::now() + std::chrono::seconds(60);
    if (!timers_.empty()) next = std::min(next, timers_.begin()->first);
    for (const auto& [id, transfer] : transfers_) next = std::min(next, transfer->Deadline());
    const double ms = std::chrono::duration<double, std::milli>(next - SteadyClock::now()).count();
    return static_cast<int>(std::ceil(std::max(ms, 0.0)));
  }

  void Run() {
    while (!ending_) {
      RunPosted();
      RunTimers();
      int running = 0;
      curl_.multi_perform(multi_, &running);
      EndFinished();
      EndOverdue();
      curl_.multi_poll(multi_, nullptr, 0, WaitMilliseconds(), nullptr);
    }
    while (!transfers_.empty()) Cancel(transfers_.begin()->first);
    RunPosted();
  }

  const CurlLibrary curl_;
  CURLM* const multi_;
  std::atomic<bool> ending_ = false;

  std::mutex mu_;
  std::vector<std::function<void()>> posted_;  // guarded by mu_

  // The loop's thread only.
  uint64_t last_id_ = 0;
  std::map<uint64_t, std::unique_ptr<Transfer>> transfers_;
  std::map<CURL*, uint64_t> by_handle_;
  std::multimap<Time, std::function<void()>> timers_;

  std::thread thread_;
};

HttpEngine::HttpEngine(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
HttpEngine::~HttpEngine() = default;

Result<std::unique_ptr<HttpEngine>> HttpEngine::Start() {
  KERF_ASSIGN_OR_RETURN(const CurlLibrary curl, CurlLibrary::Load());
  return std::unique_ptr<HttpEngine>(new HttpEngine(std::make_unique<Loop>(curl)));
}

void HttpEngine::Post(std::function<void()> task) { loop_->Post(std::move(task)); }
void HttpEngine::After(double seconds, std::function<void()> task) {
  loop_->After(seconds, std::move(task));
}
uint64_t HttpEngine::Send(HttpRequest request, std::unique_ptr<HttpSink> sink) {
  return loop_->Send(std::move(request), std::move(sink));
}
void HttpEngine::Cancel(uint64_t id) { loop_->Cancel(id); }
std::string HttpEngine::curl_version() const { return loop_->Version(); }

}  // namespace kerf::llm
