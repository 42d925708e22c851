// What the synthesizer writes for each family of operators, under the address and the
// undefined-behaviour sanitizers: no step outside a tensor, no shift or overflow the language does
// not define.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "synth_checks.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using ::testing::HasSubstr;

const std::string kSource = KERF_SOURCE_DIR;
const std::string kData = kSource + "/test/data/sanitizer";

// Everything once: the cases by one interpreter, the programs by one compiler on each core.
class Workshop {
 public:
  // Why there is nothing to test, empty when there is.
  [[nodiscard]] const std::string& missing() const { return missing_; }
  [[nodiscard]] std::string path(const std::string& name) const { return dir_.path() + "/" + name; }

  static Workshop& Get() {
    static Workshop workshop;
    return workshop;
  }

  // What the compiler said; empty when the program is there.
  [[nodiscard]] std::string Compile(const std::string& source, const std::string& program) const {
    return Gcc({path(source), path("driver.o"), "-o", path(program)});
  }

  [[nodiscard]] ProcessOutcome Run(const std::string& program, const std::string& name) const {
    const auto outcome =
        RunProcess({.argv = {path(program), path(name + ".case")},
                    // The sanitizer cannot look for leaks where it may not trace its own process.
                    .environment = {{"ASAN_OPTIONS=detect_leaks=0:abort_on_error=0",
                                     "UBSAN_OPTIONS="
                                     "print_stacktrace=1"}},
                    .timeout = std::chrono::seconds(60)});
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? *outcome : ProcessOutcome{};
  }

  [[nodiscard]] const std::string& problem(const std::string& family) const {
    return problems_.at(family);
  }

 private:
  Workshop() {
    if (!Works({Python(), "-c", "import torch"})) missing_ = Python() + " has no torch";
    std::ofstream(path("empty.cc")) << "int main() { return 0; }\n";
    if (missing_.empty() && !Gcc({path("empty.cc"), "-o", path("empty")}).empty())
      missing_ = "the compiler has no sanitizers";
    if (!missing_.empty()) return;
    missing_ = Gcc({"-c", kData + "/driver.cc", "-o", path("driver.o")});
    WriteCases();
    for (const std::string& family : SynthFamilies()) problems_[family] = "";
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      const std::vector<std::string> families = SynthFamilies();
      for (size_t i = next++; i < families.size(); i = next++)
        problems_[families[i]] = Make(families[i]);
    };
    std::thread other(work);
    work();
    other.join();
  }

  static bool Works(std::vector<std::string> argv) {
    const auto outcome = RunProcess({.argv = std::move(argv)});
    return outcome.ok() && outcome->exit_code == 0;
  }

  // Flags as the verifier's, but for the sanitizers and what makes them slow.
  static std::string Gcc(std::vector<std::string> words) {
    words.insert(
        words.begin(),
        {"g++", "-std=c++20", "-O1", "-g1", "-march=native", "-ffp-contract=fast", "-fopenmp", "-w",
         "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I" + kSource + "/include"});
    const auto outcome = RunProcess({.argv = std::move(words)});
    if (!outcome.ok()) return outcome.error().message;
    return outcome->exit_code == 0 ? "" : "g++: " + outcome->stderr_text;
  }

  void WriteCases() {
    std::vector<std::string> words = {Python(), kData + "/cases.py", dir_.path()};
    for (const std::string& family : SynthFamilies())
      words.push_back(SynthTasks() + "/" + family + ".py");
    const auto outcome = RunProcess({.argv = std::move(words)});
    if (!outcome.ok() || outcome->exit_code != 0)
      missing_ = outcome.ok() ? outcome->stderr_text : outcome.error().message;
  }

  // Graph, kernel, program.
  std::string Make(const std::string& family) {
    std::ifstream in(path(family + ".json"));
    std::stringstream text;
    text << in.rdbuf();
    auto graph = ParseGraph(text.str());
    if (!graph.ok()) return graph.error().message;
    auto made = synth::Synthesize(*graph, {});
    if (!made.ok()) return made.error().message;
    if (const auto* refusal = std::get_if<synth::Refusal>(&*made)) return refusal->ToString();
    std::ofstream(path(family + ".cc")) << std::get<synth::Synthesis>(*made).source;
    return Compile(family + ".cc", family);
  }

  TempDir dir_;
  std::string missing_;
  std::map<std::string, std::string> problems_;  // by family; threads write different entries
};

class SanitizedFamily : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!Workshop::Get().missing().empty()) GTEST_SKIP() << Workshop::Get().missing();
  }
};

TEST_P(SanitizedFamily, StaysInsideItsTensors) {
  const Workshop& workshop = Workshop::Get();
  ASSERT_EQ(workshop.problem(GetParam()), "");
  const ProcessOutcome outcome = workshop.Run(GetParam(), GetParam());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stdout_text << outcome.stderr_text;
}

INSTANTIATE_TEST_SUITE_P(Synth, SanitizedFamily, ::testing::ValuesIn(SynthFamilies()),
                         [](const auto& instance) { return instance.param; });

// That the driver's buffers have no room to spare: the element behind an input is seen.
TEST(SanitizerDriver, SeesAReadBehindAnInput) {
  const Workshop& workshop = Workshop::Get();
  if (!workshop.missing().empty()) GTEST_SKIP() << workshop.missing();
  std::ofstream(workshop.path("outside.cc"))
      << "#include <kerf/kernel.h>\nKERF_KERNEL(call) {\n  const DLTensor& x = call->inputs[0];\n"
         "  return kerf_data<volatile char>(x)[kerf_numel(x) * x.dtype.bits / 8];\n}\n";
  ASSERT_EQ(workshop.Compile("outside.cc", "outside"), "");
  EXPECT_THAT(workshop.Run("outside", "activations").stderr_text,
              HasSubstr("heap-buffer-overflow"));
}

}  // namespace
}  // namespace kerf::e2e
