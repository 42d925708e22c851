// Through a padded tile, 32 x 8 threads for 32 x 32 elements.
#include <cuda_runtime.h>
#include <kerf/kernel.h>

#define TILE 32
#define ROWS 8
#define LAUNCH_TRANSPOSE(T, in, out, rows, cols)                                                  \
  do {                                                                                            \
    dim3 grid(((cols) + TILE - 1) / TILE, ((rows) + TILE - 1) / TILE);                            \
    transpose<T><<<grid, dim3(TILE, ROWS)>>>(in, out, rows, cols);                                \
  } while (0)

template <class T>
__global__ void transpose(const T* in, T* out, int rows, int cols) {
  __shared__ T tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

KERF_KERNEL(call) {
  const DLTensor& x = call->inputs[0];
  LAUNCH_TRANSPOSE(float, kerf_data<float>(x), kerf_data<float>(call->outputs[0]), (int)x.shape[0], (int)x.shape[1]);
  return cudaGetLastError();
}
