// Against kerf_llm_server, a real process on the loopback.
#include "llm/http_provider.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <future>
#include <iterator>

#include "llm/budgeted_provider.h"
#include "llm/llm_server_process.h"

namespace kerf::llm {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKey = "sk-test-0123456789abcdef";

class HttpProviderTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<HttpEngine>> engine = HttpEngine::Start();
    if (!engine.ok()) GTEST_SKIP() << engine.error().message;
    engine_ = *std::move(engine);
  }

  // Impatient, so that tests need not wait.
  Endpoint MakeEndpoint(const LlmServerProcess& server, ModelKind wire = ModelKind::kOpenAi) {
    Endpoint endpoint;
    endpoint.wire = wire;
    endpoint.model = "test-model";
    endpoint.base_url = server.url() + (wire == ModelKind::kOpenAi ? "/v1" : "");
    endpoint.key = kKey;
    endpoint.key_origin = "TEST_API_KEY";
    endpoint.retries.first_backoff_s = 0.01;
    endpoint.retries.max_wait_s = 5;
    return endpoint;
  }

  std::unique_ptr<HttpProvider> Make(Endpoint endpoint) {
    return std::make_unique<HttpProvider>(std::move(endpoint),
                                          HttpProvider::Ports{*engine_, *limits_, *clock_, *ids_});
  }

  Result<Reply> Ask(Provider& provider) {
    attempts_.clear();
    std::promise<Result<Reply>> promise;
    provider.Ask({.agent = "coder",
                  .owner = "relu/0",
                  .messages = {{"system", "be brief"}, {"user", "hello"}},
                  .on_attempt = [this](const Attempt& attempt) { attempts_.push_back(attempt); }},
                 [&](Result<Reply> reply) { promise.set_value(std::move(reply)); });
    return promise.get_future().get();
  }

  // One request to a server with these rules.
  Result<Reply> AskOnce(const Json& rules, ModelKind wire = ModelKind::kOpenAi) {
    LlmServerProcess server(rules);
    auto provider = Make(MakeEndpoint(server, wire));
    Result<Reply> reply = Ask(*provider);
    log_ = server.Log();
    return reply;
  }

  std::unique_ptr<Clock> clock_ = MakeSystemClock();
  std::unique_ptr<IdSource> ids_ = MakeRandomIds();
  std::unique_ptr<RateLimits> limits_ =
      std::make_unique<RateLimits>(*clock_, RateLimiter::Options{.max_in_flight = 256});
  std::unique_ptr<HttpEngine> engine_;
  std::vector<Attempt> attempts_;
  std::vector<Json> log_;
};

TEST_F(HttpProviderTest, ReadsAStreamOfEachWire) {
  const Json rule = {{"text", "Grüße, 世界 { }"}, {"reasoning", "think, 想"}};
  for (const ModelKind wire : {ModelKind::kOpenAi, ModelKind::kAnthropic}) {
    const Result<Reply> reply = AskOnce(Json::array({rule}), wire);
    ASSERT_TRUE(reply.ok()) << reply.error().message;
    EXPECT_EQ(reply->text, "Grüße, 世界 { }");
    EXPECT_EQ(reply->reasoning, "think, 想");
    EXPECT_EQ(reply->finish, Finish::kStop);
    EXPECT_EQ(reply->usage.source, Usage::Source::kReported);
    EXPECT_EQ(reply->usage.input_total, wire == ModelKind::kOpenAi ? 10 : 12);
    EXPECT_EQ(reply->usage.input_cache_read, 2);
    EXPECT_EQ(reply->usage.output_total, 5);
    EXPECT_EQ(reply->model, "test-model");
    EXPECT_EQ(reply->attempts.size(), 1U);
    EXPECT_GT(reply->first_token_s, 0);
    ASSERT_EQ(log_.size(), 1U);
    EXPECT_TRUE(log_[0]["key"]);
    EXPECT_EQ(log_[0]["body"]["model"], "test-model");
    EXPECT_EQ(log_[0]["path"],
              wire == ModelKind::kOpenAi ? "/v1/chat/completions" : "/v1/messages");
  }
}

TEST_F(HttpProviderTest, ReadsAStreamHoweverItIsSplit) {
  const Json base = {{"text", "Grüße, 世界\r\n```cpp\nint x;\n```"}, {"reasoning", "想 think"}};
  const std::vector<Json> variants = {{{"chunk", 1}},
                                      {{"chunk", 3}, {"newline", "\r\n"}},
                                      {{"chunk", 1}, {"newline", "\r"}},
                                      {{"multi_line", true}, {"chunk", 7}},
                                      {{"keep_alive", true}},
                                      {{"done", false}},
                                      {{"length", "close"}, {"done", false}},
                                      {{"plain", true}},
                                      {{"plain", true}, {"chunk", 1}},
                                      {{"reasoning_field", "reasoning"}},
                                      {{"headers", {{"content-type", "text/plain"}}}},
                                      {{"piece", 1}, {"chunk", 1}}};
  for (const ModelKind wire : {ModelKind::kOpenAi, ModelKind::kAnthropic}) {
    for (const Json& variant : variants) {
      Json rule = base;
      rule.update(variant);
      const Result<Reply> reply = AskOnce(Json::array({rule}), wire);
      ASSERT_TRUE(reply.ok()) << variant << reply.error().message;
      EXPECT_EQ(reply->text, base["text"]) << variant;
      EXPECT_EQ(reply->reasoning, base["reasoning"]) << variant;
      EXPECT_EQ(reply->attempts.size(), 1U) << variant;
    }
  }
}

TEST_F(HttpProviderTest, SplitsInlineThinkingThatStraddlesChunks) {
  const Result<Reply> reply =
      AskOnce({{{"text", "<think>\nfirst\n</think>\n\nanswer"}, {"piece", 3}}});
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->text, "answer");
  EXPECT_EQ(reply->reasoning, "first");
}

TEST_F(HttpProviderTest, EstimatesUsageThatIsNotReported) {
  const Result<Reply> reply = AskOnce({{{"text", "123456789"}, {"usage", nullptr}}});
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->usage.source, Usage::Source::kEstimated);
  EXPECT_EQ(reply->usage.output_total, 3);
  EXPECT_GT(reply->usage.input_total, 0);
}

TEST_F(HttpProviderTest, TellsALengthStopFromAWholeReply) {
  EXPECT_EQ(AskOnce({{{"text", "cut"}, {"finish", "length"}}})->finish, Finish::kLength);
  EXPECT_EQ(AskOnce({{{"text", "cut"}, {"finish", "max_tokens"}}}, ModelKind::kAnthropic)->finish,
            Finish::kLength);
}

TEST_F(HttpProviderTest, StartsOverAfterABrokenStream) {
  const Json whole = {{"text", "the whole answer"}};
  // Each breaks after some text has come.
  for (const Json& broken :
       std::vector<Json>{{{"text", "partial answer"}, {"cut", 600}},
                         {{"text", "partial answer"}, {"cut", 600}, {"length", "close"}},
                         {{"text", "partial answer"}, {"finish", nullptr}},
                         {{"text", "partial answer"}, {"error_after", 3}}}) {
    const Result<Reply> reply = AskOnce({broken, whole});
    ASSERT_TRUE(reply.ok()) << broken << reply.error().message;
    EXPECT_EQ(reply->text, "the whole answer") << "never spliced";
    ASSERT_EQ(reply->attempts.size(), 2U) << broken;
    EXPECT_NE(reply->attempts[0].cause, "");
    EXPECT_TRUE(std::string("partial answer").starts_with(reply->attempts[0].partial));
    EXPECT_FALSE(reply->attempts[0].partial.empty()) << broken;
    EXPECT_GT(reply->attempts[0].usage.output_total, 0) << "what was generated is paid for";
    EXPECT_EQ(reply->attempts[1].cause, "");
  }
}

TEST_F(HttpProviderTest, NeverTakesABrokenStreamForWhole) {
  for (const ModelKind wire : {ModelKind::kOpenAi, ModelKind::kAnthropic}) {
    LlmServerProcess server(Json{{{"text", "partial"}, {"finish", nullptr}, {"times", 100}}});
    Endpoint endpoint = MakeEndpoint(server, wire);
    endpoint.retries.max_attempts = 3;
    auto provider = Make(endpoint);
    const Result<Reply> reply = Ask(*provider);
    ASSERT_FALSE(reply.ok());
    EXPECT_NE(reply.error().message.find("without saying why it stopped"), std::string::npos);
    EXPECT_EQ(attempts_.size(), 3U);
    EXPECT_EQ(attempts_[2].partial, "partial");
  }
}

TEST_F(HttpProviderTest, RetriesServerFaultsAndShowsTheServersWords) {
  const Result<Reply> reply = AskOnce(
      {{{"status", 500}, {"body", {{"error", {{"message", "boom"}, {"type", "server_error"}}}}}},
       {{"status", 502},
        {"headers", {{"content-type", "text/html"}}},
        {"body", "<html><style>x{}</style><h1>Bad Gateway</h1><p>nginx</p></html>"}},
       {{"status", 529}, {"body", {{"type", "error"}, {"error", {{"type", "overloaded_error"}}}}}},
       {{"text", "ok"}}});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  ASSERT_EQ(reply->attempts.size(), 4U);
  EXPECT_EQ(reply->attempts[0].cause, "HTTP 500 server_error: boom");
  EXPECT_EQ(reply->attempts[1].cause, "HTTP 502: Bad Gateway nginx");
  EXPECT_EQ(reply->attempts[1].http_status, 502);
  EXPECT_GT(reply->attempts[1].waited_s, 0);
}

TEST_F(HttpProviderTest, WaitsAsLongAsAnyHeaderAsks) {
  for (const Json& headers : std::vector<Json>{
           {{"retry-after-ms", "120"}},
           {{"retry-after", "0.12"}},
           {{"x-ratelimit-remaining-tokens", "0"}, {"x-ratelimit-reset-tokens", "120ms"}},
           {{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "0.12s"}}}) {
    const Result<Reply> reply = AskOnce(
        {{{"status", 429}, {"headers", headers}, {"body", {{"error", {{"message", "slow down"}}}}}},
         {{"text", "ok"}}});
    ASSERT_TRUE(reply.ok()) << headers << reply.error().message;
    ASSERT_EQ(reply->attempts.size(), 2U);
    EXPECT_GE(reply->attempts[1].waited_s, 0.119) << headers;
    EXPECT_LT(reply->attempts[1].waited_s, 1) << headers;
  }
}

TEST_F(HttpProviderTest, GivesUpWhenTheServerAsksForMoreThanTheWaitingBudget) {
  const Result<Reply> reply =
      AskOnce({{{"status", 429},
                {"headers", {{"retry-after", "3600"}}},
                {"body", {{"error", {{"message", "come back tomorrow"}}}}}}});
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(reply.error().message.find("come back tomorrow"), std::string::npos);
  EXPECT_NE(reply.error().message.find("the limit is 5.0 s"), std::string::npos)
      << reply.error().message;
  EXPECT_EQ(log_.size(), 1U);
}

TEST_F(HttpProviderTest, NeverRetriesWhatNoRetryCures) {
  struct Case {
    int status;
    const char* code;
    ErrorCode expected;
  };
  for (const Case& c :
       {Case{400, "context_length_exceeded", ErrorCode::kUnavailable},
        Case{401, "invalid_api_key", ErrorCode::kDenied}, Case{403, "", ErrorCode::kDenied},
        Case{404, "model_not_found", ErrorCode::kUnavailable},
        Case{413, "", ErrorCode::kUnavailable}, Case{422, "", ErrorCode::kUnavailable},
        Case{429, "insufficient_quota", ErrorCode::kUnavailable}}) {
    const Result<Reply> reply =
        AskOnce({{{"status", c.status},
                  {"times", 9},
                  {"body", {{"error", {{"message", "no"}, {"code", c.code}}}}}}});
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().code, c.expected) << c.status;
    EXPECT_EQ(log_.size(), 1U) << c.status;
  }
}

TEST_F(HttpProviderTest, ReadsErrorsOfEveryShape) {
  for (const auto& [body, words] : std::vector<std::pair<Json, std::string>>{
           {{{"error", "model not loaded"}}, "HTTP 400: model not loaded"},
           {{{"detail", "Not Found"}}, "HTTP 400: Not Found"},
           {{{"detail", {{{"loc", {"body"}}, {"msg", "field required"}}}}}, "field required"},
           {{{"object", "error"}, {"message", "too long"}, {"code", 400}}, "too long"},
           {"plain words", "HTTP 400: plain words"},
           {{{"type", "error"}, {"error", {{"type", "invalid_request_error"}, {"message", "m"}}}},
            "HTTP 400 invalid_request_error: m"}}) {
    const Result<Reply> reply = AskOnce({{{"status", 400}, {"body", body}}});
    ASSERT_FALSE(reply.ok());
    EXPECT_NE(reply.error().message.find(words), std::string::npos) << reply.error().message;
  }
}

TEST_F(HttpProviderTest, DropsAnUnsupportedParameterOnce) {
  LlmServerProcess server(Json{{{"status", 400},
                                {"body",
                                 {{"error",
                                   {{"message", "Unsupported parameter: 'max_tokens'"},
                                    {"code", "unsupported_parameter"},
                                    {"param", "max_tokens"}}}}}},
                               {{"status", 400},
                                {"body",
                                 {{"error",
                                   {{"message", "'temperature' does not support 0.2"},
                                    {"code", "unsupported_value"},
                                    {"param", "temperature"}}}}}},
                               {{"text", "ok"}, {"times", 2}}});
  Endpoint endpoint = MakeEndpoint(server);
  endpoint.sampling = {.temperature = 0.2, .top_p = 0.9, .max_tokens = 77};
  auto provider = Make(endpoint);
  const Result<Reply> first = Ask(*provider);
  ASSERT_TRUE(first.ok()) << first.error().message;
  ASSERT_EQ(first->notes.size(), 2U);
  EXPECT_TRUE(first->notes[0].starts_with("parameter max_tokens dropped: not supported"));
  const Result<Reply> second = Ask(*provider);
  ASSERT_TRUE(second.ok());
  const std::vector<Json> log = server.Log();
  ASSERT_EQ(log.size(), 4U) << "the second request knows";
  EXPECT_EQ(log[0]["body"]["max_tokens"], 77);
  EXPECT_EQ(log[1]["body"]["max_completion_tokens"], 77);
  EXPECT_FALSE(log[3]["body"].contains("temperature"));
  EXPECT_EQ(log[3]["body"]["top_p"], 0.9);
}

TEST_F(HttpProviderTest, TimesOut) {
  struct Case {
    const char* what;
    Json rule;
    HttpTimeouts timeouts;
  };
  for (const Case& c :
       {Case{"no answer", {{"text", "x"}, {"delay_ms", 60000}}, {.first_byte_s = 0.1}},
        Case{"no byte", {{"text", "xxxxxxxxxxxxxxxxxxxx"}, {"stall", 300}}, {.idle_s = 0.1}},
        Case{"timed out",
             {{"text", "xxxxxxxxxxxx"}, {"gap_ms", 50}, {"chunk", 1}},
             {.total_s = 0.2}}}) {
    LlmServerProcess server(Json::array({c.rule}));
    Endpoint endpoint = MakeEndpoint(server);
    endpoint.timeouts = c.timeouts;
    endpoint.retries.max_attempts = 1;
    auto provider = Make(endpoint);
    const Result<Reply> reply = Ask(*provider);
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().code, ErrorCode::kTimeout) << reply.error().message;
    EXPECT_NE(reply.error().message.find(c.what), std::string::npos) << reply.error().message;
  }
}

TEST_F(HttpProviderTest, KeepAlivesHoldOffTheIdleTimeout) {
  LlmServerProcess server(Json{{{"text", "slow but alive"}, {"gap_ms", 60}, {"keep_alive", true}}});
  Endpoint endpoint = MakeEndpoint(server);
  endpoint.timeouts.idle_s = 0.5;
  auto provider = Make(endpoint);
  const Result<Reply> reply = Ask(*provider);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->attempts.size(), 1U);
}

TEST_F(HttpProviderTest, NobodyListening) {
  std::string url;
  {
    LlmServerProcess server(Json{{{"text", "x"}}});
    url = server.url();
  }
  Endpoint endpoint;
  endpoint.model = "m";
  endpoint.base_url = url;
  endpoint.retries = {.max_attempts = 2, .first_backoff_s = 0.01};
  auto provider = Make(endpoint);
  const Result<Reply> reply = Ask(*provider);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(attempts_.size(), 2U);
  EXPECT_EQ(attempts_[0].http_status, 0);
}

TEST_F(HttpProviderTest, StopEndsWhatIsUnderWayAndWhatComesLater) {
  LlmServerProcess server(Json{{{"text", "x"}, {"delay_ms", 60000}, {"times", 9}}});
  auto provider = Make(MakeEndpoint(server));
  std::promise<Result<Reply>> promise;
  provider->Ask({.messages = {{"user", "q"}}},
                [&](Result<Reply> reply) { promise.set_value(std::move(reply)); });
  provider->Stop();
  const Result<Reply> reply = promise.get_future().get();
  ASSERT_FALSE(reply.ok());
  EXPECT_NE(reply.error().message.find("stopped"), std::string::npos);
  EXPECT_FALSE(Ask(*provider).ok());
}

TEST_F(HttpProviderTest, DestructionCallsEveryDone) {
  LlmServerProcess server(Json{{{"text", "x"}, {"delay_ms", 60000}, {"times", 99}}});
  std::atomic<int> ended = 0;
  {
    auto provider = Make(MakeEndpoint(server));
    for (int i = 0; i < 50; ++i) {
      provider->Ask({.messages = {{"user", "q"}}}, [&](const Result<Reply>& reply) {
        EXPECT_FALSE(reply.ok());
        ++ended;
      });
    }
  }
  EXPECT_EQ(ended, 50);
}

TEST_F(HttpProviderTest, ManySlowStreamsAtOnceWithAnExactLedger) {
  constexpr int kCalls = 200;
  LlmServerProcess server(
      Json{{{"text", "a slow answer"}, {"gap_ms", 15}, {"times", kCalls}, {"usage", {100, 7}}}});
  Result<PriceTable> prices = PriceTable::Parse(
      R"({"models": {"test-model": {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}}})",
      "p");
  Ledger ledger(*prices, {});
  BudgetedProvider provider(Make(MakeEndpoint(server)), ledger, {.model = "test-model"});
  std::atomic<int> answered = 0;
  std::promise<void> all;
  for (int i = 0; i < kCalls; ++i) {
    provider.Ask({.agent = "coder", .owner = "t/" + std::to_string(i), .messages = {{"user", "q"}}},
                 [&](const Result<Reply>& reply) {
                   EXPECT_TRUE(reply.ok()) << reply.error().message;
                   if (++answered == kCalls) all.set_value();
                 });
  }
  all.get_future().wait();
  EXPECT_EQ(ledger.Total().calls, kCalls);
  EXPECT_EQ(ledger.Total().usage.input_total, kCalls * 100);
  EXPECT_EQ(ledger.Total().usage.output_total, kCalls * 7);
  EXPECT_EQ(ledger.Total().cost, int64_t{kCalls} * (100 * 1000 + 7 * 2000));
  EXPECT_EQ(ledger.ByOwner().size(), size_t{kCalls});
}

TEST_F(HttpProviderTest, OneAgentsRefusalHoldsBackTheOthers) {
  LlmServerProcess server(Json{{{"status", 429},
                                {"headers", {{"retry-after-ms", "300"}}},
                                {"body", {{"error", {{"message", "slow down"}}}}}},
                               {{"text", "ok"}, {"times", 9}}});
  auto first = Make(MakeEndpoint(server));
  auto second = Make(MakeEndpoint(server));
  std::promise<Result<Reply>> promise;
  std::promise<void> refused;
  first->Ask(
      {.messages = {{"user", "q"}},
       .on_attempt = [&, once = std::make_shared<std::once_flag>()](
                         const Attempt&) { std::call_once(*once, [&] { refused.set_value(); }); }},
      [&](Result<Reply> reply) { promise.set_value(std::move(reply)); });
  refused.get_future().wait();
  const Result<Reply> reply = Ask(*second);
  ASSERT_TRUE(reply.ok());
  EXPECT_GT(reply->took_s, 0.2) << "it waited in the limiter";
  EXPECT_EQ(reply->attempts.size(), 1U);
  EXPECT_TRUE(promise.get_future().get().ok());
}

// Everything a caller can see of a call.
std::string AllText(const Result<Reply>& reply, const std::vector<Attempt>& attempts) {
  std::string all = reply.ok() ? reply->text + reply->reasoning + reply->request_id + reply->model
                               : reply.error().message;
  if (reply.ok()) {
    for (const std::string& note : reply->notes) all += note;
    for (const Attempt& attempt : reply->attempts) all += attempt.cause + attempt.partial;
  }
  for (const Attempt& attempt : attempts) all += attempt.cause + attempt.partial;
  return all;
}

TEST_F(HttpProviderTest, TheKeyIsInNoTextThatLeaves) {
  const std::vector<Json> scripts = {
      Json{{{"text", "your key is {KEY}"}, {"reasoning", "hm {KEY}"}}},
      Json{{{"status", 401}, {"body", {{"error", {{"message", "Incorrect API key: {KEY}"}}}}}}},
      Json{{{"status", 401}, {"body", {{"error", "bad key sk-test-0123****cdef"}}}}},
      Json{{{"status", 500}, {"body", "<html>Authorization: Bearer {KEY}</html>"}},
           {{"text", "partial {KEY}"}, {"finish", nullptr}, {"piece", 100}},
           {{"text", "ok"}}},
      Json{{{"status", 400},
            {"body",
             {{"error",
               {{"message", "unsupported parameter, key {KEY}"},
                {"param", "stream_options"},
                {"code", "unsupported_parameter"}}}}}},
           {{"text", "ok"}}},
      Json{{{"status", 200}, {"body", "no JSON, but {KEY}"}, {"times", 9}}}};
  for (const ModelKind wire : {ModelKind::kOpenAi, ModelKind::kAnthropic}) {
    for (const Json& script : scripts) {
      LlmServerProcess server(script);
      auto provider = Make(MakeEndpoint(server, wire));
      const Result<Reply> reply = Ask(*provider);
      const std::string all = AllText(reply, attempts_);
      EXPECT_EQ(all.find(kKey), std::string::npos) << all;
      EXPECT_EQ(all.find("****cdef"), std::string::npos) << all;
      std::ifstream log(server.dir() + "/log.jsonl");
      const std::string logged{std::istreambuf_iterator<char>(log), {}};
      EXPECT_FALSE(logged.empty());
      EXPECT_EQ(logged.find(kKey), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace kerf::llm
