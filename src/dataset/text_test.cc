#include "dataset/text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace kerf::dataset {
namespace {

std::string RandomRaw(std::mt19937& random, size_t pieces) {
  constexpr std::string_view kPieces[] = {"a",        "bc",      "\\n",           "\\\\",    "\\\"",
                                          "\\u0061",  "\\/",     "\xC3\xA9",      "\\u00e9", "\\t",
                                          "for (int", "\\ud83d", "\\ud83d\\ude00"};
  std::string raw;
  for (size_t i = 0; i < pieces; ++i) {
    raw.append(random() % 20, 'x');
    raw += kPieces[random() % std::size(kPieces)];
  }
  return raw;
}

// Spellings that differ in one place, or only in how a character is written.
TEST(SameText, SaysWhatComparingTheDecodedTextsSays) {
  std::mt19937 random(5);
  int same = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string a = RandomRaw(random, 1 + random() % 8);
    std::string b = a;
    const size_t at = random() % (b.size() + 1);
    switch (random() % 4) {
      case 0:
        b.insert(at, "y");
        break;
      case 1:
        if (at < b.size()) b[at] = 'y';
        break;
      case 2:
        if (const size_t found = b.find('a'); found != std::string::npos) {
          b.replace(found, 1, "\\u0061");
        }
        break;
      default:
        b.resize(at);
    }
    EXPECT_EQ(SameText(a, b), Decoded(a) == Decoded(b)) << a << "\n" << b;
    if (a != b && SameText(a, b)) ++same;
  }
  EXPECT_GT(same, 0) << "no two spellings of one text were tried";
}

TEST(DecodeText, ReadsLongTextsWithManyEscapes) {
  std::mt19937 random(6);
  for (const size_t pieces : {1, 10, 100, 1000, 20000}) {
    std::string raw = RandomRaw(random, pieces);
    for (size_t at = raw.find("\\ud83d"); at != std::string::npos; at = raw.find("\\ud83d", at)) {
      raw.replace(at, 6, "\\u20ac");  // lone surrogates are another test's
    }
    for (size_t at = raw.find("\\ude00"); at != std::string::npos; at = raw.find("\\ude00", at)) {
      raw.replace(at, 6, "-");
    }
    EXPECT_EQ(Decoded(raw), nlohmann::json::parse("\"" + raw + "\"").get<std::string>());
  }
}

TEST(DecodeText, KeepsAndCountsWhatIsOdd) {
  std::string filler;
  for (int i = 0; i < 40; ++i) filler += "line\\n\t";
  std::string out;
  const TextNotes notes = DecodeText(filler + "\\x \\ud83d \xFF" + filler, out);
  EXPECT_EQ(notes.unknown_escapes, 1U);
  EXPECT_EQ(notes.lone_surrogates, 1U);
  EXPECT_EQ(notes.bad_bytes, 1U);
  EXPECT_NE(out.find("\\x \xEF\xBF\xBD \xFF"), std::string::npos);
  EXPECT_EQ(out.find("\\n"), std::string::npos);
}

}  // namespace
}  // namespace kerf::dataset
