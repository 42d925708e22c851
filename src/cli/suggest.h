// base/suggest.h under the names the verbs use.
#pragma once

#include "base/suggest.h"

namespace kerf::cli {

using kerf::DidYouMean;
using kerf::EditDistance;
using kerf::Nearest;

}  // namespace kerf::cli
