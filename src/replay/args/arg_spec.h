// Arg specs: the arguments of one launch as JSON that a person writes or edits.
// docs/formats/arg_spec.md is the format.
#pragma once

#include <string>
#include <string_view>

#include "artifact/kernel_args.h"

namespace kerf::args {

// `file` is for messages; `data` paths in it are relative to `folder`. Every rule is checked that
// can be checked without the kernel and the files; the error names the JSON path and the rule.
Result<KernelArgs> ParseArgSpec(const std::string& file, const std::string& folder,
                                std::string_view text);

// One argument per line. ParseArgSpec() of it gives the same arguments.
std::string WriteArgSpec(const KernelArgs& args);

}  // namespace kerf::args
