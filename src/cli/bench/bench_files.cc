#include "cli/bench/bench_files.h"

#include <algorithm>

namespace kerf::cli {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string Stem(const std::string& path) {
  std::string name = BaseName(path);
  if (name.ends_with(".py")) name.resize(name.size() - 3);
  return name;
}

// Whether it is worth a row: helper modules beside tasks have no Model.
bool HasModel(FileSystem& fs, const std::string& path) {
  constexpr uint64_t kMost = uint64_t{4} << 20;
  const Result<std::string> text = fs.ReadRange(path, 0, kMost);
  return text.ok() && text->find("class Model") != std::string::npos;
}

Status AddFolder(FileSystem& fs, const std::string& folder, int depth,
                 std::vector<BenchFile>& files) {
  constexpr int kDeepest = 8;
  KERF_ASSIGN_OR_RETURN(std::vector<DirEntry> entries, fs.List(folder));
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return NaturalLess(a.name, b.name); });
  for (const DirEntry& entry : entries) {
    const std::string path = JoinPath(folder, entry.name);
    if (entry.name.starts_with(".") || entry.name.starts_with("__")) continue;
    if (entry.kind == FileKind::kDirectory) {
      if (depth < kDeepest) KERF_RETURN_IF_ERROR(AddFolder(fs, path, depth + 1, files));
    } else if (entry.name.ends_with(".py") && HasModel(fs, path)) {
      files.push_back({path, Stem(path)});
    }
  }
  return {};
}

// Names that come twice get their folder.
void NameApart(std::vector<BenchFile>& files) {
  std::map<std::string, int> count;
  for (const BenchFile& file : files) ++count[file.name];
  for (BenchFile& file : files) {
    if (count[file.name] > 1) file.name = JoinPath(BaseName(ParentPath(file.path)), file.name);
  }
}

}  // namespace

bool NaturalLess(std::string_view a, std::string_view b) {
  size_t i = 0;
  size_t j = 0;
  const auto number = [](std::string_view text, size_t& at) {
    while (at < text.size() && text[at] == '0') ++at;
    const size_t begin = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return text.substr(begin, at - begin);
  };
  while (i < a.size() && j < b.size()) {
    if (IsDigit(a[i]) && IsDigit(b[j])) {
      const std::string_view x = number(a, i);
      const std::string_view y = number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // "01" and "1"
}

Result<std::vector<BenchFile>> FindBenchFiles(FileSystem& fs,
                                              const std::vector<std::string>& words) {
  std::vector<BenchFile> files;
  for (const std::string& word : words) {
    KERF_ASSIGN_OR_RETURN(const auto info, fs.Stat(word));
    if (!info.has_value()) return NotFound("there is no " + word);
    // A link to a folder is a folder to whoever names it.
    if (info->kind == FileKind::kFile || !fs.List(word).ok()) {
      files.push_back({word, Stem(word)});
      continue;
    }
    const size_t before = files.size();
    KERF_RETURN_IF_ERROR(AddFolder(fs, word, 0, files));
    if (files.size() == before) return NotFound(word + " holds no task file (*.py with a Model)");
  }
  NameApart(files);
  return files;
}

std::string BenchStore::Key(const std::string& file_sha256, const std::string& path) {
  return file_sha256 + " " + path;
}

bool BenchStore::Exists() const {
  const auto info = fs_.Stat(path_);
  return info.ok() && info->has_value();
}

Result<std::map<std::string, BenchTask>> BenchStore::Read(const BenchSettings& settings) const {
  std::map<std::string, BenchTask> tasks;
  if (!Exists()) return tasks;
  KERF_ASSIGN_OR_RETURN(const std::string text, fs_.ReadFile(path_));
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    ++number;
    Result<BenchLine> line = ParseBenchLine(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    // What was torn before was ended with a line feed by the next process; its task is run again.
    if (!line.ok()) continue;
    if (line->settings != settings) {
      return InvalidInput(path_ + ":" + std::to_string(number) +
                          ": made with other settings (impl, backend, model, --limit-steps, "
                          "--max-bytes or --max-work); use another --log-dir");
    }
    BenchTask& task = line->task;
    const std::string key = Key(task.file_sha256, task.path);
    tasks[key] = std::move(task);
  }
  return tasks;
}

Status BenchStore::Add(const BenchTask& task, const BenchSettings& settings) {
  KERF_RETURN_IF_ERROR(fs_.CreateDirs(ParentPath(path_)));
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, fs_.OpenAppend(path_));
  KERF_RETURN_IF_ERROR(file->Lock());
  KERF_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  std::string line = BenchTaskJson(task, settings) + "\n";
  if (size > 0) {
    KERF_ASSIGN_OR_RETURN(const std::string last, file->ReadAt(size - 1, 1));
    if (last != "\n") line.insert(0, "\n");
  }
  KERF_RETURN_IF_ERROR(file->Write(line));
  return file->Sync();
}

Result<std::string> NewestBench(FileSystem& fs, const std::string& log_dir) {
  const Result<std::vector<DirEntry>> entries = fs.List(log_dir);
  std::string newest;
  int64_t newest_time = 0;
  for (const DirEntry& entry : entries.ok() ? *entries : std::vector<DirEntry>()) {
    const std::string folder = JoinPath(log_dir, entry.name);
    const auto info = fs.Stat(JoinPath(folder, BenchStore::kName));
    if (!info.ok() || !info->has_value() || (*info)->mtime_ns <= newest_time) continue;
    newest = folder;
    newest_time = (*info)->mtime_ns;
  }
  if (newest.empty()) {
    return NotFound("no bench in " + log_dir + " to resume; name it with --log-dir");
  }
  return newest;
}

}  // namespace kerf::cli
