// What one simulated run executed, in memory: docs/formats/instruction_log.md.
//
// The writer is pto/kerf_log/writer.h, in the kernel's own process. Its bytes come from a process
// that ran code nobody trusts: whatever passes ParseInstructionLog may be used without looking
// again.
#pragma once

#include <kerf_log/record.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kerf::sim {

using kerf_log::CoreKind;
using kerf_log::Dtype;
using kerf_log::Instruction;
using kerf_log::Layout;
using kerf_log::Memory;
using kerf_log::Op;
using kerf_log::Operand;
using kerf_log::Owner;
using kerf_log::Pipe;
using kerf_log::Site;

inline constexpr size_t kPipeCount = kerf_log::kPipes;

// "MTE2": the name of its lane.
const char* PipeName(Pipe pipe);
const char* MemoryName(Memory memory);
const char* DtypeName(Dtype dtype);
const char* LayoutName(Layout layout);

struct CoreLog {
  CoreKind kind = CoreKind::kAiv;
  uint8_t lane = 0;
  uint32_t block = 0;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<uint32_t> first_operand;  // one per instruction

  [[nodiscard]] std::span<const Operand> OperandsOf(size_t index) const {
    return {operands.data() + first_operand[index], instructions[index].operands};
  }
  // "core0.veccore1", as simulator directories call it.
  [[nodiscard]] std::string Name() const;
};

struct InstructionLog {
  std::vector<CoreLog> cores;
  std::vector<std::string> strings;  // by id; 0 is empty
  std::vector<Site> sites;           // by id; 0 is unknown
  // By site: the first one of the same line, whatever called it. Empty: each is alone.
  std::vector<uint32_t> lines;
  bool complete = true;  // false: the process was stopped before it closed the log
  uint64_t dropped = 0;  // instructions beyond the recorder's limit

  [[nodiscard]] uint64_t InstructionCount() const;
  // What sites of one line have in common.
  [[nodiscard]] uint32_t LineId(uint32_t site) const { return lines.empty() ? site : lines[site]; }
  // "add.cpp:14", empty when unknown.
  [[nodiscard]] std::string PlaceOf(uint32_t site) const;
  // Innermost first, by lines.
  [[nodiscard]] std::string StackOf(uint32_t site) const;
  // Whether every instruction is here: only then does a missing signal prove anything.
  [[nodiscard]] bool Whole() const { return complete && dropped == 0; }
};

// kCorrupt with the byte where the rules are broken. A chunk cut off at the end, which is what a
// killed process leaves, only makes the log incomplete.
Result<InstructionLog> ParseInstructionLog(std::string_view bytes);
// Maps the file while it reads.
Result<InstructionLog> ReadInstructionLog(const std::string& path);

}  // namespace kerf::sim
