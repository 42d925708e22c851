// The table that cmake/embed.cmake generates. Sorted by path.
#pragma once

#include <span>

#include "resource/resource.h"

namespace kerf::resource {

std::span<const File> EmbeddedFiles();

}  // namespace kerf::resource
