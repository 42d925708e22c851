// reproduce.sh: judges a case's candidate again, through `kerf verify`.
#pragma once

#include <string>

#include "dataset/case_files.h"

namespace kerf::dataset {

struct Reproduction {
  std::string impl;       // "torch_ext" or "triton"; empty when it cannot be done
  std::string candidate;  // the file
  std::string why_not;
};

// Which of the case's files to judge: the one that came closest to the stage that failed. Of a
// failed call that is the initial code, of a failed execution the code that could be called, of a
// failed measurement the code that was right.
Reproduction ChooseReproduction(const CaseFolder& folder, LastStatus last);

// The script. `recorded` is what the data set says went wrong, one line of any bytes.
std::string ReproduceScript(const Reproduction& how, const std::string& recorded);

// `text` as one word of a shell, with control characters and broken bytes as '?'.
std::string ShellQuoted(std::string_view text);

}  // namespace kerf::dataset
