// Everything a verdict needs besides the candidate: the task's reference, an interpreter, kerf's
// own files, a verifier that holds them. The one place where the task side and the verify side
// meet.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/reference.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/result.h"
#include "device/device.h"
#include "loop/task/reference_cache.h"
#include "loop/task/task_file.h"
#include "loop/verify/test_drive.h"
#include "loop/verify/verifier.h"

namespace kerf::conduct {

struct VerifyPorts {
  FileSystem& fs;
  Clock& clock;
  std::string version;                               // of kerf
  std::function<void(const std::string&)> progress;  // what is being done; may be empty
};

struct VerifyRequest {
  std::string backend = "cpu";
  int64_t seeds = 3;
  int64_t timeout_s = 0;  // of one call; 0: from the reference's own time
  int threads = 1;
  sandbox::Mode mode = sandbox::Mode::kBest;
  bool profile = false;
  int warmups = 0;  // with profile: at least so many calls; 0: what the verifier thinks right
  int rounds = 0;
  bool cold_cache = false;
  bool compat_aikg = false;
};

struct VerifySetup {
  task::TaskFile task;
  std::vector<int64_t> seeds;
  std::unique_ptr<task::ReferenceCache> cache;  // holds the reference while it is used
  std::unique_ptr<IdSource> random;
  std::unique_ptr<verify::Verifier> verifier;
  // Instead of all these but the seeds, for a task that is a test (`test_code`): there is no
  // reference.
  std::unique_ptr<verify::TestDrive> drive;
  double reference_ms = 0;

  [[nodiscard]] Result<Verdict> Verify(const Candidate& candidate) const {
    return drive != nullptr ? drive->Verify(candidate) : verifier->Verify(candidate);
  }
};

// `label`: the original source that candidates translate; may be empty. `device` as below.
Result<VerifySetup> SetUpTestVerification(std::string test, std::string label,
                                          const VerifyRequest& request,
                                          const device::Device* device, const VerifyPorts& ports);

// Runs the reference into the cache, where SetUpVerification() finds it. It needs no device but the
// CPU: whoever does this first holds a GPU only for what runs on it.
Status PrepareReference(task::TaskFile task, const VerifyRequest& request,
                        const VerifyPorts& ports);

// As CUDA_VISIBLE_DEVICES takes it.
std::string CudaName(const device::Device& device);

// `device` is the caller's while a verdict is made, or one of the same kind, and the verifier is
// told before (UseDevice); null on the CPU.
Result<VerifySetup> SetUpVerification(task::TaskFile task, const VerifyRequest& request,
                                      const device::Device* device, const VerifyPorts& ports);

}  // namespace kerf::conduct
