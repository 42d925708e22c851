#include "base/utf8.h"

#include <gtest/gtest.h>

namespace kerf {
namespace {

using namespace std::string_literals;

std::string Encoded(char32_t c) {
  std::string out;
  AppendUtf8(out, c);
  return out;
}

TEST(Utf8, EveryCodePointSurvivesEncodingAndDecoding) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    const std::string bytes = Encoded(c);
    const Utf8Char decoded = DecodeUtf8(bytes);
    ASSERT_TRUE(decoded.valid) << static_cast<uint32_t>(c);
    ASSERT_EQ(decoded.value, c);
    ASSERT_EQ(decoded.length, bytes.size());
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    ASSERT_EQ(DetectEncoding(bytes), surrogate ? TextEncoding::kWtf8 : TextEncoding::kUtf8)
        << static_cast<uint32_t>(c);
  }
}

TEST(Utf8, RefusesBytesThatAreNoCharacter) {
  for (const std::string& bytes :
       {"\x80"s, "\xBF"s, "\xC0\x80"s, "\xC1\xBF"s, "\xC2"s, "\xC2\x41"s, "\xE0\x9F\xBF"s,
        "\xE2\x82"s, "\xF0\x8F\xBF\xBF"s, "\xF4\x90\x80\x80"s, "\xF5\x80\x80\x80"s, "\xFF"s,
        "\xF0\x9F\x98"s}) {
    const Utf8Char c = DecodeUtf8(bytes);
    EXPECT_FALSE(c.valid);
    EXPECT_EQ(c.length, 1U);
    EXPECT_EQ(c.value, static_cast<unsigned char>(bytes[0]));
    EXPECT_EQ(DetectEncoding("text before " + bytes + " and after"), TextEncoding::kBytes);
  }
}

TEST(Utf8, DetectsTheKindOfText) {
  EXPECT_EQ(DetectEncoding(""), TextEncoding::kUtf8);
  EXPECT_EQ(DetectEncoding("plain"), TextEncoding::kUtf8);
  EXPECT_EQ(DetectEncoding("NUL \0 and CRLF\r\n"s), TextEncoding::kUtf8);
  EXPECT_EQ(DetectEncoding("12345678ä12345678算子😀"), TextEncoding::kUtf8);
  EXPECT_EQ(DetectEncoding("lone \xED\xA0\x80 high"), TextEncoding::kWtf8);
  EXPECT_EQ(DetectEncoding("lone \xED\xB0\x80 low"), TextEncoding::kWtf8);
}

TEST(Utf8, APairOfSurrogatesIsNotWtf8) {
  const std::string high = "\xED\xA0\xBD";
  const std::string low = "\xED\xB8\x80";
  EXPECT_EQ(DetectEncoding(high + low), TextEncoding::kBytes);
  EXPECT_EQ(DetectEncoding("12345678" + high + low + "x"), TextEncoding::kBytes);
  EXPECT_EQ(DetectEncoding(high + high + low), TextEncoding::kBytes);
  EXPECT_EQ(DetectEncoding(high + " " + low), TextEncoding::kWtf8);
  EXPECT_EQ(DetectEncoding(high + "ä" + low), TextEncoding::kWtf8);
  EXPECT_EQ(DetectEncoding(low + high), TextEncoding::kWtf8);
}

TEST(Utf8, NamesOfEncodingsAreStable) {
  EXPECT_STREQ(TextEncodingName(TextEncoding::kUtf8), "utf-8");
  EXPECT_STREQ(TextEncodingName(TextEncoding::kWtf8), "wtf-8");
  EXPECT_STREQ(TextEncodingName(TextEncoding::kBytes), "bytes");
}

}  // namespace
}  // namespace kerf
