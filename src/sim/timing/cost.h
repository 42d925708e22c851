// What one recorded instruction costs on a chip.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "artifact/core_model.h"
#include "sim/log/instruction_log.h"
#include "sim/timing/op_work.h"

namespace kerf::sim {

enum class CostSource : uint8_t {
  kTable,    // an entry for this instruction or path
  kFormula,  // a decomposition or the cube's formula over table entries
  kDefault,  // nothing is known: the chip's default
};

struct Cost {
  uint32_t head = 0;  // fill, hidden when the pipe is busy with something earlier
  uint32_t tail = 0;  // until the result may be used; the pipe goes on meanwhile
  uint64_t busy = 0;  // the pipe takes nothing else
  CostSource source = CostSource::kTable;
};

// Reads of GM (writes) of one core take this many times longer because others share the memory.
struct Contention {
  double read = 1;
  double write = 1;
};

class CostModel {
 public:
  explicit CostModel(const CoreModel& model);

  [[nodiscard]] Cost Of(const Instruction& record, std::span<const Operand> operands,
                        const Contention& contention) const;
  // Scalar cycles to issue it.
  [[nodiscard]] uint32_t Issue(Op op) const { return issue_[static_cast<uint16_t>(op)]; }
  [[nodiscard]] const CoreModel& model() const { return model_; }
  // Sums what the cores of a run could ask for at most, and shares what there is.
  [[nodiscard]] Contention ContentionOf(const InstructionLog& log) const;

 private:
  struct Entry {
    WorkKind kind = WorkKind::kDefault;
    bool known = false;
    VectorCost first, second;
    bool has_second = false;
  };
  struct Shape {
    uint64_t rows = 0, row_bytes = 0;
    bool contiguous = false;
  };

  [[nodiscard]] Cost Unbounded(const Instruction& record, std::span<const Operand> operands,
                               const Contention& contention) const;
  [[nodiscard]] Cost TransferOf(const Instruction& record, std::span<const Operand> operands,
                                const Contention& contention) const;
  [[nodiscard]] Cost CubeOf(std::span<const Operand> operands) const;
  [[nodiscard]] Cost VectorOf(const Entry& entry, const Instruction& record,
                              std::span<const Operand> operands) const;
  [[nodiscard]] Cost RowsOf(const Entry& entry, const Shape& shape) const;
  [[nodiscard]] Cost RowCopyOf(const Entry& entry, const Shape& shape) const;
  [[nodiscard]] uint64_t Groups(const Shape& shape) const;
  [[nodiscard]] uint64_t Repeats(const Shape& shape) const;
  static Shape ShapeOf(std::span<const Operand> operands);

  const CoreModel& model_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> issue_;
  VectorCost default_, broadcast_;
  std::array<TransferCost, size_t{kerf_log::kMemories} * kerf_log::kMemories> paths_{};
  std::array<bool, size_t{kerf_log::kMemories} * kerf_log::kMemories> path_known_{};
  std::array<double, kerf_log::kDtypes> cube_cycles_{};
};

}  // namespace kerf::sim
