// A tensor argument as bytes: the buffer a kernel gets, its descriptor, and the view in it.
#pragma once

#include <string>

#include "artifact/kernel_args.h"
#include "base/file_system.h"

namespace kerf::sim {

// The whole buffer, filled as the argument says; a payload is spread over the view's elements.
Result<std::string> MakeBuffer(FileSystem& fs, const KernelArg& arg);

// The elements of the view, row by row, out of such a buffer.
std::string ViewBytes(const TensorArg& tensor, const std::string& buffer);

// 128 bytes; the address of the buffer is left zero.
std::string MakeDescriptor(const TensorArg& tensor);

}  // namespace kerf::sim
