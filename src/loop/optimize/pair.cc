#include "loop/optimize/pair.h"

#include <fmt/core.h>

#include "base/json_writer.h"

namespace kerf::optimize {
namespace {

// GEAK writes an absent error as str(None).
constexpr char kNoError[] = "None";

// GEAK reads its mem file in whatever encoding the locale has, and json.dump writes ASCII for it.
// JSON has other characters inside strings only, where \uXXXX means the same.
std::string InAscii(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (size_t at = 0; at < json.size();) {
    const auto lead = static_cast<unsigned char>(json[at]);
    if (lead < 0x80) {
      text += json[at++];
      continue;
    }
    // JsonWriter gives valid UTF-8 only.
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    uint32_t code = lead & (0xFFU >> (length + 1));
    for (size_t i = 1; i < length; ++i)
      code = code << 6 | (static_cast<unsigned char>(json[at + i]) & 0x3FU);
    at += length;
    if (code < 0x10000) {
      text += fmt::format("\\u{:04x}", code);
    } else {
      const uint32_t rest = code - 0x10000;
      text += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
  }
  return text;
}

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
  return {InAscii(texts.jsonl), InAscii(texts.mem)};
}

}  // namespace kerf::optimize
