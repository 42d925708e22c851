// Ascend has no library that is safe to load everywhere; `npu-smi info` prints a table with two
// rows for each chip, in one of three layouts:
//
//   | 0     910B3               | OK            | 97.5        41                0    / 0 | | 0 |
//   0000:C1:00.0  | 0           0    / 0          3379 / 65536         |
//
// The second row's first cell is "chip", "chip phy-id" (910_93) or "chip device" (310P); its last
// "used / total" pair is the memory in MiB. Anything else in the output is passed over.
#include <set>

#include "base/subprocess.h"
#include "device/probe.h"
#include "device/text_scan.h"
#include "device/visible_devices.h"

namespace kerf::device {
namespace {

constexpr int64_t kMostNpus = 1024;

std::vector<std::string_view> Cells(std::string_view line) {
  line = Trim(line);
  if (line.size() < 2 || line.front() != '|' || line.back() != '|') return {};
  std::vector<std::string_view> cells = Split(line.substr(1, line.size() - 2), '|');
  for (std::string_view& cell : cells) cell = Trim(cell);
  return cells;
}

// "0  0 / 0  3379 / 65536" → 65536; also "26838/ 32768".
uint64_t LastTotal(std::string_view cell) {
  const size_t slash = cell.find_last_of('/');
  if (slash == std::string_view::npos) return 0;
  const std::vector<std::string_view> words = Words(cell.substr(slash + 1));
  const int64_t mib = words.empty() ? 0 : Number(words[0]).value_or(0);
  return mib < (int64_t{1} << 40) ? static_cast<uint64_t>(mib) << 20 : 0;
}

Health HealthOf(std::string_view word) {
  const std::string lower = Lower(word);
  if (lower == "ok") return {};
  const std::string reason = "npu-smi says " + std::string(word);
  const bool broken = lower == "alarm" || lower == "critical";
  return {broken ? HealthState::kSetAside : HealthState::kDoubtful, reason};
}

std::string ArchOf(std::string_view name) {
  const std::string lower = Lower(name);
  return lower.rfind("ascend", 0) == 0 ? lower : "ascend" + lower;
}

// The first row of a chip; nullopt when it is none.
std::optional<Device> FirstRow(const std::vector<std::string_view>& cells) {
  const std::vector<std::string_view> words = Words(cells[0]);
  if (words.size() < 2 || !Number(words[0]).has_value() || cells[1].empty()) return std::nullopt;
  Device device;
  device.id.backend = Backend::kAscend;
  device.name =
      "Ascend " + std::string(words[1].rfind("Ascend", 0) == 0 ? words[1].substr(6) : words[1]);
  device.arch = ArchOf(words[1]);
  device.chip = device.arch;
  device.health = HealthOf(cells[1]);
  return device;
}

}  // namespace

std::vector<Device> ParseNpuSmi(std::string_view text) {
  std::vector<Device> devices;
  std::set<DeviceId> seen;
  std::optional<Device> pending;
  for (const std::string_view line : Split(text, '\n')) {
    const std::vector<std::string_view> cells = Cells(line);
    // The second table, of processes, begins.
    if (cells.size() >= 2 && cells[1].rfind("Process", 0) == 0) break;
    if (cells.size() < 3) continue;
    if (!pending.has_value()) {
      pending = FirstRow(cells);
      continue;
    }
    const std::vector<std::string_view> words = Words(cells[0]);
    Device device = std::move(*pending);
    pending.reset();
    if (words.empty() || words.size() > 2 || !Number(words[0]).has_value()) continue;
    // Without a column for it, devices are numbered in the order of the table.
    const int64_t number =
        words.size() == 2 ? Number(words[1]).value_or(-1) : static_cast<int64_t>(devices.size());
    if (number < 0 || number >= kMostNpus) continue;
    device.id.number = static_cast<int>(number);
    device.memory_bytes = LastTotal(cells[2]);
    // A virtual NPU may be listed once for each die of its chip.
    if (seen.insert(device.id).second) devices.push_back(std::move(device));
  }
  for (size_t i = 0; i < devices.size(); ++i) devices[i].index = static_cast<int>(i);
  return devices;
}

ProbeResult ProbeAscend(const ProbeOptions& options) {
  ProbeResult result{.backend = Backend::kAscend};
  const Result<ProcessOutcome> outcome = RunProcess({.argv = {options.npu_smi, "info"},
                                                     .stdout_limit = size_t{1} << 20,
                                                     .timeout = options.npu_smi_timeout});
  if (!outcome.ok()) {
    result.why_none = "npu-smi cannot be run (" + outcome.error().message +
                      "); the Ascend driver is not installed or not in PATH";
    return result;
  }
  if (outcome->timed_out) {
    result.why_none =
        "npu-smi did not answer within " + std::to_string(options.npu_smi_timeout.count()) + " ms";
    return result;
  }
  result.devices = ParseNpuSmi(outcome->stdout_text);
  if (result.devices.empty()) {
    const std::string& said =
        outcome->stderr_text.empty() ? outcome->stdout_text : outcome->stderr_text;
    result.why_none = outcome->exit_code == 0
                          ? "npu-smi lists no NPU that kerf recognises"
                          : "npu-smi failed: " + std::string(Trim(Split(Trim(said), '\n').front()));
    return result;
  }
  ApplyVisible("ASCEND_RT_VISIBLE_DEVICES", options.environment, result);
  return result;
}

}  // namespace kerf::device
