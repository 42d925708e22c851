#include "cli/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/clock.h"
#include "base/fake_file_system.h"
#include "cli/fake_output.h"
#include "cli/registry.h"
#include "cli/render/help.h"
#include "cli/render/text_width.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Verb FakeVerb(const std::string& name, std::function<Result<int>(const Args&, Context&)> run) {
  return {.name = name,
          .summary = "Do " + name,
          .details = "Some details.",
          .positionals = {},
          .flags = {JsonFlag()},
          .examples = {{"kerf " + name, "as a test"}},
          .run = std::move(run)};
}

class AppTest : public ::testing::Test {
 protected:
  int Run(const std::vector<std::string>& words) { return RunVerbs(verbs_, words, context_); }

  // Runs a verb that ends in `result`.
  int RunWith(const Result<int>& result, const std::vector<std::string>& flags = {}) {
    verbs_ = {FakeVerb("go", [result](const Args&, Context&) { return result; })};
    std::vector<std::string> words = {"go"};
    words.insert(words.end(), flags.begin(), flags.end());
    return Run(words);
  }

  FakeFileSystem fs_;
  FakeClock clock_;
  FakeOutput out_;
  Context context_{fs_, clock_, out_};
  std::vector<Verb> verbs_ = {FakeVerb("trace append",
                                       [](const Args&, Context& c) {
                                         c.out.Data("appended");
                                         return 0;
                                       }),
                              FakeVerb("trace ls", [](const Args&, Context&) { return 0; }),
                              FakeVerb("version", [](const Args&, Context& c) {
                                c.out.Data("v");
                                return 0;
                              })};
};

TEST_F(AppTest, FindsVerbsOfOneAndTwoWords) {
  EXPECT_EQ(Run({"trace", "append"}), 0);
  EXPECT_EQ(out_.data, "appended");
  EXPECT_EQ(Run({"version"}), 0);
  EXPECT_EQ(out_.data, "appendedv");
  EXPECT_EQ(out_.failures, "");
}

TEST_F(AppTest, AloneItListsTheVerbs) {
  EXPECT_EQ(Run({}), 0);
  EXPECT_THAT(out_.data, HasSubstr("trace append  Do trace append\n"));
  const std::string alone = out_.data;
  out_.data.clear();
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_EQ(out_.data, alone);
}

TEST_F(AppTest, AGroupAloneListsItsVerbs) {
  EXPECT_EQ(Run({"trace"}), 0);
  EXPECT_THAT(out_.data, HasSubstr("trace ls"));
  EXPECT_THAT(out_.data, ::testing::Not(HasSubstr("Do version")));
  out_.data.clear();
  EXPECT_EQ(Run({"trace", "-h"}), 0);
  EXPECT_THAT(out_.data, HasSubstr("trace append"));
}

TEST_F(AppTest, ExplainsOneVerb) {
  EXPECT_EQ(Run({"trace", "append", "--help"}), 0);
  EXPECT_THAT(out_.data, HasSubstr("kerf trace append [--json]"));
  EXPECT_THAT(out_.data, HasSubstr("Some details."));
  EXPECT_THAT(out_.data, HasSubstr("Exit codes"));
}

TEST_F(AppTest, SuggestsTheNearestVerb) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"versoin"}, "kerf: unknown verb 'versoin'; did you mean 'kerf version'?\n"},
      {{"trace", "apend"}, "kerf: unknown verb 'trace apend'; did you mean 'kerf trace append'?\n"},
      {{"tarce", "append"}, "kerf: unknown verb 'tarce'; did you mean 'kerf trace append'?\n"},
      {{"tarce"}, "kerf: unknown verb 'tarce'; did you mean 'kerf trace'?\n"},
      {{"append"}, "kerf: unknown verb 'append'; did you mean 'kerf trace append'?\n"},
      {{"frobnicate"}, "kerf: unknown verb 'frobnicate'; 'kerf help' lists the verbs\n"},
      {{"trace", "frobnicate"},
       "kerf: unknown verb 'trace frobnicate'; 'kerf help trace' lists the verbs\n"},
      {{""}, "kerf: unknown verb ''; 'kerf help' lists the verbs\n"}};
  for (const auto& [words, expected] : cases) {
    out_.failures.clear();
    EXPECT_EQ(Run(words), kExitUsage);
    EXPECT_EQ(out_.failures, expected);
  }
  EXPECT_EQ(out_.data, "");
}

TEST_F(AppTest, RefusesFlagsBeforeTheVerb) {
  EXPECT_EQ(Run({"--json", "version"}), kExitUsage);
  EXPECT_THAT(out_.failures, HasSubstr("flags follow the verb"));
}

TEST_F(AppTest, PrintsTheVersionInOneLine) {
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_THAT(out_.data, StartsWith("kerf 0."));
  EXPECT_EQ(std::count(out_.data.begin(), out_.data.end(), '\n'), 1);
}

TEST_F(AppTest, MapsErrorsToExitCodes) {
  EXPECT_EQ(RunWith(kExitNegative), 1);
  EXPECT_EQ(RunWith(InvalidInput("x")), 2);
  EXPECT_EQ(RunWith(NotFound("x")), 2);
  EXPECT_EQ(RunWith(Unavailable("x")), 3);
  EXPECT_EQ(RunWith(Denied("x")), 3);
  EXPECT_EQ(RunWith(IoError("x")), 3);
  EXPECT_EQ(RunWith(TimedOut("x")), 3);
  EXPECT_EQ(RunWith(Corrupt("x")), 4);
  EXPECT_EQ(RunWith(Error{ErrorCode::kInternal, "x"}), 70);
}

TEST_F(AppTest, ErrorsStayOffStdoutWithoutJson) {
  RunWith(NotFound("no run 7"));
  EXPECT_EQ(out_.failures, "kerf: no run 7\n");
  EXPECT_EQ(out_.data, "");
}

TEST_F(AppTest, ErrorsAreAlsoJsonWhenAskedFor) {
  EXPECT_EQ(RunWith(NotFound("no \"run\" 7"), {"--json"}), 2);
  EXPECT_EQ(out_.failures, "kerf: no \"run\" 7\n");
  EXPECT_EQ(out_.data,
            "{\"ok\":false,\"error\":{\"code\":\"not_found\",\"message\":\"no \\\"run\\\" 7\"}}\n");
}

TEST_F(AppTest, ParseErrorsAreJsonToo) {
  EXPECT_EQ(Run({"version", "--frobnicate", "--json"}), 2);
  EXPECT_THAT(out_.data, StartsWith(R"({"ok":false,"error":{"code":"invalid_input")"));
  out_.data.clear();
  EXPECT_EQ(Run({"version", "--frobnicate", "--", "--json"}), 2);
  EXPECT_EQ(out_.data, "");
}

TEST_F(AppTest, AnExceptionIsABug) {
  verbs_ = {FakeVerb(
      "go", [](const Args&, Context&) -> Result<int> { throw std::runtime_error("oops"); })};
  EXPECT_EQ(Run({"go"}), kExitBug);
  EXPECT_THAT(out_.failures, HasSubstr("oops"));
}

TEST_F(AppTest, OutputThatDidNotArriveIsNoSuccess) {
  out_.flush_fails = true;
  EXPECT_EQ(Run({"version"}), kExitEnvironment);
  EXPECT_THAT(out_.failures, HasSubstr("standard output"));
  EXPECT_EQ(RunWith(Corrupt("x")), kExitCorrupt);
}

TEST_F(AppTest, ClearsProgressAtTheEnd) {
  out_.progress = "left over";
  Run({"version"});
  EXPECT_EQ(out_.progress, "");
}

TEST(Registry, TablesAreComplete) {
  const std::vector<Verb> verbs = AllVerbs();
  std::set<std::string> names;
  for (const Verb& verb : verbs) {
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
    EXPECT_FALSE(verb.summary.empty()) << verb.name;
    EXPECT_NE(verb.summary.back(), '.') << verb.name;
    EXPECT_TRUE(verb.run != nullptr) << verb.name;
    EXPECT_FALSE(verb.examples.empty()) << verb.name;
    for (const Flag& flag : verb.flags) {
      EXPECT_THAT(flag.name, testing::MatchesRegex("-[a-z]|--[a-z-]+")) << verb.name;
      EXPECT_FALSE(flag.help.empty()) << verb.name << flag.name;
      if (!flag.choices.empty() && !flag.default_value.empty()) {
        EXPECT_THAT(flag.choices, ::testing::Contains(flag.default_value))
            << verb.name << flag.name;
      }
    }
    for (size_t i = 0; i + 1 < verb.positionals.size(); ++i) {
      EXPECT_FALSE(verb.positionals[i].repeated) << verb.name;
    }
  }
  for (const char* name : {"version", "doctor", "completion", "man", "help"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

TEST(Help, EveryVerbFitsOneScreen) {
  const FakeOutput out;
  const std::vector<Verb> verbs = AllVerbs();
  std::vector<std::string> texts = {OverviewHelp(verbs, out)};
  for (const Verb& verb : verbs) texts.push_back(VerbHelp(verb, out));
  for (const std::string& text : texts) {
    // As high as a window on a laptop's screen.
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 52) << text;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      ASSERT_NE(end, std::string::npos) << text;
      EXPECT_LE(DisplayWidth(text.substr(begin, end - begin)), 100U)
          << text.substr(begin, end - begin);
      begin = end + 1;
    }
  }
}

TEST(Help, ALongTableNamesEveryFlagAndExplainsTheFirst) {
  Verb verb{.name = "long", .summary = "Long"};
  for (int i = 0; i < 30; ++i) {
    verb.flags.push_back(
        {.name = "--flag-" + std::to_string(i), .help = "explanation " + std::to_string(i)});
  }
  const FakeOutput out;
  const std::string text = VerbHelp(verb, out);
  EXPECT_NE(text.find("explanation 17"), std::string::npos);
  EXPECT_EQ(text.find("explanation 18"), std::string::npos);
  for (const Flag& flag : verb.flags)
    EXPECT_NE(text.find(flag.name), std::string::npos) << flag.name;
}

TEST(Help, ShowsDefaultsChoicesAndRequiredFlags) {
  const Verb verb{
      .name = "trace append",
      .summary = "Record",
      .details = "",
      .positionals = {{.name = "FILE", .help = "Input", .required = false, .repeated = true}},
      .flags = {{.name = "--names",
                 .value_name = "STYLE",
                 .help = "How",
                 .default_value = "a",
                 .choices = {"a", "b"}},
                {.name = "--log-dir", .value_name = "DIR", .help = "Where", .required = true},
                {.name = "--redact", .value_name = "X", .help = "What", .repeated = true}}};
  EXPECT_EQ(UsageLine(verb),
            "kerf trace append --log-dir DIR [--names STYLE] [--redact X]… [FILE…]");
  const std::string help = VerbHelp(verb, FakeOutput());
  EXPECT_THAT(help, HasSubstr("--names STYLE  How (one of a, b; default: a)\n"));
  EXPECT_THAT(help, HasSubstr("--log-dir DIR  Where (required)\n"));
  EXPECT_THAT(help, HasSubstr("--redact X     What (may be repeated)\n"));
  EXPECT_THAT(help, HasSubstr("FILE  Input (may be repeated)\n"));
}

}  // namespace
}  // namespace kerf::cli
