/* A stand-in for libnvidia-ml.so.1. KERF_FAKE_NVML says what it plays:
 *   "h200,a100"    one GPU for each name
 *   "none"         a driver without a GPU
 *   "no-driver"    nvmlInit fails
 *   "no-count"     counting fails
 *   "lost"         two GPUs, of which the second has fallen off the bus
 *   "overlong"     a name that fills its buffer without an end
 *   "absurd"       four billion GPUs
 */
#include <stdlib.h>
#include <string.h>

typedef struct {
  unsigned long long total, free, used;
} Memory;

static const char* Play(void) {
  const char* play = getenv("KERF_FAKE_NVML");
  return play == NULL ? "none" : play;
}

static int Is(const char* name) { return strcmp(Play(), name) == 0; }

int nvmlInit_v2(void) { return Is("no-driver") ? 9 : 0; }
int nvmlShutdown(void) { return 0; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  if (Is("no-count")) return 999;
  *count = 1;
  if (Is("none")) *count = 0;
  if (Is("lost") || strchr(Play(), ',') != NULL) *count = 2;
  if (Is("absurd")) *count = 4000000000U;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  if (Is("lost") && index == 1) return 15;
  *handle = (char*)0 + index + 1;
  return 0;
}

static int IsA100(void* handle) { return handle == (char*)0 + 2; }

int nvmlDeviceGetName(void* handle, char* name, unsigned size) {
  if (Is("overlong")) {
    memset(name, 'x', size);
    return 0;
  }
  strncpy(name, IsA100(handle) ? "NVIDIA A100-SXM4-80GB" : "NVIDIA H200", size);
  return 0;
}

int nvmlDeviceGetUUID(void* handle, char* uuid, unsigned size) {
  if (Is("overlong")) return 3;
  strncpy(uuid, IsA100(handle) ? "GPU-bbbb-2" : "GPU-aaaa-1", size);
  return 0;
}

int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory) {
  if (Is("overlong")) return 3;
  memory->total = (IsA100(handle) ? 80ULL : 140ULL) << 30;
  return 0;
}

int nvmlDeviceGetCudaComputeCapability(void* handle, int* major, int* minor) {
  if (Is("overlong")) return 3;
  *major = IsA100(handle) ? 8 : 9;
  *minor = 0;
  return 0;
}

const char* nvmlErrorString(int code) {
  if (code == 9) return "Driver Not Loaded";
  if (code == 15) return "GPU is lost";
  return NULL;
}
