#include "tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace kerf::golden {

namespace stdfs = std::filesystem;

std::string ReadAll(const stdfs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Tree ReadTree(const stdfs::path& dir) {
  Tree tree;
  if (!stdfs::is_directory(dir)) return tree;
  for (const auto& entry : stdfs::recursive_directory_iterator(dir)) {
    if (entry.is_regular_file()) {
      tree[stdfs::relative(entry.path(), dir).string()] = ReadAll(entry.path());
    }
  }
  return tree;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

namespace {

// The lines in which two texts differ, without what is the same before and after.
std::string LineDiff(const std::string& old_text, const std::string& new_text) {
  std::vector<std::string> was = LinesOf(old_text);
  std::vector<std::string> is = LinesOf(new_text);
  while (!was.empty() && !is.empty() && was.back() == is.back()) {
    was.pop_back();
    is.pop_back();
  }
  size_t same = 0;
  while (same < was.size() && same < is.size() && was[same] == is[same]) ++same;
  std::string diff;
  for (size_t i = same; i < was.size(); ++i) diff += "    -" + was[i] + "\n";
  for (size_t i = same; i < is.size(); ++i) diff += "    +" + is[i] + "\n";
  return diff.empty() ? "    (line ends differ)\n" : diff;
}

}  // namespace

std::string TreeDiff(const Tree& was, const Tree& is) {
  std::string diff;
  for (const auto& [name, bytes] : was) {
    const auto now = is.find(name);
    if (now == is.end()) {
      diff += "  gone: " + name + "\n";
    } else if (now->second != bytes) {
      diff += "  changed: " + name + "\n" + LineDiff(bytes, now->second);
    }
  }
  for (const auto& [name, bytes] : is) {
    if (!was.contains(name)) diff += "  new: " + name + "\n" + LineDiff("", bytes);
  }
  return diff;
}

void WriteTree(const stdfs::path& dir, const Tree& tree) {
  stdfs::remove_all(dir);
  for (const auto& [name, bytes] : tree) {
    stdfs::create_directories((dir / name).parent_path());
    std::ofstream(dir / name, std::ios::binary) << bytes;
  }
}

}  // namespace kerf::golden
