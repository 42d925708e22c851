// How steps look on a terminal and in JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "artifact/step.h"
#include "cli/render/table.h"

namespace kerf::cli {

// "812 ms", "3.4 s", "2 min 5 s"; empty for 0.
std::string FormatDuration(double milliseconds);
std::string FormatCost(double usd);  // "$0.0123"
// "2026-11-15 03:29:31" of an RFC 3339 time.
std::string ShortTime(const std::string& time);
Table::Cell VerdictCell(Verification verification);

// Says that a journal has lost lines, when it has.
void NoteLostLines(int64_t lines, const std::string& op_dir, Output& out);

// One object, without a line end.
std::string StepJson(const std::string& run_path, const std::string& op, const Step& step);

// Compact; bytes that are no UTF-8 become U+FFFD, because JSON cannot hold them.
std::string DumpJson(const nlohmann::ordered_json& document);

}  // namespace kerf::cli
