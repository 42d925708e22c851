// The readers of data sets: whatever the bytes, reading ends, every record lies within the file,
// each name stays inside the output folder, and strings end where a plain loop finds their end.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "dataset/case_files.h"
#include "dataset/case_json.h"
#include "dataset/catalog.h"
#include "dataset/folder_names.h"
#include "dataset/json_scan.h"
#include "expect.h"

namespace {

using kerf::Expect;
namespace dataset = kerf::dataset;

// A file that never touches the disk.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    Expect(::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
           "a file is written");
    path_ = "/proc/self/fd/" + std::to_string(fd_);
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

void CheckFolder(const std::string& name) {
  const std::string folder = dataset::SafeFolderName(name);
  Expect(!folder.empty() && folder.size() <= 121 && folder != "." && folder != "..",
         "a folder has a plain name");
  Expect(folder.find('/') == std::string::npos && folder.find('\0') == std::string::npos,
         "a folder is one name");
  Expect(folder[0] != '.' && folder != "index.html", "a folder is none of ours");
}

void CheckCase(const dataset::CaseEntry& entry, const dataset::CaseSources& sources) {
  Expect(entry.jsonl_begin <= entry.jsonl_end && entry.jsonl_end <= sources.jsonl.bytes().size(),
         "in the jsonl");
  Expect(entry.mem_begin <= entry.mem_end && entry.mem_end <= sources.mem->bytes().size(),
         "in the mem file");
  CheckFolder(entry.name);
  const dataset::CaseFolder folder = dataset::MakeCase(entry, "case", sources, {});
  for (const dataset::CaseFile& file : folder.files) {
    Expect(!file.content.empty(), "no file without content");
    Expect(file.path.find("..") == std::string::npos && file.path[0] != '/',
           "a file of the folder");
  }
  const auto recorded = dataset::ReadCaseJson(folder.files.back().content);
  Expect(recorded.has_value() && recorded->files.size() + 1 == folder.files.size(),
         "case.json is read back");
}

}  // namespace

// The bytes up to the first 0xFF are the jsonl file, what follows is the mem file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t cut = std::min(text.find('\xFF'), text.size());
  const MemoryFile jsonl_file(text.substr(0, cut));
  const MemoryFile mem_file(text.substr(std::min(cut + 1, text.size())));
  const auto jsonl = dataset::MappedFile::Open(jsonl_file.path());
  const auto mem = dataset::MappedFile::Open(mem_file.path());
  if (!jsonl.ok() || !mem.ok()) return 0;
  for (const dataset::ScanWay way : {dataset::ScanWay::kSse2, dataset::ScanWay::kAvx2}) {
    const auto finder = dataset::FinderFor(way);
    if (finder == nullptr || text.empty()) continue;
    Expect(finder(text.data(), 0, size) ==
               dataset::FinderFor(dataset::ScanWay::kPlain)(text.data(), 0, size),
           "strings end where they end");
  }
  const auto catalog = dataset::Catalog::Read(*jsonl, &*mem, {});
  if (!catalog.ok()) return 0;
  const dataset::CaseSources sources{*jsonl, &*mem, catalog->schema().jsonl};
  for (const dataset::CaseEntry& entry : catalog->cases()) CheckCase(entry, sources);
  return 0;
}
