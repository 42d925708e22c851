// Rules that arguments must keep whatever they came from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "artifact/kernel_args.h"
#include "artifact/replay_kernel.h"
#include "base/file_system.h"

namespace kerf::args {

// Outside the 50, or one of the two that belong to the runtime.
std::optional<std::string> WrongSlot(int64_t slot);

// Before anything is written: slots in range and once each, tensors sound, types that the platform
// has, data files as long as they must be, every literal slot the kernel reads covered. `source`
// says where the arguments are from, for what is wrong with all of them together.
Status CheckArgs(FileSystem& fs, const KernelArgs& args, const ReplayKernel& kernel,
                 Platform platform, const std::string& source);

// "SLOT=VALUE" of --set-arg: a scalar gets the value, an integer tensor is filled with it. Float
// tensors and slots that are no arguments are refused. Notes say when a scalar grows.
Status SetArg(const std::string& text, KernelArgs& args);
// The slot of "SLOT=VALUE".
Result<int> SetArgSlot(const std::string& text);

}  // namespace kerf::args
