#include "replay/timeline/timeline_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace kerf::timeline {
namespace {

// Length of the union of intervals that come sorted by their starts.
class Union {
 public:
  void Add(double start, double end) {
    if (start > end_) {
      length_ += end - start;
      end_ = end;
    } else if (end > end_) {
      length_ += end - end_;
      end_ = end;
    }
  }
  [[nodiscard]] double length() const { return length_; }

 private:
  double end_ = -1e300;
  double length_ = 0;
};

std::vector<HotSpot> Top(const std::map<std::string, HotSpot>& spots, size_t top) {
  std::vector<HotSpot> sorted;
  for (const auto& [what, spot] : spots) sorted.push_back(spot);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const HotSpot& a, const HotSpot& b) { return a.total_us > b.total_us; });
  if (sorted.size() > top) sorted.resize(top);
  return sorted;
}

void AddSpot(std::map<std::string, HotSpot>& spots, const std::string& what, double us) {
  HotSpot& spot = spots[what];
  spot.what = what;
  ++spot.count;
  spot.total_us += us;
}

double Span(const Timeline& timeline) {
  double first = 1e300;
  double last = -1e300;
  for (const TimelineCore& core : timeline.cores) {
    for (const TimelineSlice& slice : core.slices) {
      first = std::min(first, slice.start_us);
      last = std::max(last, slice.start_us + slice.duration_us);
    }
  }
  return last > first ? last - first : 0;
}

struct Pipe {
  PipeUse use;
  Union busy;
  Union wait;
};

}  // namespace

bool IsWait(const TimelineSlice& slice) {
  return slice.name.rfind("WAIT_", 0) == 0 || slice.name == "wait_event";
}

TimelineSummary Summarize(const Timeline& timeline, size_t top) {
  TimelineSummary summary{.span_us = Span(timeline)};
  std::map<std::pair<std::string, std::string>, Pipe> pipes;
  std::map<std::string, HotSpot> instructions;
  std::map<std::string, HotSpot> lines;
  for (const TimelineCore& core : timeline.cores) {
    for (const TimelineSlice& slice : core.slices) {
      Pipe& pipe = pipes[{core.name, slice.pipe}];
      const double end = slice.start_us + slice.duration_us;
      ++pipe.use.slices;
      ++summary.slices;
      (IsWait(slice) ? pipe.wait : pipe.busy).Add(slice.start_us, end);
      AddSpot(instructions, slice.pipe + " " + slice.name, slice.duration_us);
      if (!slice.code.empty())
        AddSpot(lines, slice.code.substr(0, slice.code.find('\n')), slice.duration_us);
    }
  }
  for (auto& [key, pipe] : pipes) {
    pipe.use.core = key.first;
    pipe.use.pipe = key.second;
    pipe.use.busy_us = pipe.busy.length();
    pipe.use.wait_us = pipe.wait.length();
    summary.pipes.push_back(pipe.use);
  }
  summary.instructions = Top(instructions, top);
  summary.lines = Top(lines, top);
  return summary;
}

TimelineDiff Compare(const Timeline& before, const Timeline& after, size_t top) {
  const TimelineSummary old_run = Summarize(before, SIZE_MAX);
  const TimelineSummary new_run = Summarize(after, SIZE_MAX);
  TimelineDiff diff{.before_us = old_run.span_us, .after_us = new_run.span_us};
  std::map<std::string, DiffRow> pipes;
  std::map<std::string, DiffRow> instructions;
  for (const PipeUse& use : old_run.pipes) {
    DiffRow& row = pipes[use.core + " " + use.pipe];
    row.before_us = use.busy_us;
    row.before_count = use.slices;
  }
  for (const PipeUse& use : new_run.pipes) {
    DiffRow& row = pipes[use.core + " " + use.pipe];
    row.after_us = use.busy_us;
    row.after_count = use.slices;
  }
  for (const HotSpot& spot : old_run.instructions) {
    instructions[spot.what].before_us = spot.total_us;
    instructions[spot.what].before_count = spot.count;
  }
  for (const HotSpot& spot : new_run.instructions) {
    instructions[spot.what].after_us = spot.total_us;
    instructions[spot.what].after_count = spot.count;
  }
  for (auto& [what, row] : pipes) {
    row.what = what;
    diff.pipes.push_back(row);
  }
  for (auto& [what, row] : instructions) {
    row.what = what;
    if (row.before_us != row.after_us || row.before_count != row.after_count)
      diff.instructions.push_back(row);
  }
  std::stable_sort(
      diff.instructions.begin(), diff.instructions.end(), [](const DiffRow& a, const DiffRow& b) {
        return std::fabs(a.after_us - a.before_us) > std::fabs(b.after_us - b.before_us);
      });
  if (diff.instructions.size() > top) diff.instructions.resize(top);
  return diff;
}

}  // namespace kerf::timeline
