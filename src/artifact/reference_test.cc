#include "artifact/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/fake_file_system.h"

namespace kerf {
namespace {

using ::testing::HasSubstr;

// One case with two inputs, a parameter, one output and its oracle.
std::string Manifest() {
  return R"({"format": "kerf-reference", "version": 1, "task_sha256": "ab", "framework": "torch",
 "framework_version": "2.13.0+cpu", "python": "3.11.2", "dynamic": true, "threads": 2,
 "hidden_note": "one variant", "notes": ["changes input0"],
 "init": [{"name": "init0", "kind": "int", "value": 512}],
 "cases": [{"seed": 7, "variant": 1, "hidden": true,
   "input_file": "case-0.in", "output_file": "case-0.out",
   "inputs": [{"name": "input0", "kind": "tensor", "dtype": "bfloat16", "shape": [2, 3], "offset": 0},
              {"name": "input1", "value": ["-inf", 1, 0.5], "kind": "floats"}],
   "parameters": [{"name": "w", "kind": "tensor", "dtype": "float32", "shape": [4], "offset": 64}],
   "outputs": [{"name": "output0", "dtype": "float32", "shape": [2, 3], "offset": 0}],
   "oracle": [{"dtype": "float64", "shape": [2, 3], "offset": 64}],
   "oracle_note": "", "lower": [null], "lower_precision": "", "reference_ns": 81000,
   "operations": 4096.0}],
 "baselines": [{"name": "eager", "samples_ns": [3, 4]}, {"name": "torch.compile", "error": "no"}],
 "checks": {"deterministic": true, "note": "",
            "influence": [{"name": "input0", "changes_output": true}]}, "later": {"a": [1]}})";
}

std::string With(const std::string& from, const std::string& to) {
  std::string text = Manifest();
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string WhyNot(const std::string& text) {
  const Result<Reference> reference = ParseManifest(text);
  if (reference.ok()) return "";
  EXPECT_EQ(reference.error().code, ErrorCode::kCorrupt);
  return reference.error().message;
}

void WriteFile(FileSystem& fs, const std::string& path, const std::string& bytes) {
  ASSERT_TRUE((*fs.OpenNew(path))->Write(bytes).ok());
}

TEST(ParseManifest, ReadsEveryMember) {
  const Result<Reference> reference = ParseManifest(Manifest());
  ASSERT_TRUE(reference.ok()) << reference.error().message;
  EXPECT_EQ(reference->framework_version, "2.13.0+cpu");
  EXPECT_TRUE(reference->dynamic);
  EXPECT_EQ(reference->threads, 2);
  EXPECT_EQ(reference->hidden_note, "one variant");
  EXPECT_THAT(reference->notes, ::testing::ElementsAre("changes input0"));
  EXPECT_THAT(reference->init.at(0).ints, ::testing::ElementsAre(512));
  const ReferenceCase& one = reference->cases.at(0);
  EXPECT_EQ(one.seed, 7);
  EXPECT_TRUE(one.hidden);
  EXPECT_EQ(one.inputs.at(0).tensor.spec.ToString(), "bfloat16[2, 3]");
  EXPECT_TRUE(std::isinf(one.inputs.at(1).floats.at(0)));
  EXPECT_EQ(one.parameters.at(0).tensor.offset, 64);
  EXPECT_EQ(one.oracle.at(0)->spec.dtype, DType::kFloat64);
  EXPECT_FALSE(one.lower.at(0).has_value());
  EXPECT_EQ(one.operations, 4096);
  EXPECT_EQ(reference->baselines.at(1).error, "no");
  EXPECT_TRUE(reference->checks->influence.at(0).changes_output);
}

TEST(ParseManifest, RefusesOtherDocuments) {
  EXPECT_THAT(WhyNot("{}"), HasSubstr("no manifest"));
  EXPECT_THAT(WhyNot("[]"), HasSubstr("manifest of a reference"));
  EXPECT_THAT(WhyNot(With("\"version\": 1", "\"version\": 2")), HasSubstr("version 2"));
  EXPECT_NE(WhyNot(Manifest().substr(0, 300)), "");
  EXPECT_NE(WhyNot(Manifest() + "x"), "");
}

TEST(ParseManifest, RefusesFileNamesThatLeadElsewhere) {
  EXPECT_THAT(WhyNot(With("case-0.in", "../secret")), HasSubstr("no file name"));
  EXPECT_THAT(WhyNot(With("case-0.in", "/etc/passwd")), HasSubstr("no file name"));
  EXPECT_THAT(WhyNot(With("case-0.in", "..")), HasSubstr("no file name"));
  EXPECT_THAT(WhyNot(With("case-0.in", "case-0.out")), HasSubstr("two cases"));
}

TEST(ParseManifest, RefusesTensorsThatCannotBe) {
  EXPECT_THAT(WhyNot(With("[2, 3]", "[4611686018427387904, 4]")), HasSubstr("shape"));
  EXPECT_THAT(WhyNot(With("[2, 3]", "[-1, 3]")), HasSubstr("shape"));
  EXPECT_THAT(WhyNot(With("bfloat16", "float31")), HasSubstr("float31"));
  EXPECT_THAT(WhyNot(With("\"dtype\": \"bfloat16\", ", "")), HasSubstr("no dtype"));
  EXPECT_THAT(WhyNot(With("\"offset\": 64", "\"offset\": 60")), HasSubstr("not aligned"));
  EXPECT_THAT(WhyNot(With("\"offset\": 64", "\"offset\": 0")), HasSubstr("before it"));
  EXPECT_THAT(WhyNot(With("\"offset\": 64", "\"offset\": -64")), HasSubstr("negative"));
}

TEST(ParseManifest, RefusesValuesThatAreNotOfTheirKind) {
  EXPECT_THAT(WhyNot(With("\"value\": 512", "\"value\": 1.5")), HasSubstr("init0"));
  EXPECT_THAT(WhyNot(With("\"value\": 512", "\"other\": 1")), HasSubstr("init0"));
  EXPECT_THAT(WhyNot(With("\"kind\": \"int\"", "\"kind\": \"long\"")), HasSubstr("long"));
  EXPECT_THAT(WhyNot(With("\"-inf\"", "\"big\"")), HasSubstr("input1"));
}

TEST(ParseManifest, RefusesAnOracleThatDoesNotFitItsOutput) {
  EXPECT_THAT(WhyNot(With("\"float64\"", "\"float32\"")), HasSubstr("oracle of float32[2, 3]"));
  EXPECT_THAT(WhyNot(With("\"lower\": [null]", "\"lower\": []")), HasSubstr("0 lower"));
  const auto conditioned = [](const std::string& entries) {
    return With("\"lower\": [null]", "\"lower\": [null], \"condition\": " + entries);
  };
  EXPECT_THAT(WhyNot(conditioned("[null, null]")), HasSubstr("2 conditions"));
  EXPECT_THAT(WhyNot(conditioned(R"([{"dtype": "float64", "shape": [2, 3], "offset": 4096}])")),
              HasSubstr("condition of float32[2, 3]"));
}

TEST(ParseManifest, LetsIntegersBeTheirOwnOracle) {
  EXPECT_EQ(OracleType(DType::kInt64), DType::kInt64);
  EXPECT_EQ(OracleType(DType::kBFloat16), DType::kFloat64);
  EXPECT_EQ(OracleType(DType::kComplex64), DType::kComplex128);
}

TEST(ReadReference, TellsMissingFromCorrupt) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("r").ok());
  EXPECT_EQ(ReadReference(fs, "r").error().code, ErrorCode::kNotFound);
  WriteFile(fs, "r/manifest.json", "{");
  EXPECT_EQ(ReadReference(fs, "r").error().code, ErrorCode::kCorrupt);
}

TEST(ReadReference, ChecksThatTensorsLieInTheirFiles) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("r").ok());
  WriteFile(fs, "r/manifest.json", Manifest());
  EXPECT_THAT(ReadReference(fs, "r").error().message, HasSubstr("case-0.in is missing"));
  WriteFile(fs, "r/case-0.in", std::string(80, 'x'));
  WriteFile(fs, "r/case-0.out", std::string(111, 'x'));
  EXPECT_THAT(ReadReference(fs, "r").error().message, HasSubstr("ends at 112, the file at 111"));
  ASSERT_TRUE(fs.Remove("r/case-0.out").ok());
  WriteFile(fs, "r/case-0.out", std::string(112, 'x'));
  const Result<Reference> reference = ReadReference(fs, "r");
  ASSERT_TRUE(reference.ok()) << reference.error().message;
  EXPECT_EQ(reference->cases.at(0).output_file, "r/case-0.out");
}

TEST(ReadReference, DoesNotFollowLinks) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("r").ok());
  WriteFile(fs, "r/manifest.json", Manifest());
  fs.AddSymlink("r/case-0.in", "/etc/passwd");
  EXPECT_THAT(ReadReference(fs, "r").error().message, HasSubstr("no regular file"));
}

}  // namespace
}  // namespace kerf
