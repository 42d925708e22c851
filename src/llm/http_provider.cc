// A call's way, all in the engine's thread:
//
//   Begin → limiter → Send → AttemptSink collects → Ended → Succeed | Retry (limiter again) | Fail
#include "llm/http_provider.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "llm/answer.h"
#include "llm/codec.h"
#include "llm/request_hash.h"

namespace kerf::llm {
namespace {

constexpr int kMostDropped = 8;
constexpr double kWorthTelling_s = 2;  // shorter waits are over before anybody has read of them

struct Call {
  Call(RetryLimits limits, IdSource& ids) : policy(limits, ids) {}

  Request request;
  Provider::Done done;
  uint64_t id = 0;
  int64_t input_estimate = 0;
  RetryPolicy policy;
  std::vector<Attempt> attempts;
  std::vector<std::string> notes;
  std::optional<uint64_t> queued;    // in the limiter
  std::optional<uint64_t> transfer;  // in the engine
  int64_t asked_at = 0;              // monotonic nanoseconds
  int64_t sent_at = 0;
  double next_waited_s = 0;
  double first_token_s = 0;
};

}  // namespace

class HttpProvider::Calls : public std::enable_shared_from_this<Calls> {
 public:
  Calls(Endpoint endpoint, Ports ports)
      : endpoint_(std::move(endpoint)),
        ports_(ports),
        codec_(endpoint_.wire == ModelKind::kAnthropic ? MakeAnthropicCodec() : MakeOpenAiCodec()),
        limiter_(ports.limits.For(endpoint_.base_url + " " + endpoint_.model)) {}

  void Ask(Request request, Done done) {
    {
      const std::lock_guard lock(mu_);
      ++open_;
    }
    // `spec` and `last` are borrowed for the time of Ask() only.
    request.spec = nullptr;
    request.last = nullptr;
    auto call = std::make_shared<Call>(endpoint_.retries, ports_.ids);
    call->request = std::move(request);
    call->done = std::move(done);
    ports_.engine.Post([self = shared_from_this(), call] { self->Begin(call); });
  }

  void Stop() {
    {
      const std::lock_guard lock(mu_);
      stopped_ = true;
    }
    ports_.engine.Post([self = shared_from_this()] { self->EndAll(); });
  }

  void WaitUntilIdle() {
    std::unique_lock lock(mu_);
    idle_.wait(lock, [&] { return open_ == 0; });
  }

  [[nodiscard]] std::string Name() const {
    return std::string(codec_->name()) + ":" + endpoint_.model;
  }

 private:
  class Sink;
  using CallPtr = std::shared_ptr<Call>;

  bool IsStopped() {
    const std::lock_guard lock(mu_);
    return stopped_;
  }

  std::string Clean(std::string text) const { return RedactKey(std::move(text), endpoint_); }

  void Begin(const CallPtr& call);
  void Queue(const CallPtr& call);
  void Pump();
  void Send(const CallPtr& call);
  void Ended(const CallPtr& call, const Answer& answer, const HttpOutcome& outcome);
  void Record(Call& call, const Answer& answer, const HttpOutcome& outcome,
              const std::optional<Failure>& failure);
  void Succeed(Call& call, const Answer& answer);
  void Retry(const CallPtr& call, const Failure& failure, const HttpHeaders& headers);
  void Fail(Call& call, const Failure& failure, const std::string& why);
  void Finish(Call& call, Result<Reply> result);
  void EndAll();
  [[nodiscard]] double Since(int64_t nanos) const {
    return static_cast<double>(ports_.clock.MonotonicNanos() - nanos) * 1e-9;
  }

  const Endpoint endpoint_;
  const Ports ports_;
  const std::unique_ptr<Codec> codec_;
  const std::shared_ptr<RateLimiter> limiter_;

  std::mutex mu_;
  std::condition_variable idle_;
  // Guarded by mu_.
  bool stopped_ = false;
  int open_ = 0;

  // The engine's thread only.
  uint64_t last_id_ = 0;
  int64_t pump_due_ = 0;  // when Pump() will be called; 0: nobody will
  std::map<uint64_t, CallPtr> calls_;
  std::set<std::string> dropped_;  // members the endpoint refused; remembered for later calls
};

class HttpProvider::Calls::Sink : public HttpSink {
 public:
  Sink(std::shared_ptr<Calls> owner, CallPtr call)
      : owner_(std::move(owner)), call_(std::move(call)), answer_(owner_->codec_->MakeDecoder()) {}

  void OnHeaders(int status, const HttpHeaders& headers) override {
    answer_.OnHeaders(status, headers);
    owner_->limiter_->Learn(headers);
  }
  bool OnBody(std::string_view bytes) override {
    const bool had_text = answer_.has_text();
    const bool more = answer_.OnBody(bytes);
    if (!had_text && answer_.has_text()) call_->first_token_s = owner_->Since(call_->sent_at);
    return more;
  }
  void OnDone(const HttpOutcome& outcome) override {
    answer_.Finish();
    owner_->Ended(call_, answer_, outcome);
  }

 private:
  const std::shared_ptr<Calls> owner_;
  const CallPtr call_;
  Answer answer_;
};

void HttpProvider::Calls::Begin(const CallPtr& call) {
  call->id = ++last_id_;
  call->asked_at = ports_.clock.MonotonicNanos();
  call->input_estimate = EstimateTokens(call->request.messages);
  calls_[call->id] = call;
  if (IsStopped()) {
    Finish(*call, Unavailable(Name() + ": stopped"));
    return;
  }
  for (const std::string& name : codec_->Unsent(endpoint_.sampling)) {
    call->notes.push_back("parameter " + name + " not sent: " + codec_->name() + " has none");
  }
  if (endpoint_.insecure) call->notes.emplace_back("TLS certificates were not checked");
  Queue(call);
}

void HttpProvider::Calls::Queue(const CallPtr& call) {
  call->queued = limiter_->Enqueue(call->input_estimate,
                                   [self = shared_from_this(), call] { self->Send(call); });
  Pump();
}

// The limiter belongs to all providers of the endpoint: what starts may be another one's.
void HttpProvider::Calls::Pump() {
  const std::optional<int64_t> wait = limiter_->Pump();
  const int64_t due = ports_.clock.MonotonicNanos() + wait.value_or(0);
  if (!wait.has_value() || (pump_due_ != 0 && pump_due_ <= due)) return;
  pump_due_ = due;
  ports_.engine.After(static_cast<double>(*wait) * 1e-9 + 0.001, [self = shared_from_this(), due] {
    if (self->pump_due_ == due) self->pump_due_ = 0;
    self->Pump();
  });
}

void HttpProvider::Calls::Send(const CallPtr& call) {
  call->queued.reset();
  call->sent_at = ports_.clock.MonotonicNanos();
  call->first_token_s = 0;
  HttpRequest request;
  request.url = codec_->Url(endpoint_.base_url);
  request.headers = codec_->RequestHeaders(endpoint_.key);
  request.body = codec_->Body(endpoint_.model, call->request.messages, endpoint_.sampling, dropped_,
                              endpoint_.extra_body);
  request.timeouts = endpoint_.timeouts;
  request.ca_file = endpoint_.ca_file;
  request.ca_dir = endpoint_.ca_dir;
  request.insecure = endpoint_.insecure;
  call->transfer =
      ports_.engine.Send(std::move(request), std::make_unique<Sink>(shared_from_this(), call));
}

void HttpProvider::Calls::Record(Call& call, const Answer& answer, const HttpOutcome& outcome,
                                 const std::optional<Failure>& failure) {
  Attempt attempt;
  attempt.http_status = outcome.status;
  attempt.waited_s = std::exchange(call.next_waited_s, 0);
  attempt.took_s = outcome.took_s;
  attempt.usage = answer.decoded().usage;
  const Decoded& decoded = answer.decoded();
  // What was under way when the user stopped it was read by the server, which counts that.
  const bool generated =
      answer.has_text() || decoded.finished || outcome.kind == HttpOutcome::Kind::kCancelled;
  if (attempt.usage.source == Usage::Source::kNone && generated) {
    attempt.usage = {
        .input_total = call.input_estimate,
        .output_total = EstimateTokens(decoded.text) + EstimateTokens(decoded.reasoning),
        .output_reasoning = EstimateTokens(decoded.reasoning),
        .source = Usage::Source::kEstimated};
  }
  if (failure.has_value()) {
    attempt.cause = Clean(failure->cause);
    attempt.partial = Clean(decoded.text);
    // A stream that broke reported at most what it had used when it began.
    attempt.usage.output_total =
        std::max(attempt.usage.output_total,
                 EstimateTokens(decoded.text) + EstimateTokens(decoded.reasoning));
  }
  if (call.request.on_attempt) call.request.on_attempt(attempt);
  call.attempts.push_back(std::move(attempt));
}

void HttpProvider::Calls::Ended(const CallPtr& call, const Answer& answer,
                                const HttpOutcome& outcome) {
  call->transfer.reset();
  const std::optional<Failure> failure = Judge(answer, outcome);
  Record(*call, answer, outcome, failure);
  if (!failure.has_value()) {
    limiter_->Release(RateLimiter::Outcome::kOk);
    Succeed(*call, answer);
  } else if (outcome.kind == HttpOutcome::Kind::kCancelled) {
    limiter_->Release(RateLimiter::Outcome::kWithdrawn);
    Fail(*call, *failure, "");
  } else {
    Retry(call, *failure, answer.headers());
  }
  Pump();
}

void HttpProvider::Calls::Succeed(Call& call, const Answer& answer) {
  Reply reply = ToReply(answer.decoded());
  reply.text = Clean(std::move(reply.text));
  reply.reasoning = Clean(std::move(reply.reasoning));
  reply.usage = call.attempts.back().usage;
  reply.provider = codec_->name();
  if (reply.model.empty()) reply.model = endpoint_.model;
  for (const char* header : {"x-request-id", "request-id"}) {
    if (const std::string* id = FindHeader(answer.headers(), header)) reply.request_id = *id;
  }
  reply.request_sha256 = RequestSha256(Name(), call.request.messages, endpoint_.sampling);
  reply.asked = Name();
  reply.sampling = EncodeSampling(endpoint_.sampling);
  reply.attempts = call.attempts;
  reply.notes = call.notes;
  reply.first_token_s = call.first_token_s;
  reply.took_s = Since(call.asked_at);
  Finish(call, std::move(reply));
}

void HttpProvider::Calls::Retry(const CallPtr& call, const Failure& failure,
                                const HttpHeaders& headers) {
  if (failure.kind == ErrorClass::kDropParam) {
    limiter_->Release(RateLimiter::Outcome::kOk);
    // Another call may have dropped it while this one was under way.
    const bool known = dropped_.contains(failure.param);
    const bool seen = std::any_of(call->notes.begin(), call->notes.end(), [&](const auto& note) {
      return note.find("parameter " + failure.param + " dropped") != std::string::npos;
    });
    if (seen || (!known && static_cast<int>(dropped_.size()) >= kMostDropped)) {
      Fail(*call, failure, "");
      return;
    }
    dropped_.insert(failure.param);
    call->notes.push_back(
        Clean("parameter " + failure.param + " dropped: not supported (" + failure.cause + ")"));
    Queue(call);
    return;
  }
  std::string why;
  const std::optional<double> wait =
      call->policy.NextWait(failure.kind, headers, ports_.clock.WallNanos(), why);
  const bool rate = failure.kind == ErrorClass::kRateLimit;
  limiter_->Release(rate ? RateLimiter::Outcome::kRateLimited : RateLimiter::Outcome::kFailed,
                    rate ? ServerWait(headers, ports_.clock.WallNanos()).value_or(0) : 0);
  if (!wait.has_value()) {
    Fail(*call, failure, why);
    return;
  }
  call->next_waited_s = *wait;
  if (*wait >= kWorthTelling_s && call->request.on_wait) {
    call->request.on_wait(*wait, Clean(failure.cause));
  }
  ports_.engine.After(*wait, [self = shared_from_this(), call] {
    if (self->calls_.contains(call->id)) self->Queue(call);
  });
}

void HttpProvider::Calls::Fail(Call& call, const Failure& failure, const std::string& why) {
  std::string message =
      Name() + " at " + ShownUrl(endpoint_.base_url) + ": " + Clean(failure.cause);
  if (!why.empty() && call.attempts.size() > 1) {
    message += " (" + why + ")";
  } else if (failure.kind == ErrorClass::kRateLimit || failure.kind == ErrorClass::kRetry) {
    message += why.empty() ? "" : " (" + why + ")";
  }
  if (failure.code == ErrorCode::kDenied && !endpoint_.key_origin.empty()) {
    message += "; the key is from " + endpoint_.key_origin;
  }
  Finish(call, Error{failure.code, std::move(message)});
}

void HttpProvider::Calls::Finish(Call& call, Result<Reply> result) {
  const CallPtr keep = calls_.at(call.id);
  calls_.erase(call.id);
  const Done done = std::move(call.done);
  done(std::move(result));
  const std::lock_guard lock(mu_);
  if (--open_ == 0) idle_.notify_all();
}

void HttpProvider::Calls::EndAll() {
  // Those that wait first, so that none of them starts when another one ends.
  const std::map<uint64_t, CallPtr> all = calls_;
  for (const auto& [id, call] : all) {
    if (call->transfer.has_value()) continue;
    if (call->queued.has_value()) limiter_->Withdraw(*call->queued);
    Finish(*call, Unavailable(Name() + ": stopped"));
  }
  for (const auto& [id, call] : all) {
    if (call->transfer.has_value()) ports_.engine.Cancel(*call->transfer);  // ends in Ended()
  }
}

HttpProvider::HttpProvider(Endpoint endpoint, Ports ports)
    : calls_(std::make_shared<Calls>(std::move(endpoint), ports)) {}

HttpProvider::~HttpProvider() {
  calls_->Stop();
  calls_->WaitUntilIdle();
}

void HttpProvider::Ask(Request request, Done done) {
  calls_->Ask(std::move(request), std::move(done));
}

void HttpProvider::Stop() { calls_->Stop(); }

std::string HttpProvider::name() const { return calls_->Name(); }

}  // namespace kerf::llm
