#include "trace/export.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "trace/export_atif.h"
#include "trace/export_chrome.h"
#include "trace/export_otlp.h"
#include "trace/recorded_run.h"
#include "trace/text_diff.h"

namespace kerf::trace {
namespace {

using Json = nlohmann::json;

struct Exported {
  std::string text;
  ExportCount count;
  int64_t unreadable = 0;
};

Exported Export(FileSystem& fs, const std::string& place, const std::string& format,
                bool content = false, const std::function<void(ExportTask&)>& alter = nullptr) {
  Exported exported;
  const Result<ExportChoice> choice = ChooseExport(fs, place, "", "");
  EXPECT_TRUE(choice.ok()) << (choice.ok() ? "" : choice.error().message);
  ExportSettings settings;
  settings.content = content;
  settings.version = "1.2.3";
  settings.unreadable = &exported.unreadable;
  settings.sink = [&](std::string_view bytes) -> Status {
    exported.text += bytes;
    return {};
  };
  const std::unique_ptr<TaskExporter> exporter = format == "otlp" ? MakeOtlpExporter(fs, settings)
                                                 : format == "atif"
                                                     ? MakeAtifExporter(fs, settings)
                                                     : MakeChromeExporter(fs, settings);
  const Result<ExportCount> count = ForEachTask(fs, *choice, [&](const ExportTask& task) {
    ExportTask copy = task;
    if (alter != nullptr) alter(copy);
    return exporter->Add(copy);
  });
  EXPECT_TRUE(count.ok()) << (count.ok() ? "" : count.error().message);
  EXPECT_TRUE(exporter->Finish().ok());
  exported.count = *count;
  return exported;
}

std::vector<Json> Lines(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

std::vector<Json> Spans(const std::string& text) {
  std::vector<Json> spans;
  for (const Json& line : Lines(text)) {
    for (const Json& span : line.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans")) {
      spans.push_back(span);
    }
  }
  return spans;
}

// The value of an attribute, null when it is absent.
Json Attribute(const Json& holder, const std::string& key) {
  Json found;
  for (const Json& attribute : holder.at("attributes")) {
    if (attribute.at("key") != key) continue;
    EXPECT_TRUE(found.is_null()) << key << " appears twice";
    EXPECT_EQ(attribute.at("value").size(), 1U);
    found = attribute.at("value").begin().value();
  }
  return found;
}

// A small run with everything in it: a task that fails, is repaired and passes; and one that fails,
// with odd bytes.
void RecordSample(RecordedRun& run) {
  run.Model("relu", "0", ActionType::kDoDesigner, "Design relu.\n", "Use one block.\n",
            "It is element-wise.\n",
            R"({"duration_ms":2500,"model":"m-1","provider":"openai","cost_usd":0.0125,)"
            R"("finish_reason":"stop","params":{"temperature":0.2,"seed":7,"max_tokens":4096},)"
            R"("tokens":{"input":120,"output":40,"cached":100,"reasoning":10}})",
            3);
  run.Judge("relu", "0", ActionType::kDoDesigner, "Is it good?\n", "yes\n",
            R"({"duration_ms":500,"model":"m-1","provider":"openai"})");
  run.Model("relu", "0", ActionType::kDoCoder, "Write it.\n",
            R"({"code": "def f(x):\n    return x\n", "description": "identity"})", "",
            R"({"duration_ms":4000,"model":"m-1","tokens":{"input":200,"output":80}})", 5);
  run.Verify("relu", "0", "False", "max error 3.0 at [0]\n", R"({"gen_time": null})",
             R"({"duration_ms":812.5,"device":"npu:0"})");
  run.Judge("relu", "0", ActionType::kVerify, "Why?\n", "It does not clip.\n");
  run.Model("relu", "0", ActionType::kFixCoder, "Repair it.\n",
            R"({"code": "def f(x):\n    return max(x, 0)\n", "description": "clips"})", "oh\n",
            R"({"duration_ms":3000,"model":"m-1","tokens":{"input":300,"output":90}})", 4);
  run.Verify("relu", "0", "True", "", R"({"gen_time": 12.5, "base_time": 25})",
             R"({"duration_ms":900,"device":"npu:0","speedup":2.0})");
  run.Model("relu", "a b", ActionType::kDoCoderDirect, "\xC3\x28 tab\t\n", "\xED\xA0\x80!",
            std::string("nul \0 in it", 11), R"({"error":"rate limited, gave up"})");
  run.Verify("relu", "a b", "False", "\x1b[31mred\r\n", "speedup: 0.5x", "");
}

class ExportTest : public testing::Test {
 protected:
  // Compares with test/golden/export/NAME. KERF_UPDATE_GOLDENS=1 writes the file instead; git diff
  // shows what changed.
  void ExpectGolden(const std::string& name, const std::string& text) {
    const std::string path = std::string(KERF_GOLDEN_DIR) + "/" + name;
    std::ostringstream golden;
    golden << std::ifstream(path, std::ios::binary).rdbuf();
    if (golden.str() == text) return;
    std::string changes;
    const std::string before = golden.str();
    const TextDiff diff = DiffLines(before, text);
    WriteUnified(diff, 1, [&](DiffLine, const std::string& line) { changes += line + "\n"; });
    if (std::getenv("KERF_UPDATE_GOLDENS") != nullptr) {
      std::filesystem::create_directories(KERF_GOLDEN_DIR);
      std::ofstream(path, std::ios::binary) << text;
      std::cout << path << " updated:\n" << changes;
      return;
    }
    ADD_FAILURE() << path << " differs (KERF_UPDATE_GOLDENS=1 rewrites it):\n" << changes;
  }

  RecordedRun run_;
};

TEST_F(ExportTest, OtlpMatchesItsGolden) {
  RecordSample(run_);
  ExpectGolden("otlp.jsonl", Export(run_.fs(), run_.Path(), "otlp").text);
  ExpectGolden("otlp_content.jsonl", Export(run_.fs(), run_.Path(), "otlp", true).text);
}

TEST_F(ExportTest, AtifMatchesItsGolden) {
  RecordSample(run_);
  ExpectGolden("atif.jsonl", Export(run_.fs(), run_.Path(), "atif").text);
}

TEST_F(ExportTest, ChromeMatchesItsGolden) {
  RecordSample(run_);
  ExpectGolden("chrome.json", Export(run_.fs(), run_.Path(), "chrome").text);
  ExpectGolden("chrome_content.json", Export(run_.fs(), run_.Path(), "chrome", true).text);
}

void CheckSpans(const std::vector<Json>& spans) {
  std::map<std::string, const Json*> by_id;
  for (const Json& span : spans) {
    const std::string id = span.at("spanId");
    EXPECT_EQ(id.size(), 16U);
    EXPECT_EQ(std::string(span.at("traceId")).size(), 32U);
    EXPECT_TRUE(by_id.emplace(id, &span).second) << id << " appears twice";
  }
  for (const Json& span : spans) {
    const int64_t start = std::stoll(std::string(span.at("startTimeUnixNano")));
    const int64_t end = std::stoll(std::string(span.at("endTimeUnixNano")));
    EXPECT_LE(start, end);
    const Json operation = Attribute(span, "gen_ai.operation.name");
    EXPECT_FALSE(operation.is_null());
    EXPECT_TRUE(std::string(span.at("name")).starts_with(std::string(operation)));
    if (!span.contains("parentSpanId")) {
      EXPECT_EQ(operation, "invoke_workflow");
      continue;
    }
    ASSERT_TRUE(by_id.contains(span.at("parentSpanId")));
    const Json& parent = *by_id.at(span.at("parentSpanId"));
    EXPECT_EQ(parent.at("traceId"), span.at("traceId"));
    EXPECT_LE(std::stoll(std::string(parent.at("startTimeUnixNano"))), start);
    EXPECT_GE(std::stoll(std::string(parent.at("endTimeUnixNano"))), end);
    if (operation == "chat") {
      EXPECT_FALSE(Attribute(span, "gen_ai.provider.name").is_null());
    }
    if (operation == "execute_tool") {
      EXPECT_EQ(Attribute(span, "gen_ai.tool.name"), "verify");
      const Json& event = span.at("events").at(0);
      EXPECT_EQ(event.at("name"), "gen_ai.evaluation.result");
      EXPECT_FALSE(Attribute(event, "gen_ai.evaluation.name").is_null());
      for (const Json& link : span.value("links", Json::array())) {
        EXPECT_TRUE(by_id.contains(link.at("spanId")));
      }
    }
  }
}

TEST_F(ExportTest, OtlpSpansFormTrees) {
  RecordSample(run_);
  for (const bool content : {false, true}) {
    const std::vector<Json> spans = Spans(Export(run_.fs(), run_.Path(), "otlp", content).text);
    EXPECT_EQ(spans.size(), 11U);
    CheckSpans(spans);
  }
}

TEST_F(ExportTest, OtlpTellsFailureFromSuccess) {
  RecordSample(run_);
  const std::vector<Json> spans = Spans(Export(run_.fs(), run_.Path(), "otlp").text);
  const auto status = [&](size_t i) { return spans[i].value("status", Json::object()).dump(); };
  EXPECT_EQ(status(0), "{}") << "the first task passed in the end";
  EXPECT_EQ(spans[4].at("status").at("code"), 2);
  EXPECT_EQ(Attribute(spans[4], "error.type"), "verification_failed");
  EXPECT_EQ(status(7), "{}");
  EXPECT_EQ(spans[8].at("status").at("code"), 2) << "the second task failed";
  EXPECT_EQ(spans[9].at("status").at("message"), "rate limited, gave up");
  EXPECT_EQ(Attribute(spans[9], "error.type"), "_OTHER");
}

TEST_F(ExportTest, OtlpCarriesTextsOnlyWhenAsked) {
  RecordSample(run_);
  const std::string without = Export(run_.fs(), run_.Path(), "otlp").text;
  EXPECT_EQ(without.find("Design relu"), std::string::npos);
  EXPECT_EQ(without.find("max error"), std::string::npos);
  const std::vector<Json> spans = Spans(Export(run_.fs(), run_.Path(), "otlp", true).text);
  const Json input = Json::parse(std::string(Attribute(spans[1], "gen_ai.input.messages")));
  EXPECT_EQ(input.at(0).at("parts").at(0).at("content"), "Design relu.\n");
  const Json output = Json::parse(std::string(Attribute(spans[3], "gen_ai.output.messages")));
  EXPECT_EQ(output.at(0).at("parts").at(0).at("content"),
            R"({"code": "def f(x):\n    return x\n", "description": "identity"})")
      << "what the model sent, not the result file";
}

TEST_F(ExportTest, OtlpSpreadsALongTaskOverLines) {
  run_.Verify("relu", "0", "True", "", "", "");
  const auto lengthen = [](ExportTask& task) {
    task.steps.resize(600, task.steps[0]);
    for (size_t i = 0; i < task.steps.size(); ++i) task.steps[i].step = static_cast<int64_t>(i + 1);
  };
  const std::string text = Export(run_.fs(), run_.Path(), "otlp", false, lengthen).text;
  EXPECT_EQ(Lines(text).size(), 2U);
  EXPECT_EQ(Spans(text).size(), 601U);
  CheckSpans(Spans(text));
}

TEST_F(ExportTest, IdsDoNotDependOnThePlaceOrOnLaterSteps) {
  RecordSample(run_);
  const std::vector<Json> before = Spans(Export(run_.fs(), run_.Path(), "otlp").text);
  std::filesystem::copy(run_.Path(), run_.Path("elsewhere"),
                        std::filesystem::copy_options::recursive);
  EXPECT_EQ(Spans(Export(run_.fs(), run_.Path("elsewhere"), "otlp").text), before);
  run_.Judge("relu", "0", ActionType::kVerify, "Anything else?\n", "no\n");
  const std::vector<Json> after = Spans(Export(run_.fs(), run_.Path(), "otlp").text);
  EXPECT_EQ(after.size(), before.size() + 1);
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(after[i].at("spanId"), before[i].at("spanId"));
}

TEST_F(ExportTest, RunsOfTheSameTaskHaveDifferentIds) {
  for (const char* run : {"logs/first", "logs/second"}) {
    std::filesystem::create_directories(run_.Path(run));
    run_.Record("relu", "0", {.action = ActionType::kDoCoder, .res = "x", .prompt = "p"}, 1, run);
  }
  const Exported exported = Export(run_.fs(), run_.Path("logs"), "otlp");
  EXPECT_EQ(exported.count.tasks, 2);
  const std::vector<Json> spans = Spans(exported.text);
  CheckSpans(spans);
  EXPECT_NE(spans[0].at("traceId"), spans[2].at("traceId"));
  EXPECT_EQ(Attribute(spans[0], "kerf.run"), "first");
}

void CheckTrajectory(const Json& document) {
  EXPECT_EQ(document.at("schema_version"), "ATIF-v1.7");
  EXPECT_FALSE(std::string(document.at("agent").at("version")).empty());
  static const std::set<std::string> kStepMembers = {
      "step_id",    "timestamp",   "source",  "message",        "model_name", "reasoning_content",
      "tool_calls", "observation", "metrics", "llm_call_count", "extra"};
  int64_t expected = 0;
  for (const Json& step : document.at("steps")) {
    EXPECT_EQ(step.at("step_id"), ++expected);
    EXPECT_TRUE(step.at("message").is_string());
    for (const auto& [name, value] : step.items()) EXPECT_TRUE(kStepMembers.contains(name)) << name;
    if (step.at("source") == "user") {
      for (const char* name : {"model_name", "reasoning_content", "tool_calls", "metrics"}) {
        EXPECT_FALSE(step.contains(name));
      }
    }
    if (step.value("llm_call_count", 1) == 0) {
      EXPECT_FALSE(step.contains("metrics") || step.contains("reasoning_content"));
    }
    std::set<std::string> calls;
    for (const Json& call : step.value("tool_calls", Json::array())) {
      EXPECT_TRUE(call.at("arguments").is_object());
      calls.insert(std::string(call.at("tool_call_id")));
    }
    if (!step.contains("observation")) continue;
    for (const Json& result : step.at("observation").at("results")) {
      EXPECT_TRUE(calls.contains(result.at("source_call_id")));
    }
  }
  EXPECT_EQ(document.at("final_metrics").at("total_steps"), expected);
}

TEST_F(ExportTest, AtifIsATrajectoryHarborAccepts) {
  RecordSample(run_);
  const std::vector<Json> documents = Lines(Export(run_.fs(), run_.Path(), "atif").text);
  ASSERT_EQ(documents.size(), 2U);
  for (const Json& document : documents) CheckTrajectory(document);
  const Json& steps = documents[0].at("steps");
  EXPECT_EQ(steps.size(), 12U);
  EXPECT_EQ(steps.at(5).at("message"),
            R"({"code": "def f(x):\n    return x\n", "description": "identity"})");
  const Json& total = documents[0].at("final_metrics");
  EXPECT_EQ(total.at("total_prompt_tokens"), 620);
  EXPECT_FALSE(total.contains("total_cost_usd")) << "four of five calls have no known cost";
  EXPECT_EQ(total.at("extra").at("known_cost_usd"), 0.0125);
}

TEST_F(ExportTest, AtifAddsUpTheCostWhenAllOfItIsKnown) {
  run_.Model("relu", "0", ActionType::kDoCoder, "p", "r", "", R"({"cost_usd":0.5})");
  run_.Model("relu", "0", ActionType::kFixCoder, "p", "r", "", R"({"cost_usd":0.25})");
  const Json document = Lines(Export(run_.fs(), run_.Path(), "atif").text).at(0);
  EXPECT_EQ(document.at("final_metrics").at("total_cost_usd"), 0.75);
}

void CheckTimeline(const Json& events) {
  std::map<std::pair<int64_t, int64_t>, int64_t> free_from;
  std::map<int64_t, std::pair<int, int>> arrows;
  for (const Json& event : events) {
    const std::string phase = event.at("ph");
    if (phase == "s") ++arrows[event.at("id")].first;
    if (phase == "f") ++arrows[event.at("id")].second;
    if (phase != "X") continue;
    int64_t& free = free_from[{event.at("pid"), event.at("tid")}];
    EXPECT_GE(event.at("ts"), free) << "slices overlap";
    EXPECT_GE(event.at("dur"), 1);
    free = event.at("ts").get<int64_t>() + event.at("dur").get<int64_t>();
  }
  for (const auto& [id, ends] : arrows) EXPECT_EQ(ends, std::pair(1, 1)) << id;
}

TEST_F(ExportTest, ChromeSlicesNeverOverlap) {
  RecordSample(run_);
  const Json trace = Json::parse(Export(run_.fs(), run_.Path(), "chrome").text);
  CheckTimeline(trace.at("traceEvents"));
}

// Recorded after the fact: all times are at the end, the durations are real.
TEST_F(ExportTest, ChromeLaysOutARunThatWasImported) {
  for (int i = 0; i < 5; ++i) {
    run_.Record("relu", "0",
                {.action = ActionType::kDoCoder, .res = "x", .meta = R"({"duration_ms":10000})"},
                0);
    run_.Verify("relu", "0", "True", "", "", R"({"duration_ms":5000})", 0);
  }
  const Json events = Json::parse(Export(run_.fs(), run_.Path(), "chrome").text).at("traceEvents");
  CheckTimeline(events);
}

TEST_F(ExportTest, HostileMetaGivesValidOutput) {
  const std::string metas[] = {
      R"({"duration_ms":-5,"tokens":{"input":-1,"output":1.5,"cached":"7"},"cost_usd":1e999})",
      R"({"duration_ms":1e300,"speedup":-1e999,"model":3,"provider":null,"device":["a"]})",
      R"({"duration_ms":"long","params":{"seed":1e40,"temperature":null,"n":2.5},"params":3})",
      R"({"model":"\ud800","error":{"deep":[[[["x"]]]]},"tokens":{"input":9e18}})",
      R"({"a\u0000b":"\u0000","model":"m","model":"n","finish_reason":"\"\\"})",
      "{\"model\":\"\xFF\xFE\",\"tokens\":null}"};
  for (size_t i = 0; i < std::size(metas); ++i) {
    run_.Model("\xE7\xAE\x97 op", "t_S01_x", ActionType::kDoCoder, "\xED\xB0\x80", "\xFF\xED\xA0",
               "\xF0\x9F", "");
    run_.Verify("\xE7\xAE\x97 op", "t_S01_x", "\xC0\xAF", "\xED\xA0\x80\xED\xB0\x80",
                R"({"x":1e999,"y":"\ud800","z":NaN})", "");
  }
  // The recorder refuses such meta; another program's journal may hold it.
  const auto poison = [&](ExportTask& task) {
    for (size_t i = 0; i < task.steps.size(); ++i) task.steps[i].meta = metas[i / 2];
  };
  for (const bool content : {false, true}) {
    CheckSpans(Spans(Export(run_.fs(), run_.Path(), "otlp", content, poison).text));
    const std::string chrome = Export(run_.fs(), run_.Path(), "chrome", content, poison).text;
    CheckTimeline(Json::parse(chrome).at("traceEvents"));
  }
  CheckTrajectory(Lines(Export(run_.fs(), run_.Path(), "atif", false, poison).text).at(0));
}

class AikgExportTest : public ExportTest {
 protected:
  void Write(const std::string& name, const std::string& text, int64_t mtime) {
    const std::string path = run_.Path("run/relu/" + name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    const timespec times[2] = {{mtime, 0}, {mtime, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
};

TEST_F(AikgExportTest, UsesFileTimesAndSaysSo) {
  Write("I0_S01_relu_DO_CODER_prompt.txt", "p", 1'700'000'000);
  Write("I0_S01_relu_DO_CODER_result.txt", "r", 1'700'000'005);
  Write("I0_S02_relu_VERIFY_error_log.txt", "boom", 1'700'000'009);
  Write("conductor/I0_S02_relu_AnalyzeError_result.txt", "why", 1'700'000'012);
  const std::vector<Json> spans = Spans(Export(run_.fs(), run_.Path(), "otlp").text);
  CheckSpans(spans);
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[1].at("endTimeUnixNano"), "1700000005000000000");
  EXPECT_EQ(Attribute(spans[1], "kerf.time_source"), "file");
  EXPECT_EQ(Attribute(spans[1], "kerf.duration_unknown"), true);
  EXPECT_EQ(Attribute(spans[2], "kerf.verdict"), "failed") << "errors are analysed after failures";
  const std::vector<Json> documents = Lines(Export(run_.fs(), run_.Path(), "atif").text);
  CheckTrajectory(documents.at(0));
  CheckTimeline(Json::parse(Export(run_.fs(), run_.Path(), "chrome").text).at("traceEvents"));
  // A copy has other file times and must keep its ids.
  Write("I0_S01_relu_DO_CODER_prompt.txt", "p", 1'750'000'000);
  const std::vector<Json> copied = Spans(Export(run_.fs(), run_.Path(), "otlp").text);
  EXPECT_EQ(copied[1].at("traceId"), spans[1].at("traceId"));
  EXPECT_EQ(copied[1].at("spanId"), spans[1].at("spanId"));
}

TEST_F(ExportTest, ALostFileIsCountedAndTheRestExported) {
  RecordSample(run_);
  std::filesystem::remove(run_.Path("run/relu/I0_S02_relu_DO_CODER_result.txt"));
  const Exported exported = Export(run_.fs(), run_.Path(), "atif");
  EXPECT_EQ(exported.unreadable, 1);
  EXPECT_EQ(Lines(exported.text).size(), 2U);
}

TEST_F(ExportTest, NoTwoTasksOfAnExportHaveOneId) {
  RecordSample(run_);
  std::filesystem::copy(run_.Path("run"), run_.Path("copy"),
                        std::filesystem::copy_options::recursive);
  const std::vector<Json> spans = Spans(Export(run_.fs(), run_.Path(""), "otlp").text);
  std::set<std::string> ids;
  for (const Json& span : spans) {
    EXPECT_TRUE(
        ids.insert(span.at("traceId").get<std::string>() + span.at("spanId").get<std::string>())
            .second);
  }
  EXPECT_EQ(spans.size(), 2 * Spans(Export(run_.fs(), run_.Path(), "otlp").text).size());
  EXPECT_EQ(Spans(Export(run_.fs(), run_.Path(""), "otlp").text), spans);
}

TEST_F(ExportTest, WhatTheJournalLostIsCounted) {
  RecordSample(run_);
  const auto count = [&] {
    const Result<ExportChoice> choice = ChooseExport(run_.fs(), run_.Path(), "", "");
    EXPECT_TRUE(choice.ok());
    const auto none = [](const ExportTask&) -> Status { return {}; };
    const Result<ExportCount> counted = ForEachTask(run_.fs(), *choice, none);
    EXPECT_TRUE(counted.ok());
    return *counted;
  };
  EXPECT_EQ(count().damaged_lines + count().unjournaled, 0);
  const std::string path = run_.Path("run/relu/journal.jsonl");
  const std::string journal = run_.fs().ReadFile(path).value();
  const size_t first_line = journal.find('\n') + 1;
  std::ofstream(path) << journal.substr(first_line);
  EXPECT_GT(count().damaged_lines, 0);
  std::ofstream(path) << journal.substr(0, first_line / 2);
  EXPECT_EQ(count().damaged_lines, 1) << "the torn one";
  EXPECT_GT(count().unjournaled, 0);
  std::ofstream(path) << journal;
  std::filesystem::create_directory_symlink("relu", run_.Path("run/linked"));
  ASSERT_EQ(count().skipped.size(), 1U);
  EXPECT_EQ(count().skipped[0].first, run_.Path("run/linked"));
}

TEST_F(ExportTest, ChoosesByOperatorTaskAndAddress) {
  RecordSample(run_);
  run_.Verify("add", "0", "True", "", "", "");
  const auto tasks = [&](const std::string& place, const std::string& op, const std::string& task) {
    const Result<ExportChoice> choice = ChooseExport(run_.fs(), place, op, task);
    if (!choice.ok()) return std::string("error");
    std::string names;
    const Result<ExportCount> count =
        ForEachTask(run_.fs(), *choice, [&](const ExportTask& one) -> Status {
          names += one.op + ":" + one.task + " ";
          return {};
        });
    return count.ok() ? names : "none";
  };
  EXPECT_EQ(tasks(run_.Path(), "", ""), "add:0 relu:0 relu:a b ");
  EXPECT_EQ(tasks(run_.Path(), "relu", ""), "relu:0 relu:a b ");
  EXPECT_EQ(tasks(run_.Path(), "", "0"), "add:0 relu:0 ");
  EXPECT_EQ(tasks(run_.Path("run/relu"), "", ""), "relu:0 relu:a b ");
  EXPECT_EQ(tasks(run_.Path("run/relu:a b"), "", ""), "relu:a b ");
  EXPECT_EQ(tasks(run_.Path("run/relu:0:1"), "", ""), "error");
  EXPECT_EQ(tasks(run_.Path(), "gelu", ""), "error");
  EXPECT_EQ(tasks(run_.Path(), "", "9"), "none");
  EXPECT_EQ(tasks(run_.Path("nowhere"), "", ""), "error");
}

TEST_F(ExportTest, StopsWhenTheSinkFails) {
  RecordSample(run_);
  for (const char* format : {"otlp", "atif", "chrome"}) {
    int64_t unreadable = 0;
    ExportSettings settings;
    settings.version = "1.2.3";
    settings.unreadable = &unreadable;
    settings.sink = [](std::string_view) -> Status { return IoError("disk full"); };
    const std::string name = format;
    const std::unique_ptr<TaskExporter> exporter =
        name == "otlp"   ? MakeOtlpExporter(run_.fs(), settings)
        : name == "atif" ? MakeAtifExporter(run_.fs(), settings)
                         : MakeChromeExporter(run_.fs(), settings);
    const Result<ExportChoice> choice = ChooseExport(run_.fs(), run_.Path(), "", "");
    ASSERT_TRUE(choice.ok());
    const Result<ExportCount> count = ForEachTask(
        run_.fs(), *choice, [&](const ExportTask& task) { return exporter->Add(task); });
    EXPECT_FALSE(count.ok() && exporter->Finish().ok()) << format;
  }
}

}  // namespace
}  // namespace kerf::trace
