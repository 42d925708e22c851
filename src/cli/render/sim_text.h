// A simulated run for people: cycles, how busy the pipes were, the worst stalls, hazards.
#pragma once

#include <string>

#include "cli/render/output.h"
#include "sim/output/report.h"

namespace kerf::cli {

std::string SimReportText(const sim::SimReport& report, const Output& out);

}  // namespace kerf::cli
