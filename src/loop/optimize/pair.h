// The two files of one iteration, in GEAK's format (docs/formats/optimize.md, "The pair").
#pragma once

#include <string>
#include <vector>

#include "loop/optimize/case_state.h"
#include "loop/optimize/data_case.h"

namespace kerf::optimize {

struct PairTexts {
  std::string jsonl;
  std::string mem;
};

// Case i of the data with its state.
struct CaseView {
  const Case& data;
  const CaseState& state;
  std::string note;  // why it takes no more attempts; empty while it does
};

PairTexts MakePair(const std::vector<CaseView>& cases);

// The code a case has to show: of the best ancestor, else the last that came furthest. Null when
// there is none.
const Trial* BestOf(const CaseState& state);

}  // namespace kerf::optimize
