// __shared__ variables: their declarations become references into the block's shared memory
// (simt/kerf_simt/shared.h shows the result), and their uses are marked as reads or writes where
// the tokens tell.
#pragma once

#include <vector>

#include "loop/verify/cuda_lexer.h"
#include "loop/verify/edit_list.h"
#include "loop/verify/launch_rewrite.h"

namespace kerf::verify {

void RewriteShared(const std::vector<Token>& tokens, bool check,
                   std::vector<UnsupportedUse>& unsupported, EditList& edits);

}  // namespace kerf::verify
