// The instructions of a tile kernel, as kerf simulates them.
#pragma once

#include "kerf_pto/comm.h"
#include "kerf_pto/fifo.h"
#include "kerf_pto/fused.h"
#include "kerf_pto/missing.h"
#include "kerf_pto/move.h"
#include "kerf_pto/print.h"
#include "kerf_pto/quant.h"
#include "kerf_pto/vector.h"
