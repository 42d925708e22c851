#include "loop/verify/call_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "kerf/kernel.h"

namespace kerf::verify {
namespace {

constexpr uint64_t kAlignment = 64;  // what vectorised code may count on
// Slack on the far side of a tensor, so that even one whose size fills its pages has a canary.
constexpr uint64_t kLeastSlack = 64;

uint64_t RoundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

struct TypeCode {
  uint8_t code;
  uint8_t bits;
};

TypeCode CodeOf(DType dtype) {
  const auto bits = static_cast<uint8_t>(DTypeBytes(dtype) * 8);
  switch (dtype) {
    case DType::kBool:
      return {kDLBool, bits};
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
      return {kDLInt, bits};
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
      return {kDLUInt, bits};
    case DType::kFloat8E4M3:
      return {kDLFloat8_e4m3fn, bits};
    case DType::kFloat8E5M2:
      return {kDLFloat8_e5m2, bits};
    case DType::kBFloat16:
      return {kDLBfloat, bits};
    case DType::kFloat16:
    case DType::kFloat32:
    case DType::kFloat64:
      return {kDLFloat, bits};
    case DType::kComplex64:
    case DType::kComplex128:
      return {kDLComplex, bits};
  }
  return {kDLOpaqueHandle, bits};
}

// Lays tensors out in a file, one after the other.
class Layout {
 public:
  Layout(uint64_t begin, Placement placement)
      : end_(RoundUp(begin, kPage)), placement_(placement) {}

  Result<WireTensor> Add(const TensorSpec& spec, Place place) {
    if (spec.shape.size() > static_cast<size_t>(kMaxDims)) {
      return InvalidInput("a tensor has " + std::to_string(spec.shape.size()) +
                          " dimensions; kerf passes at most " + std::to_string(kMaxDims));
    }
    const TypeCode type = CodeOf(spec.dtype);
    WireTensor tensor{.place = place, .code = type.code, .bits = type.bits};
    tensor.ndim = static_cast<int32_t>(spec.shape.size());
    tensor.dtype = static_cast<int32_t>(spec.dtype);
    std::copy(spec.shape.begin(), spec.shape.end(), tensor.shape.begin());
    tensor.bytes = spec.bytes();
    tensor.segment_offset = end_;
    // Slack only on the side away from the guard page the tensor lies against.
    tensor.segment_bytes = RoundUp(tensor.bytes + kLeastSlack, kPage);
    if (placement_ == Placement::kAtEnd) {
      tensor.data_offset = (tensor.segment_bytes - tensor.bytes) / kAlignment * kAlignment;
    }
    end_ += tensor.segment_bytes;
    return tensor;
  }
  [[nodiscard]] uint64_t end() const { return end_; }

 private:
  uint64_t end_;
  Placement placement_;
};

// Python numbers and lists of them, as kernel.h describes.
struct HostValue {
  TensorSpec spec;
  std::string bytes;
};

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::optional<HostValue> ValueOf(const Argument& argument) {
  using Kind = Argument::Kind;
  HostValue value;
  switch (argument.kind) {
    case Kind::kInt:
    case Kind::kInts:
      value.spec.dtype = DType::kInt64;
      value.bytes = BytesOf(argument.ints);
      break;
    case Kind::kFloat:
    case Kind::kFloats:
      value.spec.dtype = DType::kFloat64;
      value.bytes = BytesOf(argument.floats);
      break;
    case Kind::kBool:
      value.spec.dtype = DType::kBool;
      value.bytes = std::string(1, argument.ints.at(0) != 0 ? '\1' : '\0');
      break;
    default:
      return std::nullopt;
  }
  if (argument.kind == Kind::kInts) value.spec.shape = {static_cast<int64_t>(argument.ints.size())};
  if (argument.kind == Kind::kFloats) {
    value.spec.shape = {static_cast<int64_t>(argument.floats.size())};
  }
  return value;
}

struct Part {
  WireTensor wire;
  const Argument* argument = nullptr;  // of a tensor
  std::string bytes;                   // of a value
};

Result<Part> PlaceArgument(const Argument& argument, Layout& layout) {
  Part part;
  if (argument.kind == Argument::Kind::kTensor) {
    part.argument = &argument;
    KERF_ASSIGN_OR_RETURN(part.wire, layout.Add(argument.tensor.spec, Place::kInputFile));
    return part;
  }
  std::optional<HostValue> value = ValueOf(argument);
  if (!value.has_value()) {
    part.wire.code = kDLOpaqueHandle;
    return part;
  }
  KERF_ASSIGN_OR_RETURN(part.wire, layout.Add(value->spec, Place::kHostValue));
  part.bytes = std::move(value->bytes);
  return part;
}

Result<Fd> MakeMemoryFile(const char* name, uint64_t bytes) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.open()) return ErrnoError("create", "a memory file", errno);
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return ErrnoError("enlarge", "a memory file", errno);
  }
  return fd;
}

std::string JoinNames(const std::vector<Argument>& parameters) {
  std::string names;
  for (const Argument& parameter : parameters) names += parameter.name + '\0';
  return names;
}

void FillPattern(char* to, uint64_t bytes, uint64_t pattern) {
  uint64_t done = 0;
  for (; done + 8 <= bytes; done += 8) std::memcpy(to + done, &pattern, 8);
  std::memcpy(to + done, &pattern, bytes - done);
}

// Not through a mapping: a process that is being started at this moment would keep a copy of it for
// as long as it lives, and a file that somebody may write to through a mapping cannot be sealed.
Status WriteAt(int fd, std::string_view bytes, uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoError("write", "a memory file", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
    at += static_cast<uint64_t>(n);
  }
  return {};
}

// The kernel holds pages for a moment while it moves them about, and calls the file busy then.
Status Seal(int fd, int seals) {
  constexpr int kTries = 20;
  for (int i = 0; ::fcntl(fd, F_ADD_SEALS, seals) != 0; ++i) {
    if (errno != EBUSY || i == kTries) return ErrnoError("seal", "a memory file", errno);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

Status WritePart(int fd, const Part& part, const Mapping& stored, const Touch& touch) {
  const WireTensor& wire = part.wire;
  const uint64_t end = wire.data_offset + wire.bytes;
  // NaN in every float type: a kernel that reads a little beyond a tensor shall not find zeros.
  KERF_RETURN_IF_ERROR(WriteAt(fd, std::string(wire.data_offset, '\xff'), wire.segment_offset));
  KERF_RETURN_IF_ERROR(
      WriteAt(fd, std::string(wire.segment_bytes - end, '\xff'), wire.segment_offset + end));
  const uint64_t at = wire.segment_offset + wire.data_offset;
  if (part.argument == nullptr) return WriteAt(fd, part.bytes, at);
  const StoredTensor& tensor = part.argument->tensor;
  const std::string_view bytes(stored.data() + tensor.offset, wire.bytes);
  if (!touch) return WriteAt(fd, bytes, at);
  std::string own(bytes);
  touch(tensor, own.data());
  return WriteAt(fd, own, at);
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

Result<Mapping> Mapping::Map(int fd, uint64_t bytes, bool writable) {
  Mapping mapping;
  if (bytes == 0) return mapping;
  void* at = ::mmap(nullptr, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return ErrnoError("map", "a file", errno);
  mapping.data_ = static_cast<char*>(at);
  mapping.bytes_ = bytes;
  return mapping;
}

Result<Mapping> MapFile(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.open()) return ErrnoError("open", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("look at", path, errno);
  return Mapping::Map(fd.get(), static_cast<uint64_t>(info.st_size), false);
}

Result<InputFile> InputFile::Make(const Reference& reference, const ReferenceCase& one,
                                  const Mapping& stored, Placement placement, int threads,
                                  const Touch& touch) {
  const size_t count =
      one.inputs.size() + one.parameters.size() + reference.init.size() + one.outputs.size();
  const std::string names = JoinNames(one.parameters);
  WireTable table;
  table.n_inputs = static_cast<int32_t>(one.inputs.size());
  table.n_params = static_cast<int32_t>(one.parameters.size());
  table.n_init = static_cast<int32_t>(reference.init.size());
  table.n_outputs = static_cast<int32_t>(one.outputs.size());
  table.threads = threads;
  table.names_offset = sizeof table + count * sizeof(WireTensor);
  table.names_bytes = names.size();

  Layout layout(table.names_offset + names.size(), placement);
  std::vector<Part> parts;
  for (const auto* list : {&one.inputs, &one.parameters, &reference.init}) {
    for (const Argument& argument : *list) {
      KERF_ASSIGN_OR_RETURN(Part part, PlaceArgument(argument, layout));
      parts.push_back(std::move(part));
    }
  }
  InputFile file;
  Layout output_layout(0, placement);
  for (const StoredTensor& output : one.outputs) {
    KERF_ASSIGN_OR_RETURN(WireTensor wire, output_layout.Add(output.spec, Place::kOutputFile));
    file.outputs_.push_back(wire);
  }
  file.output_bytes_ = output_layout.end();

  KERF_ASSIGN_OR_RETURN(file.fd_, MakeMemoryFile("inputs", layout.end()));
  std::string head(reinterpret_cast<const char*>(&table), sizeof table);
  const auto add = [&head](const WireTensor& wire) {
    head.append(reinterpret_cast<const char*>(&wire), sizeof wire);
  };
  for (const Part& part : parts) add(part.wire);
  for (const WireTensor& wire : file.outputs_) add(wire);
  KERF_RETURN_IF_ERROR(WriteAt(file.fd_.get(), head + names, 0));
  for (const Part& part : parts) {
    KERF_RETURN_IF_ERROR(WritePart(file.fd_.get(), part, stored, touch));
  }
  // Not even this process can change the file from here on.
  KERF_RETURN_IF_ERROR(
      Seal(file.fd_.get(), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE));
  KERF_ASSIGN_OR_RETURN(file.map_, Mapping::Map(file.fd_.get(), layout.end(), false));
  return file;
}

uint64_t InputFile::Checksum() const { return Xxh3({map_.data(), map_.bytes()}); }

Result<OutputFile> OutputFile::Make(const InputFile& input) {
  OutputFile file;
  file.tensors_ = input.outputs();
  KERF_ASSIGN_OR_RETURN(file.fd_, MakeMemoryFile("outputs", input.output_bytes()));
  KERF_RETURN_IF_ERROR(Seal(file.fd_.get(), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW));
  KERF_ASSIGN_OR_RETURN(file.map_, Mapping::Map(file.fd_.get(), input.output_bytes(), true));
  uint64_t bytes = 0;
  for (const WireTensor& tensor : file.tensors_) bytes += RoundUp(tensor.bytes, kAlignment);
  file.snapshot_.resize(bytes);
  return file;
}

void OutputFile::Poison(uint64_t random) {
  canary_ = random * 0x9E3779B97F4A7C15ULL | 1;
  patterns_.clear();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const WireTensor& tensor = tensors_[i];
    const auto dtype = static_cast<DType>(tensor.dtype);
    patterns_.emplace_back(dtype, random + i);
    char* segment = map_.data() + tensor.segment_offset;
    FillPattern(segment, tensor.data_offset, canary_);
    // As a row of elements: the shape does not matter here.
    const auto count = static_cast<int64_t>(tensor.bytes / DTypeBytes(dtype));
    patterns_.back().Fill({dtype, {count}}, segment + tensor.data_offset);
    const uint64_t end = tensor.data_offset + tensor.bytes;
    FillPattern(segment + end, tensor.segment_bytes - end, canary_);
  }
}

void OutputFile::TakeSnapshot() {
  char* to = snapshot_.data();
  for (const WireTensor& tensor : tensors_) {
    std::memcpy(to, map_.data() + tensor.segment_offset + tensor.data_offset, tensor.bytes);
    to += RoundUp(tensor.bytes, kAlignment);
  }
}

const char* OutputFile::data(size_t i) const {
  const char* at = snapshot_.data();
  for (size_t k = 0; k < i; ++k) at += RoundUp(tensors_.at(k).bytes, kAlignment);
  return at;
}

std::string OutputFile::DamagedCanary() const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const WireTensor& tensor = tensors_[i];
    const char* segment = map_.data() + tensor.segment_offset;
    const auto canary_at = [&](uint64_t offset, uint64_t from) {
      return reinterpret_cast<const char*>(&canary_)[(offset - from) % 8];
    };
    for (uint64_t k = tensor.data_offset; k-- > 0;) {
      if (segment[k] == canary_at(k, 0)) continue;
      return std::to_string(tensor.data_offset - k) + " bytes before output" + std::to_string(i);
    }
    const uint64_t end = tensor.data_offset + tensor.bytes;
    for (uint64_t k = end; k < tensor.segment_bytes; ++k) {
      if (segment[k] == canary_at(k, end)) continue;
      return std::to_string(k - end + 1) + " bytes after the end of output" + std::to_string(i);
    }
  }
  return "";
}

}  // namespace kerf::verify
