// The HIP runtime, emulated: see docs/simt.md.
#pragma once

#include "kerf_simt/hip.h"
