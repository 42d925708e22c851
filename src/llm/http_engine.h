// Sends HTTP requests and hands over the answers as they arrive: all from one thread of its own,
// however many are under way.
//
//   KERF_ASSIGN_OR_RETURN(std::unique_ptr<HttpEngine> engine, HttpEngine::Start());
//   engine->Post([&] { engine->Send(request, std::make_unique<MySink>()); });
//
// libcurl does the work. It is loaded when the first engine starts, so that kerf starts without it
// and runs where it is not installed (docs/decisions/0008-http-client.md). Proxies come from the
// environment as libcurl reads it (HTTPS_PROXY, NO_PROXY …). Redirects are not followed: they could
// carry a key elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "llm/retry_policy.h"

namespace kerf::llm {

struct HttpTimeouts {
  double connect_s = 10;
  double first_byte_s = 300;  // from the start to the first byte of the body
  double idle_s = 120;        // between bytes; keep-alive comments count
  double total_s = 1800;
};

struct HttpRequest {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // sent as JSON
  HttpTimeouts timeouts;
  std::string ca_file;  // empty: the system's
  std::string ca_dir;
  // Anybody on the way can then read and change everything, keys included.
  bool insecure = false;
};

struct HttpOutcome {
  enum class Kind {
    kAnswered,   // the whole answer came
    kCut,        // it broke off
    kNoConnect,  // nobody listens, no such host
    kTls,        // the certificate is not to be trusted
    kBadUrl,
    kTimeout,
    kCancelled,
    kFailed,
  };
  Kind kind = Kind::kFailed;
  int status = 0;  // 0: none came
  std::string message;
  double took_s = 0;
};

// Called from the engine's thread.
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  // Once, before the first byte of the body.
  virtual void OnHeaders(int status, const HttpHeaders& headers) = 0;
  // False ends the transfer as kFailed.
  virtual bool OnBody(std::string_view bytes) = 0;
  // Last, always.
  virtual void OnDone(const HttpOutcome& outcome) = 0;
};

class HttpEngine {
 public:
  // kUnavailable when libcurl cannot be loaded, with the package to install.
  static Result<std::unique_ptr<HttpEngine>> Start();
  // Ends all transfers as kCancelled, then runs what was posted. Not from its own thread.
  ~HttpEngine();
  HttpEngine(const HttpEngine&) = delete;
  HttpEngine& operator=(const HttpEngine&) = delete;

  // Runs `task` in the engine's thread, soon. Thread-safe.
  void Post(std::function<void()> task);
  // From the engine's thread only:
  void After(double seconds, std::function<void()> task);
  uint64_t Send(HttpRequest request, std::unique_ptr<HttpSink> sink);
  void Cancel(uint64_t id);

  [[nodiscard]] std::string curl_version() const;

 private:
  class Loop;
  explicit HttpEngine(std::unique_ptr<Loop> loop);

  std::unique_ptr<Loop> loop_;
};

}  // namespace kerf::llm
