// Flags within a core are recorded, not obeyed: instructions run in the order of issue. Signals
// between cores are obeyed: a core that waits lets the others run.
#include "sim/machine/sim_core.h"

#include <algorithm>

namespace kerf::sim {
namespace {

using kerf_pto::FlagCall;
using kerf_pto::Pipe;
using LogOp = kerf_log::Op;

constexpr const char* kPeerNames[] = {"aic", "aiv0", "aiv1"};

std::string NamePeers(uint8_t peers) {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    if ((peers >> i & 1) != 0) text += (text.empty() ? "" : " and ") + std::string(kPeerNames[i]);
  }
  return text;
}

}  // namespace

SimCore::SimCore(Launch& launch, CoreSpec spec)
    : launch_(launch),
      spec_(std::move(spec)),
      unit_(*launch.config_.memories, launch.global_, *this),
      fiber_([this] { spec_.body(); }) {
  if (launch.config_.log != nullptr) {
    recorder_ = std::make_unique<Recorder>(*launch.config_.log, spec_.kind, spec_.block, spec_.lane,
                                           launch.global_);
  }
}

std::string SimCore::Name() const {
  return "block " + std::to_string(spec_.block) + " " + kPeerNames[peer()];
}

std::string SimCore::Place() const {
  return std::string(site_.file) + ":" + std::to_string(site_.line) + " (" + OpName(op_) + ")";
}

void SimCore::Enter(Op op, const kerf_pto::Site& site) {
  op_ = op;
  site_ = site;
  ++executed_;
}

void SimCore::Warn(FindingKind kind, const std::string& text) {
  launch_.Report(*this, kind, false, text);
}

void SimCore::Print(const std::string& text) {
  constexpr size_t kMost = size_t{1} << 20;
  std::string& all = launch_.printed_;
  if (all.size() >= kMost) return;
  all += Place() + " " + Name() + ": " + text;
  if (all.size() >= kMost) all += "no more is kept of what is printed\n";
}

Unit* SimCore::UnitOf(uint8_t owner) {
  SimCore* core = owner == 0 ? this : Neighbour(owner - 1);
  return core == nullptr ? nullptr : &core->unit_;
}

void SimCore::Stop(FindingKind kind, const std::string& text) {
  launch_.Report(*this, kind, true, text);
  stopped_ = true;
  if (recorder_ != nullptr) recorder_->Flush();
  fiber_.Yield();
}

void SimCore::Fail(const char* what, const kerf_pto::Site& site) {
  site_ = site;
  Stop(FindingKind::kUnsupported, what);
}

void SimCore::Execute(const Call& call) {
  Enter(call.op, call.site);
  NoteCalls(__builtin_frame_address(0));
  ExecuteTiles(unit_, call);
  if (recorder_ != nullptr) recorder_->Add(call);
}

void SimCore::Assign(const TileRef& tile, const kerf_pto::Site& site) {
  site_ = site;
  op_ = Op::TASSIGN;
  // Kernels bind tiles of both kinds of cores before they look at which one they are.
  if (unit_.memory_size(tile.mem) != 0) unit_.CheckPlace(tile);
}

void* SimCore::Scalar(const TileRef& tile, int64_t offset, bool write, const kerf_pto::Site& site) {
  Enter(write ? Op::SetValue : Op::GetValue, site);
  NoteCalls(__builtin_frame_address(0));
  const TileIo io = unit_.Open(tile);
  const size_t size = io.element_bytes();
  const auto bytes = static_cast<int64_t>(CapacityBytes(tile) / size);
  if (offset < 0 || offset >= bytes) {
    Complaints::Fail(FindingKind::kIndex, "element " + std::to_string(offset) + " of a tile of " +
                                              std::to_string(bytes));
  }
  CoreMemory& memory = unit_.memory(tile.mem);
  const uint64_t at = tile.addr + static_cast<uint64_t>(offset) * size;
  if (write)
    memory.MarkWritten(at, size);
  else if (memory.FirstUnwritten(at, size) < size)
    Warn(FindingKind::kUnwrittenRead,
         "reads element " + std::to_string(offset) + ", which nothing has written");
  if (recorder_ != nullptr) recorder_->AddScalar(tile, offset, write, site);
  return memory.at(at);
}

void* SimCore::Address(Mem mem, uint64_t addr) {
  if (unit_.memory_size(mem) == 0) return reinterpret_cast<void*>(addr);  // NOLINT: nobody reads it
  return unit_.memory(mem).at(addr);
}

// Addresses are small; pointers that Address() gave are not.
uint64_t SimCore::Offset(Mem mem, uint64_t address) {
  constexpr uint64_t kLargest = uint64_t{1} << 32;
  if (address < kLargest || unit_.memory_size(mem) == 0) return address;
  return address - reinterpret_cast<uint64_t>(unit_.memory(mem).at(0));
}

uint32_t SimCore::BlockCount() { return launch_.config_.block_count; }

uint32_t SimCore::SubBlock() { return launch_.config_.lane_register ? spec_.lane : 0; }

// Not simulated time, but it grows with it: loops that wait for it end.
uint64_t SimCore::Clock() {
  clock_ += 20;
  return clock_ + executed_;
}

void SimCore::Pause(const kerf_pto::Site& site) {
  site_ = site;
  paused_ = true;
  waits_for_ = "a value in global memory";
  if (recorder_ != nullptr) recorder_->Flush();
  fiber_.Yield();
  paused_ = false;
}

void SimCore::Block(const std::function<bool()>& ready, std::string what) {
  if (ready()) return;
  waits_for_ = std::move(what);
  ready_ = ready;
  if (recorder_ != nullptr) recorder_->Flush();
  fiber_.Yield();
  ready_ = nullptr;
}

SimCore* SimCore::Neighbour(int peer) const {
  for (const auto& core : launch_.cores_) {
    if (core->spec_.block == spec_.block && core->peer() == peer) return core.get();
  }
  return nullptr;
}

void SimCore::CheckFlag(const FlagCall& call) {
  const bool inside = call.op == Op::set_flag || call.op == Op::wait_flag;
  if (inside && call.src == call.dst)
    Warn(FindingKind::kFlag, "a flag from a pipe to itself orders nothing");
  if (inside && call.id > 7)
    Complaints::Fail(FindingKind::kFlag,
                     "event " + std::to_string(call.id) + "; there are EVENT_ID0 to 7");
  const bool known = call.src <= 6 || call.src == 10;
  if (!known || !(call.dst <= 6 || call.dst == 10))
    Complaints::Fail(FindingKind::kFlag, "a pipe that does not exist");
}

void SimCore::Flag(const FlagCall& call) {
  Enter(call.op, call.site);
  NoteCalls(__builtin_frame_address(0));
  CheckFlag(call);
  const auto log = [&](LogOp op, Pipe pipe) {
    if (recorder_ == nullptr) return;
    kerf_log::Sync sync;
    sync.source = static_cast<uint8_t>(LogPipe(static_cast<Pipe>(call.src)));
    sync.destination = static_cast<uint8_t>(LogPipe(static_cast<Pipe>(call.dst)));
    sync.event = static_cast<uint8_t>(call.id);
    recorder_->AddSync(op, pipe, sync, call.site);
  };
  const auto plain = [&](LogOp op) {
    if (recorder_ != nullptr) recorder_->AddPlain(op, call.site);
  };
  switch (call.op) {
    case Op::set_flag:
      return log(LogOp::SET_FLAG, static_cast<Pipe>(call.src));
    case Op::wait_flag:
      return log(LogOp::WAIT_FLAG, static_cast<Pipe>(call.dst));
    case Op::pipe_barrier:
      return log(LogOp::PIPE_BARRIER, static_cast<Pipe>(call.src) == Pipe::kAll
                                          ? Pipe::kScalar
                                          : static_cast<Pipe>(call.src));
    case Op::ffts_cross_core_sync:
      return CrossSet(call);
    case Op::wait_flag_dev:
      return CrossWait(call);
    case Op::set_intra_block:
      return IntraSet(call);
    case Op::wait_intra_block:
      return IntraWait(call);
    case Op::SYNCALL:
      return Meet(call);
    case Op::dcci:
      return plain(LogOp::DCCI);
    case Op::dsb:
      return plain(LogOp::DSB);
    case Op::TFREE:
      return plain(LogOp::TFREE);
    default:
      return plain(LogOp::SCALAR);
  }
}

void SimCore::Give(SimCore* receiver, uint32_t id) {
  int& count = receiver->signals_[id][static_cast<size_t>(peer())];
  if (++count > 15) {
    Complaints::Fail(FindingKind::kFlag,
                     "signal " + std::to_string(id) + " to " + receiver->Name() +
                         " was given 16 times and not taken: its counter has 4 bits");
  }
}

// a2a3. Mode 0: all cores of this kind; 1: both vector cores; 2: cube to vector or back.
void SimCore::CrossSet(const FlagCall& call) {
  if (call.id >= kFlags)
    Complaints::Fail(FindingKind::kFlag, "signal " + std::to_string(call.id) + "; there are 16");
  last_mode_[call.id] = static_cast<uint8_t>(call.mode);
  uint8_t peers = 0;
  const bool aic = spec_.kind == kerf_log::CoreKind::kAic;
  if (call.mode == 0) {
    ++met_[call.id];
    peers = static_cast<uint8_t>(
        kerf_log::kPeerEveryBlock |
        (aic ? kerf_log::kPeerAic : kerf_log::kPeerAiv0 | kerf_log::kPeerAiv1));
  } else {
    for (int other = 0; other < kPeers; ++other) {
      const bool vector = other != 0;
      const bool meant = call.mode == 1 ? vector : vector == aic;
      SimCore* receiver = meant ? Neighbour(other) : nullptr;
      if (receiver == nullptr) continue;
      Give(receiver, call.id);
      peers |= static_cast<uint8_t>(1U << other);
    }
  }
  if (recorder_ == nullptr) return;
  kerf_log::Sync sync;
  sync.source = static_cast<uint8_t>(LogPipe(static_cast<Pipe>(call.src)));
  sync.event = static_cast<uint8_t>(call.id);
  sync.peers = peers;
  sync.queue = call.queue;
  recorder_->AddSync(LogOp::CROSS_SET, static_cast<Pipe>(call.src), sync, call.site);
}

// One signal of each of `peers`, which are recorded before the core blocks.
void SimCore::TakeFrom(uint8_t peers, const FlagCall& call) {
  if (recorder_ != nullptr) {
    kerf_log::Sync sync;
    sync.destination = static_cast<uint8_t>(LogPipe(static_cast<Pipe>(call.dst)));
    sync.event = static_cast<uint8_t>(call.id % kFlags);
    sync.peers = peers;
    sync.queue = call.queue;
    recorder_->AddSync(LogOp::CROSS_WAIT, static_cast<Pipe>(call.dst), sync, call.site);
  }
  const uint32_t id = call.id % kFlags;
  const auto ready = [this, peers, id] {
    if (peers == 0) return false;
    for (int i = 0; i < kPeers; ++i) {
      if ((peers >> i & 1) != 0 && signals_[id][static_cast<size_t>(i)] == 0) return false;
    }
    return true;
  };
  const std::string from = peers == 0 ? "a core that is not part of this launch" : NamePeers(peers);
  Block(ready, "signal " + std::to_string(id) + " of " + from);
  for (int i = 0; i < kPeers; ++i) {
    if ((peers >> i & 1) != 0) --signals_[id][static_cast<size_t>(i)];
  }
}

void SimCore::CrossWait(const FlagCall& call) {
  if (call.id >= kFlags)
    Complaints::Fail(FindingKind::kFlag, "signal " + std::to_string(call.id) + "; there are 16");
  const bool aic = spec_.kind == kerf_log::CoreKind::kAic;
  const uint8_t mode = call.queue != 0                       ? 2
                       : met_[call.id] > met_taken_[call.id] ? 0
                       : last_mode_[call.id] == 1            ? 1
                                                             : 2;
  if (mode == 0) {
    const uint32_t id = call.id;
    const uint64_t round = ++met_taken_[id];
    if (recorder_ != nullptr) {
      kerf_log::Sync sync;
      sync.destination = static_cast<uint8_t>(LogPipe(static_cast<Pipe>(call.dst)));
      sync.event = static_cast<uint8_t>(id);
      sync.peers = static_cast<uint8_t>(
          kerf_log::kPeerEveryBlock |
          (aic ? kerf_log::kPeerAic : kerf_log::kPeerAiv0 | kerf_log::kPeerAiv1));
      recorder_->AddSync(LogOp::CROSS_WAIT, static_cast<Pipe>(call.dst), sync, call.site);
    }
    const auto ready = [this, id, round] {
      return std::all_of(launch_.cores_.begin(), launch_.cores_.end(), [&](const auto& core) {
        return core->spec_.kind != spec_.kind || core->met_[id] >= round;
      });
    };
    return Block(ready, "signal " + std::to_string(id) + " of all cores of its kind");
  }
  uint8_t peers = 0;
  for (int other = 0; other < kPeers; ++other) {
    const bool vector = other != 0;
    const bool meant = mode == 1 ? vector : vector == aic;
    if (meant && Neighbour(other) != nullptr) peers |= static_cast<uint8_t>(1U << other);
  }
  TakeFrom(peers, call);
}

// a5: one to one. Ids 0 to 15 are lane 0's, 16 to 31 lane 1's.
void SimCore::IntraSet(const FlagCall& call) {
  if (call.id >= 2 * kFlags)
    Complaints::Fail(FindingKind::kFlag, "signal " + std::to_string(call.id) + "; there are 32");
  const bool aic = spec_.kind == kerf_log::CoreKind::kAic;
  const int other = aic ? 1 + static_cast<int>(call.id / kFlags) : 0;
  SimCore* receiver = Neighbour(other);
  if (receiver != nullptr) Give(receiver, call.id % kFlags);
  if (recorder_ == nullptr) return;
  kerf_log::Sync sync;
  sync.source = static_cast<uint8_t>(LogPipe(static_cast<Pipe>(call.src)));
  sync.event = static_cast<uint8_t>(call.id % kFlags);
  sync.peers = receiver == nullptr ? 0 : static_cast<uint8_t>(1U << other);
  sync.queue = call.queue;
  recorder_->AddSync(LogOp::CROSS_SET, static_cast<Pipe>(call.src), sync, call.site);
}

void SimCore::IntraWait(const FlagCall& call) {
  if (call.id >= 2 * kFlags)
    Complaints::Fail(FindingKind::kFlag, "signal " + std::to_string(call.id) + "; there are 32");
  const bool aic = spec_.kind == kerf_log::CoreKind::kAic;
  const int other = aic ? 1 + static_cast<int>(call.id / kFlags) : 0;
  TakeFrom(Neighbour(other) == nullptr ? 0 : static_cast<uint8_t>(1U << other), call);
}

// Everybody of the kinds named (SyncCoreType: vector cores, cube cores, both).
void SimCore::Meet(const FlagCall& call) {
  const uint32_t mode = std::min<uint32_t>(call.mode, 2);
  const uint8_t aiv = kerf_log::kPeerAiv0 | kerf_log::kPeerAiv1;
  if (recorder_ != nullptr) {
    kerf_log::Sync sync;
    sync.peers = static_cast<uint8_t>(kerf_log::kPeerEveryBlock | (mode != 1 ? aiv : 0) |
                                      (mode != 0 ? kerf_log::kPeerAic : 0));
    recorder_->AddSync(LogOp::SYNCALL, Pipe::kScalar, sync, call.site);
  }
  const uint64_t round = ++syncalls_[mode];
  const auto ready = [this, mode, round] {
    return std::all_of(launch_.cores_.begin(), launch_.cores_.end(), [&](const auto& core) {
      const bool core_aic = core->spec_.kind == kerf_log::CoreKind::kAic;
      const bool part = mode == 2 || core_aic == (mode == 1);
      return !part || core->syncalls_[mode] >= round;
    });
  };
  Block(ready, "all cores at SYNCALL");
}

}  // namespace kerf::sim
