// A case in a trace is an operator with one task: the first code, with the instruction as its
// prompt, is what a coder did; every other code of the case is a repair; the verifier's step has
// the errors, and in its meta both records as they stood, so that the way back loses nothing.
#include <algorithm>
#include <set>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "dataset/convert.h"
#include "dataset/folder_names.h"
#include "dataset/text.h"
#include "trace/reader.h"
#include "trace/recorder.h"

namespace kerf::dataset {
namespace {

std::string TextOf(const RawValue& value) {
  return value.text() && HasContentOrNone(value.raw) ? Decoded(value.raw) : std::string();
}

class CaseRecorder {
 public:
  CaseRecorder(trace::Recorder& recorder, std::string op)
      : recorder_(recorder), op_(std::move(op)) {}

  Status AddCode(const std::string& code, const std::string& prompt, const std::string& field) {
    if (code.empty() || !seen_.insert(code).second) return {};
    StepInput input;
    input.action = seen_.size() == 1 ? ActionType::kDoCoder : ActionType::kFixCoder;
    input.res = code;
    input.prompt = prompt;
    JsonWriter(input.meta).BeginObject().Key("geak_field").String(field).EndObject();
    return Add(std::move(input));
  }

  Status Add(StepInput input) {
    KERF_ASSIGN_OR_RETURN(
        trace::PreparedRecord record,
        trace::PrepareRecord(std::move(input), recorder_.names(), trace::Redactor()));
    const Result<trace::Recorded> done = recorder_.Record(op_, "0", std::move(record));
    if (!done.ok()) return done.error();
    return {};
  }

 private:
  trace::Recorder& recorder_;
  const std::string op_;
  std::set<std::string> seen_;
};

// A record so that the way back gives the same. As JSON where it is that; else as a text: NaN is no
// JSON, and half of a surrogate pair no character.
void WriteRecord(JsonWriter& json, std::string_view record, Losses& lost) {
  if (DetectEncoding(record) != TextEncoding::kUtf8) {
    ++lost["bytes that are no UTF-8 (became U+FFFD)"];
  }
  const bool halves = record.find("\\ud") != std::string_view::npos ||
                      record.find("\\uD") != std::string_view::npos;
  halves ? json.String(record) : json.Copy(record);
}

StepInput VerifierStep(const CaseEntry& entry, const MappedFile& jsonl, const MappedFile* mem,
                       const MemRecord& record, Losses& lost) {
  StepInput input;
  input.kind = RecordKind::kVerifier;
  input.action = ActionType::kVerify;
  input.verify_res = entry.last == LastStatus::kSuccess ? "True" : "False";
  input.verify_log = TextOf(record.call_err_msg);
  const std::string second = TextOf(record.exe_err_msg);
  if (!input.verify_log.empty() && !second.empty()) input.verify_log += "\n";
  input.verify_log += second;
  JsonWriter json(input.meta);
  json.BeginObject().Key("geak").BeginObject().Key("name").String(entry.name);
  if (entry.has_jsonl()) {
    json.Key("jsonl");
    WriteRecord(json, jsonl.bytes().substr(entry.jsonl_begin, entry.jsonl_end - entry.jsonl_begin),
                lost);
  }
  if (entry.has_mem()) {
    json.Key("mem");
    WriteRecord(json, mem->bytes().substr(entry.mem_begin, entry.mem_end - entry.mem_begin), lost);
  }
  json.EndObject().EndObject();
  return input;
}

Status RecordCase(const CaseEntry& entry, const MappedFile& jsonl, const MappedFile* mem,
                  CaseRecorder& to, Losses& lost) {
  const JsonlRecord line = ReadJsonlOf(entry, jsonl);
  const MemRecord record = mem == nullptr ? MemRecord{} : ReadMemOf(entry, *mem);
  KERF_RETURN_IF_ERROR(to.AddCode(TextOf(line.predict), TextOf(line.instruction), "predict"));
  KERF_RETURN_IF_ERROR(to.AddCode(TextOf(record.call_candidate), "", "call_candidate"));
  KERF_RETURN_IF_ERROR(to.AddCode(TextOf(record.exe_candidate), "", "exe_candidate"));
  for (const PerfCandidate& candidate : record.candidates) {
    KERF_RETURN_IF_ERROR(to.AddCode(TextOf(candidate.code), "", "perf_candidates"));
  }
  return to.Add(VerifierStep(entry, jsonl, mem, record, lost));
}

// The raw members of meta.geak, when a step has them.
struct Kept {
  bool there = false;  // a name may be empty
  std::string name;
  std::string jsonl;
  std::string mem;
};

// On one line, whatever it looked like: strings hold no line feeds.
std::string RecordOf(const RawValue& value) {
  std::string record = value.text() ? Decoded(value.raw) : std::string(value.raw);
  std::replace_if(
      record.begin(), record.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return record;
}

Kept KeptIn(const std::string& meta) {
  Kept kept;
  RecordCursor cursor(meta);
  std::string_view key;
  for (cursor.BeginObject(); cursor.NextKey(key);) {
    if (key != "geak") {
      cursor.Skip();
      continue;
    }
    for (cursor.BeginObject(); cursor.NextKey(key);) {
      const RawValue value = cursor.Read();
      kept.there = kept.there || key == "name";
      if (key == "name") kept.name = Decoded(value.raw);
      if (key == "jsonl") kept.jsonl = RecordOf(value);
      if (key == "mem") kept.mem = RecordOf(value);
    }
  }
  return kept;
}

// What a trace that never was a data set tells.
struct FromSteps {
  std::string instruction;
  std::string predict;
  std::string log;
  Verification verification = Verification::kNone;
};

Result<FromSteps> ReadSteps(FileSystem& fs, const std::string& dir, const trace::TaskSteps& task,
                            Kept& kept) {
  FromSteps found;
  for (const Step& step : task.steps) {
    if (step.kind == RecordKind::kVerifier) {
      found.verification = step.verification;
      KERF_ASSIGN_OR_RETURN(found.log, trace::ReadStepText(fs, dir, step, "error_log"));
      Kept here = KeptIn(step.meta);
      if (here.there) kept = std::move(here);
      continue;
    }
    const std::optional<ActionType> action = ParseAction(step.action);
    if (step.kind != RecordKind::kDesignerOrCoder || !action.has_value() || !IsCoder(*action)) {
      continue;
    }
    KERF_ASSIGN_OR_RETURN(found.predict, trace::ReadStepText(fs, dir, step, "result"));
    if (!found.instruction.empty()) continue;
    KERF_ASSIGN_OR_RETURN(found.instruction, trace::ReadStepText(fs, dir, step, "prompt"));
  }
  return found;
}

void AddCase(const FromSteps& found, const Kept& kept, const std::string& name, GeakTexts& out) {
  std::string mem_name;
  AppendJsonString(mem_name, kept.there ? kept.name : name);
  if (kept.there) {
    if (!kept.jsonl.empty()) out.jsonl += kept.jsonl + "\n";
    if (!kept.mem.empty()) {
      out.mem += (out.mem.empty() ? "{" : ", ") + mem_name + ": " + kept.mem;
    }
    return;
  }
  const bool passed = found.verification == Verification::kPassed;
  JsonWriter line(out.jsonl);
  line.BeginObject().Key("instruction").String(found.instruction).Key("filename").String(name);
  line.Key("predict").String(found.predict).EndObject().EndLine();
  out.mem += (out.mem.empty() ? "{" : ", ") + mem_name + ": ";
  JsonWriter mem(out.mem);
  mem.BeginObject().Key("call_err_msg").String("None").Key("exe_err_msg");
  mem.String(found.log.empty() ? "None" : found.log).Key("perf_candidates").BeginArray().EndArray();
  mem.Key("call_candidate");
  passed ? mem.String(found.predict) : mem.Null();
  mem.Key("exe_candidate");
  passed ? mem.String(found.predict) : mem.Null();
  mem.Key("temp_strategy").Null().Key("pass_call").Bool(passed).Key("pass_exe").Bool(passed);
  mem.Key("pass_perf").Bool(false).EndObject();
  ++out.lost["label and test_code: a trace does not have them"];
  ++out.lost["steps before the last code, designs, conductor's notes"];
  if (!passed) ++out.lost["the stage of a failure: pass_call and pass_exe are both false"];
}

}  // namespace

Result<Exported> ToTrace(const Catalog& catalog, const MappedFile& jsonl, const MappedFile* mem,
                         const std::string& log_dir, const TracePorts& ports) {
  KERF_ASSIGN_OR_RETURN(
      const std::unique_ptr<trace::Recorder> recorder,
      trace::Recorder::Open(ports.fs, ports.clock, ports.ids, {.log_dir = log_dir}));
  Exported out;
  FolderNames names;
  for (const CaseEntry& entry : catalog.cases()) {
    CaseRecorder to(*recorder, names.Next(entry.name));
    KERF_RETURN_IF_ERROR(RecordCase(entry, jsonl, mem, to, out.lost));
    ++out.cases;
  }
  return out;
}

Result<GeakTexts> FromTrace(FileSystem& fs, const std::string& path) {
  KERF_ASSIGN_OR_RETURN(const std::vector<trace::Run> runs, trace::FindRuns(fs, path));
  GeakTexts out;
  for (const trace::Run& run : runs) {
    for (const std::string& op : run.ops) {
      KERF_ASSIGN_OR_RETURN(const trace::OpTrace trace, trace::ReadOp(fs, run.path, op));
      for (const trace::TaskSteps& task : trace.tasks) {
        Kept kept;
        KERF_ASSIGN_OR_RETURN(const FromSteps found, ReadSteps(fs, trace.dir, task, kept));
        const std::string name =
            op + (trace.tasks.size() > 1 ? "_" + task.task : std::string()) + ".py";
        AddCase(found, kept, name, out);
        ++out.cases;
      }
    }
  }
  if (!out.mem.empty()) out.mem += "}";
  return out;
}

}  // namespace kerf::dataset
