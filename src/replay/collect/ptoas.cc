#include "replay/collect/ptoas.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <regex>
#include <set>

#include "replay/collect/msprof.h"

namespace kerf::collect {
namespace {

bool IsPlainName(const std::string& text, const char* more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string(more).find(static_cast<char>(c)) != std::string::npos;
  });
}

Status CheckRequest(FileSystem& fs, const PtoasRequest& request) {
  const auto need = [&](const std::string& path, const char* flag) -> Status {
    if (path.empty()) return InvalidInput(std::string("--backend ptoas needs ") + flag);
    KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
    if (!info) return NotFound(std::string(flag) + " " + path + " is not there");
    return {};
  };
  KERF_RETURN_IF_ERROR(need(request.ptoas_root, "--ptoas-root"));
  KERF_RETURN_IF_ERROR(need(request.source_cpp, "--source-cpp"));
  KERF_RETURN_IF_ERROR(need(
      request.ptoas_root + "/test/npu_validation/scripts/generate_testcase.py", "--ptoas-root"));
  // Names that become arguments, folders and targets of a build.
  if (!IsPlainName(request.kernel_base_name, "_"))
    return InvalidInput("--kernel-base-name takes letters, digits and _, not \"" +
                        request.kernel_base_name + "\"");
  if (!IsPlainName(request.soc_version, "_-"))
    return InvalidInput("--soc-version takes letters, digits, _ and -");
  if (!request.aicore_arch.empty() && !IsPlainName(request.aicore_arch, "_-"))
    return InvalidInput("--aicore-arch takes letters, digits, _ and -");
  if (!request.kernel_symbol.empty() && !IsPlainName(request.kernel_symbol, "_.$"))
    return InvalidInput("--kernel-symbol takes the characters of a symbol");
  if (request.timeout_minutes < 1 || request.timeout_minutes > 2880)
    return InvalidInput("the time-out is in minutes, 1 to 2880 (msprof's limits), not " +
                        std::to_string(request.timeout_minutes));
  if (request.launch_count < 1 || request.launch_count > 5000)
    return InvalidInput("--launch-count takes 1 to 5000");
  if (request.dry_run) return {};
  KERF_RETURN_IF_ERROR(need(request.pto_isa_root, "--pto-isa-root"));
  return need(request.cann_home, "--cann-home");
}

Result<MsprofEnvironment> FindTools(FileSystem& fs, const PtoasRequest& request) {
  return CheckEnvironment(fs, {.workspace = request.workspace,
                               .cann_home = request.cann_home,
                               .pto_isa_root = request.pto_isa_root,
                               .soc_version = request.soc_version,
                               .needs_simpler = false,
                               .variable = request.variable});
}

// The command as it runs in a shell that CANN was set up in. Nothing of it is shell text: the words
// are the shell's arguments.
std::vector<std::string> InCann(const PtoasRequest& request, const MsprofEnvironment& tools,
                                const std::vector<std::string>& words) {
  const std::string& cann = tools.cann_home;
  const std::string before = request.variable("LD_LIBRARY_PATH").value_or("");
  std::vector<std::string> argv = {
      "env",
      "CANN_HOME=" + cann,
      "ASCEND_HOME_PATH=" + cann,
      "PTO_ISA_ROOT=" + request.pto_isa_root,
      "ACL_DEVICE_ID=" + std::to_string(request.device),
      "PATH=" + tools.path,
      "bash",
      "-c",
      R"(set_up() { if [ -f "$CANN_HOME/set_env.sh" ]; then . "$CANN_HOME/set_env.sh"; fi; }; )"
      R"(set_up; export LD_LIBRARY_PATH="$1:${LD_LIBRARY_PATH:-}"; shift; exec "$@")",
      "kerf",
      tools.simulator_lib + ":" + cann + "/lib64" + (before.empty() ? "" : ":" + before)};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

// The source's name without -pto or _pto.
Result<std::string> TestcaseName(const std::string& source) {
  std::string stem = BaseName(source);
  stem = stem.substr(0, stem.rfind('.'));
  for (const std::string suffix : {"-pto", "_pto"}) {
    if (stem.size() > suffix.size() &&
        stem.compare(stem.size() - suffix.size(), suffix.size(), suffix) == 0)
      stem.resize(stem.size() - suffix.size());
  }
  if (!IsPlainName(stem, "_-"))
    return InvalidInput("--source-cpp " + source +
                        ": its name may hold letters, digits, _ and - only");
  return stem;
}

// The source's folder, minus a trailing npu_validation level.
std::string SampleName(const std::string& source) {
  const std::string folder = ParentPath(source);
  return BaseName(BaseName(folder) == "npu_validation" ? ParentPath(folder) : folder);
}

Result<ProcessOutcome> Step(const PtoasRequest& request, const std::string& what, Command command) {
  request.progress("ptoas: " + what);
  auto outcome = request.run(command);
  if (!outcome.ok()) return std::move(outcome).error().Within(what);
  if (outcome->stopped) return Unavailable("interrupted in " + what);
  if (outcome->timed_out) return TimedOut(what + " took too long");
  if (outcome->exit_code == 0) return outcome;
  const std::string output = outcome->stdout_text + outcome->stderr_text;
  const std::string known = ExplainLog(output);
  return Unavailable(what + " failed: " + (known.empty() ? "" : known + "; it said: ") +
                     Tail(output));
}

Status RunGolden(FileSystem& fs, const PtoasRequest& request, const std::string& case_dir) {
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> golden,
                        fs.Stat(JoinPath(case_dir, "golden.py")));
  if (!golden)
    return NotFound("golden.py is missing in " + case_dir +
                    ": without it the inputs would be garbage");
  KERF_RETURN_IF_ERROR(Step(request, "golden.py",
                            {.argv = {request.python, "golden.py"},
                             .cwd = case_dir,
                             .timeout = std::chrono::minutes(10)}));
  return {};
}

Status CheckInputs(FileSystem& fs, const std::string& case_dir, std::vector<std::string>& notes) {
  KERF_ASSIGN_OR_RETURN(const std::string main_cpp, fs.ReadFile(JoinPath(case_dir, "main.cpp")));
  for (const PtoasInput& input : InputsOf(main_cpp)) {
    const std::string path = JoinPath(case_dir, input.name + ".bin");
    KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
    if (!info) return NotFound(path + ": main.cpp reads it and golden.py did not write it");
    if (info->size == 0) return Corrupt(path + ": is empty");
    if (input.bytes == 0) {
      notes.push_back(path + ": main.cpp does not say how long it must be");
    } else if (info->size != input.bytes) {
      return Corrupt(path + ": main.cpp reads " + std::to_string(input.bytes) +
                     " bytes, golden.py wrote " + std::to_string(info->size));
    }
  }
  return {};
}

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Result<std::string> FindSymbol(const PtoasRequest& request, const std::string& library) {
  KERF_ASSIGN_OR_RETURN(const ProcessOutcome nm,
                        Step(request, "nm", {.argv = {"nm", "-D", "--defined-only", library}}));
  const std::vector<std::string> mangled = SymbolsOf(nm.stdout_text);
  if (mangled.empty()) return NotFound(library + " defines no symbols");
  std::string input;
  for (const std::string& symbol : mangled) input += symbol + "\n";
  KERF_ASSIGN_OR_RETURN(const ProcessOutcome filt,
                        Step(request, "c++filt", {.argv = {"c++filt"}, .input = input}));
  return ChooseSymbol(mangled, LinesOf(filt.stdout_text), request.kernel_base_name);
}

Result<std::string> RunMsprof(FileSystem& fs, const PtoasRequest& request,
                              const MsprofEnvironment& tools, const std::string& case_dir,
                              const std::string& program, const std::string& symbol) {
  const std::string out = JoinPath(request.workspace, "msprof_collect/out");
  const std::string exported = JoinPath(request.workspace, "insight_export");
  for (const std::string& dir : {JoinPath(request.workspace, "msprof_collect"), out, exported}) {
    KERF_RETURN_IF_ERROR(fs.CreateDirs(dir));
    KERF_RETURN_IF_ERROR(fs.SetMode(dir, 0700));
  }
  const std::chrono::minutes limit(request.timeout_minutes + 30);
  const auto msprof = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"msprof", "op", "simulator"});
    return Command{.argv = InCann(request, tools, words), .cwd = case_dir, .timeout = limit};
  };
  KERF_ASSIGN_OR_RETURN(
      const ProcessOutcome collected,
      Step(request, "msprof collect",
           msprof({"--application=" + program, "--kernel-name=" + symbol,
                   "--launch-count=" + std::to_string(request.launch_count),
                   "--soc-version=" + request.soc_version,
                   "--timeout=" + std::to_string(request.timeout_minutes), "--output=" + out})));
  const std::string log = collected.stdout_text + collected.stderr_text;
  KERF_ASSIGN_OR_RETURN(const std::string dump, FindDump(fs, out, log));
  KERF_RETURN_IF_ERROR(
      Step(request, "msprof export", msprof({"--export=" + dump, "--output=" + exported})));
  if (const std::string known = ExplainLog(log); !known.empty())
    request.progress("warning: " + known);
  return FindSimulator(fs, exported);
}

// The targets T_kernel and T_sim, in case_dir/build.
Status Build(const PtoasRequest& request, const MsprofEnvironment& tools,
             const std::string& case_dir, const std::string& build) {
  KERF_RETURN_IF_ERROR(Step(
      request, "cmake",
      {.argv = InCann(request, tools,
                      {"cmake", "-S", case_dir, "-B", build, "-DSOC_VERSION=" + request.soc_version,
                       "-DENABLE_SIM_GOLDEN=ON", "-DPTO_ISA_ROOT=" + request.pto_isa_root})}));
  KERF_RETURN_IF_ERROR(Step(request, "build",
                            {.argv = InCann(request, tools, {"cmake", "--build", build}),
                             .timeout = std::chrono::minutes(30)}));
  return {};
}

uint64_t SizeOf(const std::string& type) {
  static const std::map<std::string, uint64_t> kSizes = {
      {"float", 4},    {"double", 8},   {"half", 2},    {"aclFloat16", 2}, {"bfloat16_t", 2},
      {"bfloat16", 2}, {"int8_t", 1},   {"uint8_t", 1}, {"char", 1},       {"bool", 1},
      {"int16_t", 2},  {"uint16_t", 2}, {"int32_t", 4}, {"uint32_t", 4},   {"int", 4},
      {"int64_t", 8},  {"uint64_t", 8}};
  const auto known = kSizes.find(type);
  return known == kSizes.end() ? 0 : known->second;
}

}  // namespace

std::vector<PtoasInput> InputsOf(std::string_view main_cpp) {
  // Bounded: std::regex recurses over its input.
  const std::string text(main_cpp.substr(0, size_t{256} << 10));
  const std::regex read(R"re(ReadFile\("\./([A-Za-z0-9_]{1,64})\.bin")re");
  std::vector<PtoasInput> inputs;
  std::set<std::string> seen;
  for (std::sregex_iterator at(text.begin(), text.end(), read), end; at != end; ++at) {
    PtoasInput input{.name = (*at)[1]};
    if (!seen.insert(input.name).second) continue;
    std::smatch match;
    const std::regex count("elemCount_" + input.name + " = ([0-9]{1,15})[;uUlL]");
    const std::regex size("fileSize_" + input.name + " = elemCount_" + input.name +
                          " \\* sizeof\\(([A-Za-z0-9_]{1,32})\\)");
    if (std::regex_search(text, match, count)) {
      const uint64_t elements = std::stoull(match[1]);
      if (std::regex_search(text, match, size)) input.bytes = elements * SizeOf(match[1]);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::vector<std::string> SymbolsOf(std::string_view nm) {
  std::vector<std::string> symbols;
  for (const std::string& line : LinesOf(nm)) {
    for (const char* type : {" T ", " W "}) {
      const size_t at = line.find(type);
      if (at != std::string::npos) symbols.push_back(line.substr(at + 3));
    }
  }
  return symbols;
}

Result<std::string> ChooseSymbol(const std::vector<std::string>& mangled,
                                 const std::vector<std::string>& demangled,
                                 const std::string& base) {
  if (mangled.size() != demangled.size()) {
    return Corrupt("c++filt was given " + std::to_string(mangled.size()) + " symbols and printed " +
                   std::to_string(demangled.size()) + " lines");
  }
  std::vector<size_t> hits;
  std::string names;
  for (size_t i = 0; i < mangled.size(); ++i) {
    if (demangled[i].rfind(base + "(", 0) == 0) hits.push_back(i);
    if (i < 20) names += (names.empty() ? "" : ", ") + demangled[i];
  }
  if (hits.size() == 1) return mangled[hits[0]];
  if (hits.empty())
    return NotFound("no symbol is " + base + "(...); there are " + names +
                    " (--kernel-symbol names one)");
  std::string several;
  for (const size_t hit : hits) several += (several.empty() ? "" : ", ") + demangled[hit];
  return InvalidInput("several symbols are " + base + "(...): " + several +
                      "; choose one with --kernel-symbol");
}

Result<PtoasResult> ReplayPtoas(FileSystem& fs, const PtoasRequest& request) {
  KERF_RETURN_IF_ERROR(CheckRequest(fs, request));
  KERF_ASSIGN_OR_RETURN(const std::string testcase, TestcaseName(request.source_cpp));
  MsprofEnvironment tools;
  if (!request.dry_run) {
    KERF_ASSIGN_OR_RETURN(tools, FindTools(fs, request));
  }
  KERF_RETURN_IF_ERROR(fs.CreateDirs(request.workspace));
  KERF_RETURN_IF_ERROR(fs.SetMode(request.workspace, 0700));
  std::vector<std::string> generate = {
      request.python,  request.ptoas_root + "/test/npu_validation/scripts/generate_testcase.py",
      "--input",       request.source_cpp,
      "--testcase",    testcase,
      "--output-root", request.workspace,
      "--run-mode",    "sim",
      "--soc-version", request.soc_version};
  if (!request.aicore_arch.empty())
    generate.insert(generate.end(), {"--aicore-arch", request.aicore_arch});
  KERF_RETURN_IF_ERROR(Step(request, "generate_testcase.py", {.argv = generate}));
  PtoasResult result{
      .case_dir = JoinPath(JoinPath(request.workspace, SampleName(request.source_cpp)), testcase)};
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> made,
                        fs.Stat(JoinPath(result.case_dir, "main.cpp")));
  if (!made)
    return Unavailable("generate_testcase.py succeeded and wrote no " + result.case_dir +
                       "/main.cpp");
  if (request.dry_run) return result;
  const std::string build = JoinPath(result.case_dir, "build");
  KERF_RETURN_IF_ERROR(Build(request, tools, result.case_dir, build));
  KERF_RETURN_IF_ERROR(RunGolden(fs, request, result.case_dir));
  KERF_RETURN_IF_ERROR(CheckInputs(fs, result.case_dir, result.notes));
  result.symbol = request.kernel_symbol;
  if (result.symbol.empty()) {
    KERF_ASSIGN_OR_RETURN(result.symbol,
                          FindSymbol(request, JoinPath(build, "lib" + testcase + "_kernel.so")));
  }
  KERF_ASSIGN_OR_RETURN(result.simulator,
                        RunMsprof(fs, request, tools, result.case_dir,
                                  JoinPath(build, testcase + "_sim"), result.symbol));
  return result;
}

}  // namespace kerf::collect
