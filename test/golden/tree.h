// Folders as goldens: read, compared as text, written anew.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kerf::golden {

using Tree = std::map<std::string, std::string>;  // relative path → content

std::string ReadAll(const std::filesystem::path& path);
Tree ReadTree(const std::filesystem::path& dir);
std::vector<std::string> LinesOf(const std::string& text);
// Empty when the trees are the same.
std::string TreeDiff(const Tree& was, const Tree& is);
void WriteTree(const std::filesystem::path& dir, const Tree& tree);

}  // namespace kerf::golden
