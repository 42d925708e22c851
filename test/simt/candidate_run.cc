#include "simt/candidate_run.h"

#include <dlfcn.h>
#include <kerf/kernel.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace kerf {
namespace {

constexpr size_t kPage = 4096;

size_t SizeOf(Element e) { return e == Element::kHalf ? 2 : 4; }

size_t Count(const std::vector<int64_t>& shape) {
  size_t n = 1;
  for (int64_t d : shape) n *= static_cast<size_t>(d);
  return n;
}

// Shared with the child; the last byte is the last of its page, and the next page is a trap.
unsigned char* MapGuarded(size_t bytes) {
  const size_t body = (bytes + kPage - 1) / kPage * kPage;
  void* p = mmap(nullptr, body + 2 * kPage, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) std::abort();
  auto* begin = static_cast<unsigned char*>(p) + kPage;
  if (mprotect(begin, body, PROT_READ | PROT_WRITE) != 0) std::abort();
  return begin + body - bytes;
}

DLTensor Tensor(const Buffer& b, unsigned char* data) {
  const uint8_t code = b.element == Element::kInt ? kDLInt : kDLFloat;
  return DLTensor{data,
                  {kDLCPU, 0},
                  static_cast<int32_t>(b.shape.size()),
                  {code, static_cast<uint8_t>(8 * SizeOf(b.element)), 1},
                  const_cast<int64_t*>(b.shape.data()),
                  nullptr,
                  0};
}

template <typename F>
F Symbol(void* library, const char* name) {
  auto f = reinterpret_cast<F>(dlsym(library, name));
  if (f == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    _exit(99);
  }
  return f;
}

[[noreturn]] void Child(const std::string& path, const kerf_call& call,
                        const std::vector<Buffer>& inputs, const Buffer& output,
                        const RunSetup& setup, int report_fd, int* returned) {
  void* library = dlopen(path.c_str(), RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    _exit(99);
  }
  auto add = Symbol<void (*)(const char*, const void*, uint64_t)>(library, "kerf_simt_register");
  Symbol<void (*)(int)>(library, "kerf_simt_report_fd")(report_fd);
  Symbol<void (*)(int)>(library, "kerf_simt_threads")(setup.threads);
  Symbol<void (*)(int)>(library, "kerf_simt_strict")(setup.strict ? 1 : 0);
  for (size_t i = 0; i < inputs.size(); ++i)
    add(inputs[i].name.c_str(), call.inputs[i].data, inputs[i].bytes.size());
  add(output.name.c_str(), call.outputs[0].data, output.bytes.size());
  if (setup.time_limit_ms != 0)
    Symbol<void (*)(uint32_t)>(library, "kerf_simt_time_limit")(setup.time_limit_ms);
  *returned = Symbol<int (*)(const kerf_call*)>(library, "kerf_kernel")(&call);
  _exit(0);
}

std::vector<std::string> ReadLines(int fd) {
  std::string text;
  char chunk[4096];
  for (ssize_t n; (n = read(fd, chunk, sizeof(chunk))) > 0;)
    text.append(chunk, static_cast<size_t>(n));
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

Buffer Floats(const std::string& name, std::vector<int64_t> shape,
              const std::vector<float>& values) {
  Buffer b{name, Element::kFloat, std::move(shape), std::vector<unsigned char>(values.size() * 4)};
  std::memcpy(b.bytes.data(), values.data(), b.bytes.size());
  return b;
}

Buffer Ints(const std::string& name, const std::vector<int>& values) {
  Buffer b{name,
           Element::kInt,
           {static_cast<int64_t>(values.size())},
           std::vector<unsigned char>(values.size() * 4)};
  std::memcpy(b.bytes.data(), values.data(), b.bytes.size());
  return b;
}

Buffer Output(const std::string& name, Element element, std::vector<int64_t> shape) {
  Buffer b{name, element, std::move(shape), {}};
  b.bytes.assign(Count(b.shape) * SizeOf(element), 0);
  return b;
}

CandidateRun RunCandidate(const std::string& library, const std::vector<Buffer>& inputs,
                          const Buffer& output, const RunSetup& setup) {
  std::vector<DLTensor> tensors;
  for (const Buffer& b : inputs) {
    unsigned char* data = MapGuarded(b.bytes.size());
    std::memcpy(data, b.bytes.data(), b.bytes.size());
    tensors.push_back(Tensor(b, data));
  }
  unsigned char* out_data = MapGuarded(output.bytes.size());
  std::memcpy(out_data, output.bytes.data(), output.bytes.size());
  DLTensor out = Tensor(output, out_data);
  auto* returned = reinterpret_cast<int*>(MapGuarded(16));
  *returned = -1;
  kerf_call call{};
  call.abi_version = KERF_ABI_VERSION;
  call.n_inputs = static_cast<int32_t>(inputs.size());
  call.inputs = tensors.data();
  call.n_outputs = 1;
  call.outputs = &out;
  call.threads = setup.threads;

  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[0]);
    Child(library, call, inputs, output, setup, pipe_ends[1], returned);
  }
  close(pipe_ends[1]);
  CandidateRun run;
  run.findings = ReadLines(pipe_ends[0]);
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.returned = *returned;
  run.output = output;
  std::memcpy(run.output.bytes.data(), out_data, output.bytes.size());
  return run;
}

}  // namespace kerf
