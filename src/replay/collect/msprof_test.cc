// The driver against programs that behave as msprof, bisheng and cmake do, failures included.
#include "replay/collect/msprof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/fake_file_system.h"

namespace kerf::collect {
namespace {

namespace stdfs = std::filesystem;
using ::testing::HasSubstr;

// Behaves as the tool's guide says: needs --kernel-name to write anything, exports only what it is
// given, and has the failures FAKE_MSPROF names.
const char* const kMsprof = R"sh(#!/usr/bin/env bash
set -eu
echo "msprof $*" >> "$FAKE_LOG"
[[ "$1 $2" == "op simulator" ]] || { echo "only op simulator is known" >&2; exit 9; }
shift 2
application="" export="" output="" name="" timeout=""
for word in "$@"; do
  case "$word" in
    --application=*) application="${word#*=}" ;;
    --export=*) export="${word#*=}" ;;
    --output=*) output="${word#*=}" ;;
    --kernel-name=*) name="${word#*=}" ;;
    --timeout=*) timeout="${word#*=}" ;;
    --launch-count=* | --soc-version=*) ;;
    *) echo "unknown option $word" >&2; exit 9 ;;
  esac
done
[[ -d "$output" ]] || { echo "no output folder" >&2; exit 8; }
[[ "$(stat -c %a "$output")" != *[2367] ]] || { echo "Permission: folder is writable by others" >&2; exit 8; }
mode="${FAKE_MSPROF:-good}"
if [[ -n "$application" ]]; then
  [[ "$mode" == fail ]] && { echo "error 207000"; exit 1; }
  [[ "$mode" == core ]] && { echo "rtStreamSynchronize failed, error code 507015"; exit 1; }
  [[ "$mode" == perm ]] && { echo "Permission: the folder is writable by group"; exit 1; }
  [[ "$mode" == slow ]] && sleep 20
  [[ "$timeout" -ge 1 && "$timeout" -le 2880 ]] || { echo "bad timeout" >&2; exit 7; }
  "$application"
  [[ -n "$name" && "$mode" != empty ]] || { echo "All task success"; exit 0; }
  [[ "$mode" == timeout ]] && echo "The timeout has reached and the application will be forcibly killed."
  mkdir -p "$output/OPPROF_20200101000000_OLD/dump"
  touch -d 2020-01-01 "$output/OPPROF_20200101000000_OLD"
  mkdir -p "$output/OPPROF_1_NEW/device0/tmp_dump"
  [[ "$mode" == nodump ]] || : > "$output/OPPROF_1_NEW/device0/tmp_dump/core0.veccore0.instr_log.dump"
  [[ "$mode" == nofolder ]] && rm -r "$output/OPPROF_1_NEW/device0"
  echo "Start profiling on kernel: ${name}_mix_aic"
  echo "All task success"
  exit 0
fi
[[ "$export" == */OPPROF_1_NEW/device0/tmp_dump ]] || { echo "wrong dump $export" >&2; exit 6; }
[[ "$mode" == noexport ]] && exit 0
simulator="$output/OPPROF_2_X/simulator"
[[ "$mode" == nested ]] && simulator="$output/OPPROF_2_X/replay_entry/0/simulator"
mkdir -p "$simulator/core0.veccore0"
[[ "$mode" == nobin ]] || : > "$simulator/visualize_data.bin"
: > "$simulator/trace.json"
[[ "$mode" == nocsv ]] || : > "$simulator/core0.veccore0/core0.veccore0_instr_exe_1.csv"
)sh";
// "Builds" what the script asks cmake for.
const char* const kCmake = R"sh(#!/usr/bin/env bash
set -eu
echo "cmake $*" >> "$FAKE_LOG"
if [[ "$1" == --build ]]; then
  printf '#!/bin/sh\necho ran > "%s/ran"\n' "$2" > "$2/replay_host"
  chmod +x "$2/replay_host"
  : > "$2/libreplay_kernel.so"
else
  mkdir -p "$4"
fi
)sh";
const char* const kNm =
    "#!/bin/sh\nif [ \"${FAKE_MSPROF:-}\" = nosymbol ]; then exit 0; fi\nprintf '0 T "
    "replay_entry\\n0 T launch_replay\\n'\n";

class Msprof : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "kerf_msprof_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    for (const char* folder :
         {"bin", "cann/aarch64-linux/simulator/dav_2201/lib",
          "cann/x86_64-linux/simulator/dav_2201/lib", "simpler", "isa", "ws"}) {
      stdfs::create_directories(dir_ + "/" + folder);
    }
    Program("msprof", kMsprof);
    Program("cmake", kCmake);
    Program("nm", kNm);
    Program("bisheng", "#!/bin/sh\n");
    const auto fs = MakePosixFileSystem();
    // The script of a real workspace, as generated.
    std::ifstream golden(std::string(KERF_SOURCE_DIR) +
                         "/test/golden/replay/aiv_a2a3/run_collect.sh");
    std::ofstream(dir_ + "/ws/run_collect.sh") << golden.rdbuf();
  }
  void TearDown() override { stdfs::remove_all(dir_); }

  void Program(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/bin/" + name) << text;
    stdfs::permissions(dir_ + "/bin/" + name, stdfs::perms::owner_all);
  }

  MsprofRequest Request(const std::string& mode) {
    MsprofRequest request{.workspace = dir_ + "/ws",
                          .cann_home = dir_ + "/cann",
                          .simpler_root = dir_ + "/simpler",
                          .pto_isa_root = dir_ + "/isa",
                          .soc_version = "dav_2201"};
    request.variable = [this](const std::string& name) -> std::optional<std::string> {
      if (name == "PATH") return dir_ + "/bin:" + std::getenv("PATH");
      return std::nullopt;
    };
    request.run = [this, mode](const Command& command) {
      Command with = command;
      with.environment->push_back("FAKE_MSPROF=" + mode);
      with.environment->push_back("FAKE_LOG=" + dir_ + "/log");
      return RunProcess(with);
    };
    return request;
  }
  std::string Ran(const std::string& mode) {
    const auto fs = MakePosixFileSystem();
    const auto simulator = Collect(*fs, Request(mode));
    return simulator.ok() ? simulator->substr(dir_.size()) : simulator.error().message;
  }
  std::string Log() {
    std::ifstream file(dir_ + "/log");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string dir_;
};

TEST_F(Msprof, BuildsCollectsAndExportsOnce) {
  EXPECT_EQ(Ran("good"), "/ws/insight_export/OPPROF_2_X/simulator");
  const std::string log = Log();
  EXPECT_THAT(log, HasSubstr("--application=" + dir_ +
                             "/ws/build/replay_host --kernel-name=replay_entry --launch-count=1 "
                             "--soc-version=dav_2201 --timeout=120 --output=" +
                             dir_ + "/ws/msprof_collect/out\n"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4) << log;
  EXPECT_TRUE(stdfs::exists(dir_ + "/ws/build/ran"));
}

TEST_F(Msprof, FindsNestedDirectories) {
  EXPECT_EQ(Ran("nested"), "/ws/insight_export/OPPROF_2_X/replay_entry/0/simulator");
}

TEST_F(Msprof, SuccessWithNothingWrittenIsAFailure) {
  EXPECT_THAT(Ran("empty"), HasSubstr("msprof succeeded and wrote nothing below"));
  EXPECT_THAT(Ran("empty"), HasSubstr("it said: All task success"));
  EXPECT_THAT(Ran("nodump"), HasSubstr("device0/tmp_dump is empty: no simulated core ran"));
  EXPECT_THAT(Ran("nofolder"), HasSubstr("holds neither device0/tmp_dump nor dump"));
}

TEST_F(Msprof, ExplainsKnownFailures) {
  EXPECT_THAT(Ran("fail"), HasSubstr("AICPU work cannot be simulated"));
  EXPECT_THAT(Ran("core"), HasSubstr("a kernel on the wrong kind of core does that"));
  EXPECT_THAT(Ran("perm"), HasSubstr("msprof refuses folders that group or others can write to"));
  EXPECT_THAT(Ran("nosymbol"), HasSubstr("libreplay_kernel.so does not define replay_entry"));
  EXPECT_THAT(Ran("noexport"), HasSubstr("No OPPROF simulator directory under"));
  EXPECT_THAT(Ran("nobin"), HasSubstr("Missing Insight trace artifacts: visualize_data.bin"));
  EXPECT_THAT(Ran("nocsv"), HasSubstr("No instr_exe CSV files under"));
}

TEST_F(Msprof, AnOlderRunsResultIsNotTakenForThisOnes) {
  ASSERT_EQ(Ran("good"), "/ws/insight_export/OPPROF_2_X/simulator");
  EXPECT_THAT(Ran("noexport"), HasSubstr("No OPPROF simulator directory under"));
}

TEST_F(Msprof, APartialTraceIsSaid) {
  MsprofRequest request = Request("timeout");
  std::string said;
  request.progress = [&](const std::string& line) { said += line + "\n"; };
  const auto fs = MakePosixFileSystem();
  EXPECT_TRUE(Collect(*fs, request).ok());
  EXPECT_THAT(said, HasSubstr("what was exported is a part; raise --timeout-minutes"));
}

TEST_F(Msprof, TheWatchdogEndsAHangingTool) {
  MsprofRequest request = Request("slow");
  request.run = [this, run = request.run](const Command& command) {
    Command quick = command;
    if (command.argv.back() == "collect") quick.timeout = std::chrono::milliseconds(300);
    return run(quick);
  };
  const auto fs = MakePosixFileSystem();
  EXPECT_THAT(Collect(*fs, request).error().message,
              HasSubstr("Trace collection timed out after 9000s in step collect"));
}

TEST_F(Msprof, ProgramsBelowCannHomeAreFoundAndRun) {
  stdfs::create_directories(dir_ + "/cann/bin");
  stdfs::rename(dir_ + "/bin/msprof", dir_ + "/cann/bin/msprof");
  EXPECT_EQ(Ran("good"), "/ws/insight_export/OPPROF_2_X/simulator");
}

TEST_F(Msprof, SaysEverythingThatIsMissing) {
  const auto fs = MakePosixFileSystem();
  MsprofRequest request{.workspace = dir_ + "/ws", .soc_version = "dav_2201"};
  request.variable = [](const std::string&) { return std::nullopt; };
  const std::string none = CheckEnvironment(*fs, request).error().message;
  for (const char* what : {"the CANN toolkit", "the runtime's checkout", "pto-isa",
                           "bisheng in PATH", "msprof in PATH"}) {
    EXPECT_THAT(none, HasSubstr(what));
  }
  request = Request("good");
  request.soc_version = "dav_9999";
  const std::string soc = CheckEnvironment(*fs, request).error().message;
  EXPECT_THAT(soc, HasSubstr("aarch64-linux/simulator/dav_9999/lib nor "));
  EXPECT_THAT(soc, HasSubstr("x86_64-linux/simulator/dav_9999/lib"));
  utsname host{};
  ::uname(&host);
  stdfs::remove_all(dir_ + "/cann/" + host.machine + "-linux");
  EXPECT_THAT(CheckEnvironment(*fs, Request("good")).error().message,
              HasSubstr("for this machine, which is " + std::string(host.machine) + "; there is"));
  request.cann_home = dir_ + "/none";
  EXPECT_THAT(CheckEnvironment(*fs, request).error().message, HasSubstr("none is not there"));
}

TEST_F(Msprof, TheRootsComeFromTheEnvironmentToo) {
  MsprofRequest request = Request("good");
  request.cann_home = request.simpler_root = request.pto_isa_root = "";
  request.variable = [this](const std::string& name) -> std::optional<std::string> {
    if (name == "PATH") return dir_ + "/bin:" + std::getenv("PATH");
    if (name == "ASCEND_HOME_PATH") return dir_ + "/cann";
    if (name == "REPO_ROOT") return dir_ + "/simpler";
    if (name == "PTO_ISA_ROOT") return dir_ + "/isa";
    return std::nullopt;
  };
  const auto fs = MakePosixFileSystem();
  const auto found = CheckEnvironment(*fs, request);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_THAT(found->simulator_lib, HasSubstr("-linux/simulator/dav_2201/lib"));
}

}  // namespace
}  // namespace kerf::collect
