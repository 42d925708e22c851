#include "cli/render/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/subprocess.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

std::vector<Verb> SampleVerbs() {
  return {
      {.name = "trace append",
       .summary = "Record 'steps'",
       .details = ".dotted line\nA \\ backslash, an … ellipsis and a -dash.\n\n  {\"indented\": "
                  "1}\n'quoted",
       .positionals = {{.name = "FILE", .help = "What to read", .choices = {"x", "y"}}},
       .flags =
           {{.name = "--log-dir", .value_name = "DIR", .help = "Where", .default_value = "~/logs"}},
       .examples = {{"kerf trace append --log-dir=d < f", "from a file"}}}};
}

TEST(ManPage, EscapesWhatRoffWouldTakeForRequests) {
  EXPECT_EQ(RoffEscaped(".x"), "\\&.x");
  EXPECT_EQ(RoffEscaped("'x"), "\\&\\(aqx");
  EXPECT_EQ(RoffEscaped("a\n.b"), "a\n\\&.b");
  EXPECT_EQ(RoffEscaped("a\\b--c"), "a\\eb\\-\\-c");
  EXPECT_EQ(RoffEscaped("…😀ä"), "\\[u2026]\\[u1F600]\\[u00E4]");
}

TEST(ManPage, GroffReadsItWithoutWarnings) {
  if (!FindProgram("groff", std::getenv("PATH"))) GTEST_SKIP() << "groff is not installed";
  const Result<ProcessOutcome> outcome =
      RunProcess({.argv = {"groff", "-man", "-Tutf8", "-ww", "-P-c", "-P-bou"},
                  .input = ManPage(SampleVerbs(), "1.2.3")});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 0);
  EXPECT_EQ(outcome->stderr_text, "");
  const std::string& text = outcome->stdout_text;
  EXPECT_THAT(text, HasSubstr("kerf 1.2.3"));
  EXPECT_THAT(text, HasSubstr("Record 'steps'."));
  EXPECT_THAT(text, HasSubstr(".dotted line A \\ backslash, an … ellipsis and a -dash."));
  EXPECT_THAT(text, HasSubstr("{\"indented\": 1}"));
  EXPECT_THAT(text, HasSubstr("--log-dir DIR"));
  EXPECT_THAT(text, HasSubstr("Where (default: ~/logs)"));
  EXPECT_THAT(text, HasSubstr("kerf trace append --log-dir=d < f"));
  EXPECT_THAT(text, HasSubstr("EXIT STATUS"));
}

}  // namespace
}  // namespace kerf::cli
