// Runs the agents of timing.h. Used by Time() only; a class so that its parts fit into files.
#pragma once

#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "sim/timing/agents.h"
#include "sim/timing/pairing.h"

namespace kerf::sim {

class Engine {
 public:
  Engine(const InstructionLog& log, const CoreModel& model, ExecutionObserver* observer);
  RunTiming Run();

 private:
  // engine.cc
  void RunCore(uint32_t core);
  void RunScalar(uint32_t core);
  void RunPipe(uint32_t core, uint8_t pipe);
  bool Issue(uint32_t core, uint32_t index);
  void Wake(uint32_t core, uint8_t agents);
  void Block(uint32_t core, uint8_t pipe, StallReason reason);
  void Finish();
  void FindBlocked(uint32_t core);

  // execute.cc: false when the agent is blocked; nothing has changed then.
  bool Execute(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued);
  void Work(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued);
  void SetFlag(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued);
  bool WaitFlag(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued);
  bool Barrier(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued);
  void CrossSet(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued);
  bool CrossWait(uint32_t core, uint8_t pipe, uint32_t index, uint64_t issued);
  bool Meet(uint32_t core, uint32_t index, uint64_t issued);
  // The pipe stands still until `until`; returns when it goes on.
  uint64_t Stand(uint32_t core, uint8_t pipe, uint32_t index, uint64_t until, StallReason reason);
  void Waited(uint32_t core, uint8_t pipe, uint32_t index, uint64_t begin, uint64_t until,
              StallReason reason, uint32_t cycles);
  // PeersOf(), remembered.
  const std::vector<uint32_t>& Peers(uint32_t core, uint8_t peers);

  struct Meeting {
    std::vector<std::pair<uint32_t, uint32_t>> arrived;  // core, instruction
    uint64_t time = 0;
    bool complete = false;
  };
  Meeting& MeetingOf(uint32_t core, uint8_t peers);

  const InstructionLog& log_;
  const CostModel costs_;
  ExecutionObserver* observer_;
  CrossPairs pairs_;
  RunTiming timing_;
  std::vector<CoreState> cores_;
  std::deque<uint32_t> list_;  // cores with agents that are ready
  uint32_t running_ = kNobody;
  Held held_;  // of the instruction that a pipe executes
  std::map<std::pair<uint32_t, uint8_t>, std::vector<uint32_t>> peers_;
  std::map<std::tuple<uint32_t, uint8_t, uint32_t>, Meeting> meetings_;
};

}  // namespace kerf::sim
