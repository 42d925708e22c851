#include "trace/journal_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"

namespace kerf::trace {
namespace {

using ::testing::HasSubstr;

JournalLine FullLine() {
  JournalLine line;
  line.seq = 4;
  line.batch = "9c1d2f0a77e6b3c1";
  line.verify_res = "False";
  Step& step = line.step;
  step.task = "task \"0\"\\ 中";
  step.step = 3;
  step.kind = RecordKind::kConductor;
  step.action = "VERIFY";
  step.check = "AnalyzeError";
  step.attempt = 2;
  step.names = "doc";
  step.time = "2026-11-15T03:29:31.123456Z";
  step.files = {
      {"conductor/I0_S03_swish_AnalyzeError_2_result.txt", 5, std::string(64, 'a'), "utf-8"},
      {"I0_S03_swish_VERIFY_error_log.txt", 0, std::string(64, 'b'), "bytes"}};
  step.redacted = {{"OPENAI_API_KEY", 1}, {"pattern 1", 22}};
  step.reply_frame = R"({"code_bytes":3})";
  step.meta = R"({"duration_ms":812,"nested":{"a":[1,null,"x"]}})";
  step.recovered = true;
  return line;
}

// The line's text with a checksum that fits, so that the checks behind it are reached.
std::string WithSum(const std::string& body) {
  return body + ",\"sum\":\"" + Hex64(Xxh3(body)) + "\"}";
}

std::string RecordBody(const std::string& members) {
  return R"({"v":1,"kind":"record","seq":1,"batch":"b","task":"0","step":1,"record":"verifier",)"
         R"("action":"VERIFY","names":"doc")" +
         members;
}

TEST(JournalLine, RoundTripsEveryField) {
  const JournalLine line = FullLine();
  const std::string text = EncodeLine(line);
  ASSERT_TRUE(text.ends_with('\n'));
  const Result<JournalLine> read = DecodeLine(std::string_view(text).substr(0, text.size() - 1));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->kind, line.kind);
  EXPECT_EQ(read->seq, 4);
  EXPECT_EQ(read->batch, line.batch);
  EXPECT_EQ(read->verify_res, "False");
  const Step& step = read->step;
  EXPECT_EQ(step.task, line.step.task);
  EXPECT_EQ(step.step, 3);
  EXPECT_EQ(step.kind, RecordKind::kConductor);
  EXPECT_EQ(step.action, "VERIFY");
  EXPECT_EQ(step.check, "AnalyzeError");
  EXPECT_EQ(step.attempt, 2);
  EXPECT_EQ(step.names, "doc");
  EXPECT_EQ(step.time, line.step.time);
  ASSERT_EQ(step.files.size(), 2U);
  EXPECT_EQ(step.files[0].name, line.step.files[0].name);
  EXPECT_EQ(step.files[0].bytes, 5U);
  EXPECT_EQ(step.files[0].sha256, std::string(64, 'a'));
  EXPECT_EQ(step.files[1].encoding, "bytes");
  ASSERT_EQ(step.redacted.size(), 2U);
  EXPECT_EQ(step.redacted[1].what, "pattern 1");
  EXPECT_EQ(step.redacted[1].count, 22);
  EXPECT_EQ(step.reply_frame, line.step.reply_frame);
  EXPECT_EQ(step.meta, line.step.meta);
  EXPECT_TRUE(step.recovered);
  EXPECT_TRUE(step.journaled);
}

TEST(JournalLine, EncodingAgainGivesTheSameBytes) {
  const std::string text = EncodeLine(FullLine());
  const Result<JournalLine> read = DecodeLine(std::string_view(text).substr(0, text.size() - 1));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(EncodeLine(*read), text);
}

TEST(JournalLine, ShortKindsRoundTrip) {
  for (const LineKind kind : {LineKind::kCommit, LineKind::kAbandon, LineKind::kRepair}) {
    JournalLine line;
    line.kind = kind;
    line.seq = 7;
    line.batch = "x";
    const std::string text = EncodeLine(line);
    const Result<JournalLine> read = DecodeLine(std::string_view(text).substr(0, text.size() - 1));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->kind, kind);
    EXPECT_EQ(read->seq, 7);
    EXPECT_EQ(read->batch, "x");
  }
}

TEST(JournalLine, IsOneLineWhateverTheFieldsHold) {
  JournalLine line = FullLine();
  line.step.task = "a\nb\r\x01";
  line.verify_res = "x\n";
  const std::string text = EncodeLine(line);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

TEST(JournalLine, EverySingleByteChangeIsDetected) {
  const std::string text = EncodeLine(FullLine());
  const std::string line = text.substr(0, text.size() - 1);
  for (size_t i = 0; i < line.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      if (static_cast<char>(value) == line[i]) continue;
      std::string changed = line;
      changed[i] = static_cast<char>(value);
      ASSERT_FALSE(DecodeLine(changed).ok()) << "byte " << i << " value " << value;
    }
  }
}

TEST(JournalLine, EveryMissingByteIsDetected) {
  const std::string text = EncodeLine(FullLine());
  const std::string line = text.substr(0, text.size() - 1);
  for (size_t i = 0; i < line.size(); ++i) {
    ASSERT_FALSE(DecodeLine(line.substr(0, i)).ok()) << "cut at " << i;
    ASSERT_FALSE(DecodeLine(line.substr(0, i) + line.substr(i + 1)).ok()) << "without " << i;
  }
}

TEST(JournalLine, ANewerVersionIsNotCalledDamage) {
  const Result<JournalLine> read =
      DecodeLine(WithSum(R"({"v":2,"kind":"record","seq":1,"batch":"b")"));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(read.error().message, HasSubstr("newer kerf"));
}

TEST(JournalLine, AnUnknownKindIsOfANewerKerf) {
  const Result<JournalLine> read =
      DecodeLine(WithSum(R"({"v":1,"kind":"seal","seq":1,"batch":"b")"));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kUnavailable);
}

TEST(JournalLine, UnknownMembersAreSkipped) {
  const Result<JournalLine> read =
      DecodeLine(WithSum(RecordBody(R"(,"files":[],"later":{"x":[1]})")));
  ASSERT_TRUE(read.ok()) << read.error().message;
}

class HostileFileName : public ::testing::TestWithParam<const char*> {};

// Names lead to reads and removals.
TEST_P(HostileFileName, IsRefused) {
  const std::string name = GetParam();
  const Result<JournalLine> read =
      DecodeLine(WithSum(RecordBody(R"(,"files":[{"name":")" + name + R"("}])")));
  ASSERT_FALSE(read.ok()) << name;
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
}

INSTANTIATE_TEST_SUITE_P(JournalLine, HostileFileName,
                         ::testing::Values("", ".", "..", "/etc/passwd", "../x", "conductor/",
                                           "conductor/..", "conductor/../x", "recorder/.",
                                           "conductor/conductor/x", "a/b", "journal.jsonl",
                                           "x\\u0000y", "conductor", "recorder", "I0_S02_verify/x",
                                           ".\\u002e", "\\u002fetc"));

class HostileNumber : public ::testing::TestWithParam<std::string> {};

// Numbers are counted on from; those no recorder writes would overflow.
TEST_P(HostileNumber, IsRefused) {
  const Result<JournalLine> read = DecodeLine(WithSum(GetParam()));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
}

INSTANTIATE_TEST_SUITE_P(
    JournalLine, HostileNumber,
    ::testing::Values(R"({"v":1,"kind":"commit","seq":9223372036854775807,"batch":"b")",
                      R"({"v":1,"kind":"commit","seq":0,"batch":"b")",
                      R"({"v":1,"kind":"commit","seq":-1,"batch":"b")",
                      R"({"v":1,"kind":"commit","batch":"b")",
                      R"({"v":0,"kind":"commit","seq":1,"batch":"b")",
                      R"({"kind":"commit","seq":1,"batch":"b")", RecordBody(R"(,"step":-1)"),
                      RecordBody(R"(,"step":9223372036854775807)"),
                      RecordBody(R"(,"step":1000000000)"), RecordBody(R"(,"attempt":0)"),
                      RecordBody(R"(,"attempt":9223372036854775807)"),
                      RecordBody(R"(,"files":[{"name":"x","bytes":-1}])")));

TEST(JournalLine, ARecordOfUnknownKindIsRefused) {
  const Result<JournalLine> read = DecodeLine(
      WithSum(R"({"v":1,"kind":"record","seq":1,"batch":"b","task":"0","step":1,"record":"x")"));
  EXPECT_FALSE(read.ok());
}

TEST(JournalLine, ARecordWithoutTaskIsRefused) {
  const Result<JournalLine> read = DecodeLine(
      WithSum(R"({"v":1,"kind":"record","seq":1,"batch":"b","step":1,"record":"verifier")"));
  EXPECT_FALSE(read.ok());
}

// Its name becomes part of file names.
TEST(JournalLine, ATaskThatLeadsElsewhereIsRefused) {
  for (const char* task : {"../x", "/x", "a/b", "x\\u0000y"}) {
    const Result<JournalLine> read =
        DecodeLine(WithSum(std::string(R"({"v":1,"kind":"record","seq":1,"batch":"b","task":")") +
                           task + R"(","step":1,"record":"verifier")"));
    ASSERT_FALSE(read.ok()) << task;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  }
}

TEST(JournalLine, ALineThatIsNotUtf8IsRefused) {
  const Result<JournalLine> read =
      DecodeLine(WithSum("{\"v\":1,\"kind\":\"commit\",\"seq\":1,\"batch\":\"\xFF\""));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
}

TEST(JournalLine, DeepNestingIsRefused) {
  const std::string deep(100'000, '[');
  EXPECT_FALSE(
      DecodeLine(WithSum(R"({"v":1,"kind":"commit","seq":1,"batch":"b","x":)" + deep)).ok());
}

TEST(JournalLine, TakesTheVerdictFromTheShortResult) {
  const Result<JournalLine> read =
      DecodeLine(WithSum(RecordBody(R"(,"verify_res":"True","files":[])")));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->step.verification, Verification::kPassed);
}

}  // namespace
}  // namespace kerf::trace
