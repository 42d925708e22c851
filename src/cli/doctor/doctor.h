// The report behind `kerf doctor`, apart from the verb so that tests can give it a machine.
#pragma once

#include <string>
#include <vector>

#include "cli/doctor/check.h"

namespace kerf::cli {

class Output;

// Runs all checks at the same time and returns their findings in the order of the report.
std::vector<Finding> Examine(Machine& machine);

std::string FindingsAsJson(const std::vector<Finding>& findings);
std::string FindingsAsText(const std::vector<Finding>& findings, const Output& out);

// Whether everything that kerf itself needs is there.
bool CanRun(const std::vector<Finding>& findings);

}  // namespace kerf::cli
