#include "sim/log/instruction_log.h"

namespace kerf::sim {

const char* PipeName(Pipe pipe) {
  constexpr const char* kNames[] = {"SCALAR", "MTE1",   "MTE2", "MTE3",
                                    "CUBE",   "VECTOR", "FIXP", "ALL"};
  return kNames[static_cast<uint8_t>(pipe) & 7];
}

const char* MemoryName(Memory memory) {
  constexpr const char* kNames[] = {"GM",  "UB",   "L1",         "L0A",     "L0B",
                                    "L0C", "BIAS", "FIX_BUFFER", "SCALE_A", "SCALE_B"};
  return kNames[static_cast<uint8_t>(memory)];
}

const char* DtypeName(Dtype dtype) {
  constexpr const char* kNames[] = {"none", "f32",    "f16",    "bf16", "i8",   "u8",   "i16",
                                    "u16",  "i32",    "u32",    "i64",  "u64",  "e4m3", "e5m2",
                                    "e8m0", "e2m1x2", "e1m2x2", "hif8", "i4x2", "f64",  "bool"};
  return kNames[static_cast<uint8_t>(dtype)];
}

const char* LayoutName(Layout layout) {
  constexpr const char* kNames[] = {"ND", "DN", "NZ", "ZN", "ZZ", "NN", "other"};
  return kNames[static_cast<uint8_t>(layout)];
}

std::string CoreLog::Name() const {
  return "core" + std::to_string(block) +
         (kind == CoreKind::kAic ? ".cubecore0" : ".veccore" + std::to_string(lane));
}

uint64_t InstructionLog::InstructionCount() const {
  uint64_t count = 0;
  for (const CoreLog& core : cores) count += core.instructions.size();
  return count;
}

std::string InstructionLog::PlaceOf(uint32_t site) const {
  const Site& place = sites[site];
  if (place.file == 0) return "";
  return strings[place.file] + ":" + std::to_string(place.line);
}

std::string InstructionLog::StackOf(uint32_t site) const {
  std::string stack;
  // Callers have smaller ids, so this ends; a hostile log could still chain a million of them.
  for (int depth = 0; site != 0 && depth < 64; ++depth, site = sites[site].caller) {
    const std::string place = PlaceOf(site);
    if (place.empty()) continue;
    if (!stack.empty()) stack += '\n';
    stack += place;
  }
  return stack;
}

}  // namespace kerf::sim
