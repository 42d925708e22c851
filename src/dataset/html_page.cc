// The page itself is ui/pages/debug_workspace.html; the data stand in it as JSON in which every '<'
// is escaped, so that no text can end the element that holds them.
#include "dataset/html_page.h"

#include "base/json_writer.h"
#include "resource/resource.h"

namespace kerf::dataset {
namespace {

constexpr std::string_view kPlace = "@KERF_DATA@";

std::string Escaped(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  size_t at = 0;
  for (size_t end = json.find('<'); end != std::string::npos; end = json.find('<', at)) {
    out.append(json, at, end - at).append("\\u003c");
    at = end + 1;
  }
  return out.append(json, at);
}

void WriteDiffs(JsonWriter& json, const std::vector<CaseDiff>& diffs) {
  for (const CaseDiff& diff : diffs) {
    json.BeginArray();
    json.Int(static_cast<int64_t>(diff.from)).Int(static_cast<int64_t>(diff.to)).BeginArray();
    for (const DiffSpan& span : diff.spans) {
      json.BeginArray();
      for (const size_t line : {span.a_begin, span.a_end, span.b_begin, span.b_end}) {
        json.Int(static_cast<int64_t>(line));
      }
      json.EndArray();
    }
    json.EndArray().EndArray();
  }
}

}  // namespace

std::string PageFragment(const CaseEntry& entry, const CaseFolder& folder, bool texts) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("n").String(entry.name).Key("f").String(folder.folder);
  json.Key("l").String(LastStatusName(entry.last)).Key("b").String(BestStatusName(entry.best));
  json.Key("d").String(DiagnosisName(entry.diagnosis.kind)).Key("t").String(entry.diagnosis.line);
  if (texts) {
    json.Key("x").BeginArray();
    for (const CaseFile& file : folder.files) {
      if (file.path.starts_with("diffs/")) continue;
      json.BeginArray().String(file.path).String(file.content).EndArray();
    }
    json.EndArray().Key("c").BeginArray();
    WriteDiffs(json, folder.diffs);
    json.EndArray();
  }
  json.EndObject();
  return Escaped(text);
}

PageFrame FrameOfPage() {
  const std::vector<resource::File> files = resource::Files("ui/pages/debug_workspace.html");
  KERF_CHECK(files.size() == 1, "the page is embedded in the binary");
  const std::string_view page = files[0].bytes;
  const size_t place = page.find(kPlace);
  KERF_CHECK(place != std::string_view::npos, "the page has a place for the data");
  return {page.substr(0, place), page.substr(place + kPlace.size())};
}

}  // namespace kerf::dataset
