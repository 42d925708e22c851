// The PTOAS back end against programs that behave as its generator, golden.py, cmake and msprof do.
#include "replay/collect/ptoas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kerf::collect {
namespace {

namespace stdfs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kMain = R"cc(
  size_t elemCount_v1 = 1024;
  size_t fileSize_v1 = elemCount_v1 * sizeof(float);
  size_t elemCount_v2 = 64;
  size_t fileSize_v2 = elemCount_v2 * sizeof(int8_t);
  ReadFile("./v1.bin", fileSize_v1, v1Host, fileSize_v1);
  ReadFile("./v2.bin", fileSize_v2, v2Host, fileSize_v2);
  ReadFile("./v3.bin", fileSize_v3, v3Host, fileSize_v3);
)cc";

TEST(PtoasInputs, AreWhatMainReads) {
  const auto inputs = InputsOf(kMain);
  ASSERT_EQ(inputs.size(), 3U);
  EXPECT_EQ(inputs[0].name, "v1");
  EXPECT_EQ(inputs[0].bytes, 4096U);
  EXPECT_EQ(inputs[1].bytes, 64U);
  EXPECT_EQ(inputs[2].bytes, 0U) << "the text does not tell";
}

TEST(PtoasSymbols, OneMustMatch) {
  EXPECT_THAT(SymbolsOf("0000 T _Z3addPf\n0001 W _Z3mulPf\n0002 B data\n"),
              ElementsAre("_Z3addPf", "_Z3mulPf"));
  const std::vector<std::string> mangled = {"_Z3addPf", "_Z6addingPf"};
  EXPECT_EQ(*ChooseSymbol(mangled, {"add(float*)", "adding(float*)"}, "add"), "_Z3addPf");
  EXPECT_THAT(ChooseSymbol(mangled, {"add(float*)", "adding(float*)"}, "sub").error().message,
              HasSubstr("there are add(float*), adding(float*)"));
  EXPECT_THAT(ChooseSymbol(mangled, {"add(float*)", "add(int*)"}, "add").error().message,
              HasSubstr("several symbols are add(...)"));
  EXPECT_THAT(ChooseSymbol(mangled, {"add(float*)"}, "add").error().message,
              HasSubstr("given 2 symbols and printed 1 lines"));
}

class Ptoas : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "kerf_ptoas_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    for (const char* folder :
         {"bin", "ptoas/test/npu_validation/scripts", "samples/Add/npu_validation", "isa",
          "cann/aarch64-linux/simulator/dav_2201/lib", "cann/x86_64-linux/simulator/dav_2201/lib"})
      stdfs::create_directories(dir_ + "/" + folder);
    Write("samples/Add/npu_validation/add-pto.cpp", "");
    // Writes a case as the generator does; MODE takes parts away.
    Write("ptoas/test/npu_validation/scripts/generate_testcase.py", R"py(
import os, sys
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
mode = os.environ.get("MODE", "")
if mode == "nogen":
    sys.exit("no tile types")
case = os.path.join(words["--output-root"], "Add", words["--testcase"])
os.makedirs(case)
open(os.path.join(case, "main.cpp"), "w").write('elemCount_v1 = 4;\nfileSize_v1 = elemCount_v1 * sizeof(float);\nReadFile("./v1.bin", fileSize_v1, a, b);\n')
golden = "open('v1.bin', 'wb').write(bytes(16))\n"
if mode == "badgolden":
    golden = "raise SystemExit('numpy is not there')\n"
if mode == "shortgolden":
    golden = "open('v1.bin', 'wb').write(bytes(8))\n"
if mode == "nofile":
    golden = "pass\n"
if mode != "nogolden":
    open(os.path.join(case, "golden.py"), "w").write(golden)
)py");
    Program(
        "cmake",
        "#!/bin/sh\nif [ \"$1\" = --build ]; then : > \"$2/add_sim\"; else mkdir -p \"$4\"; fi\n");
    Program("nm", "#!/bin/sh\necho '0000 T _Z10add_kernelPf'\necho '0001 T _Z5otherv'\n");
    Program("bisheng", "#!/bin/sh\n");
    Program("msprof", R"sh(#!/usr/bin/env bash
set -eu
echo "$*" >> "$LOG"
echo "$ASCEND_HOME_PATH $ACL_DEVICE_ID ${LD_LIBRARY_PATH%%:*} ${SOURCED:-}" >> "$LOG"
for word in "$@"; do case "$word" in --output=*) output="${word#*=}" ;; --export=*) export=1 ;; esac; done
if [[ -z "${export:-}" ]]; then
  [[ "${MODE:-}" == core ]] && { echo "error 507015"; exit 1; }
  [[ "${MODE:-}" == timeout ]] && echo "The timeout has reached and the application will be forcibly killed."
  [[ "${MODE:-}" == empty ]] || mkdir -p "$output/OPPROF_1/dump"
  [[ "${MODE:-}" == empty || "${MODE:-}" == nodump ]] || : > "$output/OPPROF_1/dump/core0.instr_log.dump"
else
  mkdir -p "$output/OPPROF_2/simulator/core0.veccore0"
  : > "$output/OPPROF_2/simulator/trace.json"
  : > "$output/OPPROF_2/simulator/visualize_data.bin"
  : > "$output/OPPROF_2/simulator/core0.veccore0/core0.veccore0_instr_exe.csv"
fi
)sh");
  }
  void TearDown() override { stdfs::remove_all(dir_); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text;
  }
  void Program(const std::string& name, const std::string& text) {
    Write("bin/" + name, text);
    stdfs::permissions(dir_ + "/bin/" + name, stdfs::perms::owner_all);
  }
  PtoasRequest Request(const std::string& mode) {
    PtoasRequest request{.ptoas_root = dir_ + "/ptoas",
                         .source_cpp = dir_ + "/samples/Add/npu_validation/add-pto.cpp",
                         .kernel_base_name = "add_kernel",
                         .soc_version = "dav_2201",
                         .pto_isa_root = dir_ + "/isa",
                         .cann_home = dir_ + "/cann",
                         .workspace = dir_ + "/ws",
                         .device = 3};
    request.variable = [this](const std::string& name) -> std::optional<std::string> {
      if (name == "PATH") return dir_ + "/bin:" + std::getenv("PATH");
      return std::nullopt;
    };
    request.run = [this, mode](const Command& command) {
      Command with = command;
      with.environment = {
          {"PATH=" + dir_ + "/bin:" + std::getenv("PATH"), "MODE=" + mode, "LOG=" + dir_ + "/log"}};
      return RunProcess(with);
    };
    return request;
  }
  std::string Ran(const PtoasRequest& request) {
    const auto fs = MakePosixFileSystem();
    stdfs::remove_all(dir_ + "/ws");
    const auto result = ReplayPtoas(*fs, request);
    return result.ok() ? result->simulator : result.error().message;
  }
  std::string dir_;
};

TEST_F(Ptoas, RunsFromTheSourceToTheSimulatorDirectory) {
  EXPECT_EQ(Ran(Request("good")), dir_ + "/ws/insight_export/OPPROF_2/simulator");
  std::ifstream log(dir_ + "/log");
  std::string line;
  std::getline(log, line);
  EXPECT_THAT(line, HasSubstr("--application=" + dir_ +
                              "/ws/Add/add/build/add_sim --kernel-name=_Z10add_kernelPf"));
  std::getline(log, line);
  EXPECT_THAT(line, HasSubstr(dir_ + "/cann 3 " + dir_ + "/cann/"));
  EXPECT_THAT(line, HasSubstr("-linux/simulator/dav_2201/lib "));
}

TEST_F(Ptoas, CannIsSetUpAsItsOwnScriptDoes) {
  Write("cann/set_env.sh", "export SOURCED=yes\necho noise\n");
  EXPECT_EQ(Ran(Request("good")), dir_ + "/ws/insight_export/OPPROF_2/simulator");
  std::ifstream log(dir_ + "/log");
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(log), {}), HasSubstr("/lib yes\n"));
}

TEST_F(Ptoas, ToolsThatAreMissingAreSaidBeforeAnythingIsWritten) {
  stdfs::remove(dir_ + "/bin/bisheng");
  stdfs::remove_all(dir_ + "/cann/aarch64-linux");
  stdfs::remove_all(dir_ + "/cann/x86_64-linux");
  const std::string said = Ran(Request("good"));
  EXPECT_THAT(said, HasSubstr("msprof cannot run here; missing: bisheng in PATH"));
  EXPECT_THAT(said, HasSubstr("the simulator's libraries: neither"));
  EXPECT_THAT(said, HasSubstr("--dry-run stops after the test case"));
  EXPECT_FALSE(stdfs::exists(dir_ + "/ws"));
}

TEST_F(Ptoas, KnownFailuresOfMsprofAreExplained) {
  EXPECT_THAT(Ran(Request("core")), HasSubstr("a kernel on the wrong kind of core does that"));
  EXPECT_THAT(Ran(Request("nodump")), HasSubstr("/dump is empty: no simulated core ran"));
  PtoasRequest request = Request("timeout");
  std::string said;
  request.progress = [&](const std::string& line) { said += line + "\n"; };
  EXPECT_THAT(Ran(request), HasSubstr("/simulator"));
  EXPECT_THAT(said, HasSubstr("what was exported is a part"));
}

TEST_F(Ptoas, GoldenMissingOrFailingIsSaid) {
  EXPECT_THAT(Ran(Request("nogolden")), HasSubstr("golden.py is missing in"));
  EXPECT_THAT(Ran(Request("badgolden")), HasSubstr("numpy is not there"));
  EXPECT_THAT(Ran(Request("shortgolden")),
              HasSubstr("v1.bin: main.cpp reads 16 bytes, golden.py wrote 8"));
  EXPECT_THAT(Ran(Request("nofile")),
              HasSubstr("main.cpp reads it and golden.py did not write it"));
}

TEST_F(Ptoas, OtherFailuresAreSaid) {
  EXPECT_THAT(Ran(Request("nogen")), HasSubstr("generate_testcase.py failed: no tile types"));
  EXPECT_THAT(Ran(Request("empty")), HasSubstr("msprof succeeded and wrote nothing"));
  PtoasRequest request = Request("good");
  request.kernel_base_name = "sub";
  EXPECT_THAT(Ran(request), HasSubstr("no symbol is sub(...)"));
  request.kernel_symbol = "_Z10add_kernelPf";
  EXPECT_THAT(Ran(request), HasSubstr("/simulator"));
}

TEST_F(Ptoas, ADryRunStopsAfterTheCase) {
  PtoasRequest request = Request("good");
  request.dry_run = true;
  EXPECT_EQ(Ran(request), "");
  EXPECT_FALSE(stdfs::exists(dir_ + "/log"));
  EXPECT_TRUE(stdfs::exists(dir_ + "/ws/Add/add/main.cpp"));
}

TEST_F(Ptoas, PathsAndNamesAreCheckedFirst) {
  PtoasRequest request = Request("good");
  request.ptoas_root = "";
  EXPECT_THAT(Ran(request), HasSubstr("--backend ptoas needs --ptoas-root"));
  request = Request("good");
  request.source_cpp = dir_ + "/none.cpp";
  EXPECT_THAT(Ran(request), HasSubstr("none.cpp is not there"));
  request = Request("good");
  request.kernel_base_name = "add; rm -rf /";
  EXPECT_THAT(Ran(request), HasSubstr("letters, digits and _"));
  request = Request("good");
  request.kernel_symbol = "x --application=y";
  EXPECT_THAT(Ran(request), HasSubstr("the characters of a symbol"));
  request = Request("good");
  request.timeout_minutes = 2881;
  EXPECT_THAT(Ran(request), HasSubstr("1 to 2880 (msprof's limits), not 2881"));
  request = Request("good");
  request.launch_count = 0;
  EXPECT_THAT(Ran(request), HasSubstr("--launch-count takes 1 to 5000"));
  request = Request("good");
  request.pto_isa_root = "";
  EXPECT_THAT(Ran(request), HasSubstr("--backend ptoas needs --pto-isa-root"));
}

}  // namespace
}  // namespace kerf::collect
