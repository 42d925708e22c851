#include <algorithm>

#include "base/clock.h"
#include "base/json_reader.h"
#include "cli/index_gaps.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/text_width.h"
#include "trace/search.h"

namespace kerf::cli {
namespace {

Result<std::optional<int64_t>> Moment(const Args& args, const std::string& flag, Clock& clock) {
  if (!args.Has(flag)) return std::optional<int64_t>();
  const std::string text = args.Get(flag);
  const std::optional<int64_t> moment =
      trace::ParseMoment(text, clock.WallNanos(), /*at_end=*/flag == "--until");
  if (moment.has_value()) return moment;
  return InvalidInput(flag + ": '" + text +
                      "' is no time; write 2026-11-15, 2026-11-15T03:29:31Z (UTC), or 30m, 2h, 3d "
                      "for that long ago");
}

std::optional<Verification> VerdictOf(const std::string& word) {
  for (const Verification one :
       {Verification::kPassed, Verification::kFailed, Verification::kUnknown}) {
    if (word == VerificationName(one)) return one;
  }
  return std::nullopt;
}

Result<trace::SearchRequest> RequestOf(const Args& args, Clock& clock) {
  trace::SearchRequest request;
  request.query = args.Positional(1);
  request.op = args.Get("--op");
  request.task = args.Get("--task");
  request.action = args.Get("--action");
  request.verdict = VerdictOf(args.Get("--verdict"));
  request.kind = ParseRecordKind(args.Get("--kind"));
  KERF_ASSIGN_OR_RETURN(request.since_ns, Moment(args, "--since", clock));
  KERF_ASSIGN_OR_RETURN(request.until_ns, Moment(args, "--until", clock));
  request.limit = args.GetNumber("--limit").value_or(request.limit);
  if (request.limit == 0) return InvalidInput("--limit 0 would show nothing; give 1 or more");
  if (args.Get("--sort") == "rank") request.order = trace::SearchOrder::kBestFirst;
  return request;
}

struct Found {
  std::vector<trace::SearchHit> hits;
  bool more = false;
  bool complete = true;  // nothing that could have matched was left out
};

Status SearchRun(const std::string& run, const trace::SearchRequest& request, Context& context,
                 Found& found) {
  trace::TraceIndex::Options options;
  options.progress = [&context, &run](const trace::IndexProgress& progress) {
    context.out.Progress("indexing " + run + ": " + std::to_string(progress.steps_added) +
                         " steps, operator " + std::to_string(progress.ops_done) + " of " +
                         std::to_string(progress.ops_total));
  };
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<trace::TraceIndex> index,
                        trace::TraceIndex::Open(context.fs, context.clock, run, options));
  KERF_ASSIGN_OR_RETURN(const trace::IndexReport report, index->Update());
  Result<trace::SearchPage> page = trace::Search(*index, request);
  if (!page.ok() && page.error().code == ErrorCode::kCorrupt) {
    KERF_RETURN_IF_ERROR(index->Rebuild());
    page = trace::Search(*index, request);
  }
  context.out.Progress("");
  if (!page.ok()) return std::move(page).error();
  for (trace::SearchHit& hit : page->hits) found.hits.push_back(std::move(hit));
  found.more = found.more || page->more;
  if (!report.complete) {
    context.out.Note("kerf: another process is writing the index; the newest steps may be missing");
  }
  const bool has_gaps = NoteGaps(report, "searched", context.out);
  found.complete = found.complete && report.complete && !has_gaps;
  return {};
}

std::string ActionText(const Step& step) {
  if (step.check.empty()) return step.action;
  return step.check + (step.attempt > 1 ? " #" + std::to_string(step.attempt) : "");
}

Style StyleOf(Verification verification) {
  if (verification == Verification::kPassed) return Style::kGood;
  return verification == Verification::kFailed ? Style::kBad : Style::kPlain;
}

// On one line: white space of any kind becomes one space.
std::string OneLine(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!space) {
      line += c;
    } else if (line.empty() || line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

std::string AsText(const trace::SearchHit& hit, const Output& out) {
  const Step& step = hit.step;
  std::string text = out.Styled(Printable(hit.op + "/" + step.task), Style::kBold) + " step " +
                     std::to_string(step.step) + "  " + Printable(ActionText(step));
  if (step.verification != Verification::kNone) {
    text += " " + out.Styled(VerificationName(step.verification), StyleOf(step.verification));
  }
  if (!step.time.empty()) text += "  " + out.Styled(step.time.substr(0, 19) + "Z", Style::kDim);
  text += "  " + hit.part + "\n  ";
  if (hit.snippet.empty()) text += "(the file is gone or has changed since it was indexed)";
  if (hit.cut_before) text += "…";
  for (const trace::SnippetPiece& piece : hit.snippet) {
    text += out.Styled(Printable(OneLine(piece.text)), piece.match ? Style::kMatch : Style::kPlain);
  }
  if (hit.cut_after) text += "…";
  return text + "\n  " + out.Styled(Printable(hit.file), Style::kDim) + "\n";
}

void AddMember(std::string& json, const char* name, std::string_view value) {
  json += json.back() == '{' ? "\"" : ",\"";
  json += name;
  json += "\":";
  AppendJsonString(json, value);
}

std::string AsJson(const trace::SearchHit& hit) {
  const Step& step = hit.step;
  std::string json = "{";
  AddMember(json, "run", hit.run);
  AddMember(json, "op", hit.op);
  AddMember(json, "task", step.task);
  json += ",\"step\":" + std::to_string(step.step);
  AddMember(json, "kind", RecordKindName(step.kind));
  AddMember(json, "action", step.action);
  if (!step.check.empty()) {
    AddMember(json, "check", step.check);
    json += ",\"attempt\":" + std::to_string(step.attempt);
  }
  AddMember(json, "names", step.names);
  if (step.verification != Verification::kNone) {
    AddMember(json, "verification", VerificationName(step.verification));
  }
  if (!step.time.empty()) AddMember(json, "time", step.time);
  json += std::string(",\"journaled\":") + (step.journaled ? "true" : "false");
  AddMember(json, "part", hit.part);
  AddMember(json, "file", hit.file);
  json += ",\"snippet\":[";
  for (size_t i = 0; i < hit.snippet.size(); ++i) {
    json += i == 0 ? "{" : ",{";
    AddMember(json, "text", hit.snippet[i].text);
    json += hit.snippet[i].match ? ",\"match\":true}" : "}";
  }
  return json + "]}";
}

void Print(const Found& found, bool as_json, Context& context) {
  if (as_json) {
    std::string json = "{\"hits\":[";
    for (size_t i = 0; i < found.hits.size(); ++i) {
      json += (i == 0 ? "" : ",\n") + AsJson(found.hits[i]);
    }
    json += std::string("],\"more\":") + (found.more ? "true" : "false") +
            ",\"complete\":" + (found.complete ? "true" : "false") + "}\n";
    context.out.Data(json);
  } else {
    for (const trace::SearchHit& hit : found.hits) context.out.Data(AsText(hit, context.out));
  }
}

Result<int> RunTraceSearch(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(trace::SearchRequest request, RequestOf(args, context.clock));
  KERF_ASSIGN_OR_RETURN(const trace::SearchTarget target,
                        trace::FindSearchTarget(context.fs, args.Positional(0)));
  if (!target.op.empty() && !request.op.empty() && request.op != target.op) {
    return InvalidInput(args.Positional(0) + " is the folder of '" + target.op +
                        "'; give the run's folder, or leave out --op");
  }
  if (request.op.empty()) request.op = target.op;
  const bool is_there = request.op.empty() ||
                        std::any_of(target.runs.begin(), target.runs.end(), [&](const auto& run) {
                          return IsThere(context.fs, JoinPath(run, request.op));
                        });
  if (!is_there) {
    return NotFound("no operator '" + request.op + "' in " + args.Positional(0) +
                    "; 'kerf trace ls' shows what there is");
  }
  Found found;
  for (const std::string& run : target.runs) {
    KERF_RETURN_IF_ERROR(SearchRun(run, request, context, found));
  }
  trace::SortHits(found.hits, request.order);
  if (found.hits.size() > static_cast<size_t>(request.limit)) {
    found.hits.resize(static_cast<size_t>(request.limit));
    found.more = true;
  }
  Print(found, args.Has("--json"), context);
  if (found.hits.empty()) context.out.Note("kerf: nothing matched");
  if (found.more && !args.Has("--json")) {
    context.out.Note("kerf: there are more matches; --limit shows more of them");
  }
  return found.hits.empty() ? kExitNegative : kExitDone;
}

}  // namespace

Verb TraceSearchVerb() {
  return {
      .name = "trace search",
      .summary = "Find steps by words in prompts, reasoning, results and logs",
      .details =
          "All words must occur; case and accents do not count. Also understood: \"a phrase\",\n"
          "word*, AND OR NOT, NEAR(a b), and result: log: reasoning: prompt: before what must\n"
          "stand in that part. Anything else, such as tl.load(x), is searched for as plain\n"
          "words. The first search makes an index in DIR/.kerf; later ones read only what is\n"
          "new. Of every text the first 4 MiB are searched. Exit 1 when nothing matched.",
      .positionals = {{.name = "DIR", .help = "a run, a folder of runs, or one operator's folder"},
                      {.name = "QUERY", .help = "what to look for"}},
      .flags = {{.name = "--op", .value_name = "NAME", .help = "only this operator"},
                {.name = "--task", .value_name = "ID", .help = "only this task"},
                {.name = "--action",
                 .value_name = "ACTION",
                 .help = "only this action or check: DO_CODER, VERIFY, CheckCoder ..."},
                {.name = "--verdict",
                 .value_name = "VERDICT",
                 .help = "only verifications that ended so",
                 .choices = {"passed", "failed", "unknown"}},
                {.name = "--kind",
                 .value_name = "KIND",
                 .help = "only this kind of record",
                 .choices = {"designer_or_coder", "verifier", "conductor"}},
                {.name = "--since",
                 .value_name = "TIME",
                 .help = "from then on: 2026-11-15, 2026-11-15T03:29:31Z, or 2h, 3d ago"},
                {.name = "--until", .value_name = "TIME", .help = "up to then, a day included"},
                {.name = "--limit",
                 .value_name = "N",
                 .help = "show at most so many",
                 .default_value = "20",
                 .number = true},
                {.name = "--sort",
                 .value_name = "ORDER",
                 .help = "newest first, or best match first",
                 .default_value = "time",
                 .choices = {"time", "rank"}},
                JsonFlag()},
      .examples = {{"kerf trace search logs 'shape mismatch' --verdict failed",
                    "failed verifications that speak of it"},
                   {"kerf trace search logs 'result:\"tl dot\"' --since 2h",
                    "recent results that call tl.dot"}},
      .run = RunTraceSearch};
}

}  // namespace kerf::cli
