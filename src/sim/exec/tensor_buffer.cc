#include "sim/exec/tensor_buffer.h"

#include <cstring>

namespace kerf::sim {
namespace {

// Calls each(offset in the buffer, number of the element), in bytes and elements.
template <typename F>
void ForElements(const TensorArg& tensor, F&& each) {
  const size_t size = ArgTypeBytes(tensor.type);
  const size_t rank = tensor.shape.size();
  std::vector<int64_t> at(rank, 0);
  int64_t offset = tensor.start_offset;
  const int64_t count = tensor.numel();
  for (int64_t number = 0; number < count; ++number) {
    each(static_cast<size_t>(offset) * size, static_cast<size_t>(number));
    for (size_t dim = rank; dim-- > 0;) {
      offset += tensor.strides[dim];
      if (++at[dim] < tensor.shape[dim]) break;
      offset -= tensor.strides[dim] * tensor.shape[dim];
      at[dim] = 0;
    }
  }
}

template <typename T>
void Put(std::string& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

}  // namespace

Result<std::string> MakeBuffer(FileSystem& fs, const KernelArg& arg) {
  const TensorArg& tensor = *arg.tensor();
  const size_t size = ArgTypeBytes(tensor.type);
  std::string buffer(tensor.buffer_bytes(), '\0');
  if (!tensor.data) {
    if (tensor.fill_bits == 0) return buffer;
    for (size_t at = 0; at + size <= buffer.size(); at += size)
      std::memcpy(buffer.data() + at, &tensor.fill_bits, size);
    return buffer;
  }
  KERF_ASSIGN_OR_RETURN(const std::string file, fs.ReadFile(tensor.data->file));
  const uint64_t bytes = tensor.view_bytes();
  if (tensor.data->offset > file.size() || bytes > file.size() - tensor.data->offset ||
      bytes > tensor.data->size) {
    return Corrupt(tensor.data->file + " holds too few bytes for " + arg.name + " (" +
                   std::to_string(bytes) + " from " + std::to_string(tensor.data->offset) + " on)");
  }
  const char* payload = file.data() + tensor.data->offset;
  if (tensor.contiguous() && tensor.start_offset == 0) {
    std::memcpy(buffer.data(), payload, bytes);
    return buffer;
  }
  ForElements(tensor, [&](size_t offset, size_t number) {
    std::memcpy(buffer.data() + offset, payload + number * size, size);
  });
  return buffer;
}

std::string ViewBytes(const TensorArg& tensor, const std::string& buffer) {
  const size_t size = ArgTypeBytes(tensor.type);
  if (tensor.contiguous() && tensor.start_offset == 0) return buffer.substr(0, tensor.view_bytes());
  std::string view(tensor.view_bytes(), '\0');
  ForElements(tensor, [&](size_t offset, size_t number) {
    std::memcpy(view.data() + number * size, buffer.data() + offset, size);
  });
  return view;
}

std::string MakeDescriptor(const TensorArg& tensor) {
  std::string bytes(128, '\0');
  Put<uint64_t>(bytes, 8, tensor.buffer_bytes());
  Put<uint64_t>(bytes, 16, UINT64_MAX);
  Put<uint64_t>(bytes, 24, static_cast<uint64_t>(tensor.start_offset));
  Put<uint32_t>(bytes, 36, static_cast<uint32_t>(tensor.shape.size()));
  Put<uint8_t>(bytes, 40, static_cast<uint8_t>(tensor.type));
  Put<uint8_t>(bytes, 42, tensor.contiguous() ? 1 : 0);
  Put<uint8_t>(bytes, 43, 1);
  uint64_t extent = 1;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    Put<uint32_t>(bytes, 44 + 4 * i, static_cast<uint32_t>(tensor.shape[i]));
    Put<uint32_t>(bytes, 72 + 4 * i, static_cast<uint32_t>(tensor.strides[i]));
    extent += static_cast<uint64_t>((tensor.shape[i] - 1) * tensor.strides[i]);
  }
  Put<uint64_t>(bytes, 64, extent);
  return bytes;
}

}  // namespace kerf::sim
