#include "cli/export_output.h"

#include "base/hash.h"
#include "base/ids.h"

namespace kerf::cli {
namespace {

// A name may have 255 bytes; the rest is for a number, the suffix and the temporary file's suffix.
constexpr size_t kMaxStem = 200;

class StdoutExport : public ExportOutput {
 public:
  explicit StdoutExport(Output& out) : out_(out) {}
  Status Write(std::string_view bytes) override {
    out_.Data(bytes);
    return out_.Flush();  // stops at once when the reader has gone
  }
  Status Commit() override { return {}; }

 private:
  Output& out_;
};

class DirectExport : public ExportOutput {
 public:
  explicit DirectExport(std::unique_ptr<File> file) : file_(std::move(file)) {}
  Status Write(std::string_view bytes) override { return file_->Write(bytes); }
  Status Commit() override { return {}; }

 private:
  std::unique_ptr<File> file_;
};

class AtomicExport : public ExportOutput {
 public:
  AtomicExport(FileSystem& fs, std::string path, std::string temporary, std::unique_ptr<File> file)
      : fs_(fs), path_(std::move(path)), temporary_(std::move(temporary)), file_(std::move(file)) {}

  ~AtomicExport() override {
    if (!committed_) (void)fs_.Remove(temporary_);
  }

  Status Write(std::string_view bytes) override { return file_->Write(bytes); }

  Status Commit() override {
    KERF_RETURN_IF_ERROR(file_->Sync());
    file_.reset();
    KERF_RETURN_IF_ERROR(fs_.Rename(temporary_, path_));
    committed_ = true;
    return {};
  }

 private:
  FileSystem& fs_;
  const std::string path_;
  const std::string temporary_;
  std::unique_ptr<File> file_;
  bool committed_ = false;
};

// At most `bytes` of it, ending with a whole character.
std::string Cut(std::string text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  text.resize(bytes);
  return text;
}

// Names come from folders and journals that others may have written.
std::string AsFileName(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || byte < 0x20 || byte == 0x7F) c = '_';
  }
  return text;
}

}  // namespace

std::unique_ptr<ExportOutput> MakeStdoutExport(Output& out) {
  return std::make_unique<StdoutExport>(out);
}

Result<std::unique_ptr<ExportOutput>> MakeFileExport(FileSystem& fs, const std::string& raw_path) {
  const std::string path = ExpandHome(raw_path);
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
  const FileKind kind = info.has_value() ? info->kind : FileKind::kFile;
  if (kind == FileKind::kDirectory) {
    return InvalidInput(path + " is a folder; give the name of a file in it");
  }
  if (kind == FileKind::kSymlink) {
    return InvalidInput(path +
                        " is a symbolic link; give the file it leads to, or - for standard output");
  }
  if (kind == FileKind::kOther) {
    KERF_ASSIGN_OR_RETURN(std::unique_ptr<File> file, fs.OpenAppend(path));
    return std::unique_ptr<ExportOutput>(std::make_unique<DirectExport>(std::move(file)));
  }
  // A name that nobody else has: what happens to be called FILE.tmp is the user's.
  const std::string temporary = path + ".kerf-" + Hex64(MakeRandomIds()->Next()) + ".tmp";
  KERF_ASSIGN_OR_RETURN(std::unique_ptr<File> file, fs.OpenNew(temporary));
  return std::unique_ptr<ExportOutput>(
      std::make_unique<AtomicExport>(fs, path, temporary, std::move(file)));
}

bool IsFolderPath(FileSystem& fs, const std::string& path) {
  if (path.ends_with('/')) return true;
  const Result<std::optional<FileInfo>> info = fs.Stat(ExpandHome(path));
  return info.ok() && info->has_value() && (*info)->kind == FileKind::kDirectory;
}

std::string TaskFileNames::Next(const std::string& run, const std::string& op,
                                const std::string& task) {
  const std::string whole = AsFileName((run.empty() ? "" : run + "_") + op + "_" + task);
  std::string stem = Cut(whole, kMaxStem);
  if (stem != whole) stem += "_" + Hex64(Xxh3(whole));
  // A name that begins with a dot would hide the file, with a dash it looks like a flag.
  if (stem.front() == '.' || stem.front() == '-') stem.insert(0, "_");
  std::string name = stem;
  for (int i = 2; !used_.insert(name).second; ++i) name = stem + "_" + std::to_string(i);
  return name + ".json";
}

}  // namespace kerf::cli
