// __hip_bfloat16, emulated: see docs/simt.md.
#pragma once

#include "kerf_simt/bfloat16.h"
