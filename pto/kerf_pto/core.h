// The executing core, as the instructions reach it, and what a core offers outside namespace pto:
// flags, barriers, ids, caches.
#pragma once

#include <cstdint>
#include <source_location>

#include "kerf_pto/abi.h"
#include "kerf_pto/enums.h"
#include "kerf_pto/numbers.h"

namespace kerf_pto {

// Set by the machine, which keeps what it points to at the core that is executing.
inline Core** current_core = nullptr;
inline Core& TheCore() { return **current_core; }

#ifdef __cpp_lib_source_location
using Place = std::source_location;
#else
// clang 14 has the parts of it only.
class Place {
 public:
  static constexpr Place current(const char* file = __builtin_FILE(),
                                 const char* function = __builtin_FUNCTION(),
                                 uint32_t line = __builtin_LINE()) {
    Place place;
    place.file_ = file;
    place.function_ = function;
    place.line_ = line;
    return place;
  }
  [[nodiscard]] constexpr const char* file_name() const { return file_; }
  [[nodiscard]] constexpr const char* function_name() const { return function_; }
  [[nodiscard]] constexpr uint32_t line() const { return line_; }

 private:
  const char* file_ = "";
  const char* function_ = "";
  uint32_t line_ = 0;
};
#endif
inline Site SiteOf(const Place& place) {
  return {place.file_name(), place.function_name(), static_cast<uint32_t>(place.line())};
}

inline void FlagOp(Op op, int src, int dst, uint64_t id, uint32_t mode, const Place& place) {
  TheCore().Flag({op, static_cast<uint8_t>(src), static_cast<uint8_t>(dst),
                  static_cast<uint32_t>(id), mode, 0, SiteOf(place)});
}

}  // namespace kerf_pto

// The machine's way in: tells whether both sides speak the same language.
extern "C" __attribute__((visibility("default"), weak)) uint32_t kerf_pto_bind(
    kerf_pto::Core** core) {
  kerf_pto::current_core = core;
  return kerf_pto::kAbiVersion;
}

// --- flags and barriers inside a core ---
inline void set_flag(pipe_t src, pipe_t dst, uint64_t id,
                     kerf_pto::Place place = kerf_pto::Place::current()) {
  kerf_pto::FlagOp(kerf_pto::Op::set_flag, src, dst, id, 0, place);
}
inline void wait_flag(pipe_t src, pipe_t dst, uint64_t id,
                      kerf_pto::Place place = kerf_pto::Place::current()) {
  kerf_pto::FlagOp(kerf_pto::Op::wait_flag, src, dst, id, 0, place);
}
inline void pipe_barrier(pipe_t pipe, kerf_pto::Place place = kerf_pto::Place::current()) {
  kerf_pto::FlagOp(kerf_pto::Op::pipe_barrier, pipe, pipe, 0, 0, place);
}

// --- between the cores of a cluster ---
// a2a3: message = 1 | mode << 4 | id << 8.
inline void ffts_cross_core_sync(pipe_t pipe, uint64_t message,
                                 kerf_pto::Place place = kerf_pto::Place::current()) {
  kerf_pto::FlagOp(kerf_pto::Op::ffts_cross_core_sync, pipe, pipe, (message >> 8) & 0xf,
                   static_cast<uint32_t>((message >> 4) & 3), place);
}
inline void wait_flag_dev(uint64_t id, kerf_pto::Place place = kerf_pto::Place::current()) {
  kerf_pto::FlagOp(kerf_pto::Op::wait_flag_dev, PIPE_S, PIPE_S, id, 0, place);
}
inline void wait_flag_dev(pipe_t pipe, uint64_t id,
                          kerf_pto::Place place = kerf_pto::Place::current()) {
  kerf_pto::FlagOp(kerf_pto::Op::wait_flag_dev, pipe, pipe, id, 0, place);
}
inline void set_intra_block(pipe_t pipe, uint64_t id,
                            kerf_pto::Place place = kerf_pto::Place::current()) {
  kerf_pto::FlagOp(kerf_pto::Op::set_intra_block, pipe, pipe, id, 0, place);
}
inline void wait_intra_block(pipe_t pipe, uint64_t id,
                             kerf_pto::Place place = kerf_pto::Place::current()) {
  kerf_pto::FlagOp(kerf_pto::Op::wait_intra_block, pipe, pipe, id, 0, place);
}
template <typename T>
inline void set_ffts_base_addr(T) {}

// --- caches and state: nothing to do at the level of tiles, but they take issue slots ---
// Takes anything: kernels define SINGLE_CACHE_LINE as they like.
template <typename... T>
inline void dcci(T...) {
  kerf_pto::FlagOp(kerf_pto::Op::dcci, PIPE_S, PIPE_S, 0, 0, kerf_pto::Place::current());
}
template <typename T>
inline void dsb(T, kerf_pto::Place place = kerf_pto::Place::current()) {
  kerf_pto::FlagOp(kerf_pto::Op::dsb, PIPE_S, PIPE_S, 0, 0, place);
}
template <typename... T>
inline void set_st_atomic_cfg(T...) {}
inline void set_mask_norm() {}
inline void set_mask_count() {}
inline void set_vector_mask(uint64_t, uint64_t) {}
template <typename... T>
inline void set_atomic_none(T...) {}

// --- registers ---
inline int64_t(get_block_idx)() { return kerf_pto::TheCore().BlockIndex(); }
inline int64_t(get_block_num)() { return kerf_pto::TheCore().BlockCount(); }
// In parentheses: generated kernels define a macro of this name, which the queues shall then use.
inline int64_t(get_subblockid)() { return kerf_pto::TheCore().SubBlock(); }
inline int64_t get_subblockdim() {
#ifdef __DAV_VEC__
  return 2;
#else
  return 1;
#endif
}
inline int64_t get_coreid() { return kerf_pto::TheCore().BlockIndex(); }
inline uint64_t get_sys_cnt() { return kerf_pto::TheCore().Clock(); }
