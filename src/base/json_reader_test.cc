#include "base/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <span>

#include "base/utf8.h"

namespace kerf {
namespace {

using Json = nlohmann::json;
using namespace std::string_literals;
using namespace std::string_view_literals;
using ::testing::HasSubstr;

std::string ReadOne(std::string_view text) {
  JsonReader reader(text);
  std::string value;
  EXPECT_TRUE(reader.ReadString(value) && reader.Finish()) << text << ": " << reader.error();
  return value;
}

bool IsWellFormed(std::string_view text) {
  JsonReader reader(text);
  return reader.Skip() && reader.Finish();
}

// Reads any value through the typed calls, the way a caller would.
Json ReadTree(JsonReader& reader) {
  switch (reader.Peek()) {
    case JsonType::kObject: {
      Json object = Json::object();
      std::string key;
      for (reader.BeginObject(); reader.NextKey(key);) object[key] = ReadTree(reader);
      return object;
    }
    case JsonType::kArray: {
      Json array = Json::array();
      for (reader.BeginArray(); reader.NextElement();) array.push_back(ReadTree(reader));
      return array;
    }
    case JsonType::kString: {
      std::string text;
      reader.ReadString(text);
      return text;
    }
    case JsonType::kNumber: {
      std::string_view raw;
      if (!reader.ReadRaw(raw)) return nullptr;
      JsonReader number(raw);
      int64_t whole = 0;
      if (number.ReadInt(whole)) return whole;
      JsonReader again(raw);
      double real = 0;
      EXPECT_TRUE(again.ReadDouble(real)) << raw;
      return real;
    }
    case JsonType::kBool: {
      bool value = false;
      reader.ReadBool(value);
      return value;
    }
    case JsonType::kNull:
      reader.ReadNull();
      return nullptr;
    case JsonType::kEnd:
      reader.Skip();  // records the error
      return nullptr;
  }
  return nullptr;
}

TEST(JsonReader, ReadsEveryEscape) {
  EXPECT_EQ(ReadOne(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(ReadOne(R"("\u0041\u00e4\u7B97")"), "Aä算");
  EXPECT_EQ(ReadOne(R"("a\u0000b")"), "a\0b"s);
  EXPECT_FALSE(IsWellFormed(R"("\x41")"));
  EXPECT_FALSE(IsWellFormed(R"("\u12g4")"));
  EXPECT_FALSE(IsWellFormed(R"("\u-123")"));
  EXPECT_FALSE(IsWellFormed(R"("\U0041")"));
}

TEST(JsonReader, JoinsSurrogatePairsAndKeepsLoneOnes) {
  EXPECT_EQ(ReadOne(R"("\ud83d\ude00")"), "😀");
  EXPECT_EQ(ReadOne(R"("\uD83D")"), "\xED\xA0\xBD");
  EXPECT_EQ(ReadOne(R"("\ude00")"), "\xED\xB8\x80");
  EXPECT_EQ(ReadOne(R"("\ud83dx")"), "\xED\xA0\xBDx");
  EXPECT_EQ(ReadOne(R"("\ud83d\n")"), "\xED\xA0\xBD\n");
  EXPECT_EQ(ReadOne(R"("\ud83d\u0041")"),
            "\xED\xA0\xBD"
            "A");
  EXPECT_EQ(ReadOne(R"("\ud83d\ud83d\ude00")"), "\xED\xA0\xBD😀");
  EXPECT_EQ(ReadOne(R"("\udbff\udfff")"), "\xF4\x8F\xBF\xBF");
}

TEST(JsonReader, KeepsRawBytesThatAreNoUtf8) {
  for (int byte = 0x80; byte <= 0xFF; ++byte) {
    const std::string content = "12345" + std::string(1, static_cast<char>(byte)) + "6789abcdef";
    EXPECT_EQ(ReadOne('"' + content + '"'), content) << byte;
  }
}

TEST(JsonReader, FindsQuotesAndControlsAtEveryOffset) {
  for (size_t length = 0; length < 40; ++length) {
    const std::string plain(length, '\xC3');
    EXPECT_EQ(ReadOne('"' + plain + "\""), plain);
    EXPECT_EQ(ReadOne('"' + plain + "\\n" + plain + "\""), plain + "\n" + plain);
    EXPECT_FALSE(IsWellFormed('"' + plain + "\x1F" + plain + "\""));
    EXPECT_FALSE(IsWellFormed('"' + plain + "\n\""));
  }
}

TEST(JsonReader, AllowsControlCharactersWhenAsked) {
  JsonReader reader("\"a\n\t\0b\""sv, {.allow_control_characters = true});
  std::string value;
  EXPECT_TRUE(reader.ReadString(value) && reader.Finish());
  EXPECT_EQ(value, "a\n\t\0b"s);
}

TEST(JsonReader, RefusesDeepNesting) {
  EXPECT_TRUE(IsWellFormed(std::string(128, '[') + std::string(128, ']')));
  EXPECT_FALSE(IsWellFormed(std::string(129, '[') + std::string(129, ']')));
  EXPECT_FALSE(IsWellFormed(std::string(1'000'000, '[')));
  // Siblings are not depth.
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "[{}],";
  EXPECT_TRUE(IsWellFormed(wide + "1]"));
}

TEST(JsonReader, ReadsNumbers) {
  const auto read_int = [](std::string_view text) -> std::optional<int64_t> {
    JsonReader reader(text);
    int64_t value = 0;
    if (!reader.ReadInt(value) || !reader.Finish()) return std::nullopt;
    return value;
  };
  EXPECT_EQ(read_int("0"), 0);
  EXPECT_EQ(read_int("-0"), 0);
  EXPECT_EQ(read_int(" 42 "), 42);
  EXPECT_EQ(read_int("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(read_int("-9223372036854775808"), INT64_MIN);
  for (const char* text :
       {"9223372036854775808", "1.0", "1e3", "01", "-", "+1", "--1", ".5", "", "1a"}) {
    EXPECT_EQ(read_int(text), std::nullopt) << text;
  }
}

TEST(JsonReader, ReadsDoubles) {
  const auto read = [](std::string_view text) -> std::optional<double> {
    JsonReader reader(text);
    double value = 0;
    if (!reader.ReadDouble(value) || !reader.Finish()) return std::nullopt;
    return value;
  };
  EXPECT_EQ(read("1"), 1.0);
  EXPECT_EQ(read("-0.25e+2"), -25.0);
  EXPECT_EQ(read("1E-2"), 0.01);
  EXPECT_EQ(read("1e-400"), 0.0);
  EXPECT_EQ(read("-1e-400"), -0.0);
  for (const char* text : {"1.", "1e", "1e+", ".1", "0x10", "NaN", "Infinity", "1e999", "00.1"}) {
    EXPECT_EQ(read(text), std::nullopt) << text;
  }
}

TEST(JsonReader, RefusesWhatIsNotJson) {
  for (const char* text : {"",           " ",
                           "{",          "}",
                           "[1,]",       "[,1]",
                           "[1 2]",      "[1",
                           "{\"a\"}",    "{\"a\":}",
                           "{\"a\":1,}", "{,}",
                           "{a:1}",      "{\"a\":1 \"b\":2}",
                           "{1:2}",      "tru",
                           "nul",        "falsee",
                           "'a'",        "\"",
                           "\"a",        "\"\\",
                           "1 2",        "[1]]",
                           "{} {}",      "[}",
                           "{]",         "[1}",
                           "// x\n1",    "\xEF\xBB\xBF[]",
                           "\f1"}) {
    EXPECT_FALSE(IsWellFormed(text)) << text;
  }
}

TEST(JsonReader, FinishRefusesAnOpenList) {
  JsonReader reader("[");
  EXPECT_TRUE(reader.BeginArray());
  EXPECT_FALSE(reader.Finish());
}

TEST(JsonReader, ErrorsNameThePlaceAndStay) {
  JsonReader reader(R"({"a": tru})");
  std::string key;
  ASSERT_TRUE(reader.BeginObject() && reader.NextKey(key));
  bool value = false;
  EXPECT_FALSE(reader.ReadBool(value));
  EXPECT_THAT(reader.error(), HasSubstr("at byte 6"));
  const std::string first = reader.error();
  EXPECT_FALSE(reader.NextKey(key));
  EXPECT_FALSE(reader.Skip());
  EXPECT_FALSE(reader.Finish());
  EXPECT_EQ(reader.error(), first);
  EXPECT_EQ(reader.Peek(), JsonType::kEnd);
}

TEST(JsonReader, ReadRawGivesTheBytesOfAValue) {
  JsonReader reader(R"( [ {"a" : [1, 2]} , "x\n" ] )");
  ASSERT_TRUE(reader.BeginArray() && reader.NextElement());
  std::string_view raw;
  ASSERT_TRUE(reader.ReadRaw(raw));
  EXPECT_EQ(raw, R"({"a" : [1, 2]})");
  ASSERT_TRUE(reader.NextElement() && reader.ReadRaw(raw));
  EXPECT_EQ(raw, R"("x\n")");
  EXPECT_FALSE(reader.NextElement());
  EXPECT_TRUE(reader.Finish());
}

TEST(JsonReader, TruncationAtEveryByteIsAnError) {
  const std::string sample =
      R"({"op":"relu \u00e4\ud83d\ude00\ud800","list":[1,-2.5e3,true,false,null,{}, [] ],"o":{"k":"v"}})";
  ASSERT_TRUE(IsWellFormed(sample));
  for (size_t size = 0; size < sample.size(); ++size) {
    // A copy of exactly that size, so that a sanitizer sees any read beyond it.
    const std::vector<char> cut(sample.begin(), sample.begin() + static_cast<long>(size));
    const std::string_view text(cut.data(), cut.size());
    EXPECT_FALSE(IsWellFormed(text)) << size;
    JsonReader reader(text);
    ReadTree(reader);
    EXPECT_FALSE(reader.Finish()) << size;
  }
}

std::string RandomText(std::mt19937& random) {
  std::string text;
  const size_t length = random() % 20;
  for (size_t i = 0; i < length; ++i) {
    constexpr char32_t kTop[] = {0x7F, 0x7FF, 0xD7FF, 0x10FFFF};
    char32_t c = random() % (kTop[random() % 4] + 1);
    if (c >= 0xD800 && c <= 0xDFFF) c = 'x';  // nlohmann refuses lone surrogates
    AppendUtf8(text, c);
  }
  return text;
}

Json RandomTree(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<int64_t>((uint64_t{random()} << 32) | random());
    case 3:
      return std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 100);
    case 4:
    case 5:
      return RandomText(random);
    case 6: {
      Json array = Json::array();
      for (size_t i = random() % 5; i > 0; --i) array.push_back(RandomTree(random, depth - 1));
      return array;
    }
    default: {
      Json object = Json::object();
      for (size_t i = random() % 5; i > 0; --i) {
        object[RandomText(random)] = RandomTree(random, depth - 1);
      }
      return object;
    }
  }
}

TEST(JsonReader, AgreesWithNlohmannOnRandomDocuments) {
  std::mt19937 random(20261115);
  for (int i = 0; i < 3000; ++i) {
    const Json expected = RandomTree(random, 6);
    const bool ascii = random() % 2 == 0;
    const std::string text = expected.dump(static_cast<int>(random() % 3) - 1, ' ', ascii);
    JsonReader reader(text);
    const Json got = ReadTree(reader);
    ASSERT_TRUE(reader.Finish()) << reader.error() << "\n" << text;
    ASSERT_EQ(got, expected) << text;
  }
}

TEST(JsonReader, AgreesWithNlohmannOnWhatIsWellFormed) {
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = RandomTree(random, 3).dump();
    // One byte replaced by a structural one: most results are broken, some are still JSON.
    constexpr std::string_view kBytes = "{}[],:\"\\0-1e.tn ";
    if (!text.empty()) text[random() % text.size()] = kBytes[random() % kBytes.size()];
    // nlohmann also refuses invalid UTF-8 and numbers out of range, which are not kerf's business
    // here.
    if (DetectEncoding(text) != TextEncoding::kUtf8) continue;
    Json::parser_callback_t keep = nullptr;
    const Json parsed = Json::parse(text, keep, /*allow_exceptions=*/false);
    const bool well_formed = !parsed.is_discarded();
    refused += well_formed ? 0 : 1;
    ASSERT_TRUE(!well_formed || IsWellFormed(text)) << text;
    // The reader accepts lone surrogate escapes by design, and numbers of any size.
    if (IsWellFormed(text) && !well_formed) {
      ASSERT_TRUE(text.find("\\u") != std::string::npos ||
                  text.find_first_of("eE") != std::string::npos)
          << text;
    }
  }
  EXPECT_GT(refused, 1000);
}

// Escapes of every kind at every distance from each other, from the end and from the borders of the
// blocks in which long strings are read.
TEST(JsonReader, AgreesWithNlohmannOnLongStringsWithEscapes) {
  constexpr std::string_view kPieces[] = {
      "\\n", "\\\"", "\\\\", "\\/", "\\t", "\\b", "\\f", "\\u00e9", "\\ud83d\\ude00", "\xC3\xA9"};
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    const size_t length = round % 100 == 0 ? 70000 + random() % 70000 : random() % 700;
    const size_t gap = 1 + random() % 100;
    std::string text = "\"";
    while (text.size() < length) {
      text.append(random() % gap, static_cast<char>('a' + random() % 26));
      text += kPieces[random() % (random() % 4 == 0 ? 10 : 3)];
    }
    text += '"';
    text.append(random() % 200, ' ');
    EXPECT_EQ(ReadOne(text), Json::parse(text).get<std::string>()) << text.substr(0, 300);
    if (HasFailure()) return;
  }
}

TEST(JsonReader, LongStringsThatBreakOffOrGoWrongAreErrors) {
  std::string text = "\"";
  while (text.size() < 400) text += "ab\\n";
  for (size_t length = 1; length < text.size(); ++length) {
    std::string value;
    JsonReader cut(std::string_view(text).substr(0, length));
    EXPECT_FALSE(cut.ReadString(value)) << length;
    for (const std::string_view wrong : {"\\x", "\n", "\\u12g4"}) {
      const std::string broken =
          text.substr(0, length) + std::string(wrong) + std::string(200, ' ');
      if (broken[length - 1] == '\\') continue;
      JsonReader reader(broken);
      EXPECT_FALSE(reader.ReadString(value)) << length;
      EXPECT_THAT(reader.error(), testing::Not(HasSubstr("unterminated")));
    }
  }
}

TEST(AppendJsonString, RoundTripsThroughTheReader) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text = RandomText(random);
    if (i % 3 == 0) AppendUtf8(text, 0xD800 + random() % 0x400);
    if (i % 5 == 0) text.insert(0, 1, '\0');
    std::string json;
    AppendJsonString(json, text);
    EXPECT_EQ(ReadOne(json), text);
  }
}

TEST(AppendJsonString, WritesWhatEveryParserAccepts) {
  std::string json;
  AppendJsonString(json, "a\"\\\n\r\t\x01\x7F\xFF ä\xED\xA0\x80"s);
  EXPECT_EQ(json, R"("a\"\\\n\r\t\u0001\u007f)"
                  "\xEF\xBF\xBD"
                  R"( ä\ud800")");
}

// The two ways of reading a string agree, wherever an escape or the end stands in a block.
void ExpectSameInPlace(const std::string& body) {
  const std::string text = "[\"" + body + "\", \"next\\n\", 7]";
  JsonReader copying(text);
  std::string changed = text;
  JsonReader changing{std::span<char>(changed)};
  std::string copied;
  Text in_place;
  copying.BeginArray();
  changing.BeginArray();
  copying.NextElement();
  changing.NextElement();
  const bool good = copying.ReadString(copied);
  ASSERT_EQ(changing.ReadInPlace(in_place), good) << text;
  EXPECT_EQ(copying.error(), changing.error());
  if (!good) return;
  EXPECT_EQ(in_place.view(), copied);
  const bool ascii = std::all_of(copied.begin(), copied.end(), [](char c) { return c >= 0; });
  EXPECT_TRUE(ascii || !in_place.known_ascii()) << copied;
  std::string next_copied;
  Text next;
  const bool goes_on = copying.NextElement() && copying.ReadString(next_copied);
  EXPECT_EQ(changing.NextElement() && changing.ReadInPlace(next), goes_on) << text;
  EXPECT_EQ(changing.error(), copying.error());
  EXPECT_TRUE(!goes_on || next.view() == next_copied);
  EXPECT_EQ(in_place.view(), copied) << "what comes after it leaves it alone";
}

TEST(JsonReader, InPlaceIsTheSameText) {
  for (const std::string piece :
       {"\\n", "\\\\", "\\\"", "\\\\\\\"", "\\\\\\\\", "\\u00e9", "\\ud83d\\ude00", "\\ud800",
        "\\x", "\n", "\xC3\xA9", "\xFF", "\\/\\b\\f\\r\\t", "\\", "\"", "\x7F"}) {
    for (size_t before = 0; before < 140; ++before) {
      ExpectSameInPlace(std::string(before, 'a') + piece + std::string(before % 67, 'b'));
    }
  }
}

TEST(JsonReader, InPlaceIsTheSameForRandomText) {
  static constexpr const char* kPieces[] = {"\\n",   "\\\\", "\\\"", "a",  "bcdefgh", "\\u4e2d",
                                            "\\ud8", "\\t",  "中",   "\\", "\"",      "\x80"};
  unsigned seed = 1;
  for (int turn = 0; turn < 4000; ++turn) {
    std::string body;
    const unsigned pieces = turn % 97;
    for (unsigned i = 0; i < pieces; ++i) {
      seed = seed * 1664525U + 1013904223U;
      // Mostly pieces that are well-formed.
      const unsigned choice = (seed >> 16) % 1000;
      body += kPieces[choice < 990 ? choice % 6 : choice % 12];
    }
    ExpectSameInPlace(body);
  }
}

}  // namespace
}  // namespace kerf
