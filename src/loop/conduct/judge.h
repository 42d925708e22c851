// Judges the candidates of many tasks: a few threads, each with a device while it works.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "artifact/candidate.h"
#include "artifact/task_spec.h"
#include "base/result.h"
#include "loop/conduct/devices.h"
#include "loop/conduct/task.h"
#include "loop/conduct/verify_setup.h"

namespace kerf::conduct {

class Judge {
 public:
  using Done = std::function<void(Result<Judgement>)>;
  using Ready = std::function<void(Status)>;
  using Tell = std::function<void(const std::string&)>;  // what is waited for; from any thread

  virtual ~Judge() = default;
  // Calls `done` exactly once, from any thread.
  virtual void Verify(const TaskSpec& spec, Candidate candidate, Done done, Tell tell) = 0;
  // Whether candidates of the task can be judged here: runs its reference, or its test with the
  // label, into the cache. The Status says why not. For whoever is about to pay a model. Calls
  // `ready` exactly once, from any thread.
  virtual void Prepare(const TaskSpec& spec, Ready ready) = 0;
  // What waits or runs ends soon with an error. Thread-safe.
  virtual void Stop() = 0;
};

// The real one. Verifiers are kept for the next candidate of their task, a few at a time: each may
// hold a warm interpreter.
class JudgePool : public Judge {
 public:
  struct Options {
    // Candidates judged at once. On the CPU as many as it has slots; on a GPU more than there are
    // devices is of use, because references are made without one.
    int jobs = 1;
    VerifyRequest request;  // backend and profile come from each task
    size_t idle_verifiers = 4;
  };
  // `ports` and what they refer to outlive the pool.
  static Result<std::unique_ptr<JudgePool>> Open(const std::string& backend, Options options,
                                                 VerifyPorts ports);
  ~JudgePool() override;

  void Verify(const TaskSpec& spec, Candidate candidate, Done done, Tell tell) override;
  void Prepare(const TaskSpec& spec, Ready ready) override;
  void Stop() override;

 private:
  struct Job {
    TaskSpec spec;
    Candidate candidate;
    Done done;  // empty: it is only prepared
    Tell tell;
    Ready ready;

    void Refuse(const Error& error) const;
  };
  struct Idle {
    std::string key;
    VerifySetup setup;
  };

  JudgePool(Options options, VerifyPorts ports, Devices devices);
  void Work(const std::stop_token& stop);
  void Enqueue(Job job);
  Status RunPrepare(const Job& job, const std::stop_token& stop);
  Result<Judgement> Run(const Job& job, const std::stop_token& stop);
  Result<Judgement> RunOnGpu(const std::string& key, const Job& job, const std::stop_token& stop);
  Result<device::Lease> Acquire(const Job& job, const std::stop_token& stop);
  static Result<Judgement> Judged(const Job& job, const device::Device& device,
                                  const VerifySetup& setup);
  // A verifier that is kept from an earlier candidate of the task, or a new one.
  Result<VerifySetup> TakeSetup(const std::string& key, const Job& job,
                                const device::Device& device);
  Result<VerifySetup> NewSetup(const Job& job, const device::Device& device);
  void GiveBack(const std::string& key, VerifySetup setup);

  const Options options_;
  const bool on_cpu_;
  const VerifyPorts ports_;
  Devices devices_;
  std::stop_source stop_;  // for all threads: an interpreter that one started serves the others
  std::mutex mu_;
  std::condition_variable_any has_jobs_;
  std::deque<Job> jobs_;               // guarded by mu_; those with a candidate first
  std::list<Idle> idle_;               // guarded by mu_; most recently used first
  bool stopped_ = false;               // guarded by mu_
  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace kerf::conduct
