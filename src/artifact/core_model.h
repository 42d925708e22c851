// What one in-core cluster of a chip costs: the section `in_core` of chips/*.yaml, as the in-core
// simulator uses it. Cycles are of the core's clock.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace kerf {

// cycles = slope · repeats; the head is the fill of the pipe (hidden behind an earlier
// instruction), the tail the time until a result may be used.
struct VectorCost {
  uint32_t head = 0;
  uint32_t slope = 0;
  uint32_t tail = 0;
};

// cycles = start + bytes / rate; results are there `latency` cycles later, while the next transfer
// runs already. With half_bytes, rate is a curve: peak · B / (half_bytes + B).
struct TransferCost {
  double bytes_per_cycle = 0;
  double half_bytes = 0;
  uint32_t start = 0;
  uint32_t latency = 0;
};

struct CoreModel {
  std::string chip;    // "ascend910b1"
  std::string family;  // "a2a3", "a5"
  double clock_mhz = 0;
  uint32_t blocks = 0;  // clusters of the chip

  std::map<std::string, uint64_t> memory;  // bytes, by "ub", "l1", "l0a" …

  uint32_t queue_depth = 0;    // instructions a pipe's queue holds
  uint32_t issue = 0;          // scalar cycles to issue a flag, a barrier or a scalar operation
  uint32_t tile_issue = 0;     // … an instruction on tiles
  uint32_t scalar_local = 0;   // scalar access to UB
  uint32_t scalar_global = 0;  // scalar access to GM
  uint32_t flag = 0;           // set or wait, once it need not wait
  uint32_t barrier = 0;        // … and a barrier
  uint32_t cross_latency = 0;  // from a cross-core signal to its waiter
  double shared_read = 0;      // GM bytes per cycle, all cores of the chip together
  double shared_write = 0;

  std::map<std::string, TransferCost> transfer;  // by "gm_to_ub" …

  uint32_t cube_start = 0;
  uint32_t cube_rows = 0, cube_columns = 0, cube_depth_bytes = 0;  // of one step
  std::map<std::string, double> cube_cycles;  // per step, by type; "default" for others

  uint32_t repeat_bytes = 0;
  uint32_t most_repeats = 0;
  uint32_t count_mode = 0;                   // added once when an instruction runs in count mode
  bool vector_overlaps = false;              // dependent vector instructions need a barrier
  bool rows_by_scalar = false;               // TROWEXPAND goes through the scalar unit row by row
  std::map<std::string, VectorCost> vector;  // by instruction; "default" for others

  // Where each number comes from, by the dotted path of it or of what holds it.
  std::map<std::string, std::string> origin;

  // The origin of the longest path that holds `path`; empty when nobody says.
  [[nodiscard]] std::string OriginOf(const std::string& path) const;
  // Dense peak of the cube: operations per cycle of one core. 0 for a type it does not know.
  [[nodiscard]] double CubePeak(const std::string& type, uint32_t type_bytes) const;
};

// kNotFound when the chip has no in-core section; kCorrupt with the member that is wrong.
Result<CoreModel> ParseCoreModel(const std::string& text);

}  // namespace kerf
