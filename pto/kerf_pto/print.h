// TPRINT: the text comes back with the run's results.
#pragma once

#include "kerf_pto/move.h"

namespace pto {

enum class PrintFormat : uint8_t { Width8_Precision4, Width8_Precision2, Width10_Precision6 };

// Waits for all pipes, as the device's does. options: 0 the format
template <PrintFormat Format = PrintFormat::Width8_Precision4, typename T>
RecordEvent TPRINT(const T& what, KERF_PTO_AT) {
  pipe_barrier(PIPE_ALL, place);
  kerf_pto::Builder call(kerf_pto::Op::TPRINT, place);
  if constexpr (kerf_pto::kIsTile<T>)
    call.Tile(what);
  else
    call.Global(what);
  return call.Option(0, static_cast<int64_t>(Format)).Run();
}
// Tiles of L1 and L0C need global memory in between on a device.
template <PrintFormat Format = PrintFormat::Width8_Precision4, typename T, typename G,
          std::enable_if_t<kerf_pto::kIsGlobal<G>, int> = 0>
RecordEvent TPRINT(const T& what, const G&, KERF_PTO_AT) {
  return TPRINT<Format>(what, place);
}

}  // namespace pto
