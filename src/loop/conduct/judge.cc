#include "loop/conduct/judge.h"

#include <algorithm>

#include "base/hash.h"
#include "device/probe.h"
#include "sandbox/stop_scope.h"

namespace kerf::conduct {
namespace {

Result<task::TaskFile> TaskOf(const TaskSpec& spec) {
  const std::string name = spec.op_name + "_" + spec.framework + ".py";
  KERF_ASSIGN_OR_RETURN(
      task::TaskFile task,
      task::MakeTaskFile(name, spec.task_desc, task::ParseFramework(spec.framework)));
  task.op_name = spec.op_name;
  return task;
}

// What tells verifiers apart.
std::string KeyOf(const TaskSpec& spec) {
  return Sha256Hex(spec.task_desc + '\0' + spec.label) + spec.framework + spec.task_type;
}

}  // namespace

Result<std::unique_ptr<JudgePool>> JudgePool::Open(const std::string& backend, Options options,
                                                   VerifyPorts ports) {
  options.request.backend = backend;
  KERF_ASSIGN_OR_RETURN(Devices devices,
                        Devices::Open(backend, options.request.threads, ports.clock));
  const auto slots = static_cast<int>(devices.size());
  // Beside a GPU, half of the processors may be making references.
  const int beside = backend == "cpu" ? 0 : device::UsableProcessors() / 2;
  options.jobs = std::min(options.jobs, slots + beside);
  return std::unique_ptr<JudgePool>(
      new JudgePool(std::move(options), std::move(ports), std::move(devices)));
}

JudgePool::JudgePool(Options options, VerifyPorts ports, Devices devices)
    : options_(std::move(options)),
      on_cpu_(options_.request.backend == "cpu"),
      ports_(std::move(ports)),
      devices_(std::move(devices)) {
  for (int i = 0; i < std::max(1, options_.jobs); ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
  }
}

JudgePool::~JudgePool() {
  Stop();
  threads_.clear();
}

void JudgePool::Job::Refuse(const Error& error) const {
  if (done) return done(error);
  ready(error);
}

void JudgePool::Enqueue(Job job) {
  {
    const std::lock_guard lock(mu_);
    if (!stopped_) {
      // A verdict lets its task go on; a reference only lets another one begin.
      const auto place = job.done ? std::find_if(jobs_.begin(), jobs_.end(),
                                                 [](const Job& other) { return !other.done; })
                                  : jobs_.end();
      jobs_.insert(place, std::move(job));
      has_jobs_.notify_one();
      return;
    }
  }
  job.Refuse(Unavailable("stopped"));
}

void JudgePool::Verify(const TaskSpec& spec, Candidate candidate, Done done, Tell tell) {
  Enqueue({spec, std::move(candidate), std::move(done), std::move(tell), {}});
}

void JudgePool::Prepare(const TaskSpec& spec, Ready ready) {
  Enqueue({spec, {}, {}, {}, std::move(ready)});
}

void JudgePool::Stop() {
  std::deque<Job> waiting;
  {
    const std::lock_guard lock(mu_);
    stopped_ = true;
    waiting.swap(jobs_);
  }
  stop_.request_stop();
  for (std::jthread& thread : threads_) thread.request_stop();
  for (const Job& job : waiting) job.Refuse(Unavailable("stopped"));
}

void JudgePool::Work(const std::stop_token& stop) {
  const sandbox::StopScope scope(stop_.get_token());
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mu_);
      if (!has_jobs_.wait(lock, stop, [&] { return !jobs_.empty(); })) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    if (!job.done) {
      job.ready(RunPrepare(job, stop));
      continue;
    }
    Result<Judgement> judgement = Run(job, stop);
    // A candidate that was ended from outside may look like one that crashed.
    const bool doubtful = judgement.ok() && !judgement->verdict.passed();
    if (doubtful && stop.stop_requested()) judgement = Unavailable("stopped");
    job.done(std::move(judgement));
  }
}

Status JudgePool::RunPrepare(const Job& job, const std::stop_token& stop) {
  const bool test = verify::IsTestCode(job.spec.task_desc);
  const auto check = [&](const std::string& key, const device::Device& device) -> Status {
    KERF_ASSIGN_OR_RETURN(VerifySetup setup, TakeSetup(key, job, device));
    const Status checked = test ? setup.drive->CheckLabel() : setup.verifier->CheckTask();
    GiveBack(key, std::move(setup));
    return checked;
  };
  if (!on_cpu_ && !test) return check(KeyOf(job.spec), devices_.example());
  KERF_ASSIGN_OR_RETURN(const device::Lease lease, Acquire(job, stop));
  return check(KeyOf(job.spec) + lease.device().id.ToString(), lease.device());
}

Result<Judgement> JudgePool::Run(const Job& job, const std::stop_token& stop) {
  const bool test = verify::IsTestCode(job.spec.task_desc);
  if (!on_cpu_ && !test) return RunOnGpu(KeyOf(job.spec), job, stop);
  // References, builds and comparisons use the processors too: they belong to the slot.
  KERF_ASSIGN_OR_RETURN(const device::Lease lease, Acquire(job, stop));
  const std::string key = KeyOf(job.spec) + lease.device().id.ToString();
  KERF_ASSIGN_OR_RETURN(VerifySetup setup, TakeSetup(key, job, lease.device()));
  KERF_ASSIGN_OR_RETURN(Judgement judgement, Judged(job, lease.device(), setup));
  GiveBack(key, std::move(setup));
  return judgement;
}

// A GPU is held only for what runs on it.
Result<Judgement> JudgePool::RunOnGpu(const std::string& key, const Job& job,
                                      const std::stop_token& stop) {
  const device::Device& example = devices_.example();
  KERF_ASSIGN_OR_RETURN(VerifySetup setup, TakeSetup(key, job, example));
  KERF_RETURN_IF_ERROR(setup.verifier->WorkAhead(job.candidate));
  Result<Judgement> judgement = Error{};
  {
    KERF_ASSIGN_OR_RETURN(const device::Lease lease, Acquire(job, stop));
    const device::Device& device = lease.device();
    if (device.arch != example.arch || device.chip != example.chip) {
      KERF_ASSIGN_OR_RETURN(const VerifySetup other, NewSetup(job, device));
      return Judged(job, device, other);
    }
    setup.verifier->UseDevice(CudaName(device));
    judgement = Judged(job, device, setup);
  }
  if (judgement.ok()) GiveBack(key, std::move(setup));
  return judgement;
}

Result<Judgement> JudgePool::Judged(const Job& job, const device::Device& device,
                                    const VerifySetup& setup) {
  Judgement judgement;
  KERF_ASSIGN_OR_RETURN(judgement.verdict, setup.Verify(job.candidate));
  judgement.seeds = setup.seeds;
  judgement.device = device.id.ToString();
  return judgement;
}

// Somebody else may hold every device for long: whoever waits is told.
Result<device::Lease> JudgePool::Acquire(const Job& job, const std::stop_token& stop) {
  const std::string purpose = "kerf run " + job.spec.op_name;
  Result<device::Lease> lease = devices_.Acquire(purpose, stop, std::chrono::seconds(1));
  if (lease.ok() || lease.error().code != ErrorCode::kTimeout) return lease;
  if (job.tell) {
    job.tell("waits for a free " + options_.request.backend +
             " device (kerf devices shows who has them)");
  }
  return devices_.Acquire(purpose, stop, std::nullopt);
}

Result<VerifySetup> JudgePool::TakeSetup(const std::string& key, const Job& job,
                                         const device::Device& device) {
  {
    const std::lock_guard lock(mu_);
    const auto found =
        std::find_if(idle_.begin(), idle_.end(), [&](const Idle& idle) { return idle.key == key; });
    if (found != idle_.end()) {
      VerifySetup setup = std::move(found->setup);
      idle_.erase(found);
      return setup;
    }
  }
  return NewSetup(job, device);
}

Result<VerifySetup> JudgePool::NewSetup(const Job& job, const device::Device& device) {
  VerifyRequest request = options_.request;
  request.profile = job.spec.task_type == "profile";
  const device::Device* gpu = device.backend() != device::Backend::kCpu ? &device : nullptr;
  if (verify::IsTestCode(job.spec.task_desc)) {
    return SetUpTestVerification(job.spec.task_desc, job.spec.label, request, gpu, ports_);
  }
  KERF_ASSIGN_OR_RETURN(task::TaskFile task, TaskOf(job.spec));
  return SetUpVerification(std::move(task), request, gpu, ports_);
}

void JudgePool::GiveBack(const std::string& key, VerifySetup setup) {
  std::list<Idle> old;  // ends outside of the lock: stopping an interpreter takes time
  const std::lock_guard lock(mu_);
  idle_.push_front({key, std::move(setup)});
  if (idle_.size() > options_.idle_verifiers) {
    old.splice(old.begin(), idle_, std::prev(idle_.end()));
  }
}

}  // namespace kerf::conduct
