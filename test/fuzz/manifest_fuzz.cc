// ParseManifest on any bytes: no crash, and what it accepts holds what it promises.
#include <cstdint>
#include <string>

#include "artifact/reference.h"
#include "expect.h"

namespace {

using kerf::Expect;

void CheckTensor(const kerf::StoredTensor& tensor) {
  Expect(kerf::IsSound(tensor.spec), "shapes are sound");
  Expect(tensor.offset % kerf::kTensorAlignment == 0, "tensors are aligned");
  Expect(tensor.offset + tensor.spec.bytes() >= tensor.offset, "the end of a tensor fits");
}

void CheckName(const std::string& name) {
  Expect(!name.empty() && name.find('/') == std::string::npos && name != "..",
         "a file name stays in its folder");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto reference =
      kerf::ParseManifest(std::string(reinterpret_cast<const char*>(data), size));
  if (!reference.ok()) {
    Expect(!reference.error().message.empty(), "an error says why");
    return 0;
  }
  for (const kerf::ReferenceCase& one : reference->cases) {
    CheckName(one.input_file);
    CheckName(one.output_file);
    for (const kerf::Argument& argument : one.inputs) {
      if (argument.kind == kerf::Argument::Kind::kTensor) CheckTensor(argument.tensor);
      if (argument.kind == kerf::Argument::Kind::kInt) {
        Expect(argument.ints.size() == 1, "an int has its value");
      }
    }
    for (const kerf::StoredTensor& output : one.outputs) CheckTensor(output);
    Expect(one.oracle.size() == one.outputs.size(), "each output has its oracle");
  }
  return 0;
}
