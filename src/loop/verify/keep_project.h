// AIKG's verify project: a folder that a person can look into and run by hand, without kerf.
//
//   relu_torch.py      the task, as it was
//   relu_cpp.cc        the candidate, as it was (relu_triton.py, relu_cuda_c.cu, relu_hip.hip …)
//   kerf/kernel.h      for cpp, cuda_c and hip
//   verify_relu.py     runs both and compares: python/kerf/templates/verify_project.py
//   verdict.json       what kerf found
//   .kerf_project      the names of all these
//
//   KERF_RETURN_IF_ERROR(CheckKeepFolder(fs, folder));      before the work
//   KERF_RETURN_IF_ERROR(KeepProject(fs, folder, project, random));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/candidate.h"
#include "artifact/verdict.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/result.h"

namespace kerf::verify {

struct KeptProject {
  std::string task_text;
  Candidate candidate;
  Verdict verdict;
  std::vector<int64_t> seeds;  // what the script draws inputs for
};

// "relu_cpp.cc".
std::string KeptCandidateName(const Candidate& candidate);

// Whether KeepProject() may put a project there: nothing, an empty folder, or a project that was
// kept before and to which nobody added a file. kInvalidInput or kDenied with the reason otherwise.
Status CheckKeepFolder(FileSystem& fs, const std::string& folder);

// Written beside the folder and moved there when whole. A project that is there already is
// replaced, with what somebody changed in its files.
Status KeepProject(FileSystem& fs, const std::string& folder, const KeptProject& project,
                   IdSource& random);

}  // namespace kerf::verify
