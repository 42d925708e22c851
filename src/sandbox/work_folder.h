// The folder a hostile program could write to, handled without trusting anything in it: no link is
// followed, no FIFO opened, and no depth of nesting exhausts the stack, the path length or the
// descriptors.
//
// Only for folders that nothing changes meanwhile: before a run or after its last process has gone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace kerf::sandbox {

// Gives everything in the folder, and the folder, to this user, and takes away set-id bits. For
// root only: the program runs as nobody, the caller's files stay the caller's.
Status GiveTree(const std::string& folder, uid_t uid, gid_t gid);

// Deletes the folder with all in it, however deep and whatever the modes.
Status RemoveTree(const std::string& folder);

struct TreeSize {
  uint64_t bytes = 0;  // on the disk
  uint64_t entries = 0;
};
// Stops early once either exceeds its limit. May be asked while the program runs: a sample.
TreeSize MeasureTree(const std::string& folder, const TreeSize& limit);

// The content of a file the program was to leave at `name` (may contain '/') below `folder`.
// kDenied when it or a folder above it is a link, or when it is not a regular file or larger than
// `limit`; kNotFound when it is not there.
Result<std::string> ReadResultFile(const std::string& folder, const std::string& name,
                                   uint64_t limit);

}  // namespace kerf::sandbox
