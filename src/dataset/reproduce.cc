#include "dataset/reproduce.h"

#include <array>

#include "base/utf8.h"

namespace kerf::dataset {
namespace {

// The file whose path begins with one of the stems, in the order of the stems.
const CaseFile* FirstOf(const CaseFolder& folder, std::initializer_list<std::string_view> stems) {
  for (const std::string_view stem : stems) {
    for (const CaseFile& file : folder.files) {
      if (file.code && file.path.starts_with(stem)) return &file;
    }
  }
  return nullptr;
}

const CaseFile* CandidateFor(const CaseFolder& folder, LastStatus last) {
  switch (last) {
    case LastStatus::kExe:
      return FirstOf(folder, {"candidate_call_fix", "2_initial_predict"});
    case LastStatus::kPerf:
      return FirstOf(folder, {"candidate_exe_fix", "candidate_call_fix", "2_initial_predict"});
    default:
      return FirstOf(folder, {"2_initial_predict", "candidate_call_fix", "candidate_exe_fix",
                              "candidate_perf_fix"});
  }
}

bool BindsAModule(std::string_view code) {
  return code.find("PYBIND11_MODULE") != std::string_view::npos ||
         code.find("TORCH_LIBRARY") != std::string_view::npos;
}

}  // namespace

Reproduction ChooseReproduction(const CaseFolder& folder, LastStatus last) {
  Reproduction how;
  const CaseFile* candidate = CandidateFor(folder, last);
  const CaseFile* test = folder.Find("3_test_code.py");
  if (candidate == nullptr) {
    how.why_not = "there is no code";
  } else if (test == nullptr) {
    how.why_not = "there is no test_code";
  } else if (IsCpp(DetectLanguage(test->content))) {
    how.why_not = "test_code is C++, the original source and not a test";
  } else if (IsPython(candidate->language)) {
    how.impl = "triton";
  } else if (IsCpp(candidate->language) && BindsAModule(candidate->content)) {
    how.impl = "torch_ext";
  } else {
    how.why_not = candidate->path + " is neither Triton nor C++ that binds a module for Python";
  }
  if (!how.impl.empty()) how.candidate = candidate->path;
  return how;
}

std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = DecodeUtf8(text.substr(at));
    if (!c.valid || c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0)) {
      quoted += '?';
    } else if (c.value == '\'') {
      quoted += "'\\''";
    } else {
      quoted.append(text, at, c.length);
    }
    at += c.length;
  }
  return quoted + "'";
}

std::string ReproduceScript(const Reproduction& how, const std::string& recorded) {
  std::string script =
      "#!/bin/sh\n"
      "# Judges this case's candidate again: builds it and runs it under 3_test_code.py, in "
      "kerf's\n"
      "# sandbox, through `kerf verify`.\n"
      "#\n"
      "#   ./reproduce.sh [FILE]      FILE: another candidate of this folder\n"
      "#   KERF=PATH                  the kerf to use\n"
      "#   BACKEND=cpu|cuda           where; else cuda when there is a GPU that kerf can use for\n"
      "#                              this, else cpu: kernels then run in kerf's emulator\n"
      "cd \"$(dirname \"$0\")\" || exit 3\n";
  script += "candidate=${1:-" + how.candidate + "}\n";
  script += "impl=" + how.impl + "\n";
  script += "echo recorded: " + ShellQuoted(recorded) + "\n";
  script +=
      "judge() {\n"
      "  set -- --impl \"$impl\" --backend \"$1\"\n"
      "  [ ! -f 1_label_source.py ] || set -- \"$@\" --label 1_label_source.py\n"
      "  \"${KERF:-kerf}\" verify 3_test_code.py \"$candidate\" \"$@\"\n"
      "}\n"
      "if [ -n \"$BACKEND\" ]; then\n"
      "  judge \"$BACKEND\"\n"
      "  exit\n"
      "fi\n"
      "if command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L >/dev/null 2>&1; then\n"
      "  said=$(judge cuda 2>&1)\n"
      "  code=$?\n"
      "  case $said in\n"
      "  *\"is not there yet\"*) ;;\n"
      "  *)\n"
      "    printf '%s\\n' \"$said\"\n"
      "    exit $code\n"
      "    ;;\n"
      "  esac\n"
      "fi\n"
      "judge cpu\n";
  return script;
}

}  // namespace kerf::dataset
