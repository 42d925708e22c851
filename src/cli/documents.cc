#include "cli/documents.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/utf8.h"

namespace kerf::cli {
namespace {

constexpr size_t kMostBytes = size_t{256} * 1024;

bool IsDocument(const DirEntry& entry) {
  if (entry.kind != FileKind::kFile) return false;
  return entry.name.ends_with(".md") || entry.name.ends_with(".txt") || entry.name.ends_with(".py");
}

// A project's own configuration may name folders below it only; a link must not undo that.
bool LeadsOut(const std::string& folder) {
  if (folder.starts_with('/') || folder.find("..") != std::string::npos) return false;
  std::error_code error;
  const auto here = std::filesystem::canonical(".", error);
  const auto there = error ? here : std::filesystem::canonical(folder, error);
  if (error) return false;
  return std::mismatch(here.begin(), here.end(), there.begin(), there.end()).first != here.end();
}

}  // namespace

Result<std::string> ReadDocuments(FileSystem& fs, const Config& config, const std::string& role) {
  const auto found = config.docs_dir.find(role);
  if (found == config.docs_dir.end()) return std::string();
  const std::string& folder = found->second;
  const std::string key = config.origins.at("docs_dir." + role) + ": docs_dir." + role + ": ";
  if (LeadsOut(folder)) {
    return InvalidInput(key + folder +
                        " leads out of this folder by a link; name the other folder");
  }
  const Result<std::vector<DirEntry>> entries = fs.List(folder);
  if (!entries.ok()) return InvalidInput(key + entries.error().message);
  std::vector<std::string> names;
  for (const DirEntry& entry : *entries) {
    if (IsDocument(entry)) names.push_back(entry.name);
  }
  if (names.empty()) return InvalidInput(key + folder + " holds no .md, .txt or .py file");
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) {
    KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(JoinPath(folder, name)));
    if (DetectEncoding(text) != TextEncoding::kUtf8)
      return InvalidInput(key + name + " is no UTF-8 text");
    all += (all.empty() ? "## " : "\n## ") + name + "\n\n" + text;
    if (!all.ends_with('\n')) all += '\n';
    if (all.size() > kMostBytes) {
      return InvalidInput(key + folder + " holds more than 256 KiB: every prompt would carry it");
    }
  }
  return all;
}

}  // namespace kerf::cli
