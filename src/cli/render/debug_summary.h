// What `kerf debug` says about a data set.
#pragma once

#include <string>
#include <vector>

#include "cli/render/output.h"
#include "dataset/catalog.h"
#include "dataset/extract.h"

namespace kerf::cli {

struct DebugSummary {
  const std::string& jsonl_path;
  const std::string& mem_path;  // empty: there is none
  const dataset::Catalog& catalog;
  const std::vector<size_t>& selected;
  const std::vector<std::string>& folders;
  const dataset::ExtractReport* written = nullptr;  // null: nothing was
};

// The table of the selected cases and the counts of all.
std::string DebugSummaryText(const DebugSummary& summary, const Output& out);
// One object and a line feed.
std::string DebugSummaryJson(const DebugSummary& summary);

// "jsonl: tritonbench_v2 (filename and speedup)" and one line for each kind of mem record.
std::vector<std::string> SchemaLines(const dataset::SchemaReport& schema);

// The first problems, and how many more there are.
void NoteProblems(const dataset::Problems& problems, Output& out);

}  // namespace kerf::cli
