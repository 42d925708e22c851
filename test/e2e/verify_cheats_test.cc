// Every folder of test/data/cheats is refused for the reason it names, every folder of
// test/data/honest passes. A new folder is a new test.
//
// Candidates of one task go through one `kerf verify --stdin`: a task's reference and an
// interpreter are started once. All that are selected are judged when the first of them is asked
// about, two tasks at a time; what is timed comes first, alone. KERF_CHEATS_CACHE keeps compiled
// candidates from one run to the next; else there is a fresh cache for each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "base/subprocess.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::json;
using std::filesystem::path;

const path kSource = KERF_SOURCE_DIR;

struct Fixture {
  std::string name;  // "cheats/06_cache_by_shape"
  std::string candidate;
  Json expect;

  [[nodiscard]] std::string text(const char* key) const { return expect.value(key, ""); }
  [[nodiscard]] bool timed() const { return expect.value("profile", false); }
  // "wrong_value stale", and others where it depends on timing.
  [[nodiscard]] std::set<std::string> accepted() const {
    std::set<std::string> all = {text("status") + " " + text("reason")};
    for (const Json& pair : expect.value("accept", Json::array())) {
      all.insert(pair.at(0).get<std::string>() + " " + pair.at(1).get<std::string>());
    }
    return all;
  }
  // What `kerf verify` is told besides the candidate.
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> words = {"verify", (kSource / text("task")).string(), "--stdin"};
    if (timed()) words.push_back("--profile");
    if (expect.contains("backend")) {
      words.insert(words.end(), {"--backend", text("backend")});
    }
    if (expect.contains("timeout")) {
      words.insert(words.end(), {"--timeout", std::to_string(expect["timeout"].get<int>())});
    }
    return words;
  }
};

void PrintTo(const Fixture& fixture, std::ostream* out) { *out << fixture.name; }

std::vector<Fixture> FindFixtures() {
  std::vector<Fixture> fixtures;
  for (const char* kind : {"cheats", "honest"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kSource / "test/data" / kind)) {
      if (!entry.is_directory()) continue;
      Fixture fixture{std::string(kind) + "/" + entry.path().filename().string(), "", {}};
      for (const auto& file : std::filesystem::directory_iterator(entry.path())) {
        if (file.path().stem() == "candidate") fixture.candidate = file.path();
      }
      std::ifstream expect(entry.path() / "expect.json");
      fixture.expect = Json::parse(expect, nullptr, /*allow_exceptions=*/false);
      fixtures.push_back(std::move(fixture));
    }
  }
  std::sort(fixtures.begin(), fixtures.end(),
            [](const Fixture& a, const Fixture& b) { return a.name < b.name; });
  return fixtures;
}

std::string TestName(const Fixture& fixture) {
  std::string name = fixture.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// The verdicts on everything that was selected, made once.
class Verdicts {
 public:
  static const Json& Of(const Fixture& fixture) {
    static Verdicts all;
    return all.lines_[fixture.name];
  }

 private:
  using Group = std::vector<Fixture>;

  Verdicts() {
    std::map<std::vector<std::string>, Group> groups;
    for (const Fixture& fixture : FindFixtures()) {
      if (IsSelected(fixture)) groups[fixture.words()].push_back(fixture);
    }
    std::vector<const Group*> waiting;
    for (const auto& [words, group] : groups) {
      if (group[0].timed()) {
        Judge(group);
      } else {
        waiting.push_back(&group);
      }
    }
    const auto work = [&] {
      for (const Group* group = Next(waiting); group != nullptr; group = Next(waiting)) {
        Judge(*group);
      }
    };
    auto other = std::async(std::launch::async, work);
    work();
    other.get();
  }

  static bool IsSelected(const Fixture& fixture) {
    const auto& unit = *testing::UnitTest::GetInstance();
    for (int i = 0; i < unit.total_test_suite_count(); ++i) {
      const testing::TestSuite& suite = *unit.GetTestSuite(i);
      for (int k = 0; k < suite.total_test_count(); ++k) {
        const std::string name = suite.GetTestInfo(k)->name();
        if (suite.GetTestInfo(k)->should_run() && name == "GetsItsVerdict/" + TestName(fixture)) {
          return true;
        }
      }
    }
    return false;
  }

  const Group* Next(std::vector<const Group*>& waiting) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waiting.empty()) return nullptr;
    const Group* next = waiting.back();
    waiting.pop_back();
    return next;
  }

  void Judge(const Group& group) {
    std::string input;
    for (const Fixture& fixture : group) {
      input += Json{{"id", fixture.name},
                    {"path", fixture.candidate},
                    {"impl", fixture.expect.value("impl", "")}}
                   .dump() +
               "\n";
    }
    std::vector<std::string> argv = group[0].words();
    argv.insert(argv.begin(), KERF_BINARY);
    const Result<ProcessOutcome> outcome = RunProcess({.argv = argv,
                                                       .cwd = dir_.path(),
                                                       .environment = Environment(),
                                                       .input = input,
                                                       .timeout = std::chrono::minutes(8)});
    const std::lock_guard<std::mutex> lock(mutex_);
    size_t count = 0;
    if (outcome.ok()) {
      std::istringstream lines(outcome->stdout_text);
      for (std::string line; std::getline(lines, line);) {
        Json answer = Json::parse(line, nullptr, false);
        if (answer.is_object() && answer.contains("id")) {
          lines_[answer["id"].get<std::string>()] = answer;
          ++count;
        }
      }
    }
    if (count == group.size()) return;
    // No verdicts at all: the environment lacks something, and standard error says what.
    const Json none = {{"ok", false},
                       {"setup", outcome.ok() && outcome->exit_code == 3 && count == 0},
                       {"error", outcome.ok() ? outcome->stderr_text : outcome.error().message}};
    for (const Fixture& fixture : group) lines_.try_emplace(fixture.name, none);
  }

  [[nodiscard]] std::vector<std::string> Environment() const {
    const char* cache = std::getenv("KERF_CHEATS_CACHE");
    std::vector<std::string> all = {
        "PATH=" + std::string(std::getenv("PATH")),
        "KERF_CACHE_DIR=" + (cache == nullptr ? dir_.path() + "/cache" : std::string(cache))};
    const char* own = std::getenv("KERF_PYTHON");
    const std::string venv = kSource / ".venv/bin/python";
    if (own != nullptr) {
      all.push_back("KERF_PYTHON=" + std::string(own));
    } else if (std::filesystem::exists(venv)) {
      all.push_back("KERF_PYTHON=" + venv);
    }
    return all;
  }

  TempDir dir_;
  std::mutex mutex_;
  std::map<std::string, Json> lines_;
};

class CheatsAndHonestTwins : public testing::TestWithParam<Fixture> {};

TEST_P(CheatsAndHonestTwins, GetsItsVerdict) {
  const Fixture& fixture = GetParam();
  ASSERT_TRUE(fixture.expect.is_object()) << fixture.name << ": expect.json is no JSON object";
  ASSERT_NE(fixture.candidate, "") << fixture.name << " has no candidate";
  ASSERT_NE(fixture.text("why"), "");
  const Json& line = Verdicts::Of(fixture);
  if (line.value("setup", false)) GTEST_SKIP() << line.dump();
  ASSERT_EQ(line.value("ok", false), true) << line.dump();
  const Json& verdict = line.at("verdict");
  const std::string status = verdict.at("status");
  const std::string reason = verdict.at("reason");
  if (status == "unsupported") GTEST_SKIP() << verdict.at("summary").get<std::string>();
  if (reason == "unstable") GTEST_SKIP() << verdict.at("summary").get<std::string>();
  EXPECT_EQ(fixture.accepted().count(status + " " + reason), 1U)
      << "expected " << fixture.text("status") << " (" << fixture.text("reason") << "), got "
      << status << " (" << reason << "): " << verdict.at("summary").get<std::string>() << "\n"
      << fixture.text("why") << "\n"
      << verdict.dump().substr(0, 8000);
}

INSTANTIATE_TEST_SUITE_P(All, CheatsAndHonestTwins, testing::ValuesIn(FindFixtures()),
                         [](const auto& fixture) { return TestName(fixture.param); });

// The fixtures themselves.

TEST(CheatFixtures, HonestOnesExpectToPassAndOthersDoNot) {
  for (const Fixture& fixture : FindFixtures()) {
    const bool honest = fixture.name.rfind("honest/", 0) == 0;
    EXPECT_EQ(fixture.text("status") == "passed", honest) << fixture.name;
    if (honest) continue;
    EXPECT_EQ(fixture.accepted().count("passed "), 0U) << fixture.name;
  }
}

TEST(CheatFixtures, EveryRowOfTheCatalogueIsCoveredOrExplained) {
  std::ifstream file(kSource / "test/data/cheats/README.md");
  const std::string readme((std::istreambuf_iterator<char>(file)), {});
  std::set<int> covered;
  for (const Fixture& fixture : FindFixtures()) {
    if (fixture.name.rfind("cheats/", 0) == 0) covered.insert(fixture.expect.at("row").get<int>());
  }
  for (int row = 1; row <= 53; ++row) {
    const bool explained = readme.find("\n| " + std::to_string(row) + " |") != std::string::npos;
    EXPECT_TRUE(covered.count(row) != 0 || explained)
        << "row " << row << " has neither a candidate nor a line in README.md";
  }
}

}  // namespace
}  // namespace kerf::e2e
