// Dumps with each kind of damage: the message names the place, the slot, the claim and the truth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/dump/dump_args.h"
#include "replay/dump/dump_check.h"
#include "replay/dump/dump_reader.h"

namespace kerf::dump {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Dump OneRecord(const std::string& members) {
  auto dump =
      ParseDump(DumpFormat::kArgs, "d.json",
                R"({"bin_file":"args.bin","args":[{"task_id":"0x1","func_id":[4],"role":"input",)" +
                    members + "}]}");
  EXPECT_TRUE(dump.ok()) << (dump.ok() ? "" : dump.error().message);
  Dump result = dump.ok() ? *dump : Dump{};
  result.bin_bytes = 64;
  return result;
}

std::string Refused(const Dump& dump) {
  const auto args = ArgsFromDump(dump, dump.dispatches.at(0), {});
  return args.ok() ? "accepted" : args.error().message;
}

std::string Found(const Dump& dump) {
  std::string text;
  for (const Finding& finding : CheckDump(dump)) text += finding.where + ": " + finding.what + "\n";
  return text;
}

const std::string kGood =
    R"("arg_index":3,"kind":"tensor","dtype":"FLOAT32","shape":[8],"bin_offset":32,"bin_size":32)";

TEST(DumpDamage, ASoundRecordIsSound) {
  EXPECT_EQ(Refused(OneRecord(kGood)), "accepted");
  EXPECT_THAT(CheckDump(OneRecord(kGood)), IsEmpty());
}

TEST(DumpDamage, IsNamedWithSlotClaimAndTruth) {
  const std::pair<std::string, std::string> cases[] = {
      {kGood + R"(,"truncated":true)",
       "args[0]: slot 3: the payload was truncated: the shape needs 32 bytes, the dump holds 32"},
      {kGood + R"(,"overwritten":true)", "slot 3: the payload was overwritten"},
      {R"("arg_index":3,"kind":"tensor","dtype":"FLOAT32","shape":[8],"bin_size":28)",
       "slot 3: claims FLOAT32[8], which is 32 bytes; the payload has 28"},
      {R"("arg_index":3,"kind":"tensor","dtype":"FLOAT32","shape":[8],"bin_offset":40,"bin_size":32)",
       "slot 3: claims bytes 40 to 40+32 of args.bin, which has 64"},
      {R"("arg_index":3,"kind":"tensor","dtype":"FLOAT32","shape":[8],"bin_offset":18446744073709551615,"bin_size":32)",
       "which has 64"},
      {R"("arg_index":3,"kind":"tensor","dtype":"COMPLEX","shape":[8])",
       "slot 3: unknown dtype \"COMPLEX\""},
      {R"("arg_index":3,"kind":"tensor","shape":[8])", "slot 3: the dump has no dtype"},
      {R"("arg_index":3,"kind":"tensor","dtype":"FLOAT32","shape":[8,0])", "not positive"},
      {R"("arg_index":3,"kind":"tensor","dtype":"FLOAT32","shape":[])", "0 dimensions"},
      {R"("arg_index":3,"kind":"tensor","dtype":"FLOAT32","shape":[8],"strides":[1,1])",
       "1 extents and 2 strides"},
      {R"("arg_index":3,"kind":"tensor","dtype":"FLOAT32","shape":[9223372036854775807,9223372036854775807])",
       "more elements than fit"},
      {R"("arg_index":3,"kind":"tensor","dtype":"FLOAT32","shape":[8],"numel":9)",
       "slot 3: claims 9 elements; FLOAT32[8] has 8"},
      {R"("arg_index":3,"kind":"tensor","dtype":"FLOAT32","shape":[2,4],"strides":[6,1],"is_contiguous":true)",
       "spans 10 elements and has 8"},
      {R"("arg_index":77,"kind":"tensor","dtype":"FLOAT32","shape":[8])",
       "Arg index 77 exceeds max slots (50)"},
  };
  for (const auto& [members, expected] : cases) {
    EXPECT_THAT(Refused(OneRecord(members)), HasSubstr(expected)) << members;
    EXPECT_THAT(Found(OneRecord(members)), HasSubstr(expected)) << members;
  }
}

TEST(DumpDamage, AMissingPayloadFileIsDamage) {
  Dump dump = OneRecord(kGood);
  dump.bin_missing = true;
  EXPECT_THAT(Refused(dump), HasSubstr("the payload file args.bin is not there"));
  EXPECT_THAT(Found(dump), HasSubstr("names the payload file args.bin, which is not there"));
}

TEST(DumpDamage, AnUnknownFormOfPayloadsIsRefused) {
  Dump dump = OneRecord(kGood);
  dump.bin_format = "strided";
  EXPECT_THAT(Refused(dump), HasSubstr("bin_format \"strided\" is not known"));
}

TEST(DumpDamage, OneSlotTwiceIsRefused) {
  const std::string record =
      R"({"task_id":"0x1","arg_index":3,"kind":"tensor","dtype":"INT8","shape":[8]})";
  auto twice =
      ParseDump(DumpFormat::kArgs, "d.json", R"({"args":[)" + record + "," + record + "]}");
  EXPECT_THAT(Refused(*twice),
              HasSubstr("args[1]: Duplicate arg index 3: also at d.json: args[0]"));
  EXPECT_THAT(Found(*twice), HasSubstr("Duplicate arg index 3"));
  auto both = ParseDump(
      DumpFormat::kArgs, "d.json",
      R"({"args":[)" + record +
          R"(,{"task_id":"0x1","arg_index":3,"kind":"scalar","dtype":"INT32","value":1,"stage":"after_completion"}]})");
  EXPECT_THAT(Refused(*both), HasSubstr("args[1]: slot 3 is a scalar here and not at d.json"));
  EXPECT_THAT(Found(*both), HasSubstr("slot 3 is a scalar here and not at d.json: args[0]"));
}

TEST(DumpDamage, BothStagesOfASlotAreOneTensor) {
  const auto with = [](const std::string& after) {
    auto dump = ParseDump(
        DumpFormat::kArgs, "d.json",
        R"({"args":[{"task_id":"0x1","arg_index":2,"kind":"tensor","role":"inout","dtype":"FLOAT32","shape":[8]},)"
        R"({"task_id":"0x1","arg_index":2,"kind":"tensor","role":"inout","stage":"after_completion",)" +
            after + "}]}");
    EXPECT_TRUE(dump.ok());
    return dump.ok() ? *dump : Dump{};
  };
  EXPECT_EQ(Refused(with(R"("dtype":"FLOAT32","shape":[8])")), "accepted");
  for (const char* other : {R"("dtype":"FLOAT32","shape":[16])", R"("dtype":"INT32","shape":[8])",
                            R"("dtype":"FLOAT32","shape":[8],"start_offset":4)"}) {
    const std::string expected = "and FLOAT32[8] at d.json: args[0]";
    EXPECT_THAT(Refused(with(other)), HasSubstr(expected)) << other;
    EXPECT_THAT(Found(with(other)), HasSubstr(expected)) << other;
  }
}

TEST(DumpDamage, CountsByStageAndRoleMustAgree) {
  const auto found = [](const std::string& header) {
    const auto dump = ParseDump(
        DumpFormat::kArgs, "d.json",
        "{" + header +
            R"("args":[{"task_id":"0x1","arg_index":0,"dtype":"INT8","shape":[8]},)"
            R"({"task_id":"0x1","arg_index":1,"role":"output","stage":"after_completion","dtype":"INT8","shape":[8]}]})");
    return dump.ok() ? Found(*dump) : dump.error().message;
  };
  EXPECT_EQ(found(R"("total_args":2,"before_dispatch":1,"after_completion":1,"input_args":1,)"
                  R"("output_args":1,"inout_args":0,)"),
            "");
  EXPECT_THAT(found(R"("after_completion":2,)"),
              HasSubstr("after_completion claims 2 records; the file holds 1"));
  EXPECT_THAT(found(R"("inout_args":1,)"),
              HasSubstr("inout_args claims 1 records; the file holds 0"));
}

TEST(DumpDamage, CountsMustAgree) {
  auto dump = ParseDump(
      DumpFormat::kArgs, "d.json",
      R"({"total_args":2,"dropped_records":1,"truncated_args":3,"dropped_overwrite":4,"args":[]})");
  const std::string found = Found(*dump);
  EXPECT_THAT(found, HasSubstr("total_args claims 2 records; the file holds 0"));
  EXPECT_THAT(found, HasSubstr("1 records were dropped"));
  EXPECT_THAT(found, HasSubstr("3 payloads were truncated"));
  EXPECT_THAT(found, HasSubstr("4 payloads were overwritten"));
}

TEST(DumpDamage, WrongFormIsRefusedWithItsPath) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"args":3})", "d.json: args: must be a list"},
      {R"({})", "d.json: \"args\" is missing"},
      {R"({"args":[{}]})", "args[0]: \"task_id\" is missing"},
      {R"({"args":[{"task_id":"0x1"}]})", "args[0]: \"arg_index\" is missing"},
      {R"({"args":[{"task_id":"zz","arg_index":0}]})", "args[0].task_id: is no task id"},
      {R"({"args":[{"task_id":"0x1","arg_index":0,"stage":"later"}]})",
       "args[0].stage: is no stage"},
      {R"({"args":[{"task_id":"0x1","arg_index":0,"role":"x"}]})", "args[0].role: is no role"},
      {R"({"args":[{"task_id":"0x1","arg_index":0,"kind":"x"}]})",
       "args[0].kind: Unknown arg kind: x"},
      {R"({"args":[{"task_id":"0x1","arg_index":0,"kind":"scalar","dtype":"INT32","value":0.5}]})",
       "args[0]: value: 0.5 is no whole number"},
      {R"({"bin_file":"../x","args":[]})", "must be a plain file name"},
      {R"({"bin_format":{"byte_order":"big_endian"},"args":[]})",
       "byte_order \"big_endian\" is not known"},
      {"[1]", "must be an object"},
  };
  for (const auto& [text, expected] : cases) {
    const auto dump = ParseDump(DumpFormat::kArgs, "d.json", text);
    ASSERT_FALSE(dump.ok()) << text;
    EXPECT_THAT(dump.error().message, HasSubstr(expected)) << text;
  }
}

}  // namespace
}  // namespace kerf::dump
