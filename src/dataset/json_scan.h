// Where a JSON string ends, at the speed of memory: data sets are gigabytes of long strings, most
// of which are only skipped (docs/decisions/0009-bulk-json.md).
#pragma once

#include <cstddef>
#include <string_view>

namespace kerf::dataset {

// The position of the quote that ends the string whose first character stands at `at`, behind its
// opening quote; npos when the text ends before. Escapes are stepped over and not judged.
size_t FindStringEnd(std::string_view text, size_t at);

// The same by one of the ways it is done, for tests and benchmarks; nullptr when this processor
// cannot.
using StringEndFinder = size_t (*)(const char* text, size_t at, size_t size);
enum class ScanWay { kPlain, kSse2, kAvx2 };
StringEndFinder FinderFor(ScanWay way);

}  // namespace kerf::dataset
