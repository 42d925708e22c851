// Shows what differs between two steps or two tasks.
#pragma once

#include <string>

#include "cli/render/output.h"
#include "trace/diff.h"

namespace kerf::cli {

struct DiffTitles {
  std::string a;  // the addresses, as the user wrote them
  std::string b;
};

void RenderTraceDiff(const trace::TraceDiff& diff, const trace::DiffSide& a,
                     const trace::DiffSide& b, const DiffTitles& titles, size_t context,
                     Output& out);

// One object and a line feed.
std::string TraceDiffJson(const trace::TraceDiff& diff, const trace::DiffSide& a,
                          const trace::DiffSide& b, const DiffTitles& titles, size_t context);

}  // namespace kerf::cli
