// `kerf insight`, `args`, `dump` and `timeline` with the built binary, and a whole run against
// programs that behave as CANN's do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/subprocess.h"
#include "live_process.h"
#include "replay/timeline/timeline_testing.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

namespace stdfs = std::filesystem;
using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSource = KERF_SOURCE_DIR;
const std::string kExample = kSource + "/examples/insight/test_row_scale.py";

class Insight : public ::testing::Test {
 protected:
  ProcessOutcome Kerf(std::vector<std::string> words, std::vector<std::string> variables = {}) {
    words.insert(words.begin(), KERF_BINARY);
    variables.push_back("PATH=" + dir_.path() + "/bin:" + std::getenv("PATH"));
    variables.push_back("KERF_CACHE_DIR=" + dir_.path() + "/cache");
    const auto outcome = RunProcess({.argv = words, .cwd = dir_.path(), .environment = variables});
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? *outcome : ProcessOutcome{};
  }
  void Write(const std::string& name, const std::string& text, bool executable = false) {
    stdfs::create_directories(stdfs::path(dir_.path() + "/" + name).parent_path());
    std::ofstream(dir_.path() + "/" + name, std::ios::binary) << text;
    if (executable) stdfs::permissions(dir_.path() + "/" + name, stdfs::perms::owner_all);
  }
  std::string Read(const std::string& name) {
    std::ifstream file(dir_.path() + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // What a run needs, as far as kerf looks at it; `msprof` is the script of that program.
  void WriteTools(const std::string& msprof) {
    for (const char* arch : {"aarch64", "x86_64"})
      Write("cann/" + std::string(arch) + "-linux/simulator/dav_2201/lib/libx.so", "");
    Write("simpler/x", "");
    Write("isa/x", "");
    Write("bin/bisheng", "#!/bin/sh\n", true);
    Write("bin/nm", "#!/bin/sh\nprintf '0 T replay_entry\\n0 T launch_replay\\n'\n", true);
    Write("bin/cmake",
          "#!/bin/sh\nif [ \"$1\" = --build ]; then printf '#!/bin/sh\\n' > \"$2/replay_host\"; "
          "chmod +x \"$2/replay_host\"; : > \"$2/libreplay_kernel.so\"; else mkdir -p \"$4\"; fi\n",
          true);
    Write("bin/msprof", "#!/usr/bin/env bash\nset -eu\n" + msprof, true);
  }
  [[nodiscard]] std::vector<std::string> RunWords() const {
    const auto path = [&](const char* name) { return dir_.path() + "/" + name; };
    return {"insight",        kExample,        "--case",         "small",       "--kernel",
            "row_scale",      "--output-dir",  path("ws"),       "--cann-home", path("cann"),
            "--simpler-root", path("simpler"), "--pto-isa-root", path("isa")};
  }
  TempDir dir_;
};

TEST_F(Insight, ADryRunWritesTheWorkspaceAndStartsNothing) {
  const ProcessOutcome outcome = Kerf({"insight", kExample, "--case", "small", "--func-id", "4",
                                       "--dump-dir", kSource + "/examples/insight/dump",
                                       "--dispatch-id", "5", "--dry-run", "--output-dir", "ws"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text, HasSubstr("FLOAT32[8, 64] strides [96, 1] from element 32"));
  EXPECT_THAT(outcome.stdout_text, HasSubstr("Insight trace workspace: " + dir_.path() + "/ws"));
  EXPECT_THAT(outcome.stderr_text, HasSubstr("printed with 6 digits"));
  const Json manifest = Json::parse(Read("ws/workspace.json"));
  EXPECT_EQ(manifest.at("args").size(), 4U);
  EXPECT_THAT(manifest.at("dump").at("dispatch").get<std::string>(), HasSubstr("dispatch 5"));
  EXPECT_FALSE(stdfs::exists(dir_.path() + "/ws/build"));
}

TEST_F(Insight, TheArgumentsGoThroughAnArgSpecUnchanged) {
  const std::vector<std::string> kernel = {kExample, "--case", "small", "--kernel", "row_scale"};
  std::vector<std::string> words = {"args"};
  words.insert(words.end(), kernel.begin(), kernel.end());
  const ProcessOutcome first = Kerf(words);
  ASSERT_EQ(first.exit_code, 0) << first.stderr_text;
  Write("spec.json", first.stdout_text);
  words.insert(words.end(), {"--arg-spec", "spec.json"});
  const ProcessOutcome second = Kerf(words);
  EXPECT_EQ(second.stdout_text, first.stdout_text);
  EXPECT_EQ(Json::parse(first.stdout_text).at("args").size(), 4U);
}

TEST_F(Insight, RunsOnTheEmbeddedSimulator) {
  const std::string add = kSource + "/examples/kernels/add";
  const ProcessOutcome outcome =
      Kerf({"insight", "--kernel-source", add + ".cpp", "--core-type", "aiv", "--arg-spec",
            add + ".json", "--simulator", "embedded", "--output-dir", "ws"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  EXPECT_THAT(outcome.stdout_text,
              HasSubstr("MindStudio Insight input: " + dir_.path() + "/ws/insight_export/OPPROF_"));
  EXPECT_EQ(stdfs::file_size(dir_.path() + "/ws/outputs/slot2.bin"), 64U * 128 * 4);
}

TEST_F(Insight, RefusesWhatItDoesNotHave) {
  const ProcessOutcome cann =
      Kerf({"insight", kExample, "--case", "small", "--kernel", "row_scale", "--output-dir", "ws"});
  EXPECT_EQ(cann.exit_code, 3);
  EXPECT_THAT(cann.stderr_text,
              HasSubstr("insight trace failed: msprof cannot run here; missing: the CANN toolkit"));
  EXPECT_TRUE(stdfs::exists(dir_.path() + "/ws/workspace.json"))
      << "the workspace is there all the same";
  EXPECT_EQ(Kerf({"insight", kExample, "--case", "small", "--kernel", "row_scale", "--dry-run",
                  "--ptoas-root", "x"})
                .exit_code,
            2);
  EXPECT_EQ(Kerf({"insight", "--backend", "ptoas", "--kernel", "x"}).exit_code, 2);
  EXPECT_THAT(Kerf({"insight", "--backend", "ptoas", "--import"}).stderr_text,
              HasSubstr("--import means nothing with --backend ptoas"));
  EXPECT_EQ(Kerf({"insight", kExample, "--case", "small", "--kernel", "row_scale", "--timeout", "1",
                  "--timeout-minutes", "2"})
                .exit_code,
            2);
}

TEST_F(Insight, ARunGeneratesAndCollectsOnce) {
  for (const auto& [name, text] : timeline::SoundDir()) Write("sound/" + name, text);
  WriteTools("echo \"$*\" >> " + dir_.path() + "/log\n" +
             "for word in \"$@\"; do case \"$word\" in --output=*) output=\"${word#*=}\" ;; "
             "--export=*) export=1 ;; esac; done\n"
             "if [[ -z \"${export:-}\" ]]; then mkdir -p \"$output/OPPROF_1/dump\"; "
             ": > \"$output/OPPROF_1/dump/log\"; else mkdir -p \"$output/OPPROF_2\"; cp -r " +
             dir_.path() + "/sound \"$output/OPPROF_2/simulator\"; fi\n");
  std::vector<std::string> words = RunWords();
  words.insert(words.end(), {"--timeout-minutes", "7"});
  const ProcessOutcome outcome = Kerf(words);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  const std::string simulator = dir_.path() + "/ws/insight_export/OPPROF_2/simulator";
  EXPECT_THAT(outcome.stdout_text, HasSubstr("MindStudio Insight input: " + simulator));
  const std::string log = Read("log");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2) << log;
  EXPECT_THAT(log, HasSubstr("--kernel-name=replay_entry"));
  EXPECT_THAT(log, HasSubstr("--timeout=7"));
  // What was exported can be read on.
  EXPECT_EQ(Kerf({"timeline", "check", simulator}).exit_code, 0);
  EXPECT_THAT(Kerf({"timeline", "summary", simulator}).stdout_text, HasSubstr("MTE2 LOAD"));
  EXPECT_EQ(Json::parse(Kerf({"timeline", "convert", simulator}).stdout_text).count("traceEvents"),
            1U);
  EXPECT_EQ(Json::parse(Kerf({"timeline", "diff", simulator, simulator, "--json"}).stdout_text)
                .at("instructions")
                .size(),
            0U);
  // A directory that is not sound is no success.
  Write("sound/visualize_data.bin", "damaged");
  stdfs::remove_all(dir_.path() + "/ws");
  const ProcessOutcome damaged = Kerf(words);
  EXPECT_EQ(damaged.exit_code, 4) << damaged.stderr_text;
  EXPECT_THAT(damaged.stderr_text, HasSubstr("is there and not sound"));
}

TEST_F(Insight, AnInterruptEndsTheToolsAndKeepsTheWorkspace) {
  WriteTools("sleep 300 & echo $! > " + dir_.path() + "/sleeper; wait\n");
  std::vector<std::string> words = {"/usr/bin/env", "PATH=" + dir_.path() + "/bin:/usr/bin:/bin",
                                    "KERF_CACHE_DIR=" + dir_.path() + "/cache", KERF_BINARY};
  const std::vector<std::string> more = RunWords();
  words.insert(words.end(), more.begin(), more.end());
  words.emplace_back("--json");
  LiveProcess run(words);
  pid_t sleeper = 0;
  for (int i = 0; i < 2000 && sleeper == 0; ++i) {
    std::ifstream(dir_.path() + "/sleeper") >> sleeper;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_GT(sleeper, 0);
  run.Signal(SIGINT);
  const auto line = run.ReadLine();
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(run.Wait(), 130);
  const Json said = Json::parse(*line);
  EXPECT_TRUE(said.at("interrupted").get<bool>());
  EXPECT_EQ(said.at("workspace"), dir_.path() + "/ws");
  EXPECT_TRUE(stdfs::exists(dir_.path() + "/ws/workspace.json"));
  for (int i = 0; i < 300 && stdfs::exists("/proc/" + std::to_string(sleeper)); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(stdfs::exists("/proc/" + std::to_string(sleeper)))
      << "what msprof started is still alive";
}

// Only where somebody says that CANN and msprof are there: SIMPLER_RUN_INSIGHT_E2E=1, CANN_HOME,
// REPO_ROOT (a checkout of the runtime) and PTO_ISA_ROOT.
TEST_F(Insight, TheRealToolMakesASoundDirectory) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (variable("SIMPLER_RUN_INSIGHT_E2E") != "1")
    GTEST_SKIP() << "SIMPLER_RUN_INSIGHT_E2E is not 1";
  std::vector<std::string> variables = {"HOME=" + variable("HOME"), "USER=" + variable("USER")};
  for (const char* name : {"CANN_HOME", "REPO_ROOT", "PTO_ISA_ROOT"}) {
    if (variable(name).empty()) GTEST_SKIP() << name << " is not set";
    variables.push_back(std::string(name) + "=" + variable(name));
  }
  const ProcessOutcome outcome =
      Kerf({"insight",
            variable("REPO_ROOT") + "/examples/a2a3/tensormap_and_ringbuffer/paged_attention/"
                                    "test_paged_attention.py",
            "--case", "CaseSmall1", "--kernel", "SF", "--output-dir", "ws", "--json"},
           variables);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  const std::string simulator = Json::parse(outcome.stdout_text).at("simulator");
  EXPECT_EQ(Kerf({"timeline", "check", simulator}).exit_code, 0);
}

TEST_F(Insight, DumpsCanBeLookedInto) {
  const std::string dump = kSource + "/examples/insight/dump";
  EXPECT_EQ(Json::parse(Kerf({"dump", "ls", dump, "--json"}).stdout_text).at("dispatches").size(),
            2U);
  EXPECT_THAT(Kerf({"dump", "ls", dump}).stdout_text, HasSubstr("0x0000000100000007"));
  EXPECT_THAT(Kerf({"dump", "show", dump, "--func-id", "4", "--dispatch-id", "6"}).stdout_text,
              HasSubstr("FLOAT32[4, 64]"));
  EXPECT_EQ(Kerf({"dump", "show", dump}).exit_code, 2);
  EXPECT_EQ(Kerf({"dump", "check", dump}).exit_code, 0);
  Write(
      "bad/args_dump.json",
      R"({"bin_file":"args.bin","total_args":3,"args":[{"task_id":"0x1","func_id":[1],"arg_index":0,"dtype":"INT8","shape":[4],"bin_size":9}]})");
  const ProcessOutcome bad = Kerf({"dump", "check", dir_.path() + "/bad"});
  EXPECT_EQ(bad.exit_code, 4);
  EXPECT_THAT(bad.stdout_text, HasSubstr("total_args claims 3 records; the file holds 1"));
}

TEST_F(Insight, HostileNamesStayText) {
  Write("kernels/aiv/k.cpp", "extern \"C\" void kernel_entry(int64_t *args) { f(args[0]); }");
  Write("test_evil.py", R"py(from simpler_setup import SceneTestCase, scene_test
EVIL = "a\"; system(\"touch hit\"); //$(touch hit)`touch hit`\n#include <x>"
@scene_test(level=2, runtime="r")
class T(SceneTestCase):
    CALLABLE = {"orchestration": {}, "incores": [{"func_id": 0, "name": EVIL, "source": "kernels/aiv/k.cpp", "core_type": "aiv"}]}
    CASES = [{"name": EVIL, "platforms": ["a2a3"], "params": {}}]
)py");
  Write(
      "spec.json",
      R"([{"kind":"scalar","index":0,"name":"x\"; system(\"touch hit\");","dtype":"INT32","value":1}])");
  const std::string evil = "a\"; system(\"touch hit\"); //$(touch hit)`touch hit`\n#include <x>";
  const ProcessOutcome outcome = Kerf({"insight", "test_evil.py", "--case", evil, "--func-id", "0",
                                       "--arg-spec", "spec.json", "--dry-run"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  std::string workspace;
  for (const auto& entry : stdfs::directory_iterator(dir_.path() + "/outputs"))
    workspace = entry.path().string();
  for (const char* file : {"replay_kernel.cpp", "replay_launch.cpp", "replay_host.cpp",
                           "CMakeLists.txt", "run_collect.sh"}) {
    EXPECT_THAT(Read(workspace.substr(dir_.path().size() + 1) + "/" + file),
                Not(HasSubstr("touch")))
        << file;
  }
  EXPECT_EQ(workspace.find_first_of("$`\"\n;"), std::string::npos);
}

}  // namespace
}  // namespace kerf::e2e
