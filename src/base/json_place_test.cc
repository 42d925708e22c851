#include "base/json_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kerf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

JsonDocument Parsed(const std::string& text) {
  auto document = JsonDocument::Parse("f.json", text);
  EXPECT_TRUE(document.ok()) << document.error().message;
  return std::move(document).value();
}

TEST(JsonPlace, NamesFileAndPathOfAWrongValue) {
  const JsonDocument document = Parsed(R"({"args":[{"shape":[4,"a"]}]})");
  const auto shape = document.root().Member("args")->Items()[0].Member("shape");
  EXPECT_EQ(shape->Ints().error().message,
            "f.json: args[0].shape[1]: must be a whole number, not \"a\"");
}

TEST(JsonPlace, KeepsLargeNumbersExact) {
  const JsonDocument document = Parsed("[18446744073709551615,-9223372036854775808,1e400]");
  const auto items = document.root().Items();
  EXPECT_EQ(*items[0].Unsigned(), UINT64_MAX);
  EXPECT_EQ(*items[1].Int(), INT64_MIN);
  EXPECT_THAT(items[0].Int().error().message, HasSubstr("does not fit"));
  EXPECT_THAT(items[2].Double().error().message, HasSubstr("does not fit"));
}

TEST(JsonPlace, TellsAWholeNumberFromAFraction) {
  const JsonDocument document = Parsed("[1,1.0,1e0]");
  const auto items = document.root().Items();
  EXPECT_TRUE(items[0].IsWhole());
  EXPECT_FALSE(items[1].IsWhole());
  EXPECT_FALSE(items[2].IsWhole());
}

TEST(JsonPlace, TreatsNullAsAbsent) {
  const JsonDocument document = Parsed(R"({"a":null})");
  EXPECT_FALSE(document.root().Find("a").has_value());
  EXPECT_EQ(document.root().Member("a").error().message, "f.json: \"a\" is missing");
}

TEST(JsonPlace, NamesAMemberNobodyKnows) {
  const JsonDocument document = Parsed(R"({"a":1,"shpe":2})");
  EXPECT_EQ(document.root().OnlyMembers({"a", "shape"}).error().message,
            "f.json: unknown member \"shpe\"; known are a, shape");
}

TEST(JsonPlace, RefusesANameGivenTwice) {
  const auto document = JsonDocument::Parse("f.json", R"([{"a":1,"a":2}])");
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().message, "f.json: \"a\" is given twice in one object");
}

TEST(JsonPlace, TellsWhereTheTextIsNoJson) {
  for (const char* text : {"", "[1,", "{\"a\" 1}", "[1] 2", "nul"}) {
    const auto document = JsonDocument::Parse("f.json", text);
    ASSERT_FALSE(document.ok()) << text;
    EXPECT_THAT(document.error().message, HasSubstr("f.json: not valid JSON")) << text;
  }
}

TEST(JsonPlace, SurvivesAMoveOfTheDocument) {
  JsonDocument first = Parsed(R"({"a":[3,4]})");
  const JsonPlace a = *first.root().Member("a");
  const JsonDocument second = std::move(first);
  EXPECT_THAT(*a.Ints(), ElementsAre(3, 4));
}

}  // namespace
}  // namespace kerf
