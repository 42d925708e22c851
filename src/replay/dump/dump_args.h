// One dispatch of a dump as the arguments of a replay.
#pragma once

#include "artifact/dump.h"
#include "artifact/kernel_args.h"

namespace kerf::dump {

struct DumpArgsOptions {
  // Payloads of inputs become the replay's data. On a5 they are not trustworthy and never used.
  bool payloads = true;
  // Slots whose scalars are given elsewhere: these may lack a value, or hold a rounded one.
  std::set<int> given;
};

// The union of both stages by slot, before_dispatch preferred: an output exists only after
// completion. Slots 48 and 49 are addresses of another process and left out. kCorrupt, with slot,
// claim and truth, when a record cannot be used.
Result<KernelArgs> ArgsFromDump(const Dump& dump, const Dispatch& dispatch,
                                const DumpArgsOptions& options);

}  // namespace kerf::dump
