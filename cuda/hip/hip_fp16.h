// HIP on an NVIDIA GPU.
#pragma once

#include <cuda_fp16.h>
