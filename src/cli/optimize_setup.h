// What `kerf optimize` was asked: the cases with what they are judged by, and the settings of the
// run.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/config.h"
#include "cli/run_request.h"
#include "cli/verb.h"
#include "loop/optimize/data_case.h"
#include "loop/optimize/run_files.h"

namespace kerf::cli {

// The data set that DATA and --mem name; a mem file beside it is taken without being named.
Result<optimize::DataSet> OptimizeData(const Args& args, Context& context);

// From the flags; of a run that is resumed, `before` are its own. kInvalidInput when a flag says
// otherwise.
Result<optimize::Settings> OptimizeSettings(const Args& args, const Config& config,
                                            const optimize::DataSet& data,
                                            const optimize::Settings* before);

// Fills in how each case is judged, or why it cannot be.
void FillInSpecs(const optimize::Settings& settings, optimize::DataSet& data);

// Of all lines, the most demanding first: for the judge and the ledger.
std::vector<TaskSpec> LineSpecs(const optimize::Settings& settings, const optimize::DataSet& data);

}  // namespace kerf::cli
