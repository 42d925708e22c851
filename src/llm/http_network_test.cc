// What stands between kerf and an endpoint: TLS with a certificate of one's own, and a proxy.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <future>

#include "base/child_posix.h"
#include "base/subprocess.h"
#include "llm/http_provider.h"
#include "llm/llm_server_process.h"

namespace kerf::llm {
namespace {

using Json = nlohmann::ordered_json;

// A TLS front for a plain server: accepts, takes one connection after the other through.
constexpr const char* kTlsFront = R"(
import socket, ssl, sys, threading
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
print("port", listener.getsockname()[1], flush=True)
def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass
while True:
    raw, _ = listener.accept()
    try:
        secure = context.wrap_socket(raw, server_side=True)
    except (ssl.SSLError, OSError):
        continue
    plain = socket.create_connection(("127.0.0.1", int(sys.argv[3])))
    for pair in ((secure, plain), (plain, secure)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
)";

class HttpNetwork : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<HttpEngine>> engine = HttpEngine::Start();
    if (!engine.ok()) GTEST_SKIP() << engine.error().message;
    engine_ = *std::move(engine);
  }

  Result<Reply> Ask(const Endpoint& endpoint) {
    HttpProvider provider(endpoint, {*engine_, limits_, *clock_, ids_});
    std::promise<Result<Reply>> promise;
    provider.Ask({.messages = {{"user", "q"}}},
                 [&](Result<Reply> reply) { promise.set_value(std::move(reply)); });
    return promise.get_future().get();
  }

  std::unique_ptr<Clock> clock_ = MakeSystemClock();
  FakeIds ids_;
  RateLimits limits_{*clock_, {}};
  std::unique_ptr<HttpEngine> engine_;
};

TEST_F(HttpNetwork, ChecksCertificates) {
  const LlmServerProcess server(Json::array({{{"text", "secret"}, {"times", 9}}}));
  const std::string key = server.dir() + "/key.pem";
  const std::string certificate = server.dir() + "/cert.pem";
  const Result<ProcessOutcome> made =
      RunProcess({.argv = {"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
                           "-subj", "/CN=kerf test", "-addext", "subjectAltName=IP:127.0.0.1",
                           "-keyout", key, "-out", certificate}});
  if (!made.ok() || made->exit_code != 0) GTEST_SKIP() << "no openssl that makes certificates";
  const std::string plain_port = server.url().substr(server.url().rfind(':') + 1);
  Result<Child> front =
      StartChild({.argv = {"python3", "-c", kTlsFront, certificate, key, plain_port}});
  if (!front.ok()) GTEST_SKIP() << front.error().message;
  std::string line;
  char c = 0;
  while (::read(front->stdout_fd.get(), &c, 1) == 1 && c != '\n') line += c;
  ASSERT_TRUE(line.starts_with("port ")) << line;

  Endpoint endpoint;
  endpoint.model = "m";
  endpoint.base_url = "https://127.0.0.1:" + line.substr(5);
  const Result<Reply> distrusted = Ask(endpoint);
  ASSERT_FALSE(distrusted.ok());
  EXPECT_EQ(distrusted.error().code, ErrorCode::kDenied) << distrusted.error().message;
  EXPECT_TRUE(server.Log().empty()) << "nothing was sent, and nothing tried again";

  endpoint.ca_file = certificate;
  const Result<Reply> trusted = Ask(endpoint);
  ASSERT_TRUE(trusted.ok()) << trusted.error().message;
  EXPECT_EQ(trusted->text, "secret");

  endpoint.ca_file.clear();
  endpoint.insecure = true;
  const Result<Reply> unchecked = Ask(endpoint);
  ASSERT_TRUE(unchecked.ok()) << unchecked.error().message;
  EXPECT_EQ(unchecked->notes, (std::vector<std::string>{"TLS certificates were not checked"}));

  ::kill(front->pid, SIGKILL);
  ::waitpid(front->pid, nullptr, 0);
}

TEST_F(HttpNetwork, GoesThroughTheProxyOfTheEnvironment) {
  const LlmServerProcess proxy(Json::array({{{"text", "through"}, {"times", 9}}}));
  ASSERT_EQ(::setenv("http_proxy", proxy.url().c_str(), 1), 0);
  Endpoint endpoint;
  endpoint.model = "m";
  endpoint.base_url = "http://127.0.0.1:1/v1";
  const Result<Reply> reply = Ask(endpoint);
  ::setenv("no_proxy", "127.0.0.1", 1);
  endpoint.retries.max_attempts = 1;
  const Result<Reply> direct = Ask(endpoint);
  ::unsetenv("http_proxy");
  ::unsetenv("no_proxy");
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->text, "through");
  ASSERT_EQ(proxy.Log().size(), 1U);
  EXPECT_EQ(proxy.Log()[0]["path"], "http://127.0.0.1:1/v1/chat/completions");
  EXPECT_FALSE(direct.ok()) << "nobody listens there";
}

TEST_F(HttpNetwork, DoesNotFollowRedirects) {
  const LlmServerProcess elsewhere(Json::array({{{"text", "stolen"}}}));
  const LlmServerProcess server(
      Json::array({{{"status", 307},
                    {"headers", {{"location", elsewhere.url() + "/v1/chat/completions"}}},
                    {"body", "moved"}}}));
  Endpoint endpoint;
  endpoint.model = "m";
  endpoint.base_url = server.url() + "/v1";
  endpoint.key = "sk-0123456789";
  const Result<Reply> reply = Ask(endpoint);
  ASSERT_FALSE(reply.ok());
  EXPECT_NE(reply.error().message.find("HTTP 307"), std::string::npos) << reply.error().message;
  EXPECT_TRUE(elsewhere.Log().empty()) << "the key stays where it was sent";
}

// Opt-in: any endpoint that answers, such as a LiteLLM proxy with a mock_response or a local server
// with a tiny model. KERF_TEST_MODEL is a spec ("openai:gpt-5"); the usual variables say where.
TEST_F(HttpNetwork, AnEndpointOfOnesOwnAnswers) {
  const char* model = std::getenv("KERF_TEST_MODEL");
  if (model == nullptr) GTEST_SKIP() << "KERF_TEST_MODEL names no model to ask";
  const Result<ModelSpec> spec = ParseModelSpec(model);
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  Result<Endpoint> endpoint = ResolveEndpoint(*spec, {.sampling = {.max_tokens = 64}});
  ASSERT_TRUE(endpoint.ok()) << endpoint.error().message;
  const Result<Reply> reply = Ask(*endpoint);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_NE(reply->finish_raw, "");
  EXPECT_GT(reply->usage.input_total, 0);
}

}  // namespace
}  // namespace kerf::llm
