// What tests of the trace start from: an in-memory disk, a clock that stands still and ids that
// count, so that every byte of a recorded run can be foretold.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/clock.h"
#include "base/fake_file_system.h"
#include "base/ids.h"

namespace kerf::trace {

struct FakeDisk {
  FakeFileSystem fs;
  FakeClock clock{1'763'177'371'123'456'000};  // 2025-11-15T03:29:31.123456Z
  FakeIds ids;

  // Writes a file as another program would: no journal, folders made on the way.
  void Put(const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(fs.CreateDirs(ParentPath(path)).ok());
    if (fs.Stat(path)->has_value()) {
      ASSERT_TRUE(fs.Remove(path).ok());
    }
    Result<std::unique_ptr<File>> file = fs.OpenNew(path);
    ASSERT_TRUE(file.ok()) << file.error().message;
    ASSERT_TRUE((*file)->Write(bytes).ok());
    ASSERT_TRUE(fs.SyncAll("/").ok());
  }

  // Every file below `dir` with its content, named relative to it; kerf's own folder left out.
  std::map<std::string, std::string> Files(const std::string& dir) {
    std::map<std::string, std::string> files;
    AddFiles(dir, "", files);
    return files;
  }

  std::string Read(const std::string& path) { return fs.ReadFile(path).value(); }

 private:
  void AddFiles(const std::string& dir, const std::string& prefix,
                std::map<std::string, std::string>& files) {
    const Result<std::vector<DirEntry>> entries = fs.List(dir);
    if (!entries.ok()) return;
    for (const DirEntry& entry : *entries) {
      if (entry.name == ".kerf") continue;
      const std::string path = JoinPath(dir, entry.name);
      if (entry.kind == FileKind::kDirectory) {
        AddFiles(path, prefix + entry.name + "/", files);
      } else {
        files[prefix + entry.name] = Read(path);
      }
    }
  }
};

}  // namespace kerf::trace
