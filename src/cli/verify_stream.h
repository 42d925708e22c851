// A stream of candidates, JSON lines in and out: several are judged at once, answers come in the
// order of the questions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "artifact/candidate.h"
#include "artifact/verdict.h"
#include "base/result.h"
#include "cli/render/output.h"
#include "cli/verify_input.h"

namespace kerf::cli {

using StreamVerify = std::function<Result<Verdict>(const Candidate&)>;
using StreamParse = std::function<StreamedCandidate(const std::string& line)>;

// Until the end of `fd`; each of `verify` is used by one thread at a time. Whether all passed. An
// error when `fd` cannot be read or nobody reads the answers.
Result<bool> VerifyStream(int fd, const StreamParse& parse, const std::vector<StreamVerify>& verify,
                          Output& out);

}  // namespace kerf::cli
