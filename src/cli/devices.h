// The report behind `kerf devices`, apart from the verb so that tests can give it a machine.
#pragma once

#include "cli/verb.h"
#include "device/probe.h"

namespace kerf::cli {

// kUnavailable with the reason when the backend that was asked for has no device.
Result<int> ReportDevices(const Args& args, Context& context, const device::ProbeOptions& options);

}  // namespace kerf::cli
