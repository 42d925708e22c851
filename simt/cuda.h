// The CUDA driver's header; what candidates use of it is in the runtime's.
#pragma once

#include "kerf_simt/cuda.h"
