// Follows the execution of a run and reports races, missing barriers and flags set twice.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "sim/hazard/access_list.h"
#include "sim/hazard/hazard.h"
#include "sim/hazard/vector_clock.h"
#include "sim/timing/fifo.h"

namespace kerf::sim {

class HazardDetector : public ExecutionObserver {
 public:
  HazardDetector(const InstructionLog& log, const CoreModel& model);

  void Signalled(uint32_t core, uint32_t index) override;
  void Joined(uint32_t core, uint32_t index, uint32_t from_core, uint32_t from_index) override;
  void Executed(uint32_t core, uint32_t index) override;

  // Flags that are still up; call when the whole run was executed.
  void CheckLeftFlags();
  std::vector<Hazard> Take();

 private:
  struct Snapshot {
    uint32_t index = 0;
    VectorClock clock;
  };
  struct Flag {
    Fifo<Snapshot> up;  // oldest first; one at most in a sound program
    uint32_t last_set = kNobody;
    uint32_t last_wait = kNobody;
    uint32_t wait_position = 0;  // of the last wait, in its pipe
  };
  struct Version {
    uint32_t index = 0;  // for instructions behind this one
    VectorClock clock;
  };
  struct Core {
    size_t slot = 0;     // AIC 0, AIV0 1, AIV1 2
    size_t cluster = 0;  // index into clusters_
    uint8_t used = 0;    // pipes with instructions
    std::array<VectorClock, kPipeCount> known;
    std::array<uint32_t, kPipeCount> position{};  // instructions executed
    std::array<size_t, kPipeCount> version{};     // of the scalar unit's knowledge, joined so far
    std::vector<Version> versions;
    std::vector<Flag> flags;
  };
  // Lists of a block, by (memory's slot, memory) and agent; empty ones are not made.
  struct Cluster {
    std::array<uint32_t, 3> core{kNobody, kNobody, kNobody};
    std::map<std::pair<uint32_t, uint32_t>, AccessList> lists;
    std::array<std::vector<std::pair<uint32_t, AccessList*>>, size_t{3} * kerf_log::kMemories>
        by_memory;
  };

  void CatchUp(Core& core, uint8_t pipe, uint32_t index);
  void Learn(Core& core, uint32_t index);
  void Synchronise(uint32_t core, uint32_t index);
  void CheckAccesses(uint32_t core, uint32_t index);
  void CheckOne(uint32_t core, uint32_t index, const Access& access, const Operand& operand,
                size_t memory);
  void ReportRace(uint32_t core, uint32_t index, const Access& access, const Operand& operand,
                  uint32_t other_agent, const Access& other);
  bool Ordered(const Core& core, uint32_t core_number, uint8_t pipe, uint32_t index,
               const Access& access, uint32_t other_agent, const Access& other) const;
  [[nodiscard]] uint32_t KnownToAll(const Cluster& cluster, uint32_t agent) const;
  AccessList& ListAt(Cluster& cluster, size_t memory, uint32_t agent);
  void Report(HazardKind kind, bool warning, std::vector<HazardPlace> places,
              const std::string& what);

  const InstructionLog& log_;
  const bool vector_overlaps_;
  std::vector<Core> cores_;
  std::vector<Cluster> clusters_;
  std::unordered_map<uint64_t, VectorClock> crossed_;                  // by core and instruction
  std::map<std::tuple<HazardKind, uint32_t, uint32_t>, size_t> seen_;  // kind and sites → hazards_
  std::vector<Hazard> hazards_;
};

}  // namespace kerf::sim
