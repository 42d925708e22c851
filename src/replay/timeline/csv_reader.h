// core*_instr_exe_*.csv and core*_code_exe_*.csv. Not quite RFC 4180: `detail` is quoted and its
// inner quotes are not escaped, so a row ends with the line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kerf::timeline {

struct InstrRow {
  std::string instr;
  uint64_t addr = 0;
  std::string pipe;
  uint64_t call_count = 0;
  uint64_t cycles = 0;
  double running_us = 0;
  std::string detail;
};

struct CodeRow {
  std::string code;
  uint64_t call_count = 0;
  uint64_t cycles = 0;
  double running_us = 0;
};

// kCorrupt with the line.
Result<std::vector<InstrRow>> ParseInstrCsv(const std::string& file, std::string_view text);
Result<std::vector<CodeRow>> ParseCodeCsv(const std::string& file, std::string_view text);

// core0.veccore0_instr_exe_20260101000000000.csv; the stamp may be absent.
bool IsInstrCsv(const std::string& name);
bool IsCodeCsv(const std::string& name);
// "core0", "core0.veccore0", "core12.cubecore0", "core3.mixcore0".
bool IsCoreName(const std::string& name);

}  // namespace kerf::timeline
