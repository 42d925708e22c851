// Details blocks that make sense for a simulated run. Insight writes their readers for board data;
// how it draws simulated ones is not confirmed.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json_writer.h"
#include "sim/output/tables.h"

namespace kerf::sim {
namespace {

const char* TypeOf(const InstructionLog& log) {
  const auto is_cube = [](const CoreLog& core) { return core.kind == CoreKind::kAic; };
  const bool cube = std::any_of(log.cores.begin(), log.cores.end(), is_cube);
  const bool all = std::all_of(log.cores.begin(), log.cores.end(), is_cube);
  return !cube ? "vector" : all ? "cube" : "mix";
}

size_t BlockCount(const InstructionLog& log) {
  std::set<uint32_t> blocks;
  for (const CoreLog& core : log.cores) blocks.insert(core.block);
  return blocks.size();
}

}  // namespace

std::string OpBasicInfo(const SimReport& report, const InstructionLog& log,
                        const std::string& kernel) {
  std::string text;
  JsonWriter json(text);
  const std::string blocks = std::to_string(BlockCount(log));
  json.BeginObject().Key("advice").BeginArray();
  for (const HazardReport& hazard : report.hazards) {
    json.String(std::string(HazardKindName(hazard.kind)) + ": " + hazard.what);
    if (&hazard - report.hazards.data() >= 20) break;
  }
  json.EndArray().Key("block_detail").BeginObject();
  json.Key("head_name")
      .BeginArray()
      .String("Core")
      .String("Cycles")
      .String("Instructions")
      .EndArray();
  json.Key("row").BeginArray();
  for (const CoreReport& core : report.cores) {
    json.BeginArray()
        .String(core.name)
        .String(std::to_string(core.cycles))
        .String(std::to_string(core.instructions))
        .EndArray();
  }
  json.EndArray().EndObject().Key("block_dim").String(blocks).Key("device_id").String("0");
  json.Key("duration")
      .Raw(fmt::format("{:.6f}", report.Microseconds()))
      .Key("mix_block_dim")
      .String(blocks);
  json.Key("name")
      .String(kernel)
      .Key("op_type")
      .String(TypeOf(log))
      .Key("pid")
      .String("0")
      .Key("soc")
      .String(report.chip)
      .EndObject();
  return text;
}

std::string Occupancy(const SimReport& report, const InstructionLog& log) {
  std::map<uint32_t, std::vector<size_t>> blocks;
  for (size_t i = 0; i < log.cores.size(); ++i) blocks[log.cores[i].block].push_back(i);
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("advice").String("").Key("op_detail").BeginArray();
  for (const auto& [block, cores] : blocks) {
    json.BeginObject().Key("core_detail").BeginArray();
    for (const size_t i : cores) {
      const CoreReport& core = report.cores[i];
      const double rate = core.cycles == 0
                              ? 0
                              : static_cast<double>(core.gm_bytes) /
                                    static_cast<double>(core.cycles) * report.clock_mhz / 1000;
      json.BeginObject()
          .Key("L2cache_hit_rate")
          .String("NA")
          .Key("cycles")
          .String(std::to_string(core.cycles));
      json.Key("subcore_id").String(std::to_string(log.cores[i].lane));
      json.Key("subcore_type").String(log.cores[i].kind == CoreKind::kAic ? "cube" : "vector");
      json.Key("throughput").String(fmt::format("{:.2f}", rate)).EndObject();
    }
    json.EndArray().Key("core_id").Int(block).EndObject();
  }
  json.EndArray().Key("op_type").String(TypeOf(log)).Key("soc").String(report.chip).EndObject();
  return text;
}

std::string TopStallReasons(const SimReport& report) {
  std::array<uint64_t, kStallReasons> sums{};
  for (const CoreReport& core : report.cores) {
    for (const PipeReport& pipe : core.pipes) {
      for (size_t reason = 0; reason < kStallReasons; ++reason)
        sums[reason] += pipe.use.stalled[reason];
    }
  }
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("top_stall_reason_table").BeginObject();
  for (size_t reason = 1; reason + 1 < kStallReasons; ++reason)
    json.Key(StallReasonName(static_cast<StallReason>(reason)))
        .Int(static_cast<int64_t>(std::min<uint64_t>(sums[reason], INT32_MAX)));
  json.EndObject().EndObject();
  return text;
}

}  // namespace kerf::sim
