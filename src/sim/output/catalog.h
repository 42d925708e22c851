// The static instructions of a run: every place in the source that issues an instruction gets an
// address, as if it stood in a program, and what all of its executions came to, core by core.
#pragma once

#include <string>
#include <vector>

#include "sim/hazard/hazard.h"

namespace kerf::sim {

struct StaticInstruction {
  uint32_t site = 0;
  Op op{};
  uint8_t pipe = 0;
  uint64_t address = 0;
  Dtype left = Dtype::kNone;  // of a matrix product: what it multiplies
  uint32_t hazards = 0;       // that name it
  std::string detail;         // of its first execution
};

struct StaticUse {
  uint64_t count = 0;
  uint64_t cycles = 0;   // sum of start to end
  uint64_t running = 0;  // of the union of these
  uint64_t last_end = 0;
  uint64_t bytes = 0;
  uint64_t operations = 0;
  static constexpr uint64_t kFullVector = uint64_t{255} * 256;
  uint64_t vector_bytes = 0;  // written by vector instructions, each at most kFullVector
  std::array<uint64_t, kStallReasons> stalled{};

  // Without the time in which nothing was issued.
  [[nodiscard]] uint64_t Stalled() const;
  [[nodiscard]] StallReason MainReason() const;
};

struct Catalog {
  std::vector<StaticInstruction> items;
  std::vector<std::vector<uint32_t>> item_of;  // by core and instruction
  std::vector<std::vector<StaticUse>> use;     // by core and item
  std::vector<uint32_t> core_order;            // cores by name, as every list of cores has them

  static constexpr uint64_t kFirstAddress = 0x10000000;
};

// kInvalidInput when items times cores is more than any viewer takes.
Result<Catalog> MakeCatalog(const InstructionLog& log, const Checked& checked);

// "UB:0x100,24x64f32,GM:…"; flags as msprof spells them. Appends to `out`.
void AppendDetail(const CoreLog& core, size_t index, std::string& out);

}  // namespace kerf::sim
