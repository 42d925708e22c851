#pragma once
#include "kerf_simt/cuda.h"
