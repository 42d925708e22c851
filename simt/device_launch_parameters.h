// threadIdx and its kin.
#pragma once

#include "kerf_simt/cuda.h"
