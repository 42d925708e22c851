#include "loop/conduct/task_record.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"

namespace kerf::conduct {
namespace {

using Json = nlohmann::ordered_json;

std::string RecordPath(const std::string& log_dir, const std::string& op, const std::string& task) {
  const std::string folder = JoinPath(JoinPath(log_dir, trace::kPrivateFolder), "tasks");
  return JoinPath(folder, Sha256Hex(op + '\0' + task).substr(0, 32) + ".json");
}

}  // namespace

Status SaveTaskRecord(FileSystem& fs, const TaskOptions& options, const std::string& language) {
  const TaskSpec& spec = options.spec;
  const Rules& rules = options.rules;
  Json document = {
      {"format", "kerf-task"},
      {"version", 1},
      {"op_name", spec.op_name},
      {"task_id", spec.task_id},
      {"task_desc", spec.task_desc},
      {"framework", spec.framework},
      {"backend", spec.backend},
      {"arch", spec.arch},
      {"impl_type", ImplName(spec.impl)},
      {"task_type", spec.task_type},
      {"limit_steps", rules.limit_steps},
      {"coder_only", rules.coder_only},
      {"self_check", rules.self_check},
      {"analyze_error", rules.analyze_error},
      {"model", options.model},
      {"language", language},
      {"hardware", options.hardware},
      {"designer_documents", options.designer_documents},
      {"coder_documents", options.coder_documents},
  };
  if (!options.sentence.empty()) document["sentence"] = options.sentence;
  if (!options.prompts.empty()) document["prompts"] = options.prompts;
  if (options.max_tokens_total) document["max_tokens_total"] = *options.max_tokens_total;
  if (options.max_cost) document["max_cost"] = *options.max_cost;
  const std::string path = RecordPath(options.log_dir, spec.op_name, spec.task_id);
  KERF_RETURN_IF_ERROR(fs.CreateDirs(ParentPath(path)));
  return WriteFileAtomic(fs, path,
                         document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<TaskRecord> LoadTaskRecord(FileSystem& fs, const std::string& log_dir, const std::string& op,
                                  const std::string& task) {
  const std::string path = RecordPath(log_dir, op, task);
  const Result<std::string> text = fs.ReadFile(path);
  if (!text.ok() && text.error().code == ErrorCode::kNotFound) {
    return NotFound(log_dir + " does not tell what " + op + "/" + task +
                    " was asked to do: it was not made by kerf run");
  }
  if (!text.ok()) return text.error();
  // The library throws; nothing of that leaves this function.
  try {
    const Json document = Json::parse(*text);
    TaskRecord record;
    TaskSpec& spec = record.options.spec;
    document.at("op_name").get_to(spec.op_name);
    document.at("task_id").get_to(spec.task_id);
    document.at("task_desc").get_to(spec.task_desc);
    document.at("framework").get_to(spec.framework);
    document.at("backend").get_to(spec.backend);
    document.at("arch").get_to(spec.arch);
    document.at("task_type").get_to(spec.task_type);
    document.at("limit_steps").get_to(spec.limit_steps);
    const std::optional<Impl> impl = ParseImpl(document.at("impl_type").get<std::string>());
    if (!impl.has_value()) return Corrupt(path + ": unknown impl_type");
    spec.impl = *impl;
    Rules& rules = record.options.rules;
    rules.limit_steps = spec.limit_steps;
    rules.improve = spec.task_type == "profile";
    document.at("coder_only").get_to(rules.coder_only);
    document.at("self_check").get_to(rules.self_check);
    document.at("analyze_error").get_to(rules.analyze_error);
    document.at("model").get_to(record.options.model);
    document.at("hardware").get_to(record.options.hardware);
    document.at("language").get_to(record.language);
    if (document.contains("max_tokens_total")) {
      record.options.max_tokens_total = document.at("max_tokens_total").get<int64_t>();
    }
    if (document.contains("max_cost")) {
      record.options.max_cost = document.at("max_cost").get<double>();
    }
    record.options.sentence = document.value("sentence", "");
    record.options.prompts = document.value("prompts", "");
    record.options.designer_documents = document.value("designer_documents", "");
    record.options.coder_documents = document.value("coder_documents", "");
    return record;
  } catch (const Json::exception& error) {
    return Corrupt(path + ": " + error.what());
  }
}

}  // namespace kerf::conduct
