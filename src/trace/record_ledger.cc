#include "trace/record_ledger.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/hash.h"
#include "trace/recovery.h"

namespace kerf::trace {

void RecordLedger::Apply(JournalLine&& line, uint64_t offset) {
  if (line.kind == LineKind::kRecord) {
    open_[line.batch].push_back(entries_.size());
    batch_of_.push_back(Xxh3(line.batch));
    entries_.push_back({std::move(line.step), offset, Fate::kCommitted});
    return;
  }
  const auto batch = open_.find(line.batch);
  if (line.kind == LineKind::kAbandon) {
    if (batch == open_.end()) {
      // When the sync of a commit fails, nothing is acknowledged: the abandon that follows counts.
      late_abandons_.insert(Xxh3(line.batch));
      return;
    }
    for (const size_t index : batch->second) entries_[index].fate = Fate::kGivenUp;
  }
  if (batch != open_.end() && line.kind != LineKind::kRepair) open_.erase(batch);
}

std::unordered_set<size_t> RecordLedger::OpenEntries() const {
  std::unordered_set<size_t> open;
  for (const auto& [batch, indexes] : open_) open.insert(indexes.begin(), indexes.end());
  return open;
}

// Records of a task are committed in order, and a number that was given up is used again.
std::unordered_set<size_t> RecordLedger::Followed() const {
  const std::unordered_set<size_t> open = OpenEntries();
  std::unordered_map<std::string, int64_t> highest_step;  // of later commits, by task
  std::unordered_set<size_t> followed;
  for (size_t i = entries_.size(); i-- > 0;) {
    const Entry& entry = entries_[i];
    const Step& step = entry.step;
    if (open.contains(i)) {
      const auto later = highest_step.find(step.task);
      if (later != highest_step.end() && later->second > step.step) followed.insert(i);
    } else if (entry.fate == Fate::kCommitted && step.kind != RecordKind::kConductor &&
               !step.recovered) {
      int64_t& highest = highest_step[step.task];
      highest = std::max(highest, step.step);
    }
  }
  return followed;
}

// The same as asking GivesUp() for every pair, in one pass from the end.
void RecordLedger::MarkGivenUp() {
  const std::unordered_set<size_t> open = OpenEntries();
  std::unordered_map<std::string, int64_t> lowest_step;  // of later records, by task
  std::map<std::tuple<std::string, int64_t, std::string>, int64_t> lowest_attempt;
  for (size_t i = entries_.size(); i-- > 0;) {
    const Step& step = entries_[i].step;
    const bool conductor = step.kind == RecordKind::kConductor;
    const auto later_step = lowest_step.find(step.task);
    bool given_up = later_step != lowest_step.end() && step.step >= later_step->second;
    if (conductor) {
      const auto later = lowest_attempt.find({step.task, step.step, step.check});
      given_up = given_up || (later != lowest_attempt.end() && step.attempt >= later->second);
    }
    if (open.contains(i) && given_up) entries_[i].fate = Fate::kGivenUp;
    if (step.recovered) continue;  // numbered by its files, not by the counter
    if (conductor) {
      int64_t& attempt =
          lowest_attempt.try_emplace({step.task, step.step, step.check}, step.attempt)
              .first->second;
      attempt = std::min(attempt, step.attempt);
    } else {
      int64_t& lowest = lowest_step.try_emplace(step.task, step.step).first->second;
      lowest = std::min(lowest, step.step);
    }
  }
}

std::vector<RecordLedger::Entry> RecordLedger::Decide(FileSystem& fs,
                                                      const std::string& op_dir) && {
  if (!late_abandons_.empty()) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (late_abandons_.contains(batch_of_[i])) entries_[i].fate = Fate::kGivenUp;
    }
  }
  if (open_.empty()) return std::move(entries_);
  MarkGivenUp();
  const std::unordered_set<size_t> followed = Followed();
  for (const auto& [batch, indexes] : open_) {
    bool whole = true;
    for (const size_t index : indexes) {
      Entry& entry = entries_[index];
      if (entry.fate == Fate::kGivenUp || followed.contains(index)) continue;
      whole = whole && FilesMatch(fs, op_dir, entry.step);
      entry.fate = whole ? Fate::kWhole : Fate::kUnfinished;
    }
  }
  return std::move(entries_);
}

}  // namespace kerf::trace
