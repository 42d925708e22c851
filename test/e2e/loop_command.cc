#include "loop_command.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

namespace kerf::e2e {
namespace {

std::unique_ptr<TempDir> cache;  // of the suite that runs

std::string Variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

}  // namespace

std::string Python() {
  return Variable("KERF_PYTHON", std::string(KERF_SOURCE_DIR) + "/.venv/bin/python");
}

bool CanImport(const std::string& packages) {
  const auto outcome = RunProcess({.argv = {Python(), "-c", "import " + packages}});
  return outcome.ok() && outcome->exit_code == 0;
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Kernel(const std::string& value) {
  return "#include <kerf/kernel.h>\n"
         "KERF_KERNEL(call) {\n"
         "  const float* x = kerf_data<float>(call->inputs[0]);\n"
         "  float* y = kerf_data<float>(call->outputs[0]);\n"
         "  for (int64_t i = 0; i < kerf_numel(call->inputs[0]); ++i) y[i] = " +
         value + ";\n  return 0;\n}\n";
}

std::string CodeReply(const std::string& code) {
  return nlohmann::ordered_json{{"code", code}, {"description", "a loop"}}.dump();
}

void LoopCommand::SetUpTestSuite() { cache = std::make_unique<TempDir>(); }

void LoopCommand::TearDownTestSuite() { cache.reset(); }

void LoopCommand::SetUp() {
  if (!CanImport("numpy")) GTEST_SKIP() << Python() << " has no numpy";
}

std::vector<std::string> LoopCommand::Environment(const std::string& url) const {
  return {"PATH=" + Variable("PATH", "/usr/bin:/bin"),
          "KERF_PYTHON=" + Python(),
          "KERF_CACHE_DIR=" + cache->path(),
          "HOME=" + dir_.path(),
          "OPENAI_BASE_URL=" + url + "/v1",
          std::string("OPENAI_API_KEY=") + kModelKey};
}

ProcessOutcome LoopCommand::Kerf(const std::string& url, std::vector<std::string> words) {
  words.insert(words.begin(), KERF_BINARY);
  const auto outcome = RunProcess({.argv = std::move(words),
                                   .cwd = dir_.path(),
                                   .environment = Environment(url),
                                   .timeout = std::chrono::seconds(300)});
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  return outcome.ok() ? *outcome : ProcessOutcome{};
}

std::vector<std::string> LoopCommand::LiveWords(const std::string& url,
                                                const std::vector<std::string>& words) const {
  std::vector<std::string> all = {"/usr/bin/env", "-i"};
  for (const std::string& entry : Environment(url)) all.push_back(entry);
  all.emplace_back(KERF_BINARY);
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

void LoopCommand::Write(const std::string& name, const std::string& text) const {
  std::ofstream(Path(name), std::ios::binary) << text;
}

}  // namespace kerf::e2e
