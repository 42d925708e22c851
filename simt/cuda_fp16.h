// __half, emulated: see docs/simt.md.
#pragma once

#include "kerf_simt/half.h"
