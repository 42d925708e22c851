// kerf_llm_server as a process of a test: started with a script, ended with the object.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/child_posix.h"

namespace kerf {

class LlmServerProcess {
 public:
  // `rules` are the script's; see llm_server.cc. Its files stand in a folder of the test's.
  explicit LlmServerProcess(const nlohmann::ordered_json& rules);
  ~LlmServerProcess();
  LlmServerProcess(const LlmServerProcess&) = delete;
  LlmServerProcess& operator=(const LlmServerProcess&) = delete;

  // "http://127.0.0.1:PORT"
  [[nodiscard]] const std::string& url() const { return url_; }
  // What was asked so far, one object for each request.
  [[nodiscard]] std::vector<nlohmann::ordered_json> Log() const;
  [[nodiscard]] const std::string& dir() const { return dir_; }

 private:
  std::string dir_;
  std::string url_;
  Child child_;
};

}  // namespace kerf
