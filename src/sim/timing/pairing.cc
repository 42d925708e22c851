#include "sim/timing/pairing.h"

#include <map>
#include <tuple>

namespace kerf::sim {
namespace {

struct Channel {
  uint32_t sender, receiver;
  uint8_t event;
  bool operator<(const Channel& other) const {
    return std::tie(sender, receiver, event) < std::tie(other.sender, other.receiver, other.event);
  }
};

struct Ends {
  std::vector<uint32_t> sets;
  std::vector<uint32_t> waits;
};

int PlaceOf(const CoreLog& core) { return core.kind == CoreKind::kAic ? 0 : 1 + core.lane; }

// Whether each kind of core that a wait of one block names is there.
bool AllThere(const InstructionLog& log, uint32_t core, uint8_t peers) {
  if ((peers & 7) == 0) return false;
  if ((peers & kerf_log::kPeerEveryBlock) != 0) return true;
  uint8_t seen = 0;
  for (const uint32_t peer : PeersOf(log, core, peers))
    seen |= static_cast<uint8_t>(1U << PlaceOf(log.cores[peer]));
  return (peers & 7) == seen;
}

}  // namespace

std::vector<uint32_t> PeersOf(const InstructionLog& log, uint32_t core, uint8_t peers) {
  std::vector<uint32_t> cores;
  const bool every = (peers & kerf_log::kPeerEveryBlock) != 0;
  for (uint32_t i = 0; i < log.cores.size(); ++i) {
    if (!every && log.cores[i].block != log.cores[core].block) continue;
    if ((peers >> PlaceOf(log.cores[i]) & 1) != 0) cores.push_back(i);
  }
  return cores;
}

CrossPairs PairCrossSignals(const InstructionLog& log) {
  CrossPairs pairs;
  pairs.taken.resize(log.cores.size());
  std::map<Channel, Ends> channels;
  std::map<std::pair<uint32_t, uint8_t>, std::vector<uint32_t>> known;
  for (uint32_t core = 0; core < log.cores.size(); ++core) {
    const std::vector<Instruction>& program = log.cores[core].instructions;
    for (uint32_t i = 0; i < program.size(); ++i) {
      const bool set = program[i].op == Op::CROSS_SET;
      if (!set && program[i].op != Op::CROSS_WAIT) continue;
      const kerf_log::Sync& sync = program[i].sync;
      const auto [peers, fresh] = known.try_emplace({core, sync.peers});
      if (fresh) peers->second = PeersOf(log, core, sync.peers);
      for (const uint32_t peer : peers->second) {
        if (peer == core) continue;
        if (set) channels[{core, peer, sync.event}].sets.push_back(i);
        if (!set) channels[{peer, core, sync.event}].waits.push_back(i);
      }
      if (set) continue;
      auto& taken = pairs.taken[core][i];
      if (!AllThere(log, core, sync.peers)) taken.push_back({UINT32_MAX, UINT32_MAX});
    }
  }
  for (const auto& [channel, ends] : channels) {
    for (size_t k = 0; k < ends.waits.size(); ++k) {
      const uint32_t set = k < ends.sets.size() ? ends.sets[k] : UINT32_MAX;
      pairs.taken[channel.receiver][ends.waits[k]].push_back({channel.sender, set});
    }
    for (size_t k = ends.waits.size(); k < ends.sets.size(); ++k)
      pairs.left.push_back({channel.receiver, {channel.sender, ends.sets[k]}});
  }
  return pairs;
}

}  // namespace kerf::sim
