// cooperative_groups::reduce.
#pragma once

#include "kerf_simt/cooperative_groups.h"
