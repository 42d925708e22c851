#include "cli/index_gaps.h"

#include "cli/render/text_width.h"

namespace kerf::cli {

bool NoteGaps(const trace::IndexReport& report, const std::string& done, Output& out) {
  for (const auto& [path, reason] : report.skipped) {
    out.Note("kerf: not " + done + ": " + Printable(path) + ": " + Printable(reason));
  }
  if (report.unread > 0) {
    out.Note("kerf: not " + done + ": " + std::to_string(report.unread) +
             " texts that could not be read; 'kerf trace check' tells which");
  }
  return !report.skipped.empty() || report.unread > 0;
}

}  // namespace kerf::cli
