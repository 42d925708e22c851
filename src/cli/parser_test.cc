#include "cli/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kerf::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Verb SampleVerb() {
  return {.name = "trace append",
          .summary = "Record steps",
          .details = "",
          .positionals = {{.name = "FILE", .help = "What to read", .required = false}},
          .flags = {{.name = "--log-dir", .value_name = "DIR", .help = "Where", .required = true},
                    {.name = "--names",
                     .value_name = "STYLE",
                     .help = "How",
                     .default_value = "documented",
                     .choices = {"documented", "value", "agent"}},
                    {.name = "--redact", .value_name = "PATTERN", .help = "What", .repeated = true},
                    {.name = "--limit", .value_name = "N", .help = "Many", .number = true},
                    JsonFlag()},
          .examples = {},
          .run = nullptr};
}

Args MustParse(const Verb& verb, const std::vector<std::string>& words) {
  const Result<ParsedLine> line = ParseLine(verb, words);
  EXPECT_TRUE(line.ok()) << line.error().message;
  return line.ok() ? line->args : Args();
}

std::string Refusal(const Verb& verb, const std::vector<std::string>& words) {
  const Result<ParsedLine> line = ParseLine(verb, words);
  EXPECT_FALSE(line.ok());
  if (line.ok()) return "";
  EXPECT_EQ(line.error().code, ErrorCode::kInvalidInput);
  return line.error().message;
}

TEST(Parser, ReadsFlagsInBothForms) {
  const Args args =
      MustParse(SampleVerb(), {"--log-dir", "a b", "--names=value", "--limit=12", "f"});
  EXPECT_EQ(args.Get("--log-dir"), "a b");
  EXPECT_EQ(args.Get("--names"), "value");
  EXPECT_EQ(args.GetNumber("--limit"), 12);
  EXPECT_EQ(args.Positional(0), "f");
  EXPECT_EQ(args.Positional(1), "");
  EXPECT_FALSE(args.Has("--json"));
}

TEST(Parser, FillsInDefaults) {
  const Args args = MustParse(SampleVerb(), {"--log-dir=d", "--json"});
  EXPECT_EQ(args.Get("--names"), "documented");
  EXPECT_TRUE(args.Has("--names"));
  EXPECT_TRUE(args.Has("--json"));
  EXPECT_FALSE(args.Has("--redact"));
  EXPECT_EQ(args.GetNumber("--limit"), std::nullopt);
  EXPECT_THAT(args.All("--redact"), IsEmpty());
}

TEST(Parser, KeepsRepeatedValuesInOrderAndAsWritten) {
  const Args args = MustParse(SampleVerb(), {"--log-dir=d", "--redact", "b", "--redact=[a,b]",
                                             "--redact=x=y", "--redact=", "--redact", "{}"});
  EXPECT_THAT(args.All("--redact"), ElementsAre("b", "[a,b]", "x=y", "", "{}"));
}

TEST(Parser, TakesValuesThatBeginWithADashAfterEquals) {
  const Args args = MustParse(SampleVerb(), {"--log-dir=-", "--redact=-x", "--redact=--json"});
  EXPECT_EQ(args.Get("--log-dir"), "-");
  EXPECT_THAT(args.All("--redact"), ElementsAre("-x", "--json"));
  EXPECT_FALSE(args.Has("--json"));
}

TEST(Parser, RefusesAFlagWhereAValueIsNeeded) {
  const std::string message = Refusal(SampleVerb(), {"--log-dir", "--json"});
  EXPECT_THAT(message, HasSubstr("--log-dir needs a value: --log-dir DIR"));
  EXPECT_THAT(message, HasSubstr("--log-dir=VALUE"));
  EXPECT_THAT(Refusal(SampleVerb(), {"--log-dir"}), HasSubstr("--log-dir needs a value"));
}

TEST(Parser, TakesADashAsAnOrdinaryWord) {
  const Args args = MustParse(SampleVerb(), {"-", "--log-dir", "-"});
  EXPECT_EQ(args.Positional(0), "-");
  EXPECT_EQ(args.Get("--log-dir"), "-");
}

TEST(Parser, TwoDashesEndTheFlags) {
  const Args args = MustParse(SampleVerb(), {"--log-dir=d", "--", "--json"});
  EXPECT_EQ(args.Positional(0), "--json");
  EXPECT_FALSE(args.Has("--json"));
  Verb many = SampleVerb();
  many.positionals[0].repeated = true;
  EXPECT_THAT(MustParse(many, {"--log-dir=d", "a", "--", "--", "-h", "++", "[x]"}).Positionals(),
              ElementsAre("a", "--", "-h", "++", "[x]"));
}

TEST(Parser, SuggestsTheNearestFlag) {
  EXPECT_EQ(Refusal(SampleVerb(), {"--log-dri", "d"}),
            "unknown flag --log-dri for 'kerf trace append'; did you mean --log-dir?");
  EXPECT_EQ(Refusal(SampleVerb(), {"--log-dri=d"}),
            "unknown flag --log-dri for 'kerf trace append'; did you mean --log-dir?");
  EXPECT_EQ(Refusal(SampleVerb(), {"--frobnicate"}),
            "unknown flag --frobnicate for 'kerf trace append'; see 'kerf trace append --help'");
  EXPECT_THAT(Refusal(SampleVerb(), {"-j"}), HasSubstr("unknown flag -j"));
  EXPECT_THAT(Refusal(SampleVerb(), {"---"}), HasSubstr("unknown flag ---"));
}

TEST(Parser, RefusesExtraArguments) {
  EXPECT_EQ(Refusal(SampleVerb(), {"--log-dir=d", "f", "g"}),
            "unexpected argument 'g' for 'kerf trace append'; see 'kerf trace append --help'");
  EXPECT_THAT(Refusal(SampleVerb(), {"--log-dir=d", "f", "json"}),
              HasSubstr("did you mean --json?"));
}

TEST(Parser, NamesWhatIsMissing) {
  EXPECT_EQ(Refusal(SampleVerb(), {}), "--log-dir is required for 'kerf trace append'");
  Verb needs = SampleVerb();
  needs.positionals[0].required = true;
  EXPECT_EQ(Refusal(needs, {"--log-dir=d"}),
            "'kerf trace append' needs FILE; see 'kerf trace append --help'");
}

TEST(Parser, ChecksChoicesAndNumbers) {
  const std::string choice = Refusal(SampleVerb(), {"--log-dir=d", "--names", "valeu"});
  EXPECT_THAT(choice, HasSubstr("--names"));
  EXPECT_THAT(choice,
              HasSubstr("'valeu' is none of documented, value, agent; did you mean value?"));
  for (const char* number : {"-1", "1.5", "x", "", " 1", "0x10", "99999999999999999999"}) {
    EXPECT_THAT(Refusal(SampleVerb(), {"--log-dir=d", "--limit=" + std::string(number)}),
                HasSubstr("is not a whole number of 0 or more"))
        << number;
  }
  EXPECT_EQ(MustParse(SampleVerb(), {"--log-dir=d", "--limit=0"}).GetNumber("--limit"), 0);
}

TEST(Parser, ChecksChoicesOfPositionals) {
  const Verb verb{.name = "completion",
                  .summary = "",
                  .details = "",
                  .positionals = {{.name = "SHELL", .help = "", .choices = {"bash", "zsh"}}}};
  EXPECT_EQ(MustParse(verb, {"zsh"}).Positional(0), "zsh");
  EXPECT_EQ(Refusal(verb, {"bsh"}), "SHELL: 'bsh' is none of bash, zsh; did you mean bash?");
  EXPECT_THAT(Refusal(verb, {}), HasSubstr("needs SHELL (one of bash, zsh)"));
}

TEST(Parser, RefusesARepeatedFlagUnlessAllowed) {
  EXPECT_EQ(Refusal(SampleVerb(), {"--log-dir=a", "--log-dir=b"}),
            "--log-dir was given 2 times; give it once");
  EXPECT_EQ(Refusal(SampleVerb(), {"--log-dir=a", "--json", "--json", "--json"}),
            "--json was given 3 times; give it once");
}

TEST(Parser, RefusesAValueForASwitch) {
  EXPECT_EQ(Refusal(SampleVerb(), {"--json=yes"}), "--json takes no value; write just --json");
  EXPECT_EQ(Refusal(SampleVerb(), {"--json="}), "--json takes no value; write just --json");
}

TEST(Parser, HelpWinsOverWhatIsMissing) {
  EXPECT_TRUE(ParseLine(SampleVerb(), {"-h"})->help);
  EXPECT_TRUE(ParseLine(SampleVerb(), {"f", "--help"})->help);
  EXPECT_FALSE(ParseLine(SampleVerb(), {"--log-dir=d", "--", "-h"})->help);
}

TEST(Args, SetReplaces) {
  Args args;
  args.Set("--a", {"1"});
  args.Set("--a", {"2", "3"});
  EXPECT_EQ(args.Get("--a"), "3");
  EXPECT_EQ(args.All("--a").size(), 2U);
}

}  // namespace
}  // namespace kerf::cli
