// Which signals of other cores a cross-core wait takes: the k-th wait of a core for (sender, id),
// in program order, takes the k-th signal that the sender gave it, in program order. So the result
// does not depend on which of two pipes asks first.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/log/instruction_log.h"

namespace kerf::sim {

struct CrossSignal {
  uint32_t core = 0;   // of the sender; UINT32_MAX when the peer is not part of the run
  uint32_t index = 0;  // of the CROSS_SET; UINT32_MAX when it never gives enough
};

struct CrossPairs {
  // By core, then by the index of the CROSS_WAIT.
  std::vector<std::unordered_map<uint32_t, std::vector<CrossSignal>>> taken;
  // Signals nobody takes: receiver and signal.
  std::vector<std::pair<uint32_t, CrossSignal>> left;
};

// The cores of the log that a signal with these peers concerns, `core` itself included.
std::vector<uint32_t> PeersOf(const InstructionLog& log, uint32_t core, uint8_t peers);

CrossPairs PairCrossSignals(const InstructionLog& log);

}  // namespace kerf::sim
