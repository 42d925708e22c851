#include "llm/llm_server_process.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

namespace kerf {

LlmServerProcess::LlmServerProcess(const nlohmann::ordered_json& rules) {
  dir_ = testing::TempDir() + "kerf_llm_XXXXXX";
  EXPECT_NE(::mkdtemp(dir_.data()), nullptr);
  std::ofstream(dir_ + "/script.json") << nlohmann::ordered_json{{"rules", rules}}.dump();
  Result<Child> child =
      StartChild({.argv = {KERF_LLM_SERVER, dir_ + "/script.json", dir_ + "/log.jsonl"}});
  EXPECT_TRUE(child.ok()) << (child.ok() ? "" : child.error().message);
  if (!child.ok()) return;
  child_ = *std::move(child);
  std::string line;
  char c = 0;
  while (::read(child_.stdout_fd.get(), &c, 1) == 1 && c != '\n') line += c;
  EXPECT_TRUE(line.starts_with("port ")) << line;
  if (line.size() > 5) url_ = "http://127.0.0.1:" + line.substr(5);
}

LlmServerProcess::~LlmServerProcess() {
  child_.stdin_fd.Close();
  if (child_.pid > 0) ::waitpid(child_.pid, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

std::vector<nlohmann::ordered_json> LlmServerProcess::Log() const {
  std::vector<nlohmann::ordered_json> requests;
  std::ifstream file(dir_ + "/log.jsonl");
  for (std::string line; std::getline(file, line);) {
    requests.push_back(nlohmann::ordered_json::parse(line, nullptr, false));
  }
  return requests;
}

}  // namespace kerf
