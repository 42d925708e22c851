// Each call maps its tensors anew, at addresses drawn by chance, every one between inaccessible
// pages, and unmaps them afterwards: a result kept from an earlier call, or a pointer kept, is of
// no use.
#include "loop/verify/runner_main.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kerf/kernel.h"
#include "loop/verify/cuda_runner.h"
#include "loop/verify/wire.h"

namespace kerf::verify {
namespace {

using Kernel = int (*)(const kerf_call*);
using GuardedKernel = int (*)(const kerf_call*, char*, size_t);
// simt/: where to report, and which buffers there are.
using SimtReportFd = void (*)(int);
using SimtRegister = void (*)(const char*, const void*, uint64_t);
using SimtForget = void (*)();

struct Mapped {
  std::string name;
  char* segment = nullptr;
  char* data = nullptr;
  uint64_t segment_bytes = 0;
  uint64_t bytes = 0;
  bool output = false;
};

// One for the process: the fault handler has to find it.
struct Session {
  int socket = -1;
  Command command;
  std::vector<Mapped> mapped;
  std::unique_ptr<CudaRunner> cuda;  // null on the CPU
};
Session* session = nullptr;

void Send(const Reply& reply) {
  while (::send(session->socket, &reply, sizeof reply, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

Reply MakeReply(Reply::Kind kind) {
  Reply reply;
  reply.kind = kind;
  reply.call = session->command.call;
  reply.nonce = session->command.nonce;
  return reply;
}

void SetText(Reply& reply, const char* text) {
  std::snprintf(reply.text.data(), reply.text.size(), "%s", text);
}

// --- faults -------------------------------------------------------------------------------------

const Mapped* Nearest(const char* address) {
  const Mapped* best = nullptr;
  uint64_t best_distance = UINT64_MAX;
  for (const Mapped& one : session->mapped) {
    uint64_t distance = 0;
    if (address < one.data) distance = static_cast<uint64_t>(one.data - address);
    if (address >= one.data + one.bytes) {
      distance = static_cast<uint64_t>(address - (one.data + one.bytes)) + 1;
    }
    if (distance >= best_distance) continue;
    best = &one;
    best_distance = distance;
  }
  constexpr uint64_t kFar = uint64_t{64} << 20;
  return best_distance > kFar ? nullptr : best;
}

bool WasWrite([[maybe_unused]] const void* context) {
#ifdef __x86_64__
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  return false;
#endif
}

// For the log only. The candidate shares this address space and could forge it; that the process
// dies of the signal is what counts.
void OnFault(int signal, siginfo_t* info, void* context) {
  std::signal(signal, SIG_DFL);
  const auto* address = static_cast<const char*>(info->si_addr);
  const Mapped* near = Nearest(address);
  Reply reply = MakeReply(Reply::Kind::kFault);
  const char* verb = WasWrite(context) ? "write" : "read";
  if (near == nullptr) {
    std::snprintf(reply.text.data(), reply.text.size(), "%s at address %p, not near any tensor",
                  verb, info->si_addr);
  } else if (address < near->data) {
    std::snprintf(reply.text.data(), reply.text.size(), "%s %lld bytes before %s", verb,
                  static_cast<long long>(near->data - address), near->name.c_str());
  } else if (address >= near->data + near->bytes) {
    std::snprintf(reply.text.data(), reply.text.size(), "%s %lld bytes after the end of %s", verb,
                  static_cast<long long>(address - (near->data + near->bytes)), near->name.c_str());
  } else {
    std::snprintf(reply.text.data(), reply.text.size(), "%s in %s at byte %lld", verb,
                  near->name.c_str(), static_cast<long long>(address - near->data));
  }
  Send(reply);
  // The instruction is repeated, and ends the process by its own signal.
}

void CatchFaults() {
  static char stack[65536];
  const stack_t alternate{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS}) ::sigaction(signal, &action, nullptr);
}

// --- calls --------------------------------------------------------------------------------------

struct LoadedCandidate {
  Kernel kernel = nullptr;
  GuardedKernel guarded = nullptr;
  SimtReportFd simt_report = nullptr;
  SimtRegister simt_register = nullptr;
  SimtForget simt_forget = nullptr;
};

template <typename F>
F Symbol(void* library, const char* name) {
  return reinterpret_cast<F>(::dlsym(library, name));
}

// A GPU that does not work is the machine's fault; the judge sees it in the text.
struct Program {
  const char* library = nullptr;
  const char* cubin = nullptr;  // null: no GPU
  int device = 0;
};

LoadedCandidate Load(const Program& program) {
  LoadedCandidate candidate;
  const char* path = program.library;
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    Reply reply = MakeReply(Reply::Kind::kLoadFailed);
    SetText(reply, ::dlerror());
    Send(reply);
    return candidate;
  }
  if (program.cubin != nullptr) {
    session->cuda = std::make_unique<CudaRunner>();
    const bool own_code = std::strcmp(program.cubin, "-") == 0;
    std::string problem = session->cuda->Open(program.device, own_code ? "" : program.cubin);
    if (problem.empty()) problem = session->cuda->Bind(library);
    if (!problem.empty()) {
      Reply reply = MakeReply(Reply::Kind::kLoadFailed);
      SetText(reply, problem.c_str());
      Send(reply);
      return candidate;
    }
  }
  candidate.kernel = Symbol<Kernel>(library, "kerf_kernel");
  candidate.guarded = Symbol<GuardedKernel>(library, "kerf_guarded_call");
  candidate.simt_report = Symbol<SimtReportFd>(library, "kerf_simt_report_fd");
  candidate.simt_register = Symbol<SimtRegister>(library, "kerf_simt_register");
  candidate.simt_forget = Symbol<SimtForget>(library, "kerf_simt_forget_buffers");
  if (candidate.kernel == nullptr) {
    Reply reply = MakeReply(Reply::Kind::kLoadFailed);
    SetText(reply, "the library has no function kerf_kernel");
    Send(reply);
    return candidate;
  }
  Send(MakeReply(Reply::Kind::kLoaded));
  return candidate;
}

// Where the next mapping may lie: anywhere in a wide range, so that no two calls share addresses.
void* RandomHint() {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) return nullptr;
  constexpr uint64_t kLow = 0x100000000000ULL;
  constexpr uint64_t kSpan = 0x400000000000ULL;
  return reinterpret_cast<void*>((kLow + random % kSpan) & ~(kPage - 1));  // NOLINT
}

// The tensors of one call, between guards, for as long as it lives.
class CallMemory {
 public:
  ~CallMemory() {
    session->mapped.clear();
    if (base_ != nullptr) ::munmap(base_, bytes_);
  }

  bool Map(const std::vector<WireTensor>& tensors, const std::vector<std::string>& names,
           int input_fd, int output_fd) {
    bytes_ = kPage;
    for (const WireTensor& tensor : tensors) bytes_ += tensor.segment_bytes + kPage;
    void* at =
        ::mmap(RandomHint(), bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    base_ = static_cast<char*>(at);
    char* next = base_ + kPage;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const WireTensor& tensor = tensors[i];
      data_.push_back(nullptr);
      segments_.push_back(nullptr);
      if (tensor.place == Place::kNowhere) continue;
      const bool output = tensor.place == Place::kOutputFile;
      if (::mmap(next, tensor.segment_bytes, PROT_READ | (output ? PROT_WRITE : 0),
                 MAP_SHARED | MAP_FIXED | MAP_POPULATE, output ? output_fd : input_fd,
                 static_cast<off_t>(tensor.segment_offset)) == MAP_FAILED) {
        return false;
      }
      data_.back() = next + tensor.data_offset;
      segments_.back() = next;
      session->mapped.push_back(
          {names[i], next, data_.back(), tensor.segment_bytes, tensor.bytes, output});
      next += tensor.segment_bytes + kPage;
    }
    return true;
  }
  [[nodiscard]] void* data(size_t i) const { return data_[i]; }
  [[nodiscard]] const std::vector<char*>& segments() const { return segments_; }

 private:
  char* base_ = nullptr;
  uint64_t bytes_ = 0;
  std::vector<char*> data_;
  std::vector<char*> segments_;
};

struct Table {
  WireTable head;
  std::vector<WireTensor> tensors;
  std::vector<std::string> names;  // of every tensor, for messages
  std::vector<std::string> param_names;
};

bool ReadAll(int fd, void* to, size_t bytes, off_t at) {
  return ::pread(fd, to, bytes, at) == static_cast<ssize_t>(bytes);
}

std::optional<Table> ReadTable(int fd) {
  Table table;
  if (!ReadAll(fd, &table.head, sizeof table.head, 0)) return std::nullopt;
  const WireTable& head = table.head;
  const auto count =
      static_cast<size_t>(head.n_inputs + head.n_params + head.n_init + head.n_outputs);
  table.tensors.resize(count);
  if (!ReadAll(fd, table.tensors.data(), count * sizeof(WireTensor), sizeof head)) {
    return std::nullopt;
  }
  std::string names(head.names_bytes, '\0');
  if (!ReadAll(fd, names.data(), names.size(), static_cast<off_t>(head.names_offset))) {
    return std::nullopt;
  }
  for (size_t at = 0; at < names.size(); at += table.param_names.back().size() + 1) {
    table.param_names.emplace_back(names.c_str() + at);
  }
  for (int i = 0; i < head.n_inputs; ++i) table.names.push_back("input" + std::to_string(i));
  table.names.insert(table.names.end(), table.param_names.begin(), table.param_names.end());
  for (int i = 0; i < head.n_init; ++i) table.names.push_back("init" + std::to_string(i));
  for (int i = 0; i < head.n_outputs; ++i) table.names.push_back("output" + std::to_string(i));
  if (table.names.size() != count) return std::nullopt;
  return table;
}

// DLTensors with their shapes and strides; the vectors own what the tensors point to.
struct Arguments {
  std::vector<std::array<int64_t, kMaxDims>> shapes;
  std::vector<std::array<int64_t, kMaxDims>> strides;
  std::vector<DLTensor> tensors;
  std::vector<const char*> names;
  kerf_call call{};
};

void FillArguments(const Table& table, const CallMemory& memory, const CudaCallMemory* device,
                   Arguments& to) {
  const size_t count = table.tensors.size();
  to.shapes.resize(count);
  to.strides.resize(count);
  to.tensors.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const WireTensor& wire = table.tensors[i];
    to.shapes[i] = wire.shape;
    int64_t stride = 1;
    for (int k = wire.ndim; k-- > 0;) {
      to.strides[i][static_cast<size_t>(k)] = stride;
      stride *= wire.shape[static_cast<size_t>(k)];
    }
    const bool on_device =
        device != nullptr && (wire.place == Place::kInputFile || wire.place == Place::kOutputFile);
    to.tensors[i] = {on_device ? device->data(i) : memory.data(i),
                     {on_device ? kDLCUDA : kDLCPU, 0},
                     wire.ndim,
                     {wire.code, wire.bits, wire.lanes},
                     to.shapes[i].data(),
                     to.strides[i].data(),
                     0};
  }
  for (const std::string& name : table.param_names) to.names.push_back(name.c_str());
  const WireTable& head = table.head;
  DLTensor* first = to.tensors.data();
  to.call = {KERF_ABI_VERSION,
             head.n_inputs,
             head.n_params,
             head.n_init,
             head.n_outputs,
             first,
             first + head.n_inputs,
             first + head.n_inputs + head.n_params,
             first + head.n_inputs + head.n_params + head.n_init,
             to.names.data(),
             nullptr,
             head.threads};
}

uint64_t Now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// A call whose tensors are in place.
class PreparedCall {
 public:
  // Empty, or why the call cannot be made.
  std::string Map(const LoadedCandidate& candidate, int input_fd, int output_fd, bool timed) {
    table_ = ReadTable(input_fd);
    if (!table_.has_value() || !memory_.Map(table_->tensors, table_->names, input_fd, output_fd)) {
      return "the judge's files make no sense here";
    }
    if (session->cuda != nullptr) {
      device_ = std::make_unique<CudaCallMemory>(*session->cuda);
      std::string problem = device_->Upload(table_->tensors, memory_.segments());
      if (problem.empty()) problem = session->cuda->FlushCache(timed);
      if (!problem.empty()) return problem;
    }
    FillArguments(*table_, memory_, device_.get(), arguments_);
    if (candidate.simt_register != nullptr) {
      for (const Mapped& one : session->mapped) {
        candidate.simt_register(one.name.c_str(), one.data, one.bytes);
      }
    }
    return "";
  }

  // `fetch`: also bring the outputs home before answering.
  void Go(const LoadedCandidate& candidate, bool fetch) {
    Reply reply = MakeReply(Reply::Kind::kDone);
    const uint64_t begin = Now();
    if (candidate.guarded != nullptr) {
      reply.code = candidate.guarded(&arguments_.call, reply.text.data(), reply.text.size());
    } else {
      reply.code = candidate.kernel(&arguments_.call);
    }
    std::string problem = session->cuda == nullptr ? "" : session->cuda->Synchronize();
    reply.region_ns = Now() - begin;
    reply.text.back() = '\0';
    if (!problem.empty()) SetText(reply, ("kerf:device_error " + problem).c_str());
    if (problem.empty() && fetch && device_ != nullptr) {
      problem = device_->Fetch(table_->names, /*check=*/true);
      if (!problem.empty()) SetText(reply, problem.c_str());
    }
    if (reply.text[0] != '\0') reply.kind = Reply::Kind::kRaised;
    Send(reply);
    if (candidate.simt_forget != nullptr) candidate.simt_forget();
  }

  void Fetch() {
    Reply reply = MakeReply(Reply::Kind::kReady);
    const std::string problem =
        device_ == nullptr ? "" : device_->Fetch(table_->names, /*check=*/false);
    if (!problem.empty()) {
      reply.kind = Reply::Kind::kRaised;
      SetText(reply, ("kerf:device_error " + problem).c_str());
    }
    Send(reply);
  }

 private:
  std::optional<Table> table_;
  CallMemory memory_;
  std::unique_ptr<CudaCallMemory> device_;
  Arguments arguments_;
};

// What the judge asks for, in order.
class Conversation {
 public:
  explicit Conversation(const Program& program) : program_(program) {}

  void Answer(const std::vector<int>& fds) {
    const Command::Kind kind = session->command.kind;
    if (kind == Command::Kind::kLoad) {
      candidate_ = Load(program_);
      if (candidate_.simt_report != nullptr && !fds.empty()) {
        // Ours for the rest of the process's life; the judge reads it, whatever becomes of us.
        candidate_.simt_report(::fcntl(fds[0], F_DUPFD_CLOEXEC, 100));
      }
    } else if (kind == Command::Kind::kPing) {
      Send(MakeReply(Reply::Kind::kReady));
    } else if (kind == Command::Kind::kMap || kind == Command::Kind::kCall) {
      if (Map(fds, kind != Command::Kind::kCall) && kind == Command::Kind::kCall) {
        call_->Go(candidate_, /*fetch=*/true);
        call_.reset();
      } else if (call_ != nullptr) {
        Send(MakeReply(Reply::Kind::kReady));
      }
    } else if (call_ == nullptr) {
      Send(MakeReply(Reply::Kind::kBadCall));
    } else if (kind == Command::Kind::kGo) {
      call_->Go(candidate_, /*fetch=*/false);
    } else {
      call_->Fetch();
      call_.reset();
    }
  }

 private:
  // False, and the judge told, when it cannot be done.
  bool Map(const std::vector<int>& fds, bool timed) {
    call_.reset();  // unmaps the last one first
    std::string problem = "there is no candidate";
    if (fds.size() == 2 && candidate_.kernel != nullptr) {
      call_ = std::make_unique<PreparedCall>();
      problem = call_->Map(candidate_, fds[0], fds[1], timed);
    }
    if (problem.empty()) return true;
    call_.reset();
    Reply reply = MakeReply(Reply::Kind::kBadCall);
    SetText(reply, problem.c_str());
    Send(reply);
    return false;
  }

  const Program program_;
  LoadedCandidate candidate_;
  std::unique_ptr<PreparedCall> call_;
};

// False at the end of the conversation.
bool Receive(Command& command, std::vector<int>& fds) {
  iovec data{&command, sizeof command};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 2)];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = 0;
  while ((n = ::recvmsg(session->socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (n != static_cast<ssize_t>(sizeof command)) return false;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      fds.push_back(fd);
    }
  }
  return command.kind != Command::Kind::kQuit;
}

}  // namespace

int RunnerMain(int argc, char** argv) {
  Session own;
  session = &own;
  own.socket = ::fcntl(0, F_DUPFD_CLOEXEC, 100);
  if (own.socket < 0) return 70;
  // The candidate's stdin is empty.
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, 0);
  CatchFaults();
  Send(MakeReply(Reply::Kind::kHello));
  Conversation conversation(
      {argv[0], argc >= 3 ? argv[1] : nullptr, argc >= 3 ? std::atoi(argv[2]) : 0});
  std::vector<int> fds;
  while (Receive(own.command, fds)) {
    conversation.Answer(fds);
    for (const int fd : fds) ::close(fd);
    fds.clear();
  }
  // Without destructors of the candidate: they are nobody's business any more.
  ::_exit(0);
}

}  // namespace kerf::verify
