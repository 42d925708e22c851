// Gives the instructions of a log their call stacks: the addresses that were recorded become lines
// of the kernel's source, functions that the compiler inlined among them.
//
//   KERF_ASSIGN_OR_RETURN(InstructionLog log, ReadInstructionLog(path));
//   const std::string note = ResolveStacks(log, run.libraries, mode);
//
// Done by addr2line (binutils, which every compiler here needs), in the sandbox: it reads what was
// compiled from a kernel nobody trusts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sandbox.h"
#include "sim/log/instruction_log.h"

namespace kerf::sim {

struct CodeFrame {
  std::string function;
  std::string file;
  uint32_t line = 0;
};
// Innermost first.
using CodeFrames = std::map<uint64_t, std::vector<CodeFrame>>;

// What `addr2line -a -f -i -C` says, by address.
CodeFrames ParseFrames(std::string_view text);

// Replaces sites known by an address alone by those of `frames` (by recorded address). Frames of
// kerf's own headers are left out.
void NameCallers(InstructionLog& log, const CodeFrames& frames);

// `libraries` in the order of their numbers. Why stacks have one line only; empty: they are whole.
std::string ResolveStacks(InstructionLog& log, const std::vector<std::string>& libraries,
                          sandbox::Mode mode);

}  // namespace kerf::sim
