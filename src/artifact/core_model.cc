#include "artifact/core_model.h"

#include <yaml-cpp/yaml.h>

#include <vector>

namespace kerf {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// A member that must be there, with its path in the message.
YAML::Node Member(const YAML::Node& node, const std::string& key) {
  if (!node.IsMap() || !node[key])
    throw YAML::Exception(node.Mark(), "in_core: " + key + " is missing");
  return node[key];
}

template <typename T>
T Get(const YAML::Node& node, const std::string& key) {
  return Member(node, key).as<T>();
}

VectorCost VectorCostOf(const YAML::Node& node) {
  const auto parts = node.as<std::vector<uint32_t>>();
  if (parts.size() != 3)
    throw YAML::Exception(node.Mark(), "a vector instruction has head, slope and tail");
  return {parts[0], parts[1], parts[2]};
}

TransferCost TransferCostOf(const YAML::Node& node, double clock_mhz) {
  TransferCost cost;
  cost.bytes_per_cycle = Get<double>(node, "gib_per_s") * kGib / (clock_mhz * 1e6);
  if (node["half_bytes"]) cost.half_bytes = node["half_bytes"].as<double>();
  if (node["start"]) cost.start = node["start"].as<uint32_t>();
  if (node["latency"]) cost.latency = node["latency"].as<uint32_t>();
  if (!(cost.bytes_per_cycle > 0) || cost.half_bytes < 0)
    throw YAML::Exception(node.Mark(), "a transfer needs a positive rate");
  return cost;
}

void ReadScalar(const YAML::Node& root, CoreModel& model) {
  const YAML::Node scalar = Member(root, "scalar");
  model.queue_depth = Get<uint32_t>(scalar, "queue_depth");
  model.issue = Get<uint32_t>(scalar, "issue");
  model.tile_issue = Get<uint32_t>(scalar, "tile_issue");
  model.scalar_local = Get<uint32_t>(scalar, "local_access");
  model.scalar_global = Get<uint32_t>(scalar, "global_access");
  const YAML::Node sync = Member(root, "sync");
  model.flag = Get<uint32_t>(sync, "flag");
  model.barrier = Get<uint32_t>(sync, "barrier");
  model.cross_latency = Get<uint32_t>(sync, "cross_latency");
}

void ReadUnits(const YAML::Node& root, CoreModel& model) {
  const YAML::Node cube = Member(root, "cube");
  model.cube_start = Get<uint32_t>(cube, "start");
  model.cube_rows = Get<uint32_t>(cube, "rows");
  model.cube_columns = Get<uint32_t>(cube, "columns");
  model.cube_depth_bytes = Get<uint32_t>(cube, "depth_bytes");
  model.cube_cycles = Get<std::map<std::string, double>>(cube, "cycles");
  const YAML::Node vector = Member(root, "vector");
  model.repeat_bytes = Get<uint32_t>(vector, "repeat_bytes");
  model.most_repeats = Get<uint32_t>(vector, "most_repeats");
  model.count_mode = Get<uint32_t>(vector, "count_mode");
  model.vector_overlaps = Get<bool>(vector, "overlaps");
  model.rows_by_scalar = Get<bool>(vector, "rows_by_scalar");
  for (const auto& entry : Member(vector, "instructions"))
    model.vector[entry.first.as<std::string>()] = VectorCostOf(entry.second);
}

CoreModel Read(const YAML::Node& root, const std::string& chip) {
  CoreModel model;
  model.chip = chip;
  model.family = Get<std::string>(root, "family");
  model.clock_mhz = Get<double>(root, "clock_mhz");
  model.blocks = Get<uint32_t>(root, "blocks");
  model.memory = Get<std::map<std::string, uint64_t>>(root, "memory");
  ReadScalar(root, model);
  const YAML::Node shared = Member(root, "shared");
  model.shared_read = Get<double>(shared, "read_bytes_per_s") / (model.clock_mhz * 1e6);
  model.shared_write = Get<double>(shared, "write_bytes_per_s") / (model.clock_mhz * 1e6);
  for (const auto& entry : Member(root, "transfer"))
    model.transfer[entry.first.as<std::string>()] = TransferCostOf(entry.second, model.clock_mhz);
  ReadUnits(root, model);
  model.origin = Get<std::map<std::string, std::string>>(root, "origin");
  return model;
}

Status Check(const CoreModel& model) {
  const auto wrong = [&](const char* what) { return Corrupt(model.chip + ": in_core: " + what); };
  if (!(model.clock_mhz > 0)) return wrong("clock_mhz must be positive");
  if (model.queue_depth == 0) return wrong("scalar.queue_depth must not be 0");
  if (model.queue_depth > 4096) return wrong("scalar.queue_depth must not be above 4096");
  if (!(model.shared_read > 0) || !(model.shared_write > 0))
    return wrong("shared rates must be positive");
  if (model.cube_rows == 0 || model.cube_columns == 0 || model.cube_depth_bytes == 0)
    return wrong("a cube step has rows, columns and depth_bytes");
  if (model.repeat_bytes == 0 || model.most_repeats == 0)
    return wrong("vector.repeat_bytes and most_repeats must not be 0");
  if (model.vector.count("default") == 0) return wrong("vector.instructions has no default");
  if (model.transfer.count("default") == 0) return wrong("transfer has no default");
  if (model.cube_cycles.count("default") == 0) return wrong("cube.cycles has no default");
  return {};
}

}  // namespace

std::string CoreModel::OriginOf(const std::string& path) const {
  for (std::string at = path;;) {
    if (const auto found = origin.find(at); found != origin.end()) return found->second;
    const size_t dot = at.rfind('.');
    if (dot == std::string::npos) return "";
    at.resize(dot);
  }
}

double CoreModel::CubePeak(const std::string& type, uint32_t type_bytes) const {
  if (type_bytes == 0 || type_bytes > cube_depth_bytes) return 0;
  const auto found = cube_cycles.find(type);
  const double cycles = found == cube_cycles.end() ? cube_cycles.at("default") : found->second;
  const double depth = static_cast<double>(cube_depth_bytes) / type_bytes;
  return 2.0 * cube_rows * cube_columns * depth / cycles;
}

Result<CoreModel> ParseCoreModel(const std::string& text) {
  // The library throws; nothing of that leaves this function.
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap() || !root["name"])
      return Corrupt("a chip's description must be a mapping with a name");
    const auto name = root["name"].as<std::string>();
    if (!root["in_core"])
      return NotFound("chip " + name + " has no section in_core: its cores cannot be simulated");
    CoreModel model = Read(root["in_core"], name);
    KERF_RETURN_IF_ERROR(Check(model));
    return model;
  } catch (const YAML::Exception& error) {
    return Corrupt(std::string("a chip's description: ") + error.what());
  }
}

}  // namespace kerf
