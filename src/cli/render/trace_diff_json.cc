#include "base/json_writer.h"
#include "cli/render/trace_diff.h"
#include "trace/text_diff.h"

namespace kerf::cli {
namespace {

void WriteRecord(JsonWriter& json, const Step& step) {
  json.BeginObject().Key("step").Int(step.step);
  json.Key("kind").String(RecordKindName(step.kind));
  json.Key("action").String(step.action);
  if (!step.check.empty()) json.Key("check").String(step.check).Key("attempt").Int(step.attempt);
  if (step.verification != Verification::kNone) {
    json.Key("verdict").String(VerificationName(step.verification));
  }
  json.EndObject();
}

void WriteSide(JsonWriter& json, const trace::DiffSide& side, const std::string& title) {
  json.BeginObject().Key("address").String(title);
  json.Key("op_name").String(side.op).Key("task_id").String(side.task);
  if (side.step >= 0) json.Key("step").Int(side.step);
  json.Key("records").Int(static_cast<int64_t>(side.records.size())).EndObject();
}

void WriteOptional(JsonWriter& json, const char* name, const std::optional<std::string>& value) {
  json.Key(name);
  value.has_value() ? json.String(*value) : json.Null();
}

void WritePair(JsonWriter& json, const trace::RecordPair& pair, bool with_text, size_t context) {
  json.Key("differs").Bool(pair.Differs()).Key("diverges").Bool(pair.Diverges());
  json.Key("verdict_differs").Bool(pair.verdict_differs);
  json.Key("texts").BeginArray();
  for (const trace::TextPartDiff& text : pair.texts) {
    json.BeginObject().Key("part").String(trace::DiffPartName(text.part));
    json.Key("removed").Int(static_cast<int64_t>(text.removed));
    json.Key("added").Int(static_cast<int64_t>(text.added));
    if (with_text) {
      std::string unified;
      const trace::TextDiff lines = trace::DiffLines(text.a, text.b);
      trace::WriteUnified(lines, context, [&](trace::DiffLine, const std::string& line) {
        unified += line + "\n";
      });
      json.Key("unified").String(unified);
    }
    json.EndObject();
  }
  json.EndArray().Key("values").BeginArray();
  for (const trace::ValueDiff& value : pair.values) {
    json.BeginObject().Key("path").String(value.path);
    WriteOptional(json, "a", value.a);
    WriteOptional(json, "b", value.b);
    if (value.delta.has_value()) json.Key("delta").Double(*value.delta);
    if (value.percent.has_value()) json.Key("percent").Double(*value.percent);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string TraceDiffJson(const trace::TraceDiff& diff, const trace::DiffSide& a,
                          const trace::DiffSide& b, const DiffTitles& titles, size_t context) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("identical").Bool(diff.Identical());
  json.Key("of").String(diff.of_steps ? "steps" : "tasks");
  json.Key("a");
  WriteSide(json, a, titles.a);
  json.Key("b");
  WriteSide(json, b, titles.b);
  json.Key("warnings").BeginArray();
  for (const std::string& warning : diff.warnings) json.String(warning);
  json.EndArray().Key("first_divergence");
  if (diff.first_divergence.has_value()) {
    json.Int(static_cast<int64_t>(*diff.first_divergence));
  } else {
    json.Null();
  }
  json.Key("records").BeginArray();
  for (const trace::AlignedRecord& record : diff.records) {
    json.BeginObject();
    const std::optional<size_t> in_a = record.pair ? record.pair->a : record.only_a;
    const std::optional<size_t> in_b = record.pair ? record.pair->b : record.only_b;
    json.Key("a");
    in_a.has_value() ? WriteRecord(json, a.records[*in_a]) : void(json.Null());
    json.Key("b");
    in_b.has_value() ? WriteRecord(json, b.records[*in_b]) : void(json.Null());
    if (record.pair.has_value()) WritePair(json, *record.pair, diff.of_steps, context);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return text + "\n";
}

}  // namespace kerf::cli
