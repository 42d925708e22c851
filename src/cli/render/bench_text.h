// The table of `kerf bench`, for a terminal and as a page.
#pragma once

#include <string>

#include "cli/bench/bench_result.h"
#include "cli/render/output.h"

namespace kerf::cli {

std::string BenchText(const BenchReport& report, const Output& out);
// A page that needs nothing but itself: no scripts, no fonts, charts as SVG.
std::string BenchHtml(const BenchReport& report);

// "N 4096 → 1024, batch 64 → 16; 512.0 MiB → 8.0 MiB".
std::string SizesText(const task::ShrinkReport& sizes);
// Why there is no kernel: the refusal with its operator and line, or the verdict, or the error.
std::string WhyText(const BenchTask& task);
// As a reader wants them: wrong ones first, correct ones last, otherwise in their order.
std::vector<const BenchTask*> WrongFirst(const BenchReport& report);

}  // namespace kerf::cli
