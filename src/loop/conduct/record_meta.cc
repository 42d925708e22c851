#include "loop/conduct/record_meta.h"

#include <fmt/core.h>

#include "base/json_writer.h"

namespace kerf::conduct {
namespace {

const char* SourceName(llm::Usage::Source source) {
  switch (source) {
    case llm::Usage::Source::kReported:
      return "reported";
    case llm::Usage::Source::kEstimated:
      return "estimated";
    case llm::Usage::Source::kNone:
      break;
  }
  return "none";
}

void WriteTokens(JsonWriter& json, const llm::Usage& usage) {
  if (usage.source == llm::Usage::Source::kNone) return;
  json.Key("tokens").BeginObject();
  json.Key("input").Int(usage.input_total).Key("output").Int(usage.output_total);
  json.Key("cached").Int(usage.input_cache_read);
  json.Key("reasoning").Int(usage.output_reasoning);
  json.Key("source").String(SourceName(usage.source)).EndObject();
}

void WriteAttempts(JsonWriter& json, const std::vector<llm::Attempt>& attempts) {
  if (attempts.size() < 2) return;
  json.Key("attempts").BeginArray();
  for (const llm::Attempt& attempt : attempts) WriteAttempt(json, attempt);
  json.EndArray();
}

void WriteStrings(JsonWriter& json, const char* key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.Key(key).BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

void WriteText(JsonWriter& json, const char* key, const std::string& text) {
  if (!text.empty()) json.Key(key).String(text);
}

void WriteMore(JsonWriter& json, const MoreFacts& facts) {
  for (const auto& [name, value] : facts) json.Key(name).Raw(value);
}

}  // namespace

void WriteAttempt(JsonWriter& json, const llm::Attempt& attempt) {
  json.BeginObject().Key("http_status").Int(attempt.http_status);
  if (!attempt.cause.empty()) json.Key("cause").String(attempt.cause);
  json.Key("waited_s").Double(attempt.waited_s).Key("took_s").Double(attempt.took_s);
  WriteTokens(json, attempt.usage);
  if (!attempt.partial.empty()) json.Key("partial").String(attempt.partial);
  json.EndObject();
}

std::string ReplyMeta(const AskFacts& facts, const llm::Reply& reply) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("agent").String(facts.agent);
  WriteText(json, "because", facts.because);
  json.Key("model").String(reply.model.empty() ? facts.model : reply.model);
  WriteText(json, "provider", reply.provider);
  WriteText(json, "asked", reply.asked);
  if (!reply.sampling.empty()) json.Key("params").Raw(reply.sampling);
  WriteText(json, "template", facts.prompt.name);
  WriteText(json, "template_sha256", facts.prompt.sha256);
  WriteText(json, "request_sha256", reply.request_sha256);
  WriteText(json, "request_id", reply.request_id);
  json.Key("finish_reason")
      .String(reply.finish_raw.empty() ? FinishName(reply.finish) : reply.finish_raw);
  json.Key("duration_ms").Double(reply.took_s * 1e3);
  if (reply.first_token_s > 0) json.Key("first_token_ms").Double(reply.first_token_s * 1e3);
  WriteTokens(json, reply.usage);
  if (reply.cost.has_value()) {
    json.Key("cost_usd").Double(static_cast<double>(*reply.cost) / 1e9);
    WriteText(json, "price_version", reply.price_version);
  }
  WriteAttempts(json, reply.attempts);
  WriteStrings(json, "notes", reply.notes);
  WriteStrings(json, "repairs", facts.repairs);
  WriteMore(json, facts.more);
  json.Key("task_sha256").String(facts.task_sha256).EndObject();
  return text;
}

std::string VerdictMeta(const JudgeFacts& facts, const Verdict& verdict) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  WriteText(json, "because", facts.because);
  WriteText(json, "device", facts.device);
  json.Key("duration_ms").Double(verdict.ms);
  json.Key("verdict").BeginObject();
  json.Key("status").String(VerdictStatusName(verdict.status));
  json.Key("reason").String(verdict.reason).Key("stage").String(StageName(verdict.stage));
  json.Key("summary").String(verdict.summary);
  json.Key("candidate_sha256").String(verdict.candidate_sha256).EndObject();
  if (verdict.timing.has_value() && !verdict.timing->speedups.empty()) {
    json.Key("speedup").Double(verdict.timing->speedups.front().speedup);
  }
  if (verdict.timing.has_value()) WriteText(json, "measurement", facts.measurement);
  WriteText(json, "verify_dir", facts.verify_dir);
  WriteMore(json, facts.more);
  json.Key("task_sha256").String(facts.task_sha256).EndObject();
  return text;
}

std::string ProfileJson(const Verdict& verdict) {
  if (!verdict.timing.has_value()) return "";
  const TimingReport& timing = *verdict.timing;
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("quantity").String(timing.quantity);
  json.Key("cache_mode").String(timing.cache_mode);
  for (const TimingSide& side : timing.sides) {
    if (side.samples_ns.empty()) continue;
    json.Key(side.name + "_ns").Double(side.median_ns);
  }
  json.Key("speedups").BeginArray();
  for (const SpeedupReport& speedup : timing.speedups) {
    json.BeginObject().Key("baseline").String(speedup.baseline);
    json.Key("speedup").Double(speedup.speedup);
    json.Key("low").Double(speedup.low).Key("high").Double(speedup.high);
    json.Key("verdict").String(speedup.verdict).EndObject();
  }
  json.EndArray();
  if (timing.share_of_light > 0) json.Key("share_of_light").Double(timing.share_of_light);
  json.EndObject();
  return text;
}

std::string MeasurementText(const Verdict& verdict) {
  if (!verdict.timing.has_value()) return "It was not measured.";
  if (!verdict.passed()) return "It could not be measured: " + verdict.summary + ".";
  const TimingReport& timing = *verdict.timing;
  std::string text;
  for (const TimingSide& side : timing.sides) {
    if (side.samples_ns.empty()) continue;
    text += fmt::format("- {}: median {:.1f} us (p10 {:.1f}, p90 {:.1f})\n", side.name,
                        side.median_ns / 1e3, side.p10_ns / 1e3, side.p90_ns / 1e3);
  }
  for (const SpeedupReport& speedup : timing.speedups) {
    text += fmt::format("- {:.3f}x the speed of {} ({})\n", speedup.speedup, speedup.baseline,
                        speedup.verdict);
  }
  if (timing.share_of_light > 0) {
    text += fmt::format("- {:.0f} % of what the memory allows\n", timing.share_of_light * 100);
  }
  return text;
}

}  // namespace kerf::conduct
