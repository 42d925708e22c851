// A timeline in other forms.
#pragma once

#include <string>

#include "artifact/timeline.h"

namespace kerf::timeline {

// For ui.perfetto.dev and chrome://tracing: X events only, a process per core, lanes in the order
// of the data's way, and slices that overlap on one pipe spread over rows that do not.
std::string ToPerfetto(const Timeline& timeline);

// core,pipe,instr,start_us,duration_us,pc,code,detail; quoted as RFC 4180 says.
std::string ToCsv(const Timeline& timeline);

}  // namespace kerf::timeline
