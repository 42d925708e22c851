// `kerf run` against a public implementation of the Chat Completions endpoint: the LiteLLM proxy
// with mocked replies. Opt-in: KERF_LITELLM names the `litellm` program (pip install
// 'litellm[proxy]').
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/subprocess.h"
#include "live_process.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;
namespace stdfs = std::filesystem;

const std::string kSource = KERF_SOURCE_DIR;
constexpr char kKey[] = "sk-e2e-litellm-do-not-show-4712";

std::string Variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Loopback(0);
  socklen_t length = sizeof address;
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  ::close(fd);
  return bound ? ntohs(address.sin_port) : 0;
}

bool Listens(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Loopback(port);
  const bool connected = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return connected;
}

constexpr char kKernel[] =
    "#include <kerf/kernel.h>\n"
    "KERF_KERNEL(call) {\n"
    "  const float* x = kerf_data<float>(call->inputs[0]);\n"
    "  float* y = kerf_data<float>(call->outputs[0]);\n"
    "  for (int64_t i = 0; i < kerf_numel(call->inputs[0]); ++i) y[i] = x[i] > 0 ? x[i] : 0;\n"
    "  return 0;\n}\n";

// A proxy with one model for each of the loop's roles. JSON is YAML.
std::string ProxyConfig() {
  Json models = Json::array();
  const auto add = [&](const char* name, const std::string& reply) {
    models.push_back(
        {{"model_name", name},
         {"litellm_params",
          {{"model", "openai/mocked"}, {"api_key", "none"}, {"mock_response", reply}}}});
  };
  add("designer", R"({"code": "import aul as U", "description": "one loop"})");
  add("checker", R"({"result": 1, "reason": "right", "suggestions": ""})");
  add("coder", std::string("Here it is.\n```cpp\n") + kKernel + "```\n");
  return Json{{"model_list", models}}.dump();
}

TEST(LiteLlmProxy, AnswersAWholeRun) {
  const std::string program = Variable("KERF_LITELLM", "");
  if (program.empty()) GTEST_SKIP() << "KERF_LITELLM names no litellm program (opt-in)";
  TempDir dir;
  const auto path = [&](const std::string& name) { return dir.path() + "/" + name; };
  std::ofstream(path("proxy.yaml")) << ProxyConfig();
  std::ofstream(path("kerf.config.yaml"))
      << R"({"model": "openai:coder", "agent_model_config": {"aul_designer": "openai:designer",
            "conductor_check": "openai:checker"}})";
  const int port = FreePort();
  ASSERT_NE(port, 0);
  const LiveProcess proxy({"/usr/bin/env", std::string("LITELLM_MASTER_KEY=") + kKey,
                           "LITELLM_LOCAL_MODEL_COST_MAP=True", "HOME=" + dir.path(), program,
                           "--config", path("proxy.yaml"), "--host", "127.0.0.1", "--port",
                           std::to_string(port)});
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  while (!Listens(port) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  ASSERT_TRUE(Listens(port)) << program << " does not come up";

  const auto outcome = RunProcess(
      {.argv = {KERF_BINARY, "run", kSource + "/examples/tasks/relu_numpy.py", "--config",
                path("kerf.config.yaml"), "--impl", "cpp", "--log-dir", "logs", "--json"},
       .cwd = dir.path(),
       .environment = {{"PATH=" + Variable("PATH", "/usr/bin:/bin"),
                        "KERF_PYTHON=" + Variable("KERF_PYTHON", kSource + "/.venv/bin/python"),
                        "KERF_CACHE_DIR=" + path("cache"), "HOME=" + dir.path(),
                        "OPENAI_BASE_URL=http://127.0.0.1:" + std::to_string(port) + "/v1",
                        std::string("OPENAI_API_KEY=") + kKey}},
       .timeout = std::chrono::seconds(120)});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 0) << outcome->stdout_text << outcome->stderr_text;
  const Json report = Json::parse(outcome->stdout_text);
  EXPECT_TRUE(report["tasks"][0]["success"].get<bool>());
  EXPECT_EQ(report["ledger"]["total"]["calls"], 4);
  EXPECT_GT(report["ledger"]["total"]["output_tokens"].get<int64_t>(), 0);
  for (const auto& entry : stdfs::recursive_directory_iterator(path("logs"))) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(text, Not(HasSubstr(kKey))) << entry.path();
  }
}

}  // namespace
}  // namespace kerf::e2e
