// In place of torch's header of this name, which needs a real toolkit.
#pragma once

#include "kerf_simt/torch_shim.h"
