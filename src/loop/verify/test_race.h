// Times a test with the candidate against the same test with the original source, in turns. Only
// where both run natively on the same device: an interpreter or an emulator says nothing about
// speed.
//
// What is timed is a whole run of the test on the judge's clock, its own work (drawing inputs)
// included: the only clock a candidate cannot touch, and a speedup that is too small rather than
// too large. Every round has a seed of its own and its results are compared.
#pragma once

#include <chrono>
#include <string>

#include "artifact/candidate.h"
#include "artifact/verdict.h"
#include "base/result.h"
#include "loop/verify/execute.h"

namespace kerf::verify {

// Why it would mean nothing; empty when it means something.
std::string WhyNotTimed(const std::string& backend, const Candidate& candidate,
                        const std::string& label);

struct TestSides {
  StartCandidate candidate;
  StartCandidate label;
};

// Adds the timing to the verdict, and the blame when it is not to be believed.
Status RaceTests(const TestSides& sides, std::chrono::milliseconds timeout, int threads,
                 Verdict& verdict);

}  // namespace kerf::verify
