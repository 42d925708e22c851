// The list of all verbs. A new verb is a file with its table, a declaration here and a line in
// registry.cc.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"

namespace kerf::cli {

Verb ArgsVerb();
Verb BenchVerb();
Verb CompletionVerb();
Verb DatasetExportVerb();
Verb DatasetImportVerb();
Verb DebugCheckVerb();
Verb DebugClassifyVerb();
Verb DebugExtractVerb();
Verb DebugHistoryVerb();
Verb ConfigShowVerb();
Verb DevicesVerb();
Verb DoctorVerb();
Verb DumpCheckVerb();
Verb DumpLsVerb();
Verb DumpShowVerb();
Verb HelpVerb();
Verb InsightVerb();
Verb ManVerb();
Verb OptimizeVerb();
Verb TaskCheckVerb();
Verb TaskGraphVerb();
Verb TimelineCheckVerb();
Verb TimelineConvertVerb();
Verb TimelineDiffVerb();
Verb TimelineSummaryVerb();
Verb TraceAppendVerb();
Verb TraceCheckVerb();
Verb TraceDiffVerb();
Verb TraceExportVerb();
Verb TraceLsVerb();
Verb TraceShowVerb();
Verb TraceIndexVerb();
Verb TraceReplayVerb();
Verb TraceSearchVerb();
Verb RunVerb();
Verb SimVerb();
Verb VerifyVerb();
Verb VersionVerb();

// In the order in which help lists them. Cheap: tables only, no parser is built.
std::vector<Verb> AllVerbs();

// The verb of exactly that name, or null.
const Verb* FindVerb(const std::vector<Verb>& verbs, const std::string& name);

// The verbs "trace append", "trace ls" … for "trace".
std::vector<Verb> VerbsOfGroup(const std::vector<Verb>& verbs, const std::string& group);

}  // namespace kerf::cli
