#include "base/json_reader.h"
#include "cli/build_info.h"
#include "cli/registry.h"
#include "cli/render/output.h"

namespace kerf::cli {
namespace {

std::string AsJson(const BuildInfo& info) {
  std::string json;
  const auto add = [&json](const char* name, const std::string& value) {
    json += json.empty() ? '{' : ',';
    AppendJsonString(json, name);
    json += ':';
    AppendJsonString(json, value);
  };
  add("version", info.version);
  add("revision", info.revision);
  add("compiler", info.compiler);
  add("build_type", info.build_type);
  return json + "}\n";
}

std::string AsText(const BuildInfo& info) {
  return "kerf " + info.version + "\nrevision    " +
         (info.revision.empty() ? "(not built in a git checkout)" : info.revision) +
         "\ncompiler    " + info.compiler + "\nbuild type  " + info.build_type + "\n";
}

}  // namespace

std::string VersionLine() {
  const BuildInfo info = GetBuildInfo();
  return "kerf " + info.version + " (" + (info.revision.empty() ? "" : info.revision + ", ") +
         info.compiler + ", " + info.build_type + ")";
}

Verb VersionVerb() {
  return {.name = "version",
          .summary = "Tell the version and what this binary was built from",
          .details = "'kerf --version' says the same in one line.",
          .positionals = {},
          .flags = {JsonFlag()},
          .examples = {{"kerf version --json", "for a bug report or a script"}},
          .run = [](const Args& args, Context& context) -> Result<int> {
            const BuildInfo info = GetBuildInfo();
            context.out.Data(args.Has("--json") ? AsJson(info) : AsText(info));
            return kExitDone;
          }};
}

}  // namespace kerf::cli
