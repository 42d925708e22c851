#include "base/json_unescape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kerf {
namespace {

// What the instructions of either width must agree with: a byte at a time, up to what they leave.
struct Plain {
  size_t taken = 0;
  std::string text;
};

Plain OneByOne(const std::string& text, size_t limit) {
  Plain plain;
  while (plain.taken < limit) {
    const char c = text[plain.taken];
    if (c != '\\') {
      if (c == '"' || static_cast<unsigned char>(c) < 0x20) break;
      plain.text += c;
      ++plain.taken;
      continue;
    }
    const char meaning =
        plain.taken + 1 < text.size() ? PlainJsonEscape(text[plain.taken + 1]) : '\0';
    if (meaning == 0 || plain.taken + 2 > limit) break;
    plain.text += meaning;
    plain.taken += 2;
  }
  return plain;
}

void ExpectSame(const std::string& text, UnescapeWidth width) {
  std::string changed = text;
  const UnescapedInPlace done = UnescapeJsonInPlace(changed.data(), changed.size(), width);
  // Whole blocks are looked at; of an escape across their end nothing is taken.
  const Plain expected = OneByOne(text, text.size() / 64 * 64);
  EXPECT_EQ(done.taken, expected.taken) << text;
  EXPECT_EQ(changed.substr(0, done.written), expected.text) << text;
  EXPECT_EQ(changed.substr(done.taken), text.substr(done.taken)) << text;
  const bool ascii = std::all_of(expected.text.begin(), expected.text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  EXPECT_TRUE(ascii || !done.ascii) << text;
}

class Unescape : public testing::TestWithParam<UnescapeWidth> {};

TEST_P(Unescape, EveryByteBehindABackslashAtEveryPlace) {
  if (!HasUnescapeWidth(GetParam())) GTEST_SKIP() << "this processor has no such instructions";
  for (int byte = 0; byte < 256; ++byte) {
    for (size_t place = 0; place < 130; ++place) {
      std::string text(200, 'x');
      text[place] = '\\';
      text[place + 1] = static_cast<char>(byte);
      ExpectSame(text, GetParam());
      std::string alone(200, 'y');
      alone[place] = static_cast<char>(byte);
      ExpectSame(alone, GetParam());
    }
  }
}

TEST_P(Unescape, RandomTexts) {
  if (!HasUnescapeWidth(GetParam())) GTEST_SKIP() << "this processor has no such instructions";
  static constexpr const char* kPieces[] = {
      "\\n", "\\\\",         "\\\"",     "\\t",     "\\/", "\\r", "a",
      "bcd", "efghijklmnop", "\xC3\xA9", "\\u00e9", "\"",  "\\",  "\n"};
  unsigned seed = 7;
  for (int turn = 0; turn < 20000; ++turn) {
    std::string text;
    while (text.size() < static_cast<size_t>(turn % 500)) {
      seed = seed * 1664525U + 1013904223U;
      const unsigned choice = (seed >> 16) % 2000;
      text += kPieces[choice < 1990 ? choice % 10 : choice % 14];
    }
    ExpectSame(text, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, Unescape,
                         testing::Values(UnescapeWidth::k256, UnescapeWidth::k512),
                         [](const auto& instance) {
                           return instance.param == UnescapeWidth::k256 ? "Of256" : "Of512";
                         });

TEST(UnescapeInPlace, TakesNothingWhenItMayNot) {
  std::string text = "a\\n" + std::string(100, 'b');
  EXPECT_EQ(UnescapeJsonInPlace(text.data(), text.size(), UnescapeWidth::kNone).taken, 0U);
}

}  // namespace
}  // namespace kerf
