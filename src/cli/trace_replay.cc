// kerf trace replay: the loop again, with the recorded replies and fresh verdicts.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/build_info.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/step_text.h"
#include "cli/run_view.h"
#include "device/probe.h"
#include "loop/conduct/driver.h"
#include "loop/conduct/judge.h"
#include "loop/conduct/task_record.h"
#include "trace/names.h"
#include "trace/reader.h"

namespace kerf::cli {
namespace {

// Replies come from the recording; whoever asks for another one has found a bug.
class NoModel : public llm::Provider {
 public:
  void Ask(llm::Request /*request*/, Done done) override {
    done(Error{ErrorCode::kInternal, "a replay asked a model"});
  }
  void Stop() override {}
  [[nodiscard]] std::string name() const override { return "none"; }
};

struct Replayed {
  std::string name;
  conduct::TaskOutcome outcome;
};

Result<Replayed> ReplayTask(const trace::Address& address, const std::string& task_id,
                            const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(conduct::TaskRecord record,
                        conduct::LoadTaskRecord(context.fs, address.run_path, address.op, task_id));
  KERF_ASSIGN_OR_RETURN(
      conduct::Playback playback,
      conduct::Playback::Read(context.fs, address.run_path, address.op, task_id, address.step));
  KERF_ASSIGN_OR_RETURN(const llm::PromptLibrary prompts,
                        llm::PromptLibrary::Open(context.fs, {.language = record.language,
                                                              .folder = args.Get("--prompts")}));
  const std::unique_ptr<IdSource> ids = MakeRandomIds();
  const trace::Redactor redactor;
  conduct::JudgePool::Options options;
  options.request.threads = device::UsableProcessors();
  KERF_ASSIGN_OR_RETURN(
      const auto judge,
      conduct::JudgePool::Open(record.options.spec.backend, options,
                               {context.fs, context.clock, GetBuildInfo().version, {}}));
  std::vector<std::unique_ptr<conduct::Task>> tasks(1);
  KERF_ASSIGN_OR_RETURN(tasks[0],
                        conduct::Task::Open(std::move(record.options),
                                            {context.fs, context.clock, *ids, prompts, redactor},
                                            std::move(playback), conduct::PlaybackMode::kReplay));
  NoModel model;
  const llm::Ledger ledger{llm::PriceTable()};
  RunView view(context.out, context.clock, ledger, 1);
  conduct::Driver driver([&](const std::string&) -> llm::Provider& { return model; }, *judge, view,
                         {});
  std::vector<conduct::TaskOutcome> outcomes = driver.Run(tasks, [] { return false; });
  context.out.Progress("");
  if (outcomes[0].error.has_value()) return *outcomes[0].error;
  return Replayed{tasks[0]->name(), std::move(outcomes[0])};
}

void Print(const std::vector<Replayed>& all, bool as_json, Output& out) {
  nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
  for (const Replayed& one : all) {
    const bool same = !one.outcome.divergence.has_value();
    if (as_json) {
      tasks.push_back({{"task", one.name}, {"same", same}, {"steps", one.outcome.steps}});
      if (!same) tasks.back()["difference"] = *one.outcome.divergence;
    } else {
      out.Data(one.name + ": " +
               (same ? out.Styled("same", Style::kGood) + ", " + std::to_string(one.outcome.steps) +
                           " steps"
                     : out.Styled("differs", Style::kBad) + " at " + *one.outcome.divergence) +
               "\n");
    }
  }
  if (as_json) out.Data(DumpJson({{"ok", true}, {"tasks", tasks}}) + "\n");
}

// The lines of a data set's cases take turns, iteration by iteration; no task can be replayed
// alone.
Status RefuseOptimize(const std::string& run_path, Context& context) {
  const std::string mark = JoinPath(JoinPath(run_path, trace::kPrivateFolder), "optimize.json");
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, context.fs.Stat(mark));
  if (!info.has_value()) return {};
  return InvalidInput(run_path +
                      " is a trace of kerf optimize, which kerf trace replay does not know; "
                      "kerf optimize DATA --out OTHER --model recorded:" +
                      run_path + " runs it again with its recorded replies");
}

// What was named: a task, or all of a run that were made by the loop.
Result<std::vector<trace::Address>> Addresses(const std::string& text, Context& context) {
  const auto address = trace::ResolveAddress(context.fs, text);
  if (address.ok()) KERF_RETURN_IF_ERROR(RefuseOptimize(address->run_path, context));
  if (address.ok() && !address->task.empty()) return std::vector{*address};
  const auto runs = trace::FindRuns(context.fs, text);
  if (runs.ok() && runs->size() == 1)
    KERF_RETURN_IF_ERROR(RefuseOptimize(runs->front().path, context));
  if (!runs.ok() || runs->size() != 1) return address.error();
  std::vector<trace::Address> all;
  const trace::Run& run = runs->front();
  for (const std::string& op : run.ops) {
    KERF_ASSIGN_OR_RETURN(const auto tasks, trace::ReadTasks(context.fs, run.path, op, ""));
    for (const trace::TaskSteps& task : tasks) {
      const auto record = conduct::LoadTaskRecord(context.fs, run.path, op, task.task);
      if (!record.ok() && record.error().code == ErrorCode::kNotFound) {
        context.out.Note(op + "/" + task.task + ": not replayed, it is no run of the loop");
        continue;
      }
      all.push_back({run.path, op, task.task, -1});
    }
  }
  if (all.empty())
    return address.ok() ? NotFound(text + " holds no run of the loop") : address.error();
  return all;
}

Result<int> RunTraceReplay(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const std::vector<trace::Address> addresses,
                        Addresses(args.Positional(0), context));
  std::vector<Replayed> all;
  for (const trace::Address& address : addresses) {
    KERF_ASSIGN_OR_RETURN(Replayed one, ReplayTask(address, address.task, args, context));
    all.push_back(std::move(one));
  }
  Print(all, args.Has("--json"), context.out);
  const bool same = std::all_of(all.begin(), all.end(), [](const Replayed& one) {
    return !one.outcome.divergence.has_value();
  });
  return same ? kExitDone : kExitNegative;
}

}  // namespace

Verb TraceReplayVerb() {
  return {.name = "trace replay",
          .summary = "Run a recorded loop again with fresh verdicts and find the first difference",
          .details =
              "Replies come from the recording, verdicts are made anew; prompts, actions and\n"
              "verdicts are compared step by step. Nothing is written. Exit code 1: it differs.",
          .positionals = {{"RUN", "a run, RUN:TASK, or RUN:TASK:STEP to stop there"}},
          .flags = {{.name = "--prompts",
                     .value_name = "DIR",
                     .help = "prompts that replace kerf's own, as in the run"},
                    JsonFlag()},
          .examples = {{"kerf trace replay kerf_logs/Task_abcdefgh", ""}},
          .run = RunTraceReplay};
}

}  // namespace kerf::cli
