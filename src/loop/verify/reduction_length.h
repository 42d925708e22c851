// How many terms are summed into one element of an output, guessed from shapes alone.
#pragma once

#include <vector>

#include "artifact/tensor.h"

namespace kerf::verify {

// K for a product MxK by KxN (batched or not) and for a convolution (channels times window), the
// length of the axes that a reduction of one input takes away, 1 for element-wise work with or
// without broadcasting. At least 1.
//
// Shapes do not tell everything. What reduces along an axis that the output still has (softmax,
// norms, scans, attention) gives 1; the budget allows for that by itself. Two square inputs of the
// output's shape may be a product or a sum, and count as a product: taking a sum for a product
// costs little, because the reference's own errors still bound the budget, while the reverse
// would reject honest kernels. A gather from a long table looks like a reduction of it.
double EstimateReductionLength(const std::vector<TensorSpec>& inputs, const TensorSpec& output);

}  // namespace kerf::verify
