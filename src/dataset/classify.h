// Splits a data set by what its last round came to.
#pragma once

#include <string>
#include <string_view>

#include "dataset/catalog.h"

namespace kerf::dataset {

// "_compilation_failure", "_execution_failure", "_performance_failure", "_success"; nullptr for
// kUnknown, which goes nowhere.
const char* ClassSuffix(LastStatus last);

// "runs/X_3.jsonl" + kSuccess → "X_3_success.jsonl"
std::string ClassFileName(const std::string& jsonl_path, LastStatus last);

// The case's line in its class's file, with a line feed: label, filename and test_code as they
// stand in the data, or with `full` the whole record (which an indented file spreads over lines;
// here it is one).
std::string ClassLine(const CaseEntry& entry, const MappedFile& jsonl, bool full);

}  // namespace kerf::dataset
