// What a verdict says about how a candidate was built and kept in.
#pragma once

#include "artifact/verdict.h"
#include "base/result.h"
#include "loop/verify/native_build.h"

namespace kerf::verify {

// Whether the library may be started. False when it did not build, or needs what a kernel may not
// have; the verdict says why. `torch`: an extension, which may need torch's libraries.
Result<bool> AcceptBuild(const NativeBuild& build, bool torch, Verdict& verdict);

SandboxReport DescribeSandbox(sandbox::Mode mode, const sandbox::SandboxLevel& available);

}  // namespace kerf::verify
