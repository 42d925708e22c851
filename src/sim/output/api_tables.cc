// FILE_API and INSTR_API. Columns are declared in "… Dtype": 0 hidden, 1 int, 3 text, 4 percentage.
// Ints must fit into 32 bits; a percentage must be written with a point or it reads as 0.
#include <fmt/core.h>

#include <algorithm>

#include "base/json_writer.h"
#include "sim/output/tables.h"

namespace kerf::sim {
namespace {

int64_t Int(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT32_MAX)); }

std::string Percent(double value) { return fmt::format("{:.4f}", value); }

void Cores(JsonWriter& json, const InstructionLog& log, const Catalog& catalog) {
  json.Key("Cores").BeginArray();
  for (const uint32_t core : catalog.core_order) json.String(log.cores[core].Name());
  json.EndArray();
}

// One list with a value for each core.
template <typename Value>
void PerCore(JsonWriter& json, const char* key, const Catalog& catalog, Value value) {
  json.Key(key).BeginArray();
  for (const uint32_t core : catalog.core_order) json.Int(value(core));
  json.EndArray();
}

struct Line {
  std::vector<uint64_t> addresses;
  std::vector<uint64_t> count, cycles, bytes, stalled;  // by core
};

void AddressRanges(JsonWriter& json, std::vector<uint64_t> addresses) {
  std::sort(addresses.begin(), addresses.end());
  json.Key("Address Range").BeginArray();
  for (size_t i = 0; i < addresses.size();) {
    size_t last = i;
    while (last + 1 < addresses.size() && addresses[last + 1] - addresses[last] <= 4) ++last;
    json.BeginArray()
        .String(fmt::format("0x{:08x}", addresses[i]))
        .String(fmt::format("0x{:08x}", addresses[last]))
        .EndArray();
    i = last + 1;
  }
  json.EndArray();
}

std::map<std::string, std::map<uint32_t, Line>> LinesOf(
    const InstructionLog& log, const Catalog& catalog,
    const std::map<std::string, std::string>& sources) {
  std::map<std::string, std::map<uint32_t, Line>> files;
  const size_t cores = log.cores.size();
  for (size_t i = 0; i < catalog.items.size(); ++i) {
    const Site& site = log.sites[catalog.items[i].site];
    const std::string& file = log.strings[site.file];
    if (sources.count(file) == 0) continue;
    Line& line = files[file][site.line];
    for (auto* list : {&line.count, &line.cycles, &line.bytes, &line.stalled}) list->resize(cores);
    line.addresses.push_back(catalog.items[i].address);
    for (size_t core = 0; core < cores; ++core) {
      const StaticUse& use = catalog.use[core][i];
      line.count[core] += use.count;
      line.cycles[core] += use.cycles;
      line.bytes[core] += use.bytes;
      line.stalled[core] += use.Stalled();
    }
  }
  return files;
}

// "TADD UB,24x64f32ND,…" without addresses, which are the execution's; "SET_FLAG SCALAR ID:0".
std::string SourceText(const StaticInstruction& item) {
  std::string text = std::string(kerf_log::OpName(item.op)) + " ";
  const bool set = item.op == Op::SET_FLAG;
  if (set || item.op == Op::WAIT_FLAG) {
    const auto part = [&](const std::string& key) {
      const size_t begin = item.detail.find(key) + key.size();
      return item.detail.substr(begin, item.detail.find(',', begin) - begin);
    };
    return text + part(set ? ",TRIGGERPIPE:" : "PIPE:") + " ID:" + part("FLAGID:");
  }
  for (size_t i = 0; i < item.detail.size(); ++i) {
    if (item.detail.compare(i, 3, ":0x") == 0)
      i = std::min(item.detail.find(',', i), item.detail.size() - 1);
    text += item.detail[i];
  }
  return text;
}

// Operations beside what the cube could have done in these cycles.
double PeakShare(const StaticInstruction& item, const StaticUse& use, const CoreModel& model) {
  if (static_cast<Pipe>(item.pipe) != Pipe::kCube || use.operations == 0 || use.cycles == 0)
    return -1;
  const double peak = model.CubePeak(DtypeName(item.left),
                                     std::max<uint32_t>(1, kerf_log::DtypeBits(item.left) / 8));
  return peak > 0
             ? 100.0 * static_cast<double>(use.operations) / static_cast<double>(use.cycles) / peak
             : -1;
}

double Utilization(const StaticInstruction& item, const StaticUse& use) {
  if (static_cast<Pipe>(item.pipe) != Pipe::kVector || use.vector_bytes == 0) return -1;
  return 100.0 * static_cast<double>(use.vector_bytes) /
         static_cast<double>(use.count * StaticUse::kFullVector);
}

void InstructionColumns(JsonWriter& json) {
  json.Key("Instructions Dtype").BeginObject().Key("Instructions").BeginObject();
  struct Column {
    const char* name;
    int type;
  };
  for (const Column& column : {Column{"Address", 3},
                               {"AscendC Inner Code", 3},
                               {"Cycles", 1},
                               {"GPR Count", 1},
                               {"Hazards", 1},
                               {"Instructions Executed", 1},
                               {"Pipe", 3},
                               {"Process Bytes", 1},
                               {"Share of Peak", 4},
                               {"Source", 3},
                               {"Stall Cycles", 1},
                               {"Stall Reason", 3},
                               {"UB Read Conflict", 1},
                               {"UB Write Conflict", 1},
                               {"Vector Utilization Percentage", 4}})
    json.Key(column.name).Int(column.type);
  json.EndObject().EndObject();
}

}  // namespace

std::string FileApi(const InstructionLog& log, const Catalog& catalog,
                    const std::map<std::string, std::string>& sources) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  Cores(json, log, catalog);
  json.Key("Files Dtype").BeginObject().Key("Lines").BeginObject().Key("Address Range").Int(0);
  for (const char* column :
       {"Cycles", "GPR Count", "Instructions Executed", "Line", "Process Bytes", "Stall Cycles"})
    json.Key(column).Int(1);
  json.EndObject().EndObject().Key("Files").BeginArray();
  for (const auto& [file, lines] : LinesOf(log, catalog, sources)) {
    json.BeginObject().Key("Source").String(file).Key("Lines").BeginArray();
    for (const auto& entry : lines) {
      const Line& line = entry.second;  // clang captures no bindings
      json.BeginObject().Key("Line").Int(entry.first);
      AddressRanges(json, line.addresses);
      PerCore(json, "Cycles", catalog, [&](uint32_t core) { return Int(line.cycles[core]); });
      PerCore(json, "Instructions Executed", catalog,
              [&](uint32_t core) { return Int(line.count[core]); });
      PerCore(json, "GPR Count", catalog, [](uint32_t) { return int64_t{-1}; });
      PerCore(json, "Process Bytes", catalog,
              [&](uint32_t core) { return line.bytes[core] == 0 ? -1 : Int(line.bytes[core]); });
      PerCore(json, "Stall Cycles", catalog,
              [&](uint32_t core) { return Int(line.stalled[core]); });
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return text;
}

std::string InstrApi(const InstructionLog& log, const Catalog& catalog, const CoreModel& model) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  Cores(json, log, catalog);
  InstructionColumns(json);
  json.Key("Instructions").BeginArray();
  for (size_t i = 0; i < catalog.items.size(); ++i) {
    const StaticInstruction& item = catalog.items[i];
    const auto use = [&](uint32_t core) -> const StaticUse& { return catalog.use[core][i]; };
    json.BeginObject().Key("Address").String(fmt::format("0x{:08x}", item.address));
    json.Key("AscendC Inner Code")
        .String(log.PlaceOf(item.site))
        .Key("Source")
        .String(SourceText(item));
    json.Key("Pipe").String(PipeName(static_cast<Pipe>(item.pipe)));
    PerCore(json, "Instructions Executed", catalog,
            [&](uint32_t core) { return Int(use(core).count); });
    PerCore(json, "Cycles", catalog, [&](uint32_t core) { return Int(use(core).cycles); });
    PerCore(json, "GPR Count", catalog, [](uint32_t) { return int64_t{-1}; });
    PerCore(json, "Process Bytes", catalog,
            [&](uint32_t core) { return use(core).bytes == 0 ? -1 : Int(use(core).bytes); });
    PerCore(json, "Stall Cycles", catalog, [&](uint32_t core) { return Int(use(core).Stalled()); });
    PerCore(json, "Hazards", catalog, [&](uint32_t core) {
      return use(core).count == 0 ? int64_t{0} : int64_t{item.hazards};
    });
    PerCore(json, "UB Read Conflict", catalog, [](uint32_t) { return int64_t{-1}; });
    PerCore(json, "UB Write Conflict", catalog, [](uint32_t) { return int64_t{-1}; });
    json.Key("Stall Reason").BeginArray();
    for (const uint32_t core : catalog.core_order)
      json.String(StallReasonName(use(core).MainReason()));
    json.EndArray().Key("Share of Peak").BeginArray();
    for (const uint32_t core : catalog.core_order)
      json.Raw(Percent(PeakShare(item, use(core), model)));
    json.EndArray().Key("Vector Utilization Percentage").BeginArray();
    for (const uint32_t core : catalog.core_order) json.Raw(Percent(Utilization(item, use(core))));
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return text;
}

}  // namespace kerf::sim
