#include "cli/render/text_width.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace kerf::cli {
namespace {

using namespace std::string_literals;

TEST(TextWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth(""), 0U);
  EXPECT_EQ(DisplayWidth("abc"), 3U);
  EXPECT_EQ(DisplayWidth("äöü…"), 4U);
  EXPECT_EQ(DisplayWidth("算子"), 4U);
  EXPECT_EQ(DisplayWidth("ｆ한グ"), 6U);
  EXPECT_EQ(DisplayWidth("😀🚀✅"), 6U);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1U);
  EXPECT_EQ(DisplayWidth("a\u200Bb\uFE0F"), 2U);
}

TEST(TextWidth, ShortensAtACharacter) {
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdef", 5), "abcd…");
  EXPECT_EQ(Shortened("算子算子", 5), "算子…");
  EXPECT_EQ(Shortened("算子算子", 4), "算…");
  EXPECT_EQ(Shortened("abc", 1), "…");
  EXPECT_EQ(Shortened("abc", 0), "");
}

TEST(Printable, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(Printable("plain ä 算子 😀 \\n"), "plain ä 算子 😀 \\n");
}

TEST(Printable, DisarmsEscapeSequences) {
  EXPECT_EQ(Printable("\x1b[31mred\x1b]0;title\x07"), "\\x1b[31mred\\x1b]0;title\\x07");
  EXPECT_EQ(Printable("\u009b31m"), "\\u{009b}31m");  // the one-character form of ESC [
  EXPECT_EQ(Printable("a\rb\bc\x7f\0d"s), "a\\rb\\x08c\\x7f\\x00d");
}

TEST(Printable, ShowsBytesThatAreNoText) {
  EXPECT_EQ(Printable("\xff\xc3("), "\\xff\\xc3(");
  EXPECT_EQ(Printable("\xED\xA0\x80"), "\\u{d800}");
}

TEST(Printable, ShowsCharactersThatReorderText) {
  EXPECT_EQ(Printable("a\u202eb\u2066c\u2028"), "a\\u{202e}b\\u{2066}c\\u{2028}");
}

TEST(Printable, KeepsLinesOnlyWhenAsked) {
  EXPECT_EQ(Printable("a\n\tb\r\n"), "a\\n\\tb\\r\\n");
  EXPECT_EQ(Printable("a\n\tb\r\n", Newlines::kKeep), "a\n\tb\\r\n");
}

TEST(Printable, NeverLeavesAControlCharacter) {
  for (char32_t c = 0; c <= 0x2100; ++c) {
    std::string text;
    AppendUtf8(text, c);
    for (const char byte : Printable(text)) {
      ASSERT_TRUE(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7F)
          << static_cast<uint32_t>(c);
    }
    const bool c1 = c >= 0x80 && c < 0xA0;
    ASSERT_TRUE(!c1 || Printable(text).substr(0, 3) == "\\u{");
  }
}

}  // namespace
}  // namespace kerf::cli
