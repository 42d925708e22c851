#include "device/health_record.h"

#include "base/json_reader.h"
#include "base/json_writer.h"

namespace kerf::device {
namespace {

std::string FileName(const DeviceId& id) { return id.FileStem() + ".aside"; }

std::optional<HealthRecord> Decode(std::string_view text) {
  JsonReader reader(text);
  HealthRecord record;
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "reason") {
      reader.ReadString(record.reason);
    } else if (key == "time") {
      reader.ReadString(record.time);
    } else if (key == "expires") {
      reader.ReadString(record.expires);
    } else {
      reader.Skip();
    }
  }
  if (!reader.Finish() || record.reason.empty() || !ParseUtc(record.time).has_value()) {
    return std::nullopt;
  }
  if (!record.expires.empty() && !ParseUtc(record.expires).has_value()) return std::nullopt;
  return record;
}

}  // namespace

Status SetAside(const RuntimeDir& dir, Clock& clock, const DeviceId& id, const std::string& reason,
                std::chrono::seconds for_how_long) {
  if (reason.empty()) return InvalidInput("setting " + id.ToString() + " aside needs a reason");
  const int64_t now = clock.WallNanos();
  const int64_t nanos = std::chrono::nanoseconds(for_how_long).count();
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("reason").String(reason).Key("time").String(FormatUtc(now));
  json.Key("expires").String(FormatUtc(now + nanos)).EndObject().EndLine();
  return dir.Replace(FileName(id), text);
}

Result<bool> ClearAside(const RuntimeDir& dir, const DeviceId& id) {
  return dir.Remove(FileName(id));
}

Result<std::optional<HealthRecord>> ReadAside(const RuntimeDir& dir, Clock& clock,
                                              const DeviceId& id) {
  const Result<std::string> text = dir.Read(FileName(id));
  if (!text.ok()) {
    if (text.error().code == ErrorCode::kNotFound) return std::optional<HealthRecord>();
    return text.error();
  }
  std::optional<HealthRecord> record = Decode(*text);
  if (!record.has_value()) {
    return std::optional<HealthRecord>(
        HealthRecord{.reason = "its record " + dir.path() + "/" + FileName(id) + " is damaged",
                     .time = "",
                     .expires = ""});
  }
  // Left in place: removing it here could remove a newer record that another process just wrote.
  const bool expired = !record->expires.empty() && *ParseUtc(record->expires) <= clock.WallNanos();
  return expired ? std::optional<HealthRecord>() : record;
}

}  // namespace kerf::device
