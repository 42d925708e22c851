#include "dataset/schema.h"

#include <gtest/gtest.h>

#include "dataset/diagnosis.h"
#include "dataset/language.h"
#include "dataset/performance.h"

namespace kerf::dataset {
namespace {

JsonlRecord Line(std::string_view text) {
  RecordCursor cursor(text);
  JsonlRecord record;
  EXPECT_TRUE(ReadJsonlRecord(cursor, record)) << text;
  return record;
}

MemRecord Mem(std::string_view text) {
  RecordCursor cursor(text);
  MemRecord record;
  EXPECT_TRUE(ReadMemRecord(cursor, record)) << text;
  return record;
}

TEST(JsonlSchema, TellsEveryVariant) {
  const auto variant = [](const char* text) { return JsonlSchema(Line(text)).variant; };
  EXPECT_EQ(
      variant(R"({"instruction":"i","label":"l","filename":"a.py","test_code":"t","predict":"p"})"),
      "tritonbench_v1");
  EXPECT_EQ(
      variant(
          R"({"instruction":"i","label":"l","file":"a.py","target_kernel_name":"k","predict":"p"})"),
      "rocm_v1");
  EXPECT_EQ(
      variant(R"({"instruction":"i","label":"l","filename":"a.py","predict":"p","speedup":1.0})"),
      "tritonbench_v2");
  EXPECT_EQ(
      variant(
          R"({"instruction":"i","label":"l","file":"a.py","predict":"p","speedup":0.0,"target_kernel_name":"k"})"),
      "rocm_v2");
  EXPECT_EQ(
      variant(
          R"({"instruction":"i","label":"vecadd","filename":"/b/a.hip","test_code":"#include <x>","predict":"p"})"),
      "hipbench");
  EXPECT_EQ(variant(R"({"prompt":"i","label":"","predict":""})"), "model_output");
  EXPECT_EQ(variant(R"({"label":"l","filename":"a.py","test_code":"t"})"), "classified");
  EXPECT_EQ(variant(R"({"instruction":"i","input":"","output":"o","file":"a.py","difficulty":2})"),
            "alpaca");
  EXPECT_EQ(variant(R"({"instruction":"i","label":null,"filename":"a.py","predict":"p"})"),
            "tritonbench_v1");
  EXPECT_EQ(variant(R"({"x":1})"), "unknown");
}

TEST(MemSchema, TellsEveryVariant) {
  EXPECT_EQ(
      MemSchema(Mem(R"({"call_err_msg":"None","ms":null,"efficiency":null})"), nullptr).variant,
      "A");
  EXPECT_EQ(
      MemSchema(Mem(R"({"err_msg":"","reflection":"","oneshot":"","pass_call":true})"), nullptr)
          .variant,
      "D");
  const char* ga =
      R"({"call_err_msg":"None","exe_err_msg":"None","temp_strategy":null,"perf_candidates":
                       [["slow",3.0,1.0,"r",null],["fast",2.0,1.5,"r",null]]})";
  EXPECT_EQ(MemSchema(Mem(ga), nullptr).variant, "B or C");
  const JsonlRecord speedup = Line(R"({"filename":"a","predict":"x","speedup":0.0})");
  EXPECT_EQ(MemSchema(Mem(ga), &speedup).variant, "C");
  const JsonlRecord last = Line(R"({"filename":"a","predict":"fast"})");
  EXPECT_EQ(MemSchema(Mem(ga), &last).variant, "B");
  const JsonlRecord first = Line(R"({"filename":"a","predict":"slow"})");
  EXPECT_EQ(MemSchema(Mem(ga), &first).variant, "C");
  EXPECT_EQ(MemSchema(Mem(R"({"exe_err_msg":"boom","temp_strategy":"s"})"), nullptr).variant, "C");
  EXPECT_EQ(MemSchema(Mem("{}"), nullptr).variant, "unknown");
}

Performance Judge(const char* mem, const char* line) {
  const JsonlRecord record = Line(line);
  return JudgePerformance(Mem(mem), &record);
}

TEST(JudgePerformance, TellsTheDirectionOnlyWhereItIsProven) {
  const char* two = R"({"perf_candidates":[["a",1.31,0.0,"r",null],["b",1.08,0.0,"r",null]]})";
  Performance found = Judge(two, R"({"predict":"zzz","speedup":1.31})");
  EXPECT_EQ(found.direction, Direction::kHigher);
  EXPECT_EQ(found.best, 1U);
  found = Judge(two, R"({"predict":"b"})");
  EXPECT_EQ(found.direction, Direction::kLower);
  EXPECT_EQ(found.best, 2U);
  found = Judge(two, R"({"predict":"zzz"})");
  EXPECT_EQ(found.direction, Direction::kUndecidable);
  EXPECT_EQ(found.best, 0U);
  found = Judge(R"({"ms":1.0,"perf_candidates":[["a",3.0,1,"r"],["b",2.0,1,"r"]]})",
                R"({"predict":"z"})");
  EXPECT_EQ(found.direction, Direction::kLower);
  EXPECT_EQ(found.best, 2U);
  EXPECT_EQ(
      Judge(R"({"perf_candidates":[["a",0,0,"r"]]})", R"({"predict":"a","speedup":0.0})").direction,
      Direction::kUnmeasured);
  EXPECT_EQ(Judge(R"({"perf_candidates":[]})", "{}").direction, Direction::kNone);
  found = Judge(R"({"ms":1.0,"perf_candidates":[["a",1.1,1,"r"],["b",1.4,1,"r"]]})",
                R"({"file":"a","target_kernel_name":"k","predict":""})");
  EXPECT_EQ(found.direction, Direction::kHigher);
  EXPECT_EQ(found.best, 2U);
}

TEST(MemRecord, ReadsEveryShapeOfCandidate) {
  const MemRecord record =
      Mem(R"({"perf_candidates":[["c1",1.5,2.5,"r1"],["c2",1.5,0.0,"r2",{"p":1}],
      [["c3",[1.0,2.0],[0.5]],[1.0,2.0],[0.5],"r3",null],["c4"]]})");
  ASSERT_EQ(record.candidates.size(), 4U);
  EXPECT_EQ(record.candidates[0].code.raw, "c1");
  EXPECT_EQ(record.candidates[0].numbers.size(), 2U);
  EXPECT_EQ(record.candidates[1].report.raw, "r2");
  EXPECT_EQ(record.candidates[1].numbers.size(), 2U);
  EXPECT_EQ(record.candidates[2].code.raw, "c3");
  EXPECT_EQ(record.candidates[2].numbers[0].raw, "[1.0,2.0]");
  EXPECT_TRUE(record.candidates[3].known);
  EXPECT_FALSE(MeasureOf(record.candidates[3]).has_value());
}

TEST(DiagnoseText, FindsTheFirstTellingLine) {
  const auto kind = [](const char* text) { return DiagnoseText(text, "s").kind; };
  const Diagnosis found = DiagnoseText(
      "[1/2] hipcc -c x.cpp\nx.cpp:12:3: error: no matching function\n"
      "y.cpp:1:1: error: other\nRuntimeError: Error building extension 'x'",
      "call_err_msg");
  EXPECT_EQ(found.kind, DiagnosisKind::kCompileError);
  EXPECT_EQ(found.line, "x.cpp:12:3: error: no matching function");
  EXPECT_EQ(found.rule, ": error:");
  EXPECT_EQ(kind("AttributeError: module 'm' has no attribute 'call_kernel'"),
            DiagnosisKind::kSymbolError);
  EXPECT_EQ(kind("AttributeError: 'Tensor' object has no attribute 'x'"),
            DiagnosisKind::kRuntimeError);
  EXPECT_EQ(kind("NameError: name 'f' is not defined"), DiagnosisKind::kSymbolError);
  EXPECT_EQ(kind("RuntimeError: HIP error: invalid configuration argument"),
            DiagnosisKind::kLaunchFailure);
  EXPECT_EQ(kind("Generated output does not match reference output for file: a"),
            DiagnosisKind::kWrongResult);
  EXPECT_EQ(kind("Generated output is None"), DiagnosisKind::kNoOutput);
  EXPECT_EQ(kind("Time out"), DiagnosisKind::kTimeout);
  EXPECT_EQ(kind("torch.OutOfMemoryError: HIP out of memory"), DiagnosisKind::kOutOfMemory);
  EXPECT_EQ(kind("TypeError: f() takes 2 arguments"), DiagnosisKind::kRuntimeError);
  EXPECT_EQ(kind("something else"), DiagnosisKind::kUnknown);
  EXPECT_EQ(DiagnoseText("\n\n  something else \nx", "s").line, "something else");
  EXPECT_EQ(kind(" \n"), DiagnosisKind::kNone);
}

TEST(DiagnoseText, PrefersTheMoreTellingOfTwoTexts) {
  const Diagnosis vague = DiagnoseText("failed to test the code due to: x", "call_err_msg");
  const Diagnosis clear = DiagnoseText("Time out", "exe_err_msg");
  EXPECT_EQ(MoreTelling(vague, clear).source, "exe_err_msg");
  EXPECT_EQ(MoreTelling(clear, vague).source, "exe_err_msg");
  EXPECT_EQ(MoreTelling(clear, clear).source, "exe_err_msg");
}

TEST(DetectLanguage, TellsByWords) {
  EXPECT_EQ(DetectLanguage("import triton\n@triton.jit"), Language::kTriton);
  EXPECT_EQ(DetectLanguage("#include <hip/hip_runtime.h>\n__global__ void f()"), Language::kHip);
  EXPECT_EQ(DetectLanguage("#include <cuda_runtime.h>\n__global__ void f()"), Language::kCuda);
  EXPECT_EQ(DetectLanguage("#include <torch/extension.h>\nPYBIND11_MODULE(x, m) {}"),
            Language::kCpp);
  EXPECT_EQ(DetectLanguage("__global__ void f()"), Language::kHip);
  EXPECT_EQ(DetectLanguage("import torch\ndef f(): pass"), Language::kPython);
  EXPECT_EQ(DetectLanguage("words"), Language::kUnknown);
}

}  // namespace
}  // namespace kerf::dataset
