// What judge and runner say to each other.
//
// The runner is the process that holds the candidate; from the moment it has loaded it, nothing it
// says is evidence. The judge sends a Command with two descriptors: the input file (a table of the
// call's tensors, then their bytes; sealed, so that nobody can change it any more) and the output
// file (which the judge filled with garbage). The runner answers with a Reply that repeats the
// nonce. Values are read from the output file by the judge, and nowhere else.
//
// Both ends are the same machine and the same build: plain structs, no byte order. The Python
// runners (python/kerf/) read them with `struct`; the sizes are asserted below for that reason.
#pragma once

#include <array>
#include <cstdint>

namespace kerf::verify {

constexpr int kMaxDims = 16;
constexpr uint64_t kPage = 4096;

enum class Place : int32_t {
  kNowhere,
  kInputFile,
  kOutputFile,
  kHostValue,  // in the input file too; stays in host memory where tensors go to a device
};

struct WireTensor {
  Place place = Place::kNowhere;
  uint8_t code = 0;  // DLPack's type code
  uint8_t bits = 0;
  uint16_t lanes = 1;
  int32_t ndim = 0;
  int32_t dtype = 0;            // DType
  uint64_t segment_offset = 0;  // in its file; whole pages, mapped with guards on both sides
  uint64_t segment_bytes = 0;
  uint64_t data_offset = 0;  // in the segment
  uint64_t bytes = 0;
  std::array<int64_t, kMaxDims> shape{};
};
static_assert(sizeof(WireTensor) == 176);

// At the start of the input file; then the WireTensors (inputs, parameters, init, outputs), then
// the names of the parameters, each ended by a NUL.
struct WireTable {
  std::array<char, 8> magic{'k', 'e', 'r', 'f', 'c', 'a', 'l', 'l'};
  int32_t n_inputs = 0;
  int32_t n_params = 0;
  int32_t n_init = 0;
  int32_t n_outputs = 0;
  int32_t threads = 1;
  int32_t reserved = 0;
  uint64_t names_offset = 0;
  uint64_t names_bytes = 0;
};
static_assert(sizeof(WireTable) == 48);

using Nonce = std::array<uint8_t, 16>;

struct Command {
  enum class Kind : int32_t {
    kLoad,
    kCall,  // map the tensors, call, unmap
    kQuit,
    kMap,  // the first third of it: for timing, where only the second counts
    kGo,
    kPing,    // nothing: what a round trip costs
    kFetch,   // the last third: outputs into their file
    kResult,  // what a test computed into a file; Python runners only
  };
  Kind kind = Kind::kQuit;
  int32_t reserved = 0;
  uint64_t call = 0;
  Nonce nonce{};
};
static_assert(sizeof(Command) == 32);

struct Reply {
  enum class Kind : int32_t {
    kLoaded,
    kLoadFailed,  // text: why
    kDone,     // code: what the candidate returned; text: specs of the outputs, from Python runners
    kRaised,   // text: the exception
    kFault,    // text: what was touched; the runner dies after it
    kBadCall,  // the runner could not do what it was told
    kHello,    // first of all, before any code of the candidate ran
    kReady,    // to kMap, kPing, kFetch and kResult
  };
  Kind kind = Kind::kBadCall;
  int32_t code = 0;
  uint64_t call = 0;
  Nonce nonce{};
  uint64_t region_ns = 0;  // as the runner measured it
  std::array<char, 4048> text{};
};
static_assert(sizeof(Reply) == 4088);

}  // namespace kerf::verify
