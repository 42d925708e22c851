// Leads all lines of all cases of a data set through their iterations, with one thread, and writes
// a pair after each. docs/formats/optimize.md.
//
//   Optimizer optimizer(data, files, options, ports, watcher);
//   KERF_ASSIGN_OR_RETURN(const OptimizeReport report, optimizer.Run(interrupted));
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/conduct/dispatcher.h"
#include "loop/optimize/case_state.h"
#include "loop/optimize/data_case.h"
#include "loop/optimize/line.h"
#include "loop/optimize/run_files.h"

namespace kerf::optimize {

struct IterationReport {
  int64_t iteration = 0;
  bool complete = false;
  int64_t cases = 0;
  int64_t called = 0;  // cases with an attempt that passed the stage in this iteration
  int64_t executed = 0;
  int64_t measured = 0;
  int64_t solved = 0;  // cases with a right kernel so far
};

// Whoever watches. Called by the thread that leads.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void Asked(const Line& line, const std::string& agent) = 0;
  virtual void Answered(const Line& line, const llm::Reply& reply) = 0;
  virtual void Judging(const Line& line) = 0;
  virtual void Judged(const Line& line) = 0;
  // What it waits for: a device, the next try at an endpoint.
  virtual void Waiting(const Line& line, const std::string& what) = 0;
  virtual void Prepared(const Case& one) = 0;
  virtual void Ended(const IterationReport& report) = 0;
  // Every so often while nothing happens.
  virtual void Idle() = 0;
};

struct CaseReport {
  std::string name;
  std::string folder;
  std::string impl;
  bool solved = false;
  std::optional<double> speedup;
  std::string status;  // of the last attempt
  std::string summary;
  int64_t attempts = 0;
  std::string because;  // why it was not judged, or takes no more attempts
  std::string code;     // the best
};

struct OptimizeReport {
  std::vector<CaseReport> cases;
  std::vector<IterationReport> iterations;  // of this process
  int64_t last_iteration = -1;              // whose pair is there
  bool complete = false;                    // all iterations that were asked for
  std::string because;                      // why not
  std::optional<Error> error;
};

class Optimizer {
 public:
  // Everything outlives it. `playback` gives what is recorded of a line.
  using PlaybackOf =
      std::function<Result<conduct::Playback>(const std::string& op, const std::string& task)>;
  Optimizer(DataSet& data, RunFiles& files, const LinePorts& ports, conduct::Dispatcher& dispatcher,
            Watcher& watcher);

  // Iterations 0 to `iterations` - 1, as far as they are not recorded.
  Result<OptimizeReport> Run(int64_t iterations, const PlaybackOf& playback_of,
                             const std::function<bool()>& interrupted);

 private:
  struct Running {
    CaseState state;
    std::vector<std::unique_ptr<Line>> lines;
    std::vector<Trial> trials;  // of the iteration under way
  };

  Status Open(const PlaybackOf& playback_of);
  // False when it could not be finished.
  Result<bool> RunIteration(int64_t iteration, bool live, const std::function<bool()>& interrupted);
  // Gives out the first work of a case: of its lines, or, the first time, the question whether it
  // can be judged at all, because nobody is asked for code before that is known.
  Status BeginCase(size_t index);
  Status BeginLines(size_t index);
  // Gives out the next work of a line, or takes its trial when its attempt is done.
  Status Advance(size_t who);
  // What came back; more work may be given out for it.
  Status Take(conduct::Dispatcher::Answer answer, bool stopped);
  void TakePrepared(size_t index, const Status& status);
  [[nodiscard]] bool AnyLineLeft() const;
  [[nodiscard]] std::vector<CaseView> Views() const;
  [[nodiscard]] IterationReport ReportIteration(int64_t iteration, bool complete) const;
  [[nodiscard]] CaseReport ReportCase(size_t index) const;
  Line& LineOf(size_t who) { return *cases_[who / lines_each_].lines[who % lines_each_]; }

  DataSet& data_;
  RunFiles& files_;
  const LinePorts& ports_;
  conduct::Dispatcher& dispatcher_;
  Watcher& watcher_;
  const size_t lines_each_;
  std::vector<Running> cases_;
  // Of the iteration under way.
  int64_t iteration_ = 0;
  bool live_ = false;
  size_t under_way_ = 0;        // what was given out and has not come back
  bool prepared_ = false;       // it is known which cases can be judged
  std::optional<Error> error_;  // the first that was nobody's kernel's fault
};

}  // namespace kerf::optimize
