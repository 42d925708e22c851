// Writes what a core executes into its instruction log (docs/formats/instruction_log.md).
#pragma once

#include <kerf_log/writer.h>
#include <kerf_pto/abi.h>

#include <vector>

#include "sim/machine/call_stack.h"
#include "sim/machine/global_memory.h"

namespace kerf::sim {

// Which pipe an instruction stands in; for some it depends on where the operands are.
kerf_pto::Pipe PipeOf(const kerf_pto::Call& call);
kerf_log::Pipe LogPipe(kerf_pto::Pipe pipe);

class Recorder {
 public:
  Recorder(kerf_log::LogFile& file, kerf_log::CoreKind kind, uint32_t block, uint8_t lane,
           const GlobalMemory& global)
      : log_(file, kind, block, lane), global_(global) {}

  // What called the instructions recorded from now on: for the caller to fill.
  CallStack& stack() { return stack_; }
  void Add(const kerf_pto::Call& call);
  void AddScalar(const kerf_pto::TileRef& tile, int64_t offset, bool write,
                 const kerf_pto::Site& site);
  // `source` and `destination` are PIPE_* numbers.
  void AddSync(kerf_log::Op op, kerf_pto::Pipe pipe, const kerf_log::Sync& sync,
               const kerf_pto::Site& site);
  void AddPlain(kerf_log::Op op, const kerf_pto::Site& site);
  void Flush() { log_.Flush(); }

 private:
  uint32_t SiteOf(const kerf_pto::Site& site);
  void AddTile(const kerf_pto::TileRef& tile, uint8_t access);
  void AddMove(const kerf_pto::Call& call, uint8_t access);
  void AddGlobal(const kerf_pto::GlobalRef& global, uint8_t access);

  // Stacks that came before, by their hash.
  struct Known {
    uint64_t hash = 0;
    uint32_t line = 0;
    uint32_t site = 0;  // 0: none
  };

  kerf_log::CoreLog log_;
  CallStack stack_;
  std::vector<Known> known_ = std::vector<Known>(1024);
  const GlobalMemory& global_;
};

}  // namespace kerf::sim
