// CUDART_INF_F and its kin.
#pragma once

#include "kerf_simt/constants.h"
