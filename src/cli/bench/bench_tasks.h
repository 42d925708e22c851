// Runs the tasks of a bench one after another and makes a row of each.
//
//   BenchTasks tasks(plan, context);
//   KERF_ASSIGN_OR_RETURN(std::vector<BenchTask> rows, tasks.Run());
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/bench_files.h"
#include "cli/bench/bench_result.h"
#include "cli/run_setup.h"
#include "cli/run_view.h"
#include "loop/conduct/driver.h"

namespace kerf::cli {

// A task before it is run: its row as far as the file tells.
struct BenchEntry {
  BenchTask row;
  TaskSpec spec;
  bool done = false;  // nothing is left to do: it ended earlier, or its file cannot be used
};

// What a bench works with; outlives BenchTasks.
struct BenchPlan {
  const Args& args;
  Workshop& shop;
  BenchStore& store;
  BenchSettings settings;
  std::string cache_dir;
  sandbox::Mode mode = sandbox::Mode::kBest;
  size_t at_once = 1;
};

class BenchTasks : public conduct::Observer {
 public:
  BenchTasks(BenchPlan& plan, std::vector<BenchEntry> entries, RunView& view, Context& context);

  // Until all have ended, or `interrupted` says so; then those that have not are without a row.
  Result<std::vector<BenchTask>> Run(conduct::Judge& judge,
                                     const std::function<bool()>& interrupted);

  void Asked(size_t task, const conduct::Task& state, const std::string& agent) override;
  void Answered(size_t task, const conduct::Task& state, const llm::Reply& reply) override;
  void Judging(size_t task, const conduct::Task& state) override;
  void Preparing(size_t task, const conduct::Task& state) override;
  void Waiting(size_t task, const conduct::Task& state, const std::string& what) override;
  void Judged(size_t task, const conduct::Task& state,
              const conduct::Judgement& judgement) override;
  void Ended(size_t task, const conduct::Task& state, const conduct::TaskOutcome& outcome) override;
  void Idle() override { view_.Idle(); }

 private:
  // The next one that could be opened; null when there are no more. What cannot be opened is a row.
  std::unique_ptr<conduct::Task> OpenNext();
  Result<std::unique_ptr<conduct::Task>> Open(BenchEntry& entry);
  Status Shrink(BenchEntry& entry);
  void Fail(BenchEntry& entry, const Error& error);
  // Family, and the refusal when there is one.
  void TakeGraph(BenchEntry& entry, bool with_refusal);
  void TakeOutcome(BenchEntry& entry, const conduct::Task& state,
                   const conduct::TaskOutcome& outcome);
  void Finish(BenchEntry& entry);

  BenchPlan& plan_;
  std::vector<BenchEntry> entries_;
  RunView& view_;
  Context& context_;
  size_t next_ = 0;
  std::vector<size_t> opened_;  // the entry of each task the driver got
  std::map<size_t, int64_t> begin_;
  std::map<task::Framework, task::Interpreter> interpreters_;
  std::function<bool()> interrupted_;
  Status failed_;  // the first line that could not be kept
};

}  // namespace kerf::cli
