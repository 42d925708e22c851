// A stub of the device runtime: says what it was asked for, and checks that nothing is left behind.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

using aclError = int;
using aclrtStream = void *;
constexpr aclError ACL_SUCCESS = 0;
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST };
enum aclrtMemcpyKind { ACL_MEMCPY_HOST_TO_DEVICE = 1 };

namespace stub {

inline std::set<void *> &Live() {
  static std::set<void *> live;
  return live;
}

// STUB_ACL_FAIL names the call that fails.
inline aclError Called(const char *name) {
  std::fprintf(stderr, "acl: %s\n", name);
  const char *fail = std::getenv("STUB_ACL_FAIL");
  return fail != nullptr && std::strcmp(fail, name) == 0 ? 507000 : ACL_SUCCESS;
}

}  // namespace stub

inline aclError aclInit(const char *) { return stub::Called("aclInit"); }
inline aclError aclFinalize() {
  std::fprintf(stderr, "acl: %zu buffers left\n", stub::Live().size());
  return stub::Called("aclFinalize");
}
inline aclError aclrtSetDevice(int device) {
  std::fprintf(stderr, "acl: device %d\n", device);
  return stub::Called("aclrtSetDevice");
}
inline aclError aclrtResetDevice(int) { return stub::Called("aclrtResetDevice"); }
inline aclError aclrtCreateStream(aclrtStream *stream) {
  *stream = stream;
  return stub::Called("aclrtCreateStream");
}
inline aclError aclrtDestroyStream(aclrtStream) { return stub::Called("aclrtDestroyStream"); }
inline aclError aclrtSynchronizeStream(aclrtStream) { return stub::Called("aclrtSynchronizeStream"); }
inline aclError aclrtMalloc(void **memory, size_t bytes, aclrtMemMallocPolicy) {
  *memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  stub::Live().insert(*memory);
  return stub::Called("aclrtMalloc");
}
inline aclError aclrtFree(void *memory) {
  if (stub::Live().erase(memory) != 1) return 1;
  std::free(memory);
  return stub::Called("aclrtFree");
}
inline aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t bytes, aclrtMemcpyKind) {
  if (bytes > room) return 1;
  std::memcpy(to, from, bytes);
  return stub::Called("aclrtMemcpy");
}
