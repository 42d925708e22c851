#include "synth_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using ::testing::StartsWith;

std::string Variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

ProcessOutcome Kerf(std::vector<std::string> words) {
  static const TempDir cache;
  const bool mindspore = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.ends_with("_mindspore.py");
  });
  words.insert(words.begin(), KERF_BINARY);
  const auto outcome =
      RunProcess({.argv = std::move(words),
                  .environment = {{"PATH=" + Variable("PATH", "/usr/bin:/bin"),
                                   "KERF_PYTHON=" + (mindspore ? MindsporePython() : Python()),
                                   "KERF_CACHE_DIR=" + cache.path()}},
                  .timeout = std::chrono::seconds(200)});
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  return outcome.ok() ? *outcome : ProcessOutcome{};
}

}  // namespace

std::string SynthTasks() { return std::string(KERF_SOURCE_DIR) + "/test/data/synth"; }

std::vector<std::string> SynthFamilies() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SynthTasks())) {
    if (entry.path().extension() == ".py") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Python() {
  return Variable("KERF_PYTHON", std::string(KERF_SOURCE_DIR) + "/.venv/bin/python");
}

std::string MindsporePython() {
  if (HasModules("mindspore")) return Python();
  return Variable("KERF_MINDSPORE_PYTHON",
                  std::string(KERF_SOURCE_DIR) + "/.venv-mindspore/bin/python");
}

bool HasModules(const std::string& modules, const std::string& python) {
  static std::map<std::string, bool> known;
  const std::string key = python + ": " + modules;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  const auto outcome = RunProcess({.argv = {python, "-c", "import " + modules}});
  return known[key] = outcome.ok() && outcome->exit_code == 0;
}

Result<std::variant<synth::Synthesis, synth::Refusal>> Synthesized(const std::string& task,
                                                                   const std::string& impl) {
  const ProcessOutcome shown = Kerf({"task", "graph", "--json", task});
  EXPECT_EQ(shown.exit_code, 0) << shown.stderr_text << shown.stdout_text.substr(0, 500);
  KERF_ASSIGN_OR_RETURN(const Graph graph, ParseGraph(shown.stdout_text));
  synth::SynthOptions options;
  options.impl = impl;
  return synth::Synthesize(graph, options);
}

void ExpectVerified(const std::string& task, const std::string& impl) {
  auto made = Synthesized(task, impl);
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto* refusal = std::get_if<synth::Refusal>(&*made);
  ASSERT_EQ(refusal, nullptr) << refusal->ToString();
  const TempDir dir;
  const std::string kernel = dir.path() + "/kernel";
  std::ofstream(kernel) << std::get<synth::Synthesis>(*made).source;
  const ProcessOutcome verdict = Kerf({"verify", task, kernel, "--impl", impl, "--backend", "cpu"});
  EXPECT_THAT(verdict.stdout_text, StartsWith("passed")) << verdict.stderr_text;
}

}  // namespace kerf::e2e
