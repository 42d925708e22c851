// Clocks count instructions of each pipe. A pipe's clock says what is complete before its next
// instruction starts: its own waits and barriers, and what the scalar unit knew when it issued the
// instruction. The engine shows instructions in an order of causes, so of two accesses that nothing
// orders the second one finds the first in its list.
#include "sim/hazard/detector.h"

#include <algorithm>

#include "sim/timing/agents.h"
#include "sim/timing/pairing.h"

namespace kerf::sim {
namespace {

constexpr size_t kMostHazards = 1000;
constexpr uint8_t kScalar = static_cast<uint8_t>(Pipe::kScalar);
constexpr uint8_t kVector = static_cast<uint8_t>(Pipe::kVector);

uint64_t KeyOf(uint32_t core, uint32_t index) { return uint64_t{core} << 32 | index; }

std::string FlagText(const kerf_log::Sync& sync) {
  return std::string(PipeName(static_cast<Pipe>(sync.source))) + " to " +
         PipeName(static_cast<Pipe>(sync.destination)) + ", event " + std::to_string(sync.event);
}

}  // namespace

HazardDetector::HazardDetector(const InstructionLog& log, const CoreModel& model)
    : log_(log), vector_overlaps_(model.vector_overlaps), cores_(log.cores.size()) {
  std::map<uint32_t, size_t> blocks;
  for (uint32_t i = 0; i < cores_.size(); ++i) {
    const CoreLog& stream = log.cores[i];
    const auto [block, fresh] = blocks.try_emplace(stream.block, clusters_.size());
    if (fresh) clusters_.emplace_back();
    Core& core = cores_[i];
    core.slot = stream.kind == CoreKind::kAic ? 0 : 1 + stream.lane;
    core.cluster = block->second;
    core.flags.resize(kPipeCount * kPipeCount * 16);
    core.versions.emplace_back();
    clusters_[block->second].core[core.slot] = i;
    for (const Instruction& record : stream.instructions)
      core.used |= static_cast<uint8_t>(1U << record.pipe);
  }
}

// The pipe's clock, before instruction `index` of it starts.
void HazardDetector::CatchUp(Core& core, uint8_t pipe, uint32_t index) {
  if (pipe == kScalar) return;
  size_t& version = core.version[pipe];
  bool moved = false;
  while (version + 1 < core.versions.size() && core.versions[version + 1].index < index) {
    ++version;
    moved = true;
  }
  if (moved) core.known[pipe].Join(core.versions[version].clock);
}

// The scalar unit knows more from `index` on: what it issues later starts with that.
void HazardDetector::Learn(Core& core, uint32_t index) {
  VectorClock& clock = core.known[kScalar];
  clock.at[core.slot * kLanes + kScalar] = core.position[kScalar];
  core.versions.push_back({index, clock});
  // Versions that every pipe has joined are of no use any more.
  constexpr size_t kMany = 1024;
  if (core.versions.size() < kMany) return;
  size_t oldest = core.versions.size() - 1;
  for (uint8_t pipe = 1; pipe < kPipeCount; ++pipe) {
    if ((core.used >> pipe & 1) != 0) oldest = std::min(oldest, core.version[pipe]);
  }
  core.versions.erase(core.versions.begin(),
                      core.versions.begin() + static_cast<std::ptrdiff_t>(oldest));
  for (uint8_t pipe = 1; pipe < kPipeCount; ++pipe)
    core.version[pipe] -= std::min(core.version[pipe], oldest);
}

void HazardDetector::Signalled(uint32_t number, uint32_t index) {
  Core& core = cores_[number];
  const Instruction& record = log_.cores[number].instructions[index];
  CatchUp(core, record.pipe, index);
  VectorClock clock = core.known[record.pipe];
  // Everything before it in its pipe is complete; the signal itself is the next position.
  const uint32_t position = core.position[record.pipe] + 1;
  clock.at[core.slot * kLanes + record.pipe] = position;
  if (record.pipe == kScalar) clock.at[core.slot * kLanes + kScalarStores] = position;
  if (record.op != Op::SET_FLAG) {
    crossed_[KeyOf(number, index)] = clock;
    return;
  }
  Flag& flag = core.flags[FlagIndex(record.sync)];
  const bool may_be_up =
      !flag.up.empty() ||
      (flag.last_wait != kNobody &&
       flag.wait_position >
           core.known[record.pipe].at[core.slot * kLanes + record.sync.destination]);
  if (may_be_up) {
    Report(HazardKind::kDoubleSet, false, {{number, flag.last_set}, {number, index}},
           "set_flag (" + FlagText(record.sync) +
               ") while the flag of the set before may still be up: nothing orders it behind that "
               "one's wait");
  }
  flag.last_set = index;
  flag.up.Push({index, clock});
}

void HazardDetector::Joined(uint32_t number, uint32_t index, uint32_t from_core,
                            uint32_t from_index) {
  Core& core = cores_[number];
  const Instruction& record = log_.cores[number].instructions[index];
  CatchUp(core, record.pipe, index);
  if (record.op == Op::WAIT_FLAG) {
    Flag& flag = core.flags[FlagIndex(record.sync)];
    core.known[record.pipe].Join(flag.up.front().clock);
    flag.up.Pop();
    flag.last_wait = index;
    flag.wait_position = core.position[record.pipe] + 1;
    return;
  }
  // Clocks count the pipes of one block; of other blocks nothing is compared.
  const auto found = crossed_.find(KeyOf(from_core, from_index));
  if (found == crossed_.end() || cores_[from_core].cluster != core.cluster) return;
  core.known[record.pipe].Join(found->second);
}

void HazardDetector::Synchronise(uint32_t number, uint32_t index) {
  Core& core = cores_[number];
  const Instruction& record = log_.cores[number].instructions[index];
  VectorClock& clock = core.known[record.pipe];
  const size_t base = core.slot * kLanes;
  switch (record.op) {
    case Op::PIPE_BARRIER:
      clock.at[base + record.pipe] = core.position[record.pipe];
      if (record.sync.source != static_cast<uint8_t>(Pipe::kAll)) break;
      for (uint8_t pipe = 1; pipe < kPipeCount; ++pipe) {
        VectorClock all = core.known[pipe];
        all.at[base + pipe] = core.position[pipe];
        clock.Join(all);
      }
      clock.at[base + kScalarStores] = core.position[kScalar];
      Learn(core, index);
      break;
    case Op::DSB:
      clock.at[base + kScalarStores] = core.position[kScalar];
      Learn(core, index);
      break;
    case Op::WAIT_FLAG:
    case Op::CROSS_WAIT:
    case Op::SYNCALL:
      if (record.pipe == kScalar) Learn(core, index);
      break;
    default:
      break;
  }
}

void HazardDetector::Executed(uint32_t number, uint32_t index) {
  Core& core = cores_[number];
  const Instruction& record = log_.cores[number].instructions[index];
  CatchUp(core, record.pipe, index);
  ++core.position[record.pipe];
  if (record.operands != 0) CheckAccesses(number, index);
  if (static_cast<uint16_t>(record.op) < 20) Synchronise(number, index);
}

void HazardDetector::CheckAccesses(uint32_t number, uint32_t index) {
  Core& core = cores_[number];
  Cluster& cluster = clusters_[core.cluster];
  const uint8_t pipe = log_.cores[number].instructions[index].pipe;
  const auto agent = static_cast<uint32_t>(core.slot * kPipeCount + pipe);
  const auto operands = log_.cores[number].OperandsOf(index);
  std::array<size_t, kerf_log::kMostOperands> memories{};
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto owner = static_cast<Owner>(operands[i].access >> kerf_log::kOwnerShift);
    const size_t slot = owner == Owner::kSelf ? core.slot : static_cast<size_t>(owner) - 1;
    memories[i] = operands[i].memory == Memory::kGm
                      ? 0
                      : slot * kerf_log::kMemories + static_cast<size_t>(operands[i].memory);
    Access access = AccessOf(operands[i]);
    if (access.begin != access.end) CheckOne(number, index, access, operands[i], memories[i]);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    Access access = AccessOf(operands[i]);
    if (access.begin == access.end) continue;
    access.position = core.position[pipe];
    access.instruction = index;
    AccessList& list = ListAt(cluster, memories[i], agent);
    if (list.Add(access)) list.Shrink(KnownToAll(cluster, agent));
  }
}

AccessList& HazardDetector::ListAt(Cluster& cluster, size_t memory, uint32_t agent) {
  for (const auto& [other, list] : cluster.by_memory[memory]) {
    if (other == agent) return *list;
  }
  AccessList& list = cluster.lists[{static_cast<uint32_t>(memory), agent}];
  cluster.by_memory[memory].emplace_back(agent, &list);
  return list;
}

uint32_t HazardDetector::KnownToAll(const Cluster& cluster, uint32_t agent) const {
  const size_t lane = agent / kPipeCount * kLanes +
                      (agent % kPipeCount == kScalar ? kScalarStores : agent % kPipeCount);
  uint32_t known = UINT32_MAX;
  for (const uint32_t number : cluster.core) {
    if (number == kNobody) continue;
    const Core& core = cores_[number];
    for (uint8_t pipe = 0; pipe < kPipeCount; ++pipe) {
      const bool self =
          core.slot * kPipeCount + pipe == agent && !(vector_overlaps_ && pipe == kVector);
      if ((core.used >> pipe & 1) != 0 && !self) known = std::min(known, core.known[pipe].at[lane]);
    }
  }
  return known;
}

void HazardDetector::CheckOne(uint32_t number, uint32_t index, const Access& access,
                              const Operand& operand, size_t memory) {
  const Core& core = cores_[number];
  const uint8_t pipe = log_.cores[number].instructions[index].pipe;
  const auto agent = static_cast<uint32_t>(core.slot * kPipeCount + pipe);
  for (const auto& [other_agent, list] : clusters_[core.cluster].by_memory[memory]) {
    if (other_agent == agent && !(vector_overlaps_ && pipe == kVector)) continue;
    const size_t lane =
        other_agent / kPipeCount * kLanes +
        (other_agent % kPipeCount == kScalar ? kScalarStores : other_agent % kPipeCount);
    const uint32_t other = other_agent;
    list->ForUnordered(access, core.known[pipe].at[lane], [&](const Access& earlier) {
      if (Ordered(core, number, pipe, index, access, other, earlier)) return true;
      if (!Overlap(access, earlier)) return true;
      ReportRace(number, index, access, operand, other, earlier);
      return false;
    });
  }
}

// Pairs that need no order, or have one that clocks do not count.
bool HazardDetector::Ordered(const Core& core, uint32_t number, uint8_t pipe, uint32_t index,
                             const Access& access, uint32_t other_agent,
                             const Access& other) const {
  if (!access.writes() && !other.writes()) return true;
  if ((access.access & other.access & kerf_log::kAtomic) != 0) return true;
  const uint32_t other_core = clusters_[core.cluster].core[other_agent / kPipeCount];
  const uint32_t other_pipe = other_agent % kPipeCount;
  // A scalar read is over before anything later is issued.
  if (other_pipe == kScalar && other_core == number && !other.writes() && other.instruction < index)
    return true;
  // Inside one pipe a later write does not overtake an earlier read.
  if (other_core == number && other_pipe == pipe) return !other.writes();
  return false;
}

void HazardDetector::ReportRace(uint32_t number, uint32_t index, const Access& access,
                                const Operand& operand, uint32_t other_agent, const Access& other) {
  const Core& core = cores_[number];
  const uint32_t other_core = clusters_[core.cluster].core[other_agent / kPipeCount];
  const uint8_t pipe = log_.cores[number].instructions[index].pipe;
  const std::string what = access.writes()
                               ? (other.writes() ? "both write" : "one reads what the other writes")
                               : "one reads what the other writes";
  const uint64_t begin = std::max(access.begin, other.begin);
  const uint64_t end = std::min(access.end, other.end);
  const std::string bytes = std::string(MemoryName(operand.memory)) + " bytes " +
                            std::to_string(begin) + " to " + std::to_string(end - 1);
  if (other_core == number && other_agent % kPipeCount == pipe) {
    Report(HazardKind::kMissingBarrier, false, {{number, other.instruction}, {number, index}},
           std::string("no pipe_barrier between two instructions of ") +
               PipeName(static_cast<Pipe>(pipe)) + ": " + what + " (" + bytes + ")");
    return;
  }
  // Two lanes that run the same code may well store the same bytes.
  const bool lanes = other_core != number && core.slot != 0 && other_agent / kPipeCount != 0 &&
                     access.writes() && other.writes();
  std::vector<HazardPlace> places{{other_core, other.instruction}, {number, index}};
  const char* first = PipeName(static_cast<Pipe>(other_agent % kPipeCount));
  const char* second = PipeName(static_cast<Pipe>(pipe));
  // As the source has them, not as the pipes came to them.
  if (other_core == number && other.instruction > index) {
    std::swap(places[0], places[1]);
    std::swap(first, second);
  }
  Report(HazardKind::kRace, lanes, std::move(places),
         std::string("nothing orders ") + first + " and " + second +
             (other_core == number ? "" : " of two cores") + ": " + what + " (" + bytes + ")");
}

void HazardDetector::CheckLeftFlags() {
  for (uint32_t number = 0; number < cores_.size(); ++number) {
    for (const Flag& flag : cores_[number].flags) {
      for (const Snapshot& up : flag.up) {
        const kerf_log::Sync& sync = log_.cores[number].instructions[up.index].sync;
        const bool never = flag.last_wait == kNobody;
        Report(never ? HazardKind::kSetNeverWaited : HazardKind::kFlagLeftSet, false,
               {{number, up.index}},
               "the flag (" + FlagText(sync) + ") " +
                   (never ? "is set and never waited for"
                          : "is still up at the end: more sets than waits"));
      }
    }
  }
  for (const auto& [receiver, signal] : PairCrossSignals(log_).left) {
    const kerf_log::Sync& sync = log_.cores[signal.core].instructions[signal.index].sync;
    Report(HazardKind::kFlagLeftSet, true, {{signal.core, signal.index}},
           "cross-core signal " + std::to_string(sync.event) + " to " +
               log_.cores[receiver].Name() + " is never taken");
  }
}

void HazardDetector::Report(HazardKind kind, bool warning, std::vector<HazardPlace> places,
                            const std::string& what) {
  const auto site = [&](size_t i) {
    return i < places.size() && places[i].instruction != kNobody
               ? log_.LineId(log_.cores[places[i].core].instructions[places[i].instruction].site)
               : 0;
  };
  std::erase_if(places, [](const HazardPlace& place) { return place.instruction == kNobody; });
  const auto [found, fresh] = seen_.try_emplace({kind, site(0), site(1)}, hazards_.size());
  if (!fresh) {
    if (found->second < hazards_.size()) ++hazards_[found->second].count;
    return;
  }
  if (hazards_.size() >= kMostHazards) {
    found->second = SIZE_MAX;
    return;
  }
  hazards_.push_back({kind, warning, what, std::move(places), 1});
}

std::vector<Hazard> HazardDetector::Take() { return std::move(hazards_); }

}  // namespace kerf::sim
