/* The one function a candidate of impl `cpp`, `cuda_c` or `hip` defines.
 *
 *   #include <kerf/kernel.h>
 *
 *   KERF_KERNEL(call) {                             // y = max(x, 0)
 *     const DLTensor& x = call->inputs[0];
 *     DLTensor& y = call->outputs[0];
 *     const float* in = kerf_data<float>(x);
 *     float* out = kerf_data<float>(y);
 *     for (int64_t i = 0; i < kerf_numel(x); ++i) out[i] = in[i] > 0 ? in[i] : 0;
 *     return 0;                                     // anything else: the call failed
 *   }
 *
 * Tensors follow DLPack's ABI (v0.8); all of a call are contiguous, strides are given. Inputs are
 * read-only and never alias outputs. Outputs are allocated by kerf with the reference's shapes and
 * dtypes, and filled with garbage: the function writes every element. With `cuda_c` and `hip` the
 * data of inputs, parameters and outputs is device memory, the function launches on `stream`, and
 * kerf waits for the device afterwards. The function may be called many times, with other values
 * and addresses each time.
 *
 * The order of arguments: `inputs` is what get_inputs() returned; `params` is the model's state
 * (parameters and buffers, in state_dict order; see `param_names`); `init` is what
 * get_init_inputs() returned. A Python number is a tensor without dimensions, in host memory, of
 * int64, float64 or bool; a list or tuple of numbers is one with one dimension; a list that holds
 * tensors counts as its items, in order; None, strings and anything else have a null data pointer.
 */
#ifndef KERF_KERNEL_H_
#define KERF_KERNEL_H_

#include <stdint.h>

#define KERF_ABI_VERSION 1

#ifndef DLPACK_DLPACK_H_
typedef enum {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLROCM = 10,
  kDLROCMHost = 11
} DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U,
  kDLFloat8_e4m3fn = 10U,
  kDLFloat8_e5m2 = 12U
} DLDataTypeCode;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements */
  uint64_t byte_offset;
} DLTensor;
#endif

typedef struct kerf_call {
  uint32_t abi_version; /* KERF_ABI_VERSION */
  int32_t n_inputs;
  int32_t n_params;
  int32_t n_init;
  int32_t n_outputs;
  const DLTensor* inputs;
  const DLTensor* params;
  const DLTensor* init;
  DLTensor* outputs;
  const char* const* param_names; /* "fc.weight", …; n_params of them */
  void* stream;                   /* CUstream or hipStream_t; null on the CPU */
  int32_t threads;                /* how many the kernel may use on the CPU */
} kerf_call;

#ifdef __cplusplus
#define KERF_KERNEL(call) \
  extern "C" __attribute__((visibility("default"))) int kerf_kernel(const kerf_call* call)

template <typename T>
inline T* kerf_data(const DLTensor& t) {
  return reinterpret_cast<T*>(static_cast<char*>(t.data) + t.byte_offset);
}
inline int64_t kerf_numel(const DLTensor& t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t.ndim; ++i) n *= t.shape[i];
  return n;
}
#else
#define KERF_KERNEL(call) \
  __attribute__((visibility("default"))) int kerf_kernel(const kerf_call* call)
#endif

KERF_KERNEL(call);

#endif
