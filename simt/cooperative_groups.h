// Cooperative groups inside a block.
#pragma once

#include "kerf_simt/cooperative_groups.h"
