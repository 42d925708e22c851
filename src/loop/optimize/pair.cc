#include "loop/optimize/pair.h"

#include "base/json_writer.h"

namespace kerf::optimize {
namespace {

// GEAK writes an absent error as str(None).
constexpr char kNoError[] = "None";

void WriteText(JsonWriter& json, const char* key, const std::string& text) {
  json.Key(key).String(text);
}

void WriteTextOrNull(JsonWriter& json, const char* key, const std::string* text) {
  json.Key(key);
  if (text != nullptr && !text->empty()) {
    json.String(*text);
  } else {
    json.Null();
  }
}

void WriteJsonlRecord(JsonWriter& json, const CaseView& view) {
  const Case& data = view.data;
  json.BeginObject();
  WriteText(json, "instruction", data.instruction);
  WriteText(json, "label", data.label);
  WriteText(json, data.named_by_file ? "file" : "filename", data.name);
  if (!data.test_code.empty()) WriteText(json, "test_code", data.test_code);
  const Trial* best = BestOf(view.state);
  const std::string& predict = best != nullptr ? best->code : data.predict;
  if (!predict.empty()) WriteText(json, "predict", predict);
  const double speedup = best != nullptr ? best->speedup.value_or(0) : 0;
  json.Key("speedup");
  if (speedup == 0) {
    json.Raw("0.0");
  } else {
    json.Double(speedup);
  }
  for (const auto& [key, raw] : data.others) json.Key(key).Copy(raw);
  json.EndObject().EndLine();
}

// The log of the last attempt of the round that failed at the stage.
std::string ErrorOf(const CaseView& view, bool call) {
  if (!view.data.not_here.empty()) {
    return call ? "kerf did not judge this case: " + view.data.not_here : kNoError;
  }
  std::string text = kNoError;
  if (call && !view.note.empty()) text = "kerf made no attempt: " + view.note;
  for (const Trial* trial : view.state.LastRound()) {
    if (trial->correct || trial->pass_call == call) continue;
    text = trial->log.empty() ? trial->summary : trial->log;
  }
  return text;
}

void WriteCandidates(JsonWriter& json, const CaseState& state) {
  json.Key("perf_candidates").BeginArray();
  for (const Trial& trial : state.ancestors()) {
    if (!trial.speedup.has_value()) continue;
    json.BeginArray().String(trial.code).Double(*trial.speedup).Raw("0.0");
    json.String(trial.reflection).Null().EndArray();
  }
  json.EndArray();
}

void WriteMemRecord(JsonWriter& json, const CaseView& view) {
  const CaseState& state = view.state;
  const Trial* called = state.LastCalled();
  const Trial* executed = state.LastExecuted();
  json.BeginObject();
  WriteText(json, "call_err_msg", ErrorOf(view, /*call=*/true));
  WriteText(json, "exe_err_msg", ErrorOf(view, /*call=*/false));
  json.Key("reflection").Null();
  WriteTextOrNull(json, "oneshot", &view.data.oneshot);
  WriteCandidates(json, state);
  json.Key("perf_strategy").Null();
  WriteTextOrNull(json, "call_candidate", called != nullptr ? &called->code : nullptr);
  WriteTextOrNull(json, "exe_candidate", executed != nullptr ? &executed->code : nullptr);
  WriteTextOrNull(json, "temp_strategy", called != nullptr ? &called->strategy : nullptr);
  json.Key("perf_debug_num").Int(state.repairs());
  bool call = false;
  bool exe = false;
  bool perf = false;
  for (const Trial* trial : state.LastRound()) {
    call = call || trial->pass_call;
    exe = exe || trial->pass_exe;
    perf = perf || trial->speedup.has_value();
  }
  json.Key("pass_call").Bool(call).Key("pass_exe").Bool(exe).Key("pass_perf").Bool(perf);
  json.EndObject();
}

}  // namespace

const Trial* BestOf(const CaseState& state) {
  if (!state.ancestors().empty()) return &state.ancestors().front();
  for (const Trial* trial : {state.LastExecuted(), state.LastCalled(), state.LastCode()}) {
    if (trial != nullptr) return trial;
  }
  return nullptr;
}

PairTexts MakePair(const std::vector<CaseView>& cases) {
  PairTexts texts;
  JsonWriter jsonl(texts.jsonl);
  JsonWriter mem(texts.mem);
  mem.BeginObject();
  for (const CaseView& view : cases) {
    WriteJsonlRecord(jsonl, view);
    mem.Key(view.data.name);
    WriteMemRecord(mem, view);
  }
  mem.EndObject();
  return texts;
}

}  // namespace kerf::optimize
