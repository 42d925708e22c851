// Everything a verdict needs besides the candidate: the task's reference, an interpreter, kerf's
// own files, a verifier that holds them. The one place where the task side and the verify side meet
// until the loop does it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/reference.h"
#include "base/ids.h"
#include "base/result.h"
#include "cli/verb.h"
#include "device/pool.h"
#include "loop/task/reference_cache.h"
#include "loop/task/task_file.h"
#include "loop/verify/test_drive.h"
#include "loop/verify/verifier.h"

namespace kerf::cli {

struct VerifyRequest {
  std::string task_path;
  std::string framework;  // empty: from the task's imports
  std::string backend = "cpu";
  int64_t seeds = 3;
  int64_t timeout_s = 0;  // of one call; 0: from the reference's own time
  int threads = 1;
  sandbox::Mode mode = sandbox::Mode::kBest;
  bool profile = false;
  bool cold_cache = false;
  bool compat_aikg = false;
};

struct VerifySetup {
  std::unique_ptr<device::DevicePool> devices;  // backend cuda: the device is ours while this lives
  std::optional<device::Lease> lease;
  task::TaskFile task;
  std::vector<int64_t> seeds;
  std::unique_ptr<task::ReferenceCache> cache;  // holds the reference while it is used
  std::unique_ptr<IdSource> random;
  std::unique_ptr<verify::Verifier> verifier;
  double reference_ms = 0;
};

// The same for a torch extension that a test drives (`test_code`): there is no reference.
struct TestSetup {
  std::string op_name;
  std::unique_ptr<verify::TestDrive> drive;
};
// nullopt when the file is a task with a Model.
Result<std::optional<TestSetup>> SetUpTestDrive(const VerifyRequest& request, Context& context);

Result<VerifySetup> SetUpVerification(const VerifyRequest& request, Context& context);

}  // namespace kerf::cli
