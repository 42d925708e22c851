// ParseDump and what is made of it, on any bytes, in all three formats: no crash; arguments keep
// the rules and payloads lie in their file.
#include <cstdint>
#include <string>

#include "expect.h"
#include "replay/dump/dump_args.h"
#include "replay/dump/dump_check.h"
#include "replay/dump/dump_reader.h"
#include "replay/dump/dump_select.h"

namespace {

constexpr uint64_t kBinBytes = 256;

void CheckArgs(const kerf::KernelArgs& args) {
  using kerf::Expect;
  for (const kerf::KernelArg& arg : args.args) {
    Expect(arg.slot >= 0 && arg.slot < kerf::kLocalContextSlot,
           "slots are in range and not the runtime's");
    const kerf::TensorArg* tensor = arg.tensor();
    if (tensor == nullptr) continue;
    Expect(!kerf::WrongTensor(*tensor), "tensors are sound");
    if (!tensor->data) continue;
    Expect(tensor->data->size == tensor->view_bytes(), "a payload is as long as its view");
    Expect(tensor->data->offset + tensor->data->size <= kBinBytes, "a payload lies in its file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto format :
       {kerf::DumpFormat::kKernelArgs, kerf::DumpFormat::kArgs, kerf::DumpFormat::kTensor}) {
    auto dump = kerf::dump::ParseDump(format, "f", text);
    if (!dump.ok()) continue;
    dump->bin_bytes = kBinBytes;
    kerf::dump::CheckDump(*dump);
    const auto selected = kerf::dump::SelectDispatch(*dump, {.func_ids = {1}});
    kerf::Expect(selected.ok() || !selected.error().message.empty(), "an error says why");
    for (const kerf::Dispatch& dispatch : dump->dispatches) {
      const auto args = kerf::dump::ArgsFromDump(*dump, dispatch, {});
      if (args.ok()) CheckArgs(*args);
    }
  }
  return 0;
}
