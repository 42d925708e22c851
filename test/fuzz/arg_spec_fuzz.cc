// ParseArgSpec on any bytes: no crash; what it accepts keeps the rules and survives writing and
// reading.
#include <cstdint>
#include <string>

#include "expect.h"
#include "replay/args/arg_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kerf::Expect;
  const auto args =
      kerf::args::ParseArgSpec("f", "/d", {reinterpret_cast<const char*>(data), size});
  if (!args.ok()) {
    Expect(!args.error().message.empty(), "an error says why");
    return 0;
  }
  int last = -1;
  for (const kerf::KernelArg& arg : args->args) {
    Expect(arg.slot > last && arg.slot < kerf::kLocalContextSlot,
           "slots are sorted, unique and free");
    last = arg.slot;
    if (const kerf::TensorArg* tensor = arg.tensor())
      Expect(!kerf::WrongTensor(*tensor), "tensors are sound");
  }
  const auto again = kerf::args::ParseArgSpec("f", "/d", kerf::args::WriteArgSpec(*args));
  Expect(again.ok() && again->args.size() == args->args.size(), "what was written is read");
  for (size_t i = 0; i < args->args.size(); ++i) {
    Expect(again->args[i].value == args->args[i].value, "the same arguments come back");
  }
  return 0;
}
