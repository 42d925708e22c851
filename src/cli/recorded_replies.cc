#include "cli/recorded_replies.h"

#include "base/json_reader.h"
#include "trace/reader.h"
#include "trace/step_facts.h"

namespace kerf::cli {
namespace {

std::string FactText(const std::vector<trace::Fact>& facts, const std::string& path) {
  for (const trace::Fact& fact : facts) {
    if (fact.path == path) return fact.text;
  }
  return "";
}

// A member as it was written; empty when there is none.
std::string RawMember(const std::string& json, const std::string& name) {
  JsonReader reader(json);
  std::string key;
  std::string_view raw;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == name && reader.ReadRaw(raw)) return std::string(raw);
    if (key != name) reader.Skip();
  }
  return "";
}

Result<llm::RecordedReply> ReadReply(FileSystem& fs, const std::string& op_dir,
                                     const std::string& owner, const Step& step) {
  const std::vector<trace::Fact> facts = trace::FlattenFacts(step.meta, "");
  const trace::StepFacts known = trace::ReadStepFacts(step);
  llm::RecordedReply record;
  record.where = owner + " step " + std::to_string(step.step);
  record.agent = FactText(facts, "agent");
  record.owner = owner;
  record.request_sha256 = FactText(facts, "request_sha256");
  record.model = FactText(facts, "asked");
  record.sampling = RawMember(step.meta, "params");
  KERF_ASSIGN_OR_RETURN(std::string prompt, trace::ReadStepText(fs, op_dir, step, "prompt"));
  record.messages = {{"user", std::move(prompt)}};
  KERF_ASSIGN_OR_RETURN(record.reply.text, trace::ReadRawReply(fs, op_dir, step));
  KERF_ASSIGN_OR_RETURN(record.reply.reasoning, trace::ReadStepText(fs, op_dir, step, "reasoning"));
  record.reply.finish = llm::ParseFinish(known.finish_reason);
  record.reply.finish_raw = known.finish_reason;
  record.reply.model = known.model;
  record.reply.provider = known.provider;
  llm::Usage& usage = record.reply.usage;
  usage.input_total = known.input_tokens.value_or(0);
  usage.output_total = known.output_tokens.value_or(0);
  usage.input_cache_read = known.cached_tokens.value_or(0);
  usage.output_reasoning = known.reasoning_tokens.value_or(0);
  if (known.input_tokens.has_value()) usage.source = llm::Usage::Source::kReported;
  if (known.cost_usd.has_value()) {
    record.reply.cost = static_cast<int64_t>(*known.cost_usd * 1e9 + 0.5);
  }
  return record;
}

}  // namespace

Result<std::vector<llm::RecordedReply>> ReadRecordedReplies(FileSystem& fs,
                                                            const std::string& path) {
  KERF_ASSIGN_OR_RETURN(const std::vector<trace::Run> runs, trace::FindRuns(fs, path));
  std::vector<llm::RecordedReply> records;
  for (const trace::Run& run : runs) {
    for (const std::string& op : run.ops) {
      KERF_ASSIGN_OR_RETURN(const std::vector<trace::TaskSteps> tasks,
                            trace::ReadTasks(fs, run.path, op, ""));
      for (const trace::TaskSteps& task : tasks) {
        for (const Step& step : task.steps) {
          if (step.kind == RecordKind::kVerifier) continue;
          KERF_ASSIGN_OR_RETURN(llm::RecordedReply record,
                                ReadReply(fs, JoinPath(run.path, op), op + "/" + task.task, step));
          records.push_back(std::move(record));
        }
      }
    }
  }
  if (records.empty()) return NotFound(path + " holds no replies");
  return records;
}

}  // namespace kerf::cli
