#include "loop/conduct/judge.h"

#include <algorithm>
#include <thread>

#include "base/hash.h"

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
  const int beside =
      backend == "cpu" ? 0 : static_cast<int>(std::thread::hardware_concurrency()) / 2;
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

void JudgePool::Verify(const TaskSpec& spec, Candidate candidate, Done done) {
  Add({spec, std::move(candidate), std::move(done), {}});
}

void JudgePool::Prepare(const TaskSpec& spec, std::function<void(Status)> done) {
  Add({spec, {}, {}, std::move(done)});
}

void JudgePool::Add(Job job) {
  {
    const std::lock_guard lock(mu_);
    if (!stopped_) {
      jobs_.push_back(std::move(job));
      has_jobs_.notify_one();
      return;
    }
  }
  End(job, Unavailable("stopped"));
}

void JudgePool::End(const Job& job, const Error& error) {
  if (job.prepared) {
    job.prepared(error);
  } else {
    job.done(error);
  }
}

Status JudgePool::PrepareTask(const TaskSpec& spec) {
  KERF_ASSIGN_OR_RETURN(task::TaskFile task, TaskOf(spec));
  return PrepareReference(std::move(task), options_.request, ports_);
}

void JudgePool::Stop() {
  std::deque<Job> waiting;
  {
    const std::lock_guard lock(mu_);
    stopped_ = true;
    waiting.swap(jobs_);
  }
  for (std::jthread& thread : threads_) thread.request_stop();
  for (const Job& job : waiting) End(job, Unavailable("stopped"));
}

void JudgePool::Work(const std::stop_token& stop) {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mu_);
      if (!has_jobs_.wait(lock, stop, [&] { return !jobs_.empty(); })) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    if (job.prepared) {
      job.prepared(RunPrepare(job, stop));
    } else {
      job.done(Run(job, stop));
    }
  }
}

Status JudgePool::RunPrepare(const Job& job, const std::stop_token& stop) {
  if (!verify::IsTestCode(job.spec.task_desc)) return PrepareTask(job.spec);
  KERF_ASSIGN_OR_RETURN(const device::Lease lease,
                        devices_.Acquire("kerf " + job.spec.op_name, stop));
  const std::string key = KeyOf(job.spec) + lease.device().id.ToString();
  KERF_ASSIGN_OR_RETURN(VerifySetup setup, TakeSetup(key, job, lease.device()));
  Status checked = setup.drive->CheckLabel();
  GiveBack(key, std::move(setup));
  return checked;
}

Result<Judgement> JudgePool::Run(const Job& job, const std::stop_token& stop) {
  const std::string task_key = KeyOf(job.spec);
  const bool test = verify::IsTestCode(job.spec.task_desc);
  if (!on_cpu_ && !test) KERF_RETURN_IF_ERROR(WarmUp(task_key, job));
  KERF_ASSIGN_OR_RETURN(const device::Lease lease,
                        devices_.Acquire("kerf run " + job.spec.op_name, stop));
  const device::Device& device = lease.device();
  const std::string key = task_key + device.id.ToString();
  KERF_ASSIGN_OR_RETURN(VerifySetup setup, TakeSetup(key, job, device));
  Judgement judgement;
  KERF_ASSIGN_OR_RETURN(judgement.verdict, setup.Verify(job.candidate));
  judgement.seeds = setup.seeds;
  judgement.device = device.id.ToString();
  GiveBack(key, std::move(setup));
  return judgement;
}

// Before there is a device: others may use it meanwhile.
Status JudgePool::WarmUp(const std::string& key, const Job& job) {
  {
    const std::lock_guard lock(mu_);
    const bool warm = std::any_of(idle_.begin(), idle_.end(),
                                  [&](const Idle& idle) { return idle.key.starts_with(key); });
    if (warm) return {};
  }
  return PrepareTask(job.spec);
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
