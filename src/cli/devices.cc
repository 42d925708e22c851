#include "cli/devices.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/step_text.h"
#include "cli/render/table.h"
#include "device/device_list.h"
#include "device/device_lock.h"
#include "device/health_record.h"

namespace kerf::cli {
namespace {

using device::Backend;
using device::Device;
using device::DeviceId;
using device::HealthState;
using Json = nlohmann::ordered_json;

struct DeviceRow {
  Device device;
  std::optional<device::Holder> holder;
  device::Health health;  // of the probe and of the records
  std::string since;      // when it was set aside
  std::string expires;
  bool chosen = true;
};

// What the probes found, and what other processes left in the device directory.
struct DeviceReport {
  std::vector<DeviceRow> rows;
  std::vector<std::pair<Backend, std::string>> absent;  // backend and why
  std::vector<std::string> notes;
};

Result<DeviceRow> Look(const Device& found, const Result<device::RuntimeDir>& dir, Clock& clock) {
  DeviceRow row{.device = found, .health = found.health};
  if (!dir.ok()) return row;
  KERF_ASSIGN_OR_RETURN(row.holder, device::HolderOf(*dir, found.id));
  KERF_ASSIGN_OR_RETURN(const auto record, device::ReadAside(*dir, clock, found.id));
  if (record.has_value()) {
    row.health = {HealthState::kSetAside, record->reason};
    row.since = record->time;
    row.expires = record->expires;
  }
  return row;
}

Result<DeviceReport> Gather(const std::vector<Backend>& backends, Context& context,
                            const device::ProbeOptions& options) {
  DeviceReport report;
  KERF_ASSIGN_OR_RETURN(const auto list, device::ReadDeviceList(options.environment));
  const Result<device::RuntimeDir> dir = device::RuntimeDir::Open(options.environment);
  // What hardware there is can still be told.
  if (!dir.ok()) report.notes.push_back("who holds what is unknown: " + dir.error().message);
  std::vector<DeviceId> chosen;
  for (const Backend backend : backends) {
    KERF_ASSIGN_OR_RETURN(const device::ProbeResult found, device::Probe(backend, options));
    report.notes.insert(report.notes.end(), found.notes.begin(), found.notes.end());
    if (found.devices.empty()) report.absent.emplace_back(backend, found.why_none);
    for (const Device& one : found.devices) {
      KERF_ASSIGN_OR_RETURN(DeviceRow row, Look(one, dir, context.clock));
      row.chosen = !list.has_value() || list->Chooses(one);
      if (list.has_value() && list->Concerns(backend) && row.chosen) chosen.push_back(one.id);
      report.rows.push_back(std::move(row));
    }
  }
  if (list.has_value()) {
    report.notes.push_back(list->variable + "='" + list->value + "' chooses " +
                           (chosen.empty() ? "nothing that is here" : device::JoinIds(chosen)));
  }
  return report;
}

std::string MemoryText(uint64_t bytes) {
  if (bytes == 0) return "";
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(1ULL << 30));
}

Table::Cell HealthCell(const DeviceRow& row) {
  std::string text = device::HealthStateName(row.health.state);
  if (!row.health.reason.empty()) text += ": " + row.health.reason;
  if (!row.expires.empty()) text += " (until " + ShortTime(row.expires) + " UTC)";
  const Style style = row.health.state == HealthState::kGood       ? Style::kGood
                      : row.health.state == HealthState::kDoubtful ? Style::kWarn
                                                                   : Style::kBad;
  return {text, style};
}

void PrintText(const DeviceReport& report, Output& out) {
  Table table({{"ID"},
               {"BACKEND"},
               {"INDEX", Align::kRight},
               {"NAME"},
               {"ARCH"},
               {"MEMORY", Align::kRight},
               {"HELD BY"},
               {"HEALTH"}});
  for (const DeviceRow& row : report.rows) {
    table.AddRow({{row.device.id.ToString()},
                  {BackendName(row.device.backend())},
                  {std::to_string(row.device.index)},
                  {row.device.name},
                  {row.device.arch},
                  {MemoryText(row.device.memory_bytes)},
                  {row.holder.has_value() ? row.holder->ToString() : "nobody"},
                  HealthCell(row)});
  }
  if (!report.rows.empty()) out.Data(table.Render(out));
  for (const auto& [backend, why] : report.absent) {
    out.Note(fmt::format("no {} device: {}", BackendName(backend), why));
  }
  for (const std::string& note : report.notes) out.Note(note);
}

Json HolderJson(const std::optional<device::Holder>& holder) {
  if (!holder.has_value()) return nullptr;
  if (!holder->owner.has_value()) return {{"pid", nullptr}};
  return {{"pid", holder->owner->pid},
          {"host", holder->owner->host},
          {"purpose", holder->owner->purpose},
          {"since", holder->owner->since},
          {"alive", holder->owner_alive}};
}

Json RowJson(const DeviceRow& row) {
  const Device& one = row.device;
  return {{"id", one.id.ToString()},
          {"backend", BackendName(one.backend())},
          {"index", one.index},
          {"name", one.name},
          {"arch", one.arch},
          {"chip", one.chip},
          {"uuid", one.uuid},
          {"memory_bytes", one.memory_bytes},
          {"cpus", one.cpus},
          {"chosen", row.chosen},
          {"held_by", HolderJson(row.holder)},
          {"health", device::HealthStateName(row.health.state)},
          {"reason", row.health.reason},
          {"since", row.since},
          {"expires", row.expires}};
}

void PrintJson(const DeviceReport& report, Output& out) {
  Json document = {
      {"ok", true}, {"devices", Json::array()}, {"absent", Json::array()}, {"notes", report.notes}};
  for (const DeviceRow& row : report.rows) document["devices"].push_back(RowJson(row));
  for (const auto& [backend, why] : report.absent) {
    document["absent"].push_back({{"backend", BackendName(backend)}, {"why", why}});
  }
  out.Data(DumpJson(document) + "\n");
}

Result<int> Reset(const std::string& text, bool json, Context& context,
                  const device::ProbeOptions& options) {
  KERF_ASSIGN_OR_RETURN(const DeviceId id, DeviceId::Parse(text));
  KERF_ASSIGN_OR_RETURN(const device::RuntimeDir dir,
                        device::RuntimeDir::Open(options.environment));
  KERF_ASSIGN_OR_RETURN(const bool cleared, device::ClearAside(dir, id));
  if (!cleared) {
    // A mistyped id must not look like success.
    KERF_ASSIGN_OR_RETURN(const device::ProbeResult found, device::Probe(id.backend, options));
    const auto same = [&](const Device& one) { return one.id == id; };
    if (std::none_of(found.devices.begin(), found.devices.end(), same)) {
      return NotFound("there is no device " + id.ToString() +
                      "; 'kerf devices' shows what there is");
    }
  }
  if (json) {
    const Json document = {{"ok", true}, {"id", id.ToString()}, {"was_set_aside", cleared}};
    context.out.Data(DumpJson(document) + "\n");
  } else {
    context.out.Data(id.ToString() + (cleared ? " may be used again\n" : " was not set aside\n"));
  }
  return kExitDone;
}

}  // namespace

Result<int> ReportDevices(const Args& args, Context& context, const device::ProbeOptions& options) {
  const bool json = args.Has("--json");
  if (args.Has("--reset")) return Reset(args.Get("--reset"), json, context, options);
  std::vector<Backend> backends(std::begin(device::kAllBackends), std::end(device::kAllBackends));
  if (args.Has("--backend")) backends = {*device::ParseBackend(args.Get("--backend"))};
  KERF_ASSIGN_OR_RETURN(const DeviceReport report, Gather(backends, context, options));
  if (args.Has("--backend") && report.rows.empty()) {
    return Unavailable("no " + args.Get("--backend") + " device: " + report.absent.at(0).second);
  }
  json ? PrintJson(report, context.out) : PrintText(report, context.out);
  return kExitDone;
}

Verb DevicesVerb() {
  return {.name = "devices",
          .summary = "List the devices of this machine, who holds them and how they are",
          .details =
              "ID names the device itself; INDEX is what its run time calls it under the present\n"
              "CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES or\n"
              "ASCEND_RT_VISIBLE_DEVICES. KERF_DEVICES, else AIKG_DEVICES_LIST, else\n"
              "AKG_AGENTS_DEVICES_LIST ('0,1' or 'cuda:0') chooses which ones kerf uses.\n"
              "A device that failed a check is set aside for an hour. Exit 3 when the backend\n"
              "asked for has no device.",
          .flags = {{.name = "--backend",
                     .value_name = "B",
                     .help = "only this backend",
                     .choices = {"cpu", "cuda", "rocm", "ascend"}},
                    {.name = "--reset",
                     .value_name = "ID",
                     .help = "give a device that was set aside another chance"},
                    JsonFlag()},
          .examples = {{"kerf devices", "what there is, and why the rest is not"},
                       {"kerf devices --backend cuda --json", "for a script"},
                       {"kerf devices --reset cuda:0", "after the GPU was looked after"}},
          .run = [](const Args& args, Context& context) {
            return ReportDevices(args, context, device::ProbeOptions{});
          }};
}

}  // namespace kerf::cli
