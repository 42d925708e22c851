// For torch extensions: torch's own headers first, before any of HIP's words is a macro.
#pragma once

#define KERF_SIMT_TORCH 1

#include <torch/extension.h>

#include "kerf_simt/hip.h"
#include "kerf_simt/torch_shim.h"
