// Whatever addr2line says of a kernel nobody trusts: every instruction keeps its line, and stacks
// end.
#include <cstdint>
#include <string_view>

#include "expect.h"
#include "sim/exec/call_stacks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kerf::sim;
  const CodeFrames frames = ParseFrames({reinterpret_cast<const char*>(data), size});
  InstructionLog log;
  log.strings = {"", "/k/add.cpp"};
  log.sites.resize(1);
  log.cores.resize(1);
  uint32_t caller = 0;
  for (const auto& [address, list] : frames) {
    if (address == 0 || log.sites.size() > 200) break;
    Site known;
    known.pc = address;
    known.caller = caller;
    caller = static_cast<uint32_t>(log.sites.size());
    log.sites.push_back(known);
    Site line;
    line.file = 1;
    line.line = 12;
    line.caller = caller;
    Instruction record;
    record.site = static_cast<uint32_t>(log.sites.size());
    log.sites.push_back(line);
    log.cores[0].instructions.push_back(record);
  }
  NameCallers(log, frames);
  for (const Instruction& record : log.cores[0].instructions)
    kerf::Expect(log.PlaceOf(record.site) == "/k/add.cpp:12", "an instruction keeps its line");
  for (uint32_t id = 1; id < log.sites.size(); ++id) {
    kerf::Expect(log.sites[id].caller < id, "callers come first");
    kerf::Expect(log.sites[id].pc == 0, "addresses are gone");
  }
  return 0;
}
