// Runs one dispatch of a kernel again: allocates its tensors, fills the argument slots of every row
// and launches replay_entry. Written by kerf; safe to edit: the tables below are the arguments.
#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" void launch_replay(void* aic_args, void* aiv_args, void* stream);

#define CHECK_ACL(call)                                                                         \
  do {                                                                                          \
    const aclError code = (call);                                                               \
    if (code != ACL_SUCCESS) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s failed with %d\n", __FILE__, __LINE__, #call, (int)code); \
      std::exit(1);                                                                             \
    }                                                                                           \
  } while (false)

namespace {

constexpr int kSlots = 50;
constexpr int kLocalContextSlot = 48;
constexpr int kGlobalContextSlot = 49;
constexpr size_t kDescriptorBytes = 128;
constexpr size_t kContextBytes = 64;

struct Tensor {
  int slot;
  uint8_t dtype;
  uint32_t ndims;
  uint32_t shape[5];
  uint32_t strides[5];    // in elements
  uint64_t start_offset;  // in elements
  uint64_t extent;        // from the first to the last element of the view, in elements
  bool contiguous;
  uint64_t bytes;       // of the buffer
  uint64_t fill;        // the bits of each element
  uint32_t fill_bytes;  // of one element
  const char* payload;  // a file with the whole buffer, or nullptr
};

struct Scalar {
  int slot;
  uint64_t bits;
};

// Blocks that run one dispatch, and the scalars that differ from the common ones.
struct Dispatch {
  int blocks;
  std::vector<Scalar> overrides;
};

// clang-format off
const std::vector<Tensor> kTensors = {
    // slot 0: FLOAT32[16, 16], input
    {0, 0, 2, {16, 16, 0, 0, 0}, {16, 1, 0, 0, 0}, 0, 256, true, 1024, 0x0, 4, nullptr},
    // slot 1: BFLOAT16[8, 32], output
    {1, 6, 2, {8, 32, 0, 0, 0}, {32, 1, 0, 0, 0}, 0, 256, true, 512, 0x0, 2, nullptr},
};

const std::vector<Scalar> kScalars = {
    // slot 4: FLOAT32
    {4, 0x3e000000},
    // slot 5: UINT64
    {5, 0xffffffffffffffff},
};

const std::vector<Dispatch> kDispatches = {
    {2, {{4, 0x40000000}}},
    {1, {}},
};
// clang-format on

std::vector<void*> g_allocations;

void* DeviceMemory(size_t bytes) {
  void* memory = nullptr;
  CHECK_ACL(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  g_allocations.push_back(memory);
  return memory;
}

void* ToDevice(const std::vector<uint8_t>& bytes) {
  void* memory = DeviceMemory(bytes.size());
  CHECK_ACL(
      aclrtMemcpy(memory, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  return memory;
}

template <typename T>
void Put(std::vector<uint8_t>& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

std::vector<uint8_t> ReadPayload(const char* name, size_t bytes) {
  const char* folder = std::getenv("REPLAY_PAYLOAD_DIR");
  const std::string path = std::string(folder != nullptr ? folder : "payload") + "/" + name;
  std::vector<uint8_t> content(bytes);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  const size_t got = file != nullptr ? std::fread(content.data(), 1, bytes, file) : 0;
  if (got != bytes) {
    std::fprintf(stderr, "%s: %zu bytes are needed, %zu could be read\n", path.c_str(), bytes, got);
    std::exit(1);
  }
  std::fclose(file);
  return content;
}

std::vector<uint8_t> Content(const Tensor& tensor) {
  if (tensor.payload != nullptr) return ReadPayload(tensor.payload, tensor.bytes);
  std::vector<uint8_t> content(tensor.bytes, 0);
  if (tensor.fill == 0) return content;
  for (size_t at = 0; at + tensor.fill_bytes <= content.size(); at += tensor.fill_bytes) {
    std::memcpy(content.data() + at, &tensor.fill, tensor.fill_bytes);
  }
  return content;
}

// The runtime's tensor descriptor: 128 bytes, little endian.
std::vector<uint8_t> Descriptor(const Tensor& tensor, uint64_t address) {
  std::vector<uint8_t> bytes(kDescriptorBytes, 0);
  Put<uint64_t>(bytes, 0, address);
  Put<uint64_t>(bytes, 8, tensor.bytes);
  Put<uint64_t>(bytes, 16, UINT64_MAX);  // no task owns it
  Put<uint64_t>(bytes, 24, tensor.start_offset);
  Put<uint32_t>(bytes, 36, tensor.ndims);
  Put<uint8_t>(bytes, 40, tensor.dtype);
  Put<uint8_t>(bytes, 42, tensor.contiguous ? 1 : 0);
  Put<uint8_t>(bytes, 43, 1);  // device memory
  Put<uint64_t>(bytes, 64, tensor.extent);
  for (size_t i = 0; i < tensor.ndims; ++i) {
    Put<uint32_t>(bytes, 44 + 4 * i, tensor.shape[i]);
    Put<uint32_t>(bytes, 72 + 4 * i, tensor.strides[i]);
  }
  return bytes;
}

// The slots that every row has.
std::vector<uint64_t> CommonSlots() {
  std::vector<uint64_t> slots(kSlots, 0);
  for (const Tensor& tensor : kTensors) {
    const auto buffer = reinterpret_cast<uint64_t>(ToDevice(Content(tensor)));
    slots[tensor.slot] = reinterpret_cast<uint64_t>(ToDevice(Descriptor(tensor, buffer)));
  }
  for (const Scalar& scalar : kScalars) slots[scalar.slot] = scalar.bits;
  return slots;
}

// Which block and which lane of a cluster a row runs on.
uint64_t LocalContext(int block, int blocks) {
  std::vector<uint8_t> bytes(kContextBytes, 0);
  Put<int32_t>(bytes, 0, block);
  Put<int32_t>(bytes, 4, blocks);
  return reinterpret_cast<uint64_t>(ToDevice(bytes));
}

uint64_t GlobalContext(int lane) {
  std::vector<uint8_t> bytes(kContextBytes, 0);
  Put<int32_t>(bytes, 0, lane);
  return reinterpret_cast<uint64_t>(ToDevice(bytes));
}

// One row of slots for every lane of every block, in device memory.
void* Rows(const std::vector<uint64_t>& common, int lanes) {
  std::vector<uint64_t> rows;
  for (const Dispatch& dispatch : kDispatches) {
    for (int row = 0; row < dispatch.blocks * lanes; ++row) {
      std::vector<uint64_t> slots = common;
      for (const Scalar& scalar : dispatch.overrides) slots[scalar.slot] = scalar.bits;
      slots[kLocalContextSlot] = LocalContext(row / lanes, dispatch.blocks);
      slots[kGlobalContextSlot] = GlobalContext(row % lanes);
      rows.insert(rows.end(), slots.begin(), slots.end());
    }
  }
  std::vector<uint8_t> bytes(rows.size() * sizeof(uint64_t));
  std::memcpy(bytes.data(), rows.data(), bytes.size());
  return ToDevice(bytes);
}

int DeviceId() {
  const char* text = std::getenv("ACL_DEVICE_ID");
  return text != nullptr ? std::atoi(text) : 0;
}

}  // namespace

int main() {
  const int device = DeviceId();
  CHECK_ACL(aclInit(nullptr));
  CHECK_ACL(aclrtSetDevice(device));
  aclrtStream stream = nullptr;
  CHECK_ACL(aclrtCreateStream(&stream));

  const std::vector<uint64_t> common = CommonSlots();
  launch_replay(Rows(common, 1), Rows(common, 2), stream);
  CHECK_ACL(aclrtSynchronizeStream(stream));

  while (!g_allocations.empty()) {
    CHECK_ACL(aclrtFree(g_allocations.back()));
    g_allocations.pop_back();
  }
  CHECK_ACL(aclrtDestroyStream(stream));
  CHECK_ACL(aclrtResetDevice(device));
  CHECK_ACL(aclFinalize());
  std::printf("replay_entry ran on device %d\n", device);
  return 0;
}
