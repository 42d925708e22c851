// What an instruction is executed with: the core's memories, global memory, and where it complains.
#pragma once

#include <kerf_pto/abi.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "sim/machine/finding.h"
#include "sim/machine/global_memory.h"
#include "sim/machine/tile_io.h"

namespace kerf::sim {

using kerf_pto::Call;
using kerf_pto::GlobalRef;
using kerf_pto::Op;

const char* OpName(Op op);

class Unit;

// The core around a unit: takes what is wrong, and knows the other cores of its block. Fatal
// complaints do not return.
class Complaints {
 public:
  virtual void Warn(FindingKind kind, const std::string& text) = 0;
  // What a kernel prints.
  virtual void Print(const std::string& text) = 0;
  // Of TileRef::owner; null when the launch has no such core.
  virtual Unit* UnitOf(uint8_t owner) = 0;
  [[noreturn]] void Fail(FindingKind kind, const std::string& text) {
    Stop(kind, text);
    std::abort();
  }

 protected:
  ~Complaints() = default;
  // Does not return.
  virtual void Stop(FindingKind kind, const std::string& text) = 0;
};

class Unit {
 public:
  Unit(const MemorySizes& sizes, GlobalMemory& global, Complaints& complaints);

  // The tile, after its place was checked. Complains and does not return when it has none.
  TileIo Open(const TileRef& tile);
  // Checks what TASSIGN was given.
  void CheckPlace(const TileRef& tile);
  // Complains when something read through it was never written.
  void Close(const TileIo& io, const char* role);
  // Fails unless these bytes belong to a tensor.
  void CheckGlobal(const void* data, uint64_t bytes, const char* verb);

  [[nodiscard]] CoreMemory& memory(Mem mem);
  [[nodiscard]] size_t memory_size(Mem mem) const { return sizes_.bytes[static_cast<size_t>(mem)]; }
  [[nodiscard]] GlobalMemory& global() { return global_; }
  [[nodiscard]] Complaints& complaints() { return complaints_; }

 private:
  const MemorySizes& sizes_;
  GlobalMemory& global_;
  Complaints& complaints_;
  std::array<std::unique_ptr<CoreMemory>, kerf_pto::kMemCount> memories_;  // made when first used
};

// Executes one tile instruction. Flags, queues' signals and scalar access are the core's.
void ExecuteTiles(Unit& unit, const Call& call);

// Parts of ExecuteTiles, by what they do. Each returns false when the op is not its own.
bool ExecuteElementwise(Unit& unit, const Call& call);
bool ExecuteConvert(Unit& unit, const Call& call);
bool ExecuteFused(Unit& unit, const Call& call);
bool ExecutePart(Unit& unit, const Call& call);
bool ExecuteWeave(Unit& unit, const Call& call);
bool ExecuteQuantize(Unit& unit, const Call& call);
bool ExecutePrint(Unit& unit, const Call& call);
bool ExecuteRows(Unit& unit, const Call& call);
bool ExecuteRearrange(Unit& unit, const Call& call);
bool ExecuteSort(Unit& unit, const Call& call);
bool ExecuteMove(Unit& unit, const Call& call);
bool ExecuteProduct(Unit& unit, const Call& call);
bool ExecuteGlobal(Unit& unit, const Call& call);

}  // namespace kerf::sim
