#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim/output/tables.h"

namespace kerf::sim {
namespace {

// Rounded to two decimals, printed with six, as the tool does.
std::string Running(uint64_t cycles, double clock_mhz) {
  return fmt::format("{:.6f}", std::round(static_cast<double>(cycles) / clock_mhz * 100) / 100);
}

std::string InOneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

std::string InstrCsv(const InstructionLog&, const Catalog& catalog, uint32_t core,
                     double clock_mhz) {
  std::vector<uint32_t> items;
  const std::vector<StaticUse>& uses = catalog.use[core];
  for (uint32_t i = 0; i < uses.size(); ++i) {
    if (uses[i].count != 0) items.push_back(i);
  }
  std::stable_sort(items.begin(), items.end(),
                   [&](uint32_t a, uint32_t b) { return uses[a].cycles > uses[b].cycles; });
  std::string text = "instr,addr,pipe,call_count,cycles,running_time(us),detail\n";
  for (const uint32_t i : items) {
    const StaticInstruction& item = catalog.items[i];
    text += fmt::format("{},{},{},{},{},{},\"{}\"\n", kerf_log::OpName(item.op), item.address,
                        PipeName(static_cast<Pipe>(item.pipe)), uses[i].count, uses[i].cycles,
                        Running(uses[i].running, clock_mhz), item.detail);
  }
  return text;
}

std::string CodeCsv(const InstructionLog& log, const Catalog& catalog, uint32_t core,
                    double clock_mhz) {
  struct Line {
    uint64_t count = 0, cycles = 0, running = 0;
  };
  std::map<std::string, Line> lines;
  for (size_t i = 0; i < catalog.items.size(); ++i) {
    const StaticUse& use = catalog.use[core][i];
    if (use.count == 0) continue;
    // Every frame counts the instruction.
    uint32_t site = catalog.items[i].site;
    for (int depth = 0; site != 0 && depth < 64; ++depth, site = log.sites[site].caller) {
      const std::string place = log.PlaceOf(site);
      if (place.empty()) continue;
      Line& line = lines[InOneLine(place)];
      line.count += use.count;
      line.cycles += use.cycles;
      line.running += use.running;
    }
  }
  std::vector<std::pair<std::string, Line>> sorted(lines.begin(), lines.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.cycles > b.second.cycles; });
  std::string text = "code,call_count,cycles,running_time(us)\n";
  for (const auto& [place, line] : sorted)
    text += fmt::format("{},{},{},{}\n", place, line.count, line.cycles,
                        Running(line.running, clock_mhz));
  return text;
}

std::string PipesCsv(const SimReport& report) {
  std::string text = "core,pipe,instructions,busy_cycles,busy_share";
  for (size_t reason = 1; reason < kStallReasons; ++reason) {
    std::string name = StallReasonName(static_cast<StallReason>(reason));
    std::replace(name.begin(), name.end(), ' ', '_');
    text += "," + name + "_cycles";
  }
  text += "\n";
  for (const CoreReport& core : report.cores) {
    for (const PipeReport& pipe : core.pipes) {
      const double share = report.cycles == 0 ? 0
                                              : static_cast<double>(pipe.use.busy) /
                                                    static_cast<double>(report.cycles);
      text += fmt::format("{},{},{},{},{:.4f}", core.name, PipeName(pipe.pipe),
                          pipe.use.instructions, pipe.use.busy, share);
      for (size_t reason = 1; reason < kStallReasons; ++reason)
        text += fmt::format(",{}", pipe.use.stalled[reason]);
      text += "\n";
    }
  }
  return text;
}

}  // namespace kerf::sim
