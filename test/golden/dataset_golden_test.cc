// Workspaces, byte for byte. Each folder of dataset/ is a case: data_0.jsonl and data_mem_0.json,
// and in expected/ what `kerf debug extract` makes of them, without index.html, and summary.txt:
// the schemas, the problems, and a line for each case.
//
// With KERF_UPDATE_GOLDENS=1 the program rewrites expected/ and prints what changed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "dataset/extract.h"

namespace kerf::dataset {
namespace {

namespace stdfs = std::filesystem;

using Tree = std::map<std::string, std::string>;

Tree ReadTree(const stdfs::path& dir) {
  Tree tree;
  if (!stdfs::is_directory(dir)) return tree;
  for (const auto& entry : stdfs::recursive_directory_iterator(dir)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    tree[stdfs::relative(entry.path(), dir).string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  tree.erase("index.html");
  return tree;
}

void WriteTree(const stdfs::path& dir, const Tree& tree) {
  stdfs::remove_all(dir);
  for (const auto& [name, text] : tree) {
    stdfs::create_directories((dir / name).parent_path());
    std::ofstream(dir / name, std::ios::binary) << text;
  }
}

std::string Summary(const Catalog& catalog) {
  std::string text =
      "jsonl: " + catalog.schema().jsonl.variant + " (" + catalog.schema().jsonl.reason + ")\n";
  for (const auto& [variant, found] : catalog.schema().mem) {
    text += "mem: " + variant + " " + std::to_string(found.first) + " (" + found.second + ")\n";
  }
  for (const CaseEntry& entry : catalog.cases()) {
    text += entry.name + ": last " + LastStatusName(entry.last) + ", best " +
            BestStatusName(entry.best) + ", " + DiagnosisName(entry.diagnosis.kind) + ": " +
            entry.diagnosis.line + "\n";
  }
  for (const Problem& problem : catalog.problems().kept()) text += ProblemText(problem) + "\n";
  return text;
}

// Runs one case inside its own folder, so that paths in the output are the same everywhere.
Tree RunCase(const stdfs::path& dir, const stdfs::path& out) {
  const stdfs::path before = stdfs::current_path();
  stdfs::current_path(dir);
  Tree tree;
  {
    const auto jsonl = MappedFile::Open("data_0.jsonl");
    const auto mem = MappedFile::Open("data_mem_0.json");
    const auto catalog = Catalog::Read(*jsonl, &*mem, {});
    EXPECT_TRUE(catalog.ok()) << dir;
    const std::vector<std::string> folders = AssignFolders(catalog->cases());
    const auto selected = Select(catalog->cases(), folders, {});
    ExtractOptions options;
    options.output = out;
    const auto report =
        Extract(*catalog, {*jsonl, &*mem, catalog->schema().jsonl}, *selected, folders, options);
    EXPECT_TRUE(report.ok()) << dir;
    tree = ReadTree(out);
    tree["summary.txt"] = Summary(*catalog);
  }
  stdfs::current_path(before);
  return tree;
}

TEST(DatasetGolden, WritesWhatIsExpected) {
  const bool update = std::getenv("KERF_UPDATE_GOLDENS") != nullptr;
  const stdfs::path out =
      stdfs::path(testing::TempDir()) / ("kerf_dataset_golden_" + std::to_string(::getpid()));
  size_t cases = 0;
  for (const auto& entry : stdfs::directory_iterator(KERF_GOLDENS)) {
    if (!entry.is_directory()) continue;
    ++cases;
    stdfs::remove_all(out);
    const Tree found = RunCase(entry.path(), out);
    const Tree expected = ReadTree(entry.path() / "expected");
    if (found == expected) continue;
    for (const auto& [name, text] : found) {
      const auto old = expected.find(name);
      if (old != expected.end() && old->second == text) continue;
      std::cout << entry.path().filename().string() << "/" << name << " is now:\n" << text << "\n";
    }
    if (update) {
      WriteTree(entry.path() / "expected", found);
    } else {
      ADD_FAILURE() << entry.path() << " differs; KERF_UPDATE_GOLDENS=1 kerf_dataset_golden_test";
    }
  }
  stdfs::remove_all(out);
  EXPECT_GE(cases, 9U);
}

}  // namespace
}  // namespace kerf::dataset
