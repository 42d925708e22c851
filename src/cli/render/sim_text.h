// What a simulated run came to, for a terminal:
//
//   ascend910b1: 12,345 cycles (6.67 us at 1850 MHz), 1,024 instructions on 3 cores
//
//   PIPE         BUSY                        STANDS STILL
//   vector MTE2  ##########..........   51%  issue 12%, flag 8%
//   …
//   worst stalls, hazards with their source lines, share of peak, what was assumed
#pragma once

#include <string>

#include "cli/render/output.h"
#include "sim/output/report.h"

namespace kerf::cli {

std::string SimText(const sim::SimReport& report, const Output& out);

}  // namespace kerf::cli
