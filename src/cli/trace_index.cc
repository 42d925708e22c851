#include <cstdio>

#include "base/clock.h"
#include "base/json_reader.h"
#include "cli/index_gaps.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/text_width.h"
#include "trace/index.h"

namespace kerf::cli {
namespace {

struct Indexed {
  std::string run;
  std::string path;
  int64_t steps = 0;
  double seconds = 0;
  uint64_t bytes = 0;
  bool has_gaps = false;
};

Result<Indexed> Rebuild(const std::string& run, Context& context) {
  const int64_t begin = context.clock.MonotonicNanos();
  trace::TraceIndex::Options options;
  options.progress = [&](const trace::IndexProgress& progress) {
    context.out.Progress("indexing " + run + ": " + std::to_string(progress.steps_added) +
                         " steps, operator " + std::to_string(progress.ops_done) + " of " +
                         std::to_string(progress.ops_total));
  };
  KERF_ASSIGN_OR_RETURN(std::unique_ptr<trace::TraceIndex> index,
                        trace::TraceIndex::Open(context.fs, context.clock, run, options));
  KERF_ASSIGN_OR_RETURN(const trace::IndexReport report, index->Rebuild());
  Indexed done{run, index->path(), report.steps, 0, 0, false};
  index.reset();  // only now is all of it in the one file
  done.seconds = static_cast<double>(context.clock.MonotonicNanos() - begin) / 1e9;
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, context.fs.Stat(done.path));
  if (info.has_value()) done.bytes = info->size;
  context.out.Progress("");
  done.has_gaps = NoteGaps(report, "indexed", context.out);
  return done;
}

std::string Number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string AsText(const Indexed& done) {
  return Printable(done.run) + ": " + std::to_string(done.steps) + " steps indexed in " +
         Number("%.2f", done.seconds) + " s, " +
         Number("%.1f", static_cast<double>(done.bytes) / 1e6) + " MB in " + Printable(done.path) +
         "\n";
}

std::string AsJson(const Indexed& done) {
  std::string json = "{\"run\":";
  AppendJsonString(json, done.run);
  json += ",\"steps\":" + std::to_string(done.steps) +
          ",\"seconds\":" + Number("%.3f", done.seconds) +
          ",\"bytes\":" + std::to_string(done.bytes) +
          ",\"complete\":" + (done.has_gaps ? "false" : "true") + ",\"index\":";
  AppendJsonString(json, done.path);
  return json + "}";
}

Result<int> RunTraceIndex(const Args& args, Context& context) {
  const bool as_json = args.Has("--json");
  KERF_ASSIGN_OR_RETURN(const trace::SearchTarget target,
                        trace::FindSearchTarget(context.fs, args.Positional(0)));
  std::string json = "{\"runs\":[";
  bool has_gaps = false;
  for (size_t i = 0; i < target.runs.size(); ++i) {
    KERF_ASSIGN_OR_RETURN(const Indexed done, Rebuild(target.runs[i], context));
    has_gaps = has_gaps || done.has_gaps;
    if (as_json) {
      json += (i == 0 ? "" : ",\n") + AsJson(done);
    } else {
      context.out.Data(AsText(done));
    }
  }
  if (as_json) context.out.Data(json + "]}\n");
  return has_gaps ? kExitCorrupt : kExitDone;
}

}  // namespace

Verb TraceIndexVerb() {
  return {
      .name = "trace index",
      .summary = "Rebuild the search index of a run from its files",
      .details =
          "'kerf trace search' keeps the index up to date by itself. Rebuild it after files\n"
          "were changed in place, which kerf never does and cannot notice. The index is a cache:\n"
          "DIR/.kerf/index.sqlite, or a file under $XDG_CACHE_HOME/kerf/index where DIR cannot be\n"
          "written to. Of every text the first 4 MiB are indexed. Exit 4 when something could not\n"
          "be read.",
      .positionals = {{.name = "DIR", .help = "a run, a folder of runs, or one operator's folder"}},
      .flags = {JsonFlag()},
      .examples = {{"kerf trace index logs", "all of it, again"}},
      .run = RunTraceIndex};
}

}  // namespace kerf::cli
