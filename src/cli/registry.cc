#include "cli/registry.h"

#include <algorithm>
#include <iterator>

namespace kerf::cli {

std::vector<Verb> AllVerbs() {
  return {
      // One verb per line, so that two new ones do not collide in a merge.
      RunVerb(),              //
      BenchVerb(),            //
      OptimizeVerb(),         //
      VerifyVerb(),           //
      TaskCheckVerb(),        //
      TaskGraphVerb(),        //
      ConfigShowVerb(),       //
      TraceAppendVerb(),      //
      TraceLsVerb(),          //
      TraceShowVerb(),        //
      TraceSearchVerb(),      //
      TraceDiffVerb(),        //
      TraceCheckVerb(),       //
      TraceExportVerb(),      //
      TraceIndexVerb(),       //
      TraceReplayVerb(),      //
      DebugExtractVerb(),     //
      DebugClassifyVerb(),    //
      DebugHistoryVerb(),     //
      DebugCheckVerb(),       //
      DatasetImportVerb(),    //
      DatasetExportVerb(),    //
      InsightVerb(),          //
      SimVerb(),              //
      ArgsVerb(),             //
      DumpLsVerb(),           //
      DumpShowVerb(),         //
      DumpCheckVerb(),        //
      DevicesVerb(),          //
      DoctorVerb(),           //
      CompletionVerb(),       //
      ManVerb(),              //
      VersionVerb(),          //
      HelpVerb(),             //
      TimelineCheckVerb(),    //
      TimelineSummaryVerb(),  //
      TimelineConvertVerb(),  //
      TimelineDiffVerb(),     //
  };
}

const Verb* FindVerb(const std::vector<Verb>& verbs, const std::string& name) {
  const auto verb = std::find_if(verbs.begin(), verbs.end(),
                                 [&](const Verb& candidate) { return candidate.name == name; });
  return verb == verbs.end() ? nullptr : &*verb;
}

std::vector<Verb> VerbsOfGroup(const std::vector<Verb>& verbs, const std::string& group) {
  std::vector<Verb> members;
  std::copy_if(verbs.begin(), verbs.end(), std::back_inserter(members),
               [&](const Verb& verb) { return verb.name.rfind(group + " ", 0) == 0; });
  return members;
}

}  // namespace kerf::cli
