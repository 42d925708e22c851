#include "device/owner.h"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "base/json_reader.h"
#include "base/json_writer.h"

namespace kerf::device {
namespace {

std::string HostName() {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  return host;
}

bool ReadWants(JsonReader& reader, std::vector<DeviceId>& wants) {
  if (!reader.BeginArray()) return false;
  while (reader.NextElement()) {
    std::string text;
    if (!reader.ReadString(text)) return false;
    const Result<DeviceId> id = DeviceId::Parse(text);
    if (!id.ok()) return false;
    wants.push_back(*id);
  }
  return reader.ok();
}

}  // namespace

std::string Owner::ToString() const {
  std::string text = "process " + std::to_string(pid);
  if (!host.empty()) text += " on " + host;
  if (!purpose.empty()) text += " (" + purpose + ")";
  if (!since.empty()) text += " since " + since;
  return text;
}

Owner OwnOwner(Clock& clock, const std::string& purpose) {
  return {.pid = ::getpid(),
          .start = StartTimeOf(::getpid()).value_or(0),
          .host = HostName(),
          .purpose = purpose,
          .since = FormatUtc(clock.WallNanos())};
}

std::string EncodeOwner(const Owner& owner) {
  std::string line;
  JsonWriter json(line);
  json.BeginObject().Key("pid").Int(owner.pid);
  json.Key("start").Int(static_cast<int64_t>(owner.start));
  json.Key("host").String(owner.host).Key("purpose").String(owner.purpose);
  json.Key("since").String(owner.since);
  if (!owner.wants.empty()) {
    json.Key("wants").BeginArray();
    for (const DeviceId& id : owner.wants) json.String(id.ToString());
    json.EndArray();
  }
  json.EndObject();
  return line + "\n";
}

std::optional<Owner> DecodeOwner(std::string_view text) {
  JsonReader reader(text);
  Owner owner;
  std::string key;
  int64_t start = 0;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "pid") {
      reader.ReadInt(owner.pid);
    } else if (key == "start") {
      reader.ReadInt(start);
    } else if (key == "host") {
      reader.ReadString(owner.host);
    } else if (key == "purpose") {
      reader.ReadString(owner.purpose);
    } else if (key == "since") {
      reader.ReadString(owner.since);
    } else if (key == "wants") {
      if (!ReadWants(reader, owner.wants)) return std::nullopt;
    } else {
      reader.Skip();
    }
  }
  if (!reader.Finish() || owner.pid <= 0 || start < 0) return std::nullopt;
  owner.start = static_cast<uint64_t>(start);
  return owner;
}

std::optional<uint64_t> ParseStartTime(std::string_view stat) {
  // Behind the last ')' the fields count from 3.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  std::istringstream fields{std::string(stat.substr(name_end + 1))};
  std::string field;
  for (int number = 3; number <= 22; ++number) {
    if (!(fields >> field)) return std::nullopt;
  }
  uint64_t start = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), start);
  if (error != std::errc() || end != field.data() + field.size()) return std::nullopt;
  return start;
}

std::optional<uint64_t> StartTimeOf(int64_t pid, const std::string& proc) {
  std::ifstream file(proc + "/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  return ParseStartTime(text.str());
}

bool IsAlive(const Owner& owner, const std::string& proc) {
  if (owner.host != HostName()) return true;
  const std::optional<uint64_t> start = StartTimeOf(owner.pid, proc);
  return start.has_value() && *start == owner.start;
}

}  // namespace kerf::device
