#include "cli/run_setup.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/cache_dir.h"
#include "base/subprocess.h"
#include "cli/build_info.h"
#include "cli/documents.h"
#include "cli/recorded_replies.h"
#include "cli/render/output.h"
#include "cli/run_request.h"
#include "device/probe.h"
#include "loop/conduct/failed_calls.h"
#include "loop/conduct/hardware.h"
#include "loop/conduct/task_record.h"
#include "trace/reader.h"

namespace kerf::cli {
namespace {

// What was recorded for one kind of kernel says nothing about another.
Status CheckSameTask(const conduct::TaskOptions& now, FileSystem& fs) {
  const auto then = conduct::LoadTaskRecord(fs, now.log_dir, now.spec.op_name, now.spec.task_id);
  if (!then.ok()) return {};
  const TaskSpec& was = then->options.spec;
  const auto differs = [](const std::string& what, const std::string& a, const std::string& b) {
    return InvalidInput("the run was for " + what + " " + a + ", not " + b +
                        "; use the same, or another --log-dir");
  };
  if (was.impl != now.spec.impl) {
    return differs("impl", ImplName(was.impl), ImplName(now.spec.impl));
  }
  if (was.backend != now.spec.backend) return differs("backend", was.backend, now.spec.backend);
  if (was.arch != now.spec.arch) return differs("arch", was.arch, now.spec.arch);
  if (was.framework != now.spec.framework) {
    return differs("framework", was.framework, now.spec.framework);
  }
  return {};
}

// What decided the recorded steps decides the next ones too: who goes on with a run need not know
// how it was begun.
void TakeRules(FileSystem& fs, const std::string& log_dir, const std::string& op,
               const std::string& task, conduct::TaskOptions& options) {
  const auto then = conduct::LoadTaskRecord(fs, log_dir, op, task);
  if (!then.ok()) return;
  const conduct::Rules& rules = then->options.rules;
  options.rules.coder_only = options.rules.coder_only || rules.coder_only;
  options.rules.self_check = rules.self_check;
  options.rules.analyze_error = rules.analyze_error;
}

// What is kept as it is in several places, and shown to a model, must not hold a secret.
Status RefuseSecret(const std::string& what, std::string text, const trace::Redactor& redactor) {
  trace::Redactor::Counts counts;
  if (!redactor.Redact(text, counts)) return {};
  return Denied(what + " holds the value of " + counts.begin()->first +
                ", which must not get into records and prompts; take it out");
}

Status RefuseSecrets(const std::vector<TaskSpec>& specs, const Config& config,
                     const trace::Redactor& redactor) {
  for (const TaskSpec& spec : specs) {
    KERF_RETURN_IF_ERROR(RefuseSecret("the task's name", spec.op_name, redactor));
    KERF_RETURN_IF_ERROR(RefuseSecret("--task-id", spec.task_id, redactor));
    KERF_RETURN_IF_ERROR(RefuseSecret(spec.op_name + ": the task", spec.task_desc, redactor));
  }
  return RefuseSecret("the model's name", config.model, redactor);
}

// The id under which this text was recorded among the tasks of its name; empty when it was not.
std::string RecordedId(FileSystem& fs, const std::string& log_dir, const TaskSpec& spec) {
  for (int i = 0;; ++i) {
    std::string id = std::to_string(i);
    const auto then = conduct::LoadTaskRecord(fs, log_dir, spec.op_name, id);
    if (!then.ok()) return "";
    if (then->options.spec.task_desc == spec.task_desc) return id;
  }
}

// Tasks of one name were numbered in the order in which they came then; now fewer of them may be
// there, or others. One that is new gets a number that nobody has.
void KeepIds(FileSystem& fs, const std::string& log_dir, std::vector<TaskSpec>& specs) {
  std::set<std::pair<std::string, std::string>> taken;
  std::vector<TaskSpec*> fresh;
  for (TaskSpec& spec : specs) {
    const std::string id = RecordedId(fs, log_dir, spec);
    if (id.empty() || !taken.insert({spec.op_name, id}).second) {
      fresh.push_back(&spec);
    } else {
      spec.task_id = id;
    }
  }
  for (TaskSpec* spec : fresh) {
    const bool known = conduct::LoadTaskRecord(fs, log_dir, spec->op_name, spec->task_id).ok();
    // One alone whose text has changed is the same task to its user, who is told.
    if (!known || std::none_of(taken.begin(), taken.end(),
                               [&](const auto& other) { return other.first == spec->op_name; })) {
      continue;
    }
    for (int i = 0;; ++i) {
      spec->task_id = std::to_string(i);
      if (taken.contains({spec->op_name, spec->task_id})) continue;
      if (!conduct::LoadTaskRecord(fs, log_dir, spec->op_name, spec->task_id).ok()) break;
    }
    taken.insert({spec->op_name, spec->task_id});
  }
}

// What the task was asked to do is kept once the trace is ours: a run that is refused must not
// change what another one goes by.
Result<std::unique_ptr<conduct::Task>> OpenAndSave(const conduct::TaskOptions& options,
                                                   const conduct::TaskPorts& ports,
                                                   conduct::Playback playback,
                                                   conduct::PlaybackMode mode,
                                                   const std::string& language) {
  KERF_ASSIGN_OR_RETURN(auto task, conduct::Task::Open(options, ports, std::move(playback), mode));
  KERF_RETURN_IF_ERROR(conduct::SaveTaskRecord(ports.fs, options, language));
  return task;
}

void TakeOptions(const Args& args, const conduct::TaskOptions& was, Config& config,
                 TaskSpec& spec) {
  const std::string origin = "the record of " + was.spec.op_name + "/" + was.spec.task_id;
  if (!args.Has("--task-type")) spec.task_type = config.task_type = was.spec.task_type;
  if (!args.GetNumber("--limit-steps").has_value()) spec.limit_steps = was.rules.limit_steps;
  const auto take = [&](const char* flag, const char* key, const std::string& old,
                        std::string& into) {
    if (args.Has(flag) || old.empty()) return;
    into = old;
    config.origins[key] = origin;
  };
  take("--model", "model", was.model, config.model);
  take("--prompts", "prompts", was.prompts, config.prompts);
  // The model that wrote a task from a sentence was told for which framework.
  if (!args.Has("--framework") && !was.sentence.empty()) spec.framework = was.spec.framework;
}

}  // namespace

Status TakeRecorded(const Args& args, const std::string& log_dir, FileSystem& fs, Config& config,
                    std::vector<TaskSpec>& specs) {
  if (!args.Has("--task-id")) KeepIds(fs, log_dir, specs);
  for (TaskSpec& spec : specs) {
    const auto then = conduct::LoadTaskRecord(fs, log_dir, spec.op_name, spec.task_id);
    if (!then.ok() && then.error().code == ErrorCode::kNotFound) continue;
    if (!then.ok() && specs.size() > 1) continue;  // that task will say so, and the others go on
    if (!then.ok()) return then.error();
    const conduct::TaskOptions& was = then->options;
    if (IsSentence(spec) && !was.sentence.empty() && was.sentence != spec.task_desc) {
      return InvalidInput("the run was begun with another sentence: '" + was.sentence +
                          "'; use another --log-dir or --op-name");
    }
    TakeOptions(args, was, config, spec);
    if (!args.GetNumber("--max-tokens-total").has_value() && was.max_tokens_total.has_value()) {
      config.max_tokens_total = was.max_tokens_total;
    }
    if (!args.Has("--max-cost") && was.max_cost.has_value()) config.max_cost = was.max_cost;
  }
  return {};
}

Status TakeForked(const Args& args, FileSystem& fs, Config& config, TaskSpec& spec) {
  KERF_ASSIGN_OR_RETURN(const trace::Address from, trace::ResolveAddress(fs, args.Get("--fork")));
  const auto then = conduct::LoadTaskRecord(fs, from.run_path, from.op, from.task);
  if (!then.ok() && then.error().code == ErrorCode::kNotFound) return {};
  if (!then.ok()) return then.error();
  TakeOptions(args, then->options, config, spec);
  return {};
}

void AddRecordedUse(Workshop& shop, const std::vector<TaskSpec>& specs, Context& context) {
  const auto ours = [&](const std::string& owner) {
    return std::any_of(specs.begin(), specs.end(), [&](const TaskSpec& spec) {
      const std::string name = spec.op_name + "/" + spec.task_id;
      // A sentence's task file is written under a name of its own.
      return owner == name || owner == name + "-reference";
    });
  };
  if (const auto failed = conduct::ReadFailedCalls(context.fs, shop.log_dir); failed.ok()) {
    for (const conduct::FailedCall& call : *failed) {
      std::vector<llm::Charge> charges;
      for (const llm::Attempt& attempt : call.attempts) {
        charges.push_back(
            {call.model.substr(call.model.find(':') + 1), attempt.usage, std::nullopt});
      }
      if (ours(call.owner)) shop.models->ledger().Add(call.agent, call.owner, charges);
    }
  }
  const auto records = ReadRecordedReplies(context.fs, shop.log_dir);
  if (!records.ok()) return;
  for (const llm::RecordedReply& record : *records) {
    if (!ours(record.owner) || record.reply.usage.source == llm::Usage::Source::kNone) continue;
    shop.models->ledger().Add(record.agent, record.owner,
                              {{record.reply.model, record.reply.usage, record.reply.cost}});
  }
}

std::string FreshLogDir(const Config& config, const std::string& kind) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string name = kind + "_";
  uint64_t bits = MakeRandomIds()->Next();
  for (int i = 0; i < 8; ++i, bits /= 36) name += kLetters[bits % 36];
  return JoinPath(config.log_dir, name);
}

int JudgeJobs(const Config& config, const std::vector<TaskSpec>& specs) {
  const int processors = device::UsableProcessors();
  const bool cpu = specs.front().backend == "cpu";
  int jobs = cpu && specs.front().task_type == "profile" ? 1 : static_cast<int>(specs.size());
  if (config.jobs > 0) jobs = static_cast<int>(std::min<int64_t>(config.jobs, 256));
  return cpu ? std::min(jobs, processors) : jobs;
}

int JudgeThreads(const Config& config, const std::vector<TaskSpec>& specs) {
  const int processors = device::UsableProcessors();
  if (specs.front().backend != "cpu") return processors;
  return std::max(1, processors / JudgeJobs(config, specs));
}

namespace {

using OpenedTask = Result<std::unique_ptr<conduct::Task>>;

Result<conduct::TaskOptions> MakeTaskOptions(const Args& args, const Workshop& shop, TaskSpec spec,
                                             Context& context) {
  conduct::TaskOptions options;
  KERF_ASSIGN_OR_RETURN(options.hardware, conduct::HardwareText(spec));
  KERF_ASSIGN_OR_RETURN(options.start, RunStart(args, context.fs));
  options.rules.limit_steps = spec.limit_steps;
  options.rules.coder_only = args.Has("--coder-only");
  options.rules.improve = spec.task_type == "profile";
  options.rules.self_check = !shop.models->only_synth();
  options.rules.analyze_error = !shop.models->only_synth();
  KERF_ASSIGN_OR_RETURN(options.designer_documents,
                        ReadDocuments(context.fs, shop.config, "designer"));
  KERF_ASSIGN_OR_RETURN(options.coder_documents, ReadDocuments(context.fs, shop.config, "coder"));
  options.log_dir = shop.log_dir;
  options.max_tokens_total = shop.config.max_tokens_total;
  options.max_cost = shop.config.max_cost;
  options.model = shop.models->NameOf("");
  options.prompts = shop.config.prompts;
  if (const auto found = shop.sentences.find(spec.op_name + "/" + spec.task_id);
      found != shop.sentences.end()) {
    options.sentence = found->second;
  }
  for (const auto& [what, text] :
       {std::pair("--code", options.start.code), std::pair("--design", options.start.design),
        std::pair("docs_dir", options.designer_documents),
        std::pair("docs_dir", options.coder_documents)}) {
    KERF_RETURN_IF_ERROR(RefuseSecret(what, text, shop.redactor));
  }
  options.spec = std::move(spec);
  return options;
}

OpenedTask OpenFork(const std::string& address, conduct::TaskOptions options,
                    const conduct::TaskPorts& ports, const std::string& language) {
  KERF_ASSIGN_OR_RETURN(const trace::Address from, trace::ResolveAddress(ports.fs, address));
  KERF_ASSIGN_OR_RETURN(auto playback, conduct::Playback::Read(ports.fs, from.run_path, from.op,
                                                               from.task, from.step));
  if (from.step == 0) {
    return InvalidInput("--fork: steps are counted from 1; without a fork a run begins anew");
  }
  if (from.step > playback.last_step()) {
    return NotFound(address + ": the task has " + std::to_string(playback.last_step()) + " steps");
  }
  TakeRules(ports.fs, from.run_path, from.op, from.task, options);
  return OpenAndSave(options, ports, std::move(playback), conduct::PlaybackMode::kFork, language);
}

OpenedTask OpenResumed(conduct::TaskOptions options, const conduct::TaskPorts& ports,
                       const std::string& language, Context& context) {
  const std::string& log_dir = options.log_dir;
  const std::string op = options.spec.op_name;
  const std::string task = options.spec.task_id;
  auto playback = conduct::Playback::Read(ports.fs, log_dir, op, task, -1);
  if (!playback.ok() && playback.error().code != ErrorCode::kNotFound) return playback.error();
  if (playback.ok()) KERF_RETURN_IF_ERROR(CheckSameTask(options, ports.fs));
  TakeRules(ports.fs, log_dir, op, task, options);
  if (playback.ok()) {
    // What was done under a larger limit was done; the new one is for what comes.
    options.live_limit = options.spec.limit_steps;
    if (const auto then = conduct::LoadTaskRecord(ports.fs, log_dir, op, task); then.ok()) {
      options.rules.limit_steps = std::max(options.live_limit, then->options.rules.limit_steps);
    }
    return OpenAndSave(options, ports, std::move(*playback), conduct::PlaybackMode::kResume,
                       language);
  }
  // It had not come to its first record.
  context.out.Note("nothing of " + op + "/" + task + " is recorded in " + log_dir +
                   ": it begins anew");
  if (options.rules.coder_only && options.start.action == ActionType::kDoDesigner) {
    options.start.action = ActionType::kDoCoderDirect;
  }
  return OpenAndSave(options, ports, conduct::Playback(), conduct::PlaybackMode::kResume, language);
}

}  // namespace

Result<std::unique_ptr<conduct::Task>> OpenTask(const Args& args, Workshop& shop, TaskSpec spec,
                                                Context& context) {
  KERF_ASSIGN_OR_RETURN(conduct::TaskOptions options,
                        MakeTaskOptions(args, shop, std::move(spec), context));
  const conduct::TaskPorts ports{context.fs, context.clock, *shop.ids, *shop.prompts,
                                 shop.redactor};
  const std::string& language = shop.config.language;
  if (args.Has("--fork")) return OpenFork(args.Get("--fork"), std::move(options), ports, language);
  if (args.Has("--resume")) return OpenResumed(std::move(options), ports, language, context);
  return OpenAndSave(options, ports, conduct::Playback(), conduct::PlaybackMode::kResume, language);
}

Result<std::unique_ptr<conduct::JudgePool>> MakeJudge(const Args& args, const Config& config,
                                                      const std::vector<TaskSpec>& specs,
                                                      Context& context) {
  conduct::JudgePool::Options options;
  options.jobs = JudgeJobs(config, specs);
  options.request.threads = JudgeThreads(config, specs);
  options.request.mode = *sandbox::ParseMode(args.Get("--sandbox"));
  options.request.timeout_s = config.verify_timeout;
  constexpr int64_t kMost = 100000;
  options.request.warmups = static_cast<int>(std::min(config.warmup_times.value_or(0), kMost));
  options.request.rounds = static_cast<int>(std::min(config.run_times.value_or(0), kMost));
  return conduct::JudgePool::Open(specs.front().backend, options,
                                  {context.fs, context.clock, GetBuildInfo().version, {}});
}

Result<Workshop> SetUpRun(const Args& args, const std::vector<TaskSpec>& specs, Config config,
                          std::string log_dir, Context& context) {
  Workshop shop;
  shop.config = std::move(config);
  shop.log_dir = std::move(log_dir);
  shop.redactor.AddEnvironment(EnvironmentEntries());
  KERF_RETURN_IF_ERROR(RefuseSecrets(specs, shop.config, shop.redactor));
  KERF_ASSIGN_OR_RETURN(auto prompts,
                        llm::PromptLibrary::Open(context.fs, {.language = shop.config.language,
                                                              .folder = shop.config.prompts}));
  shop.prompts.emplace(std::move(prompts));
  Models::Ports ports{context.fs, context.clock, *shop.ids, args.Has("--loose")};
  KERF_ASSIGN_OR_RETURN(ports.cache_dir, OpenCacheDir());
  ports.threads = JudgeThreads(shop.config, specs);
  ports.mode = *sandbox::ParseMode(args.Get("--sandbox"));
  KERF_ASSIGN_OR_RETURN(shop.models, Models::Make(shop.config, ports));
  return shop;
}

}  // namespace kerf::cli
