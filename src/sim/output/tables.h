// The tables of a simulator directory: CSV files per core, and the JSON of visualize_data.bin's
// source and instruction views, with kerf's own columns (stalls by reason, hazards, share of peak).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "artifact/core_model.h"
#include "sim/output/catalog.h"
#include "sim/output/report.h"

namespace kerf::sim {

std::string InstrCsv(const InstructionLog& log, const Catalog& catalog, uint32_t core,
                     double clock_mhz);
std::string CodeCsv(const InstructionLog& log, const Catalog& catalog, uint32_t core,
                    double clock_mhz);

// Of the files in `sources` only: a file without its text breaks Insight's view.
std::string FileApi(const InstructionLog& log, const Catalog& catalog,
                    const std::map<std::string, std::string>& sources);
std::string InstrApi(const InstructionLog& log, const Catalog& catalog, const CoreModel& model);

// Details blocks: what the operator was, how the cores were used, why they stood still.
std::string OpBasicInfo(const SimReport& report, const InstructionLog& log,
                        const std::string& kernel);
std::string Occupancy(const SimReport& report, const InstructionLog& log);
std::string TopStallReasons(const SimReport& report);

// core,pipe,instructions,busy_cycles,busy_share,<reason>_cycles…
std::string PipesCsv(const SimReport& report);

}  // namespace kerf::sim
