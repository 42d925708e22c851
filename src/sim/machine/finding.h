// What is wrong with a kernel, as far as executing it shows. Data, not an Error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kerf::sim {

enum class FindingKind {
  kOutOfRange,     // a tile that does not fit in its memory
  kMisaligned,     // a tile whose address is no multiple of 32
  kUnbound,        // a tile that no TASSIGN gave an address
  kUnwrittenRead,  // reads bytes that nobody wrote
  kGlobalRange,    // global memory outside every tensor
  kShape,          // operands whose valid regions do not fit together
  kIndex,          // an index outside what it indexes
  kUnsupported,    // a type or mode that is not simulated
  kFlag,           // a flag or counter used wrongly
  kDeadlock,       // cores that wait for each other for ever
  kFault,          // the kernel crashed
};

const char* FindingKindName(FindingKind kind);

struct Finding {
  FindingKind kind{};
  bool fatal = false;  // the core stopped there
  std::string instruction;
  std::string text;
  std::string file;
  uint32_t line = 0;
  std::string core;    // "block 0 aiv1"
  uint64_t count = 1;  // times it happened at this line

  bool operator==(const Finding&) const = default;
};

}  // namespace kerf::sim
