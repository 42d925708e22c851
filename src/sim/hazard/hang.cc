// Every blocked agent waits for one other agent, or for something that never comes. Following these
// steps from any of them ends in one of both.
#include "sim/hazard/hang.h"

#include <algorithm>
#include <map>
#include <set>

#include "sim/timing/pairing.h"

namespace kerf::sim {
namespace {

using Agent = std::pair<uint32_t, uint8_t>;  // core and pipe

struct Step {
  bool nothing = true;  // nobody will do it; `why` says so
  Agent agent;
  std::string why;
};

class Hang {
 public:
  Hang(const InstructionLog& log, const RunTiming& timing)
      : log_(log), timing_(timing), pairs_(PairCrossSignals(log)) {
    for (const BlockedAgent& agent : timing.blocked)
      blocked_[{agent.core, static_cast<uint8_t>(agent.pipe)}] = &agent;
  }

  std::vector<Hazard> Run() {
    for (const auto& [agent, blocked] : blocked_) Follow(agent);
    return std::move(hazards_);
  }

 private:
  void Follow(Agent agent) {
    std::vector<Agent> path;
    std::set<Agent> on_path;
    while (true) {
      if (!done_.insert(agent).second && on_path.count(agent) == 0) return;
      if (!on_path.insert(agent).second) return ReportCycle(path, agent);
      path.push_back(agent);
      const Step step = Next(*blocked_.at(agent));
      if (step.nothing) return ReportNothing(*blocked_.at(agent), step.why);
      agent = step.agent;
    }
  }

  // Where the scalar unit of the core stands.
  [[nodiscard]] uint32_t IssuedUpTo(uint32_t core) const {
    const auto scalar = blocked_.find({core, 0});
    return scalar == blocked_.end() ? UINT32_MAX : scalar->second->instruction;
  }

  // The agent that would have to execute the instruction.
  Step To(uint32_t core, uint32_t index) const {
    const uint8_t pipe = log_.cores[core].instructions[index].pipe;
    const Agent agent{core, index < IssuedUpTo(core) ? pipe : uint8_t{0}};
    if (blocked_.count(agent) == 0)
      return {true, {}, "nothing is blocked before what it waits for"};
    return {false, agent, ""};
  }

  Step Next(const BlockedAgent& blocked) const {
    const Instruction& record = log_.cores[blocked.core].instructions[blocked.instruction];
    switch (blocked.reason) {
      case StallReason::kFlag:
        return NextFlag(blocked, record.sync);
      case StallReason::kQueueFull:
        return {false, {blocked.core, record.pipe}, ""};
      case StallReason::kBarrier:
        for (uint8_t pipe = 1; pipe < kPipeCount; ++pipe) {
          if (blocked_.count({blocked.core, pipe}) != 0) return {false, {blocked.core, pipe}, ""};
        }
        break;
      case StallReason::kCrossCore:
        return NextCross(blocked);
      case StallReason::kMeeting:
        return NextMeeting(blocked, record.sync.peers);
      default:
        break;
    }
    return {true, {}, "nothing goes on"};
  }

  Step NextFlag(const BlockedAgent& blocked, const kerf_log::Sync& sync) const {
    const std::vector<Instruction>& program = log_.cores[blocked.core].instructions;
    const Instruction* other = nullptr;  // between the same pipes, with another event
    for (uint32_t i = 0; i < program.size(); ++i) {
      const Instruction& record = program[i];
      if (record.op != Op::SET_FLAG || record.sync.source != sync.source ||
          record.sync.destination != sync.destination)
        continue;
      if (record.sync.event != sync.event) {
        other = &record;
        continue;
      }
      if (timing_.cores[blocked.core].times[i].start != kNever) continue;
      return To(blocked.core, i);
    }
    std::string why = std::string("no set_flag is left for (") +
                      PipeName(static_cast<Pipe>(sync.source)) + " to " +
                      PipeName(static_cast<Pipe>(sync.destination)) + ", event " +
                      std::to_string(sync.event) + ")";
    if (other != nullptr)
      why += "; event " + std::to_string(other->sync.event) + " is set at " +
             log_.PlaceOf(other->site);
    return {true, {}, why};
  }

  Step NextCross(const BlockedAgent& blocked) const {
    const auto& taken = pairs_.taken[blocked.core];
    const auto found = taken.find(blocked.instruction);
    if (found == taken.end()) return {true, {}, "it waits for nobody"};
    for (const CrossSignal& signal : found->second) {
      if (signal.core == kNobody) return {true, {}, "a core it waits for is not part of the run"};
      if (signal.index == kNobody)
        return {true, {}, log_.cores[signal.core].Name() + " does not signal so often"};
      if (timing_.cores[signal.core].times[signal.index].start == kNever)
        return To(signal.core, signal.index);
    }
    return {true, {}, "all signals are there"};
  }

  Step NextMeeting(const BlockedAgent& blocked, uint8_t peers) const {
    for (const uint32_t peer : PeersOf(log_, blocked.core, peers)) {
      const auto scalar = blocked_.find({peer, 0});
      if (scalar == blocked_.end())
        return {true, {}, log_.cores[peer].Name() + " never comes to the SYNCALL"};
      if (scalar->second->reason != StallReason::kMeeting) return {false, {peer, 0}, ""};
    }
    return {true, {}, "the cores meet in different SYNCALLs"};
  }

  void ReportNothing(const BlockedAgent& blocked, const std::string& why) {
    const Instruction& record = log_.cores[blocked.core].instructions[blocked.instruction];
    Add({HazardKind::kWaitWithoutSet,
         !log_.Whole(),
         std::string(PipeName(blocked.pipe)) + " of " + log_.cores[blocked.core].Name() +
             " waits for ever in " + kerf_log::OpName(record.op) + ": " + why,
         {{blocked.core, blocked.instruction}}});
  }

  void ReportCycle(const std::vector<Agent>& path, const Agent& first) {
    Hazard hazard{HazardKind::kDeadlock, !log_.Whole(), "", {}};
    auto at = std::find(path.begin(), path.end(), first);
    for (; at != path.end(); ++at) {
      const BlockedAgent& blocked = *blocked_.at(*at);
      hazard.places.push_back({blocked.core, blocked.instruction});
      hazard.what += std::string(PipeName(blocked.pipe)) + " of " +
                     log_.cores[blocked.core].Name() + " (" + StallReasonName(blocked.reason) +
                     ") waits for ";
    }
    const BlockedAgent& again = *blocked_.at(first);
    hazard.what += std::string(PipeName(again.pipe)) + " of " + log_.cores[again.core].Name();
    Add(std::move(hazard));
  }

  void Add(Hazard hazard) { hazards_.push_back(std::move(hazard)); }

  const InstructionLog& log_;
  const RunTiming& timing_;
  const CrossPairs pairs_;
  std::map<Agent, const BlockedAgent*> blocked_;
  std::set<Agent> done_;
  std::vector<Hazard> hazards_;
};

}  // namespace

std::vector<Hazard> ExplainHang(const InstructionLog& log, const RunTiming& timing) {
  if (timing.blocked.empty()) return {};
  return Hang(log, timing).Run();
}

}  // namespace kerf::sim
