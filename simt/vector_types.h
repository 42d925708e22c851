// float4 and its kin.
#pragma once

#include "kerf_simt/types.h"
