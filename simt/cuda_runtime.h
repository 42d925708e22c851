// The CUDA runtime, emulated: see docs/simt.md.
#pragma once

#include "kerf_simt/cuda.h"
