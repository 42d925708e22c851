#include "loop/conduct/reference_writer.h"

#include <future>

#include "base/cache_dir.h"
#include "base/hash.h"
#include "llm/reply_parser.h"
#include "loop/conduct/playback.h"
#include "loop/conduct/record_meta.h"
#include "loop/task/reference_maker.h"
#include "loop/task/task_check.h"
#include "loop/verify/fitness.h"
#include "trace/trace.h"

namespace kerf::conduct {
namespace {

constexpr char kAgent[] = "task_writer";

Result<llm::Reply> AskAndWait(llm::Provider& model, llm::Request request) {
  auto promise = std::make_shared<std::promise<Result<llm::Reply>>>();
  std::future<Result<llm::Reply>> answer = promise->get_future();
  model.Ask(std::move(request),
            [promise](Result<llm::Reply> reply) { promise->set_value(std::move(reply)); });
  return answer.get();
}

Result<llm::Prompt> MakePrompt(const llm::PromptLibrary& prompts, const TaskSpec& spec,
                               const std::string& error_log) {
  const auto is = [&](const char* framework) {
    return spec.framework == framework ? std::string("1") : std::string();
  };
  return prompts.Render("write_reference", {{"task_desc", spec.task_desc},
                                            {"framework", spec.framework},
                                            {"torch", is("torch")},
                                            {"mindspore", is("mindspore")},
                                            {"numpy", is("numpy")},
                                            {"error_log", error_log}});
}

Result<std::unique_ptr<trace::Trace>> OpenTrace(const TaskSpec& spec,
                                                const ReferenceWriterOptions& options,
                                                const TaskPorts& ports) {
  trace::Trace::Options names;
  names.op_name = spec.op_name;
  names.task_id = spec.task_id + "-reference";
  names.log_dir = options.log_dir;
  names.owner = "kerf run";
  names.redactor = &ports.redactor;
  return trace::Trace::Open(ports.fs, ports.clock, ports.ids, std::move(names));
}

}  // namespace

CheckReference MakeReferenceCheck(FileSystem& fs, const TaskSpec& spec,
                                  const ReferenceWriterOptions& options) {
  return [&fs, spec, options](const std::string& text) -> Result<std::string> {
    Result<task::TaskFile> file = task::MakeTaskFile(spec.op_name + "_" + spec.framework + ".py",
                                                     text, task::ParseFramework(spec.framework));
    if (!file.ok()) return file.error().message;
    KERF_ASSIGN_OR_RETURN(const uint64_t limit, CacheLimit());
    KERF_ASSIGN_OR_RETURN(auto cache, task::ReferenceCache::Open(fs, options.cache_dir, limit));
    KERF_ASSIGN_OR_RETURN(
        const task::Interpreter interpreter,
        task::FindInterpreter(task::SearchHere(fs, options.cache_dir), file->framework));
    task::ReferenceOptions wanted;
    wanted.check = true;
    wanted.mode = options.mode;
    const Result<Reference> reference = task::MakeReference(fs, *file, wanted, interpreter, cache);
    // The model's text is to blame for what it raised; for anything else kerf is.
    if (!reference.ok() && reference.error().code == ErrorCode::kInvalidInput) {
      return reference.error().message;
    }
    if (!reference.ok()) return reference.error();
    KERF_ASSIGN_OR_RETURN(const task::TaskReport report, task::CheckTask(fs, *reference));
    for (const task::TaskFinding& finding : report.findings) {
      if (finding.unfit) return finding.message;
    }
    KERF_ASSIGN_OR_RETURN(verify::Expectations expectations,
                          verify::Expectations::Make(*reference, 1));
    for (const verify::Unfitness& unfit : verify::FindUnfitness(expectations, 1)) {
      return unfit.text;
    }
    return std::string();
  };
}

namespace {

// Takes the tries that are recorded: how many there were, and what became of the last.
struct Earlier {
  int tries = 0;
  std::string code;       // that was fit; empty when none was
  std::string complaint;  // of the last
};

Result<Earlier> ReadEarlier(const TaskSpec& spec, const ReferenceWriterOptions& options,
                            const TaskPorts& ports, const CheckReference& check,
                            trace::Trace& trace) {
  Earlier earlier;
  if (trace.last_step() == 0) return earlier;
  const std::string id = spec.task_id + "-reference";
  if (!options.resume) {
    return InvalidInput(options.log_dir + " already holds " + spec.op_name + "/" + id +
                        "; --resume continues it, another --log-dir or --task-id begins anew");
  }
  KERF_ASSIGN_OR_RETURN(Playback playback,
                        Playback::Read(ports.fs, options.log_dir, spec.op_name, id, -1));
  if (!playback.empty() && playback.task_sha256() != Sha256Hex(spec.task_desc)) {
    return InvalidInput("the run was begun with another sentence; use another --log-dir");
  }
  while (!playback.empty()) {
    const RecordedAnswer answer = playback.Take();
    if (answer.kind != RecordKind::kDesignerOrCoder) continue;
    const llm::ParsedReply parsed =
        llm::ParseCode(answer.reply, llm::CodeLanguage::kPython, answer.finish);
    ++earlier.tries;
    earlier.complaint = parsed.complaint;
    const bool judged = !playback.empty() && playback.front().kind == RecordKind::kVerifier;
    if (parsed.ok() && judged) {
      earlier.complaint = playback.front().attempt.passed ? "" : playback.front().attempt.log;
    } else if (!judged) {
      if (parsed.ok()) {
        KERF_ASSIGN_OR_RETURN(earlier.complaint, check(parsed.code));
      }
      KERF_RETURN_IF_ERROR(trace.InsertVerifierRecord(earlier.complaint.empty() ? "True" : "False",
                                                      earlier.complaint, ""));
    }
    if (earlier.complaint.empty()) earlier.code = parsed.code;
  }
  return earlier;
}

}  // namespace

Result<std::string> WriteReference(const TaskSpec& spec, const ReferenceWriterOptions& options,
                                   const TaskPorts& ports, llm::Provider& model,
                                   const CheckReference& check) {
  KERF_ASSIGN_OR_RETURN(const auto trace, OpenTrace(spec, options, ports));
  KERF_ASSIGN_OR_RETURN(const Earlier earlier, ReadEarlier(spec, options, ports, check, *trace));
  if (!earlier.code.empty()) return earlier.code;
  std::string complaint = earlier.complaint;
  for (int i = earlier.tries; i < options.tries; ++i) {
    KERF_ASSIGN_OR_RETURN(const llm::Prompt prompt, MakePrompt(ports.prompts, spec, complaint));
    llm::Request request;
    request.agent = kAgent;
    request.owner = spec.op_name + "/" + spec.task_id;
    request.messages = {{"user", prompt.text}};
    request.spec = &spec;
    request.action = i == 0 ? ActionType::kDoCoderDirect : ActionType::kFixCoder;
    KERF_ASSIGN_OR_RETURN(const llm::Reply reply, AskAndWait(model, request));
    const llm::ParsedReply parsed =
        llm::ParseCode(reply.text, llm::CodeLanguage::kPython, reply.finish);
    const AskFacts facts{kAgent,
                         options.model,
                         prompt,
                         i == 0 ? "the task is a sentence" : complaint,
                         Sha256Hex(spec.task_desc),
                         parsed.repairs};
    KERF_RETURN_IF_ERROR(trace->InsertDesignerOrCoderRecord(
        reply.text, prompt.text, reply.reasoning, request.action, ReplyMeta(facts, reply)));
    complaint = parsed.complaint;
    if (parsed.ok()) {
      KERF_ASSIGN_OR_RETURN(complaint, check(parsed.code));
    }
    KERF_RETURN_IF_ERROR(
        trace->InsertVerifierRecord(complaint.empty() ? "True" : "False", complaint, ""));
    if (complaint.empty()) return parsed.code;
  }
  return InvalidInput("the model wrote no task file that could be used for '" + spec.task_desc +
                      "': " + complaint);
}

}  // namespace kerf::conduct
