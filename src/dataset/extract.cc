#include "dataset/extract.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "dataset/folder_names.h"
#include "dataset/html_page.h"
#include "dataset/workspace.h"

namespace kerf::dataset {
namespace {

bool IsNamed(const CaseEntry& entry, const std::string& folder, const std::string& wanted) {
  return entry.name == wanted || entry.name == wanted + ".py" || folder == wanted;
}

// The page, written while the folders are: the fragments that are there and have no gap before them
// go to the disk by whichever thread brings one.
class PageWriter {
 public:
  PageWriter(std::unique_ptr<Workspace::File> file, size_t fragments)
      : file_(std::move(file)), fragments_(fragments), is_there_(fragments) {}

  void Put(size_t place, std::string fragment) {
    std::unique_lock lock(mu_);
    fragments_[place] = std::move(fragment);
    is_there_[place] = true;
    if (writing_) return;
    writing_ = true;
    while (written_ < fragments_.size() && is_there_[written_]) {
      std::string next = std::move(fragments_[written_]);
      const bool first = written_ == 0;
      lock.unlock();
      if (first) Append(FrameOfPage().before);
      Append(next.insert(0, first ? "[" : kBetweenFragments));
      lock.lock();
      ++written_;
    }
    writing_ = false;
  }

  // After all fragments.
  Status Close() {
    if (fragments_.empty()) {
      Append(FrameOfPage().before);
      Append("[");
    }
    Append("]");
    Append(FrameOfPage().behind);
    KERF_RETURN_IF_ERROR(status_);
    return file_->Close();
  }

 private:
  void Append(std::string_view bytes) {
    if (status_.ok()) status_ = file_->Append(bytes);
  }

  const std::unique_ptr<Workspace::File> file_;
  Status status_;  // as file_: of the thread that writes
  std::mutex mu_;
  // guarded by mu_
  std::vector<std::string> fragments_;
  std::vector<bool> is_there_;
  size_t written_ = 0;
  bool writing_ = false;
};

// Lets go of the parts of a file that are done with, many at a time: each call makes all processors
// forget addresses.
class Releaser {
 public:
  explicit Releaser(const MappedFile* file) : file_(file) {}
  ~Releaser() { ReleaseAll(); }
  Releaser(const Releaser&) = delete;
  Releaser& operator=(const Releaser&) = delete;

  void Add(uint64_t begin, uint64_t end) {
    if (file_ == nullptr || begin >= end) return;
    parts_.emplace_back(begin, end);
    bytes_ += end - begin;
    if (bytes_ >= kMany) ReleaseAll();
  }

 private:
  static constexpr uint64_t kMany = uint64_t{8} << 20;
  // What another thread still reads in between comes back by itself.
  static constexpr uint64_t kGap = uint64_t{1} << 20;

  void ReleaseAll() {
    std::sort(parts_.begin(), parts_.end());
    for (size_t i = 0; i < parts_.size();) {
      auto [begin, end] = parts_[i];
      for (++i; i < parts_.size() && parts_[i].first <= end + kGap; ++i) {
        end = std::max(end, parts_[i].second);
      }
      file_->Release(begin, end);
    }
    parts_.clear();
    bytes_ = 0;
  }

  const MappedFile* const file_;
  std::vector<std::pair<uint64_t, uint64_t>> parts_;
  uint64_t bytes_ = 0;
};

class Extraction {
 public:
  Extraction(const Catalog& catalog, const CaseSources& sources,
             const std::vector<size_t>& selected, const std::vector<std::string>& folders,
             const ExtractOptions& options, Workspace& workspace)
      : catalog_(catalog),
        sources_(sources),
        selected_(selected),
        folders_(folders),
        options_(options),
        workspace_(workspace),
        in_page_(selected.size()) {}

  Result<ExtractReport> Run() {
    ChoosePageTexts();
    if (options_.page) {
      KERF_ASSIGN_OR_RETURN(std::unique_ptr<Workspace::File> file,
                            workspace_.NewFile("index.html"));
      page_ = std::make_unique<PageWriter>(std::move(file), selected_.size());
    }
    std::vector<std::thread> threads;
    const int others = std::min<int>(options_.threads, static_cast<int>(selected_.size())) - 1;
    threads.reserve(static_cast<size_t>(std::max(0, others)));
    for (int i = 0; i < others; ++i) threads.emplace_back([this] { Work(); });
    Work();
    for (std::thread& thread : threads) thread.join();
    KERF_RETURN_IF_ERROR(failure_);
    if (page_ != nullptr) KERF_RETURN_IF_ERROR(page_->Close());
    std::sort(report_.refused.begin(), report_.refused.end());
    report_.notes = workspace_.notes();
    std::sort(report_.notes.begin(), report_.notes.end());
    return std::move(report_);
  }

 private:
  // Decided before the work, so that it does not depend on which thread is quicker.
  void ChoosePageTexts() {
    uint64_t used = 0;
    for (size_t i = 0; i < selected_.size(); ++i) {
      const CaseEntry& entry = catalog_.cases()[selected_[i]];
      used += (entry.jsonl_end - entry.jsonl_begin) + (entry.mem_end - entry.mem_begin);
      in_page_[i] = options_.page && used <= options_.page_limit;
    }
  }

  void Work() {
    Releaser jsonl(&sources_.jsonl);
    Releaser mem(sources_.mem);
    for (size_t i = next_++; i < selected_.size() && !stop_; i = next_++) {
      const CaseEntry& entry = catalog_.cases()[selected_[i]];
      const CaseFolder folder = MakeCase(entry, folders_[selected_[i]], sources_, options_.files);
      if (page_ != nullptr) page_->Put(i, PageFragment(entry, folder, in_page_[i] != 0));
      const Result<PutOutcome> outcome = workspace_.Put(folder);
      jsonl.Add(entry.jsonl_begin, entry.jsonl_end);
      mem.Add(entry.mem_begin, entry.mem_end);
      Count(entry, folder, outcome);
    }
  }

  void Count(const CaseEntry& entry, const CaseFolder& folder, const Result<PutOutcome>& outcome) {
    const std::scoped_lock lock(mu_);
    if (!outcome.ok()) {
      // Something in the way of one case is that case's trouble; a full disk is everybody's.
      if (outcome.error().code == ErrorCode::kDenied) {
        report_.refused.push_back(entry.name + ": " + outcome.error().message);
        return;
      }
      if (failure_.ok()) failure_ = outcome.error();
      stop_ = true;
      return;
    }
    report_.fresh += *outcome == PutOutcome::kNew ? 1 : 0;
    report_.updated += *outcome == PutOutcome::kUpdated ? 1 : 0;
    report_.unchanged += *outcome == PutOutcome::kUnchanged ? 1 : 0;
    report_.odd += folder.notes.empty() ? 0 : 1;
    report_.files += folder.files.size();
    for (const CaseFile& file : folder.files) report_.bytes += file.content.size();
  }

  const Catalog& catalog_;
  const CaseSources& sources_;
  const std::vector<size_t>& selected_;
  const std::vector<std::string>& folders_;
  const ExtractOptions& options_;
  Workspace& workspace_;
  std::unique_ptr<PageWriter> page_;  // null when there is no page
  std::vector<char> in_page_;         // of each selected case whether its texts go into the page
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mu_;
  ExtractReport report_;  // guarded by mu_
  Status failure_;        // guarded by mu_
};

}  // namespace

std::vector<std::string> AssignFolders(const std::vector<CaseEntry>& cases) {
  FolderNames names;
  std::vector<std::string> folders;
  folders.reserve(cases.size());
  for (const CaseEntry& entry : cases) folders.push_back(names.Next(entry.name));
  return folders;
}

Result<std::vector<size_t>> Select(const std::vector<CaseEntry>& cases,
                                   const std::vector<std::string>& folders,
                                   const Selection& selection) {
  std::vector<size_t> selected;
  std::vector<bool> found(selection.cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    const CaseEntry& entry = cases[i];
    bool wanted = selection.cases.empty();
    for (size_t k = 0; k < selection.cases.size(); ++k) {
      if (!IsNamed(entry, folders[i], selection.cases[k])) continue;
      found[k] = true;
      wanted = true;
    }
    if (!wanted) continue;
    if (selection.only.has_value()) {
      wanted = entry.last == *selection.only;
    } else if (selection.best_ever) {
      wanted = entry.has_mem() && entry.best != BestStatus::kMeasured;
    } else if (!selection.all && selection.cases.empty()) {
      wanted = entry.failed();
    }
    if (wanted) selected.push_back(i);
  }
  for (size_t k = 0; k < found.size(); ++k) {
    if (!found[k]) {
      return NotFound("no case '" + selection.cases[k] + "'; --all --summary-only lists them");
    }
  }
  return selected;
}

Result<ExtractReport> Extract(const Catalog& catalog, const CaseSources& sources,
                              const std::vector<size_t>& selected,
                              const std::vector<std::string>& folders,
                              const ExtractOptions& options) {
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<Workspace> workspace,
                        Workspace::Open(options.output, options.sync));
  Extraction extraction(catalog, sources, selected, folders, options, *workspace);
  KERF_ASSIGN_OR_RETURN(ExtractReport report, extraction.Run());
  KERF_RETURN_IF_ERROR(workspace->Finish());
  return report;
}

}  // namespace kerf::dataset
