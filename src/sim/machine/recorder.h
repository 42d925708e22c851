// Writes what a core executes into its instruction log (docs/formats/instruction_log.md).
#pragma once

#include <kerf_log/writer.h>
#include <kerf_pto/abi.h>

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

  void Add(const kerf_pto::Call& call);
  void AddScalar(const kerf_pto::TileRef& tile, int64_t offset, bool write,
                 const kerf_pto::Site& site);
  // `source` and `destination` are PIPE_* numbers.
  void AddSync(kerf_log::Op op, kerf_pto::Pipe pipe, const kerf_log::Sync& sync,
               const kerf_pto::Site& site);
  void AddPlain(kerf_log::Op op, const kerf_pto::Site& site);
  void Flush() { log_.Flush(); }

 private:
  uint32_t SiteOf(const kerf_pto::Site& site) {
    return log_.SiteOf(site.file, site.line, 0, site.function);
  }
  void AddTile(const kerf_pto::TileRef& tile, uint8_t access);
  void AddMove(const kerf_pto::Call& call, uint8_t access);
  void AddGlobal(const kerf_pto::GlobalRef& global, uint8_t access);

  kerf_log::CoreLog log_;
  const GlobalMemory& global_;
};

}  // namespace kerf::sim
