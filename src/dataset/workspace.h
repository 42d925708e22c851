// Puts case folders on the disk (docs/formats/debug_workspace.md, Writing): whole or not at all,
// through no symbolic link, and without losing what a person added.
//
//   KERF_ASSIGN_OR_RETURN(auto workspace, Workspace::Open("debug_workspace"));
//   workspace->Put(folder);        // from any number of threads, each folder once
//   workspace->Finish();
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dataset/case_files.h"

namespace kerf::dataset {

enum class PutOutcome { kNew, kUpdated, kUnchanged };

class Workspace {
 public:
  // Creates the folder and takes it for this process; removes what a killed run left, after
  // putting back what belongs to a person. `sync`: data reach the disk before a folder appears.
  static Result<std::unique_ptr<Workspace>> Open(const std::string& path, bool sync);
  virtual ~Workspace() = default;

  // Thread-safe. kDenied when something that is no folder stands in the way.
  virtual Result<PutOutcome> Put(const CaseFolder& folder) = 0;
  // A file of the workspace itself, replaced in one step when it is closed. One that is not closed
  // leaves nothing behind.
  class File {
   public:
    virtual ~File() = default;
    virtual Status Append(std::string_view bytes) = 0;
    virtual Status Close() = 0;
  };
  virtual Result<std::unique_ptr<File>> NewFile(const std::string& name) = 0;
  // Removes the staging folder.
  virtual Status Finish() = 0;
  // Sentences about files of a person that were moved or kept under another name.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

// Whether kerf itself gives a file or folder inside a case's folder this name.
bool IsKerfName(std::string_view name);

}  // namespace kerf::dataset
