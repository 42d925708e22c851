// Kernels that PTOAS generated: its own test-case generator, a build for the simulator, inputs from
// its golden.py, and the symbol that msprof must be told.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cache_dir.h"
#include "base/file_system.h"
#include "base/subprocess.h"

namespace kerf::collect {

struct PtoasRequest {
  std::string ptoas_root;
  std::string source_cpp;
  std::string kernel_base_name;
  std::string aicore_arch;    // empty: the generator guesses
  std::string soc_version;    // "dav_2201"
  std::string kernel_symbol;  // empty: found with nm
  std::string pto_isa_root;
  std::string cann_home;
  std::string workspace;  // made; holds the test case and the results
  int64_t launch_count = 1;
  int64_t timeout_minutes = 120;
  int64_t device = 0;
  bool dry_run = false;  // stop after the test case is generated
  std::string python = "python3";
  GetVariable variable = ProcessVariable;
  std::function<Result<ProcessOutcome>(const Command&)> run = RunProcess;
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct PtoasResult {
  std::string case_dir;
  std::string symbol;
  std::string simulator;  // empty after a dry run
  std::vector<std::string> notes;
};

Result<PtoasResult> ReplayPtoas(FileSystem& fs, const PtoasRequest& request);

// What main.cpp reads: ReadFile("./p.bin", fileSize_p, …). `bytes` is 0 when the text does not
// tell.
struct PtoasInput {
  std::string name;
  uint64_t bytes = 0;
};
std::vector<PtoasInput> InputsOf(std::string_view main_cpp);

// The symbol whose demangled name is `base(…`: `mangled` are the names nm printed, `demangled` the
// lines c++filt made of them, in the same order. Nothing, several or a different number is an
// error.
Result<std::string> ChooseSymbol(const std::vector<std::string>& mangled,
                                 const std::vector<std::string>& demangled,
                                 const std::string& base);

// Names of types T and W in the output of `nm -D --defined-only`.
std::vector<std::string> SymbolsOf(std::string_view nm);

}  // namespace kerf::collect
