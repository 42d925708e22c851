// cudaMalloc: every allocation ends at a guard page and starts poisoned, so that reading what was
// never written and running over the end both show.
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "kerf_simt/error.h"
#include "runtime/worker.h"

namespace kerf_simt {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kAlignment =
    16;  // enough for the widest vector load; more would leave a gap before the guard

struct Allocation {
  Allocation* next;
  unsigned char* mapping;
  size_t mapped;
  unsigned char* data;
};
Allocation* allocations = nullptr;
int allocation_number = 0;
pthread_mutex_t mutex_of_allocations = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

int Allocate(void** p, size_t bytes) {
  if (p == nullptr) return SetError(cudaErrorInvalidValue);
  *p = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > (size_t{1} << 40)) return SetError(cudaErrorMemoryAllocation);
  const size_t rounded = (bytes + kAlignment - 1) & ~(kAlignment - 1);
  const size_t body = (rounded + kPage - 1) & ~(kPage - 1);
  void* raw =
      mmap(nullptr, body + 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return SetError(cudaErrorMemoryAllocation);
  auto* mapping = static_cast<unsigned char*>(raw);
  mprotect(mapping + kPage + body, kPage, PROT_NONE);
  auto* data = mapping + kPage + body - rounded;
  auto* word = reinterpret_cast<uint32_t*>(data);
  for (size_t i = 0; i < rounded / 4; ++i) word[i] = kPoison;
  mprotect(mapping, kPage, PROT_NONE);
  auto* a = new Allocation;
  pthread_mutex_lock(&mutex_of_allocations);
  int number = ++allocation_number;
  *a = Allocation{allocations, mapping, body + 2 * kPage, data};
  allocations = a;
  pthread_mutex_unlock(&mutex_of_allocations);
  AddBuffer((Text() << "cudaMalloc #" << number).text(), data, bytes);
  *p = data;
  return cudaSuccess;
}

int Release(void* p) {
  if (p == nullptr) return cudaSuccess;
  pthread_mutex_lock(&mutex_of_allocations);
  Allocation** at = &allocations;
  while (*at != nullptr && (*at)->data != p) at = &(*at)->next;
  Allocation* found = *at;
  if (found != nullptr) *at = found->next;
  pthread_mutex_unlock(&mutex_of_allocations);
  if (found == nullptr) return SetError(cudaErrorInvalidValue);
  RemoveBuffer(p);
  munmap(found->mapping, found->mapped);
  delete found;
  return cudaSuccess;
}

int64_t ClockNanoseconds() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

#define KERF_SIMT_ERRORS(X)                                                   \
  X(cudaSuccess, "no error")                                                  \
  X(cudaErrorInvalidValue, "invalid argument")                                \
  X(cudaErrorMemoryAllocation, "out of memory")                               \
  X(cudaErrorInvalidConfiguration, "invalid configuration argument")          \
  X(cudaErrorInvalidSymbol, "invalid device symbol")                          \
  X(cudaErrorInvalidDevice, "invalid device ordinal")                         \
  X(cudaErrorIllegalAddress, "an illegal memory access was encountered")      \
  X(cudaErrorLaunchOutOfResources, "too many resources requested for launch") \
  X(cudaErrorAssert, "device-side assert triggered")                          \
  X(cudaErrorLaunchFailure, "unspecified launch failure")                     \
  X(cudaErrorNotSupported, "operation not supported")

const char* ErrorName(int error) {
#define X(name, text) \
  if (error == name) return #name;
  KERF_SIMT_ERRORS(X)
#undef X
  return "cudaErrorUnknown";
}

const char* ErrorText(int error) {
#define X(name, text) \
  if (error == name) return text;
  KERF_SIMT_ERRORS(X)
#undef X
  return "unknown error";
}

}  // namespace kerf_simt
