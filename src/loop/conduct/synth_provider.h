// kerf's synthesizer as a model: designs and code from the task's graph, without a prompt.
//
// A first request for code gets the plan that was fastest before on this chip (the plan store), or
// the one kerf thinks best; each later one the next plan that has not been tried, so that the
// loop's own measurements are the search. What cannot be synthesized is an Error with the
// operator's name and the line of the reference.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "artifact/graph.h"
#include "base/file_system.h"
#include "llm/provider.h"
#include "loop/task/interpreter.h"
#include "sandbox/sandbox.h"
#include "synth/synthesizer.h"

namespace kerf::conduct {

class SynthProvider : public llm::Provider {
 public:
  struct Options {
    std::string cache_dir;  // graphs and plans are kept below it
    int threads = 1;        // the kernels are planned for
    int workers = 1;        // tasks captured at once
    sandbox::Mode mode = sandbox::Mode::kBest;
  };
  // `fs` outlives it.
  SynthProvider(FileSystem& fs, Options options);
  ~SynthProvider() override;

  void Ask(llm::Request request, Done done) override;
  void Stop() override;
  [[nodiscard]] std::string name() const override { return "kerf.synth"; }

  // Tells which of its kernels was the best, for the next time. Does nothing for code it did not
  // write.
  void Remember(const std::string& code, double speedup);

 private:
  struct Job {
    TaskSpec spec;
    ActionType action;
    int64_t round;
    Done done;
  };
  struct Written {
    std::string store_path;
    int variant = 0;
  };

  void Work();
  Result<llm::Reply> Answer(const Job& job);
  Result<Graph> Capture(const TaskSpec& spec);
  [[nodiscard]] std::string StorePath(const std::string& first_plan, const TaskSpec& spec) const;
  // The plan for the n-th request: what is remembered first.
  int VariantFor(const std::string& store_path, int64_t round);

  FileSystem& fs_;
  const Options options_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;                    // guarded by mu_
  bool stopped_ = false;                    // guarded by mu_
  std::map<std::string, Written> written_;  // by hash of the code; guarded by mu_
  std::stop_source stop_;                   // ends a capture that is under way
  std::vector<std::thread> workers_;
};

}  // namespace kerf::conduct
