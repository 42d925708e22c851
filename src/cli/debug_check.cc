// kerf debug check: holds a workspace against its sources.
#include "base/json_writer.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/text_width.h"
#include "dataset/workspace_check.h"

namespace kerf::cli {
namespace {

std::string ReportJson(const dataset::WorkspaceReport& report) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("ok").Bool(true);
  json.Key("cases").Int(static_cast<int64_t>(report.cases.size()));
  json.Key("wrong").Int(static_cast<int64_t>(report.wrong())).Key("findings").BeginArray();
  for (const dataset::CheckedCase& one : report.cases) {
    if (one.wrong.empty() && one.added.empty()) continue;
    json.BeginObject().Key("folder").String(one.folder).Key("name").String(one.name);
    json.Key("wrong").BeginArray();
    for (const std::string& sentence : one.wrong) json.String(sentence);
    json.EndArray().Key("added").BeginArray();
    for (const std::string& path : one.added) json.String(path);
    json.EndArray().EndObject();
  }
  json.EndArray().Key("other_folders").BeginArray();
  for (const std::string& folder : report.other) json.String(folder);
  json.EndArray().EndObject();
  return text + "\n";
}

std::string ReportText(const dataset::WorkspaceReport& report, const Output& out) {
  std::string text;
  for (const dataset::CheckedCase& one : report.cases) {
    for (const std::string& sentence : one.wrong) {
      text +=
          out.Styled("wrong", Style::kBad) + "  " + Printable(one.folder + ": " + sentence) + "\n";
    }
    for (const std::string& path : one.added) {
      text += out.Styled("added", Style::kDim) + "  " + Printable(one.folder + "/" + path) + "\n";
    }
  }
  for (const std::string& folder : report.other) {
    text += out.Styled("other", Style::kDim) + "  " + Printable(folder) + " has no case.json\n";
  }
  return text + std::to_string(report.cases.size()) + " cases, " + std::to_string(report.wrong()) +
         " wrong\n";
}

Result<int> RunDebugCheck(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(
      const dataset::WorkspaceReport report,
      dataset::CheckWorkspace(context.fs, args.Positional(0), args.Get("--sources")));
  context.out.Data(args.Has("--json") ? ReportJson(report) : ReportText(report, context.out));
  return report.wrong() == 0 ? kExitDone : kExitNegative;
}

}  // namespace

Verb DebugCheckVerb() {
  return {
      .name = "debug check",
      .summary = "Hold a debug workspace against the data set it was extracted from",
      .details =
          "Checks each file against its hash in case.json, each source record against its hash,\n"
          "and each text against the one made again from the source. Files that a person added\n"
          "are listed, not wrong. Exit 1 when something is wrong.",
      .positionals = {{.name = "DIR", .help = "what kerf debug extract wrote"}},
      .flags = {{.name = "--sources",
                 .value_name = "DIR",
                 .help = "where the data set lies now; else where it was"},
                JsonFlag()},
      .examples = {{"kerf debug check debug_workspace", "is it still what was extracted?"}},
      .run = RunDebugCheck};
}

}  // namespace kerf::cli
