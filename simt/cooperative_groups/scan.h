// Scans over a group.
#pragma once

#include "kerf_simt/cooperative_groups.h"
