// ParseInstructionLog on any bytes: no crash, and every index of what it lets through is in range.
#include <cstdint>
#include <string_view>

#include "expect.h"
#include "sim/log/instruction_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kerf::Expect;
  const auto log = kerf::sim::ParseInstructionLog({reinterpret_cast<const char*>(data), size});
  if (!log.ok()) return 0;
  for (const kerf::sim::CoreLog& core : log->cores) {
    Expect(core.first_operand.size() == core.instructions.size(), "an offset per instruction");
    for (size_t i = 0; i < core.instructions.size(); ++i) {
      const kerf::sim::Instruction& record = core.instructions[i];
      Expect(record.pipe < kerf::sim::kPipeCount, "a pipe");
      Expect(core.first_operand[i] + record.operands <= core.operands.size(), "operands are there");
      Expect(kerf_log::OpName(record.op) != nullptr, "an instruction has a name");
      (void)log->StackOf(record.site);
      for (const kerf::sim::Operand& operand : core.OperandsOf(i)) {
        (void)kerf::sim::MemoryName(operand.memory);
        (void)kerf::sim::DtypeName(operand.dtype);
        (void)kerf::sim::LayoutName(operand.layout);
      }
    }
  }
  return 0;
}
