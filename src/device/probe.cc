#include "device/probe.h"

namespace kerf::device {

Result<ProbeResult> Probe(Backend backend, const ProbeOptions& options) {
  switch (backend) {
    case Backend::kCpu:
      return ProbeCpu(options);
    case Backend::kCuda:
      return ProbeCuda(options);
    case Backend::kRocm:
      return ProbeRocm(options);
    case Backend::kAscend:
      return ProbeAscend(options);
  }
  return ProbeCpu(options);
}

}  // namespace kerf::device
