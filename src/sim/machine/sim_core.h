// One core of a launch: what a kernel's instructions reach (kerf_pto::Core).
#pragma once

#include <kerf_pto/abi.h>

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "sim/machine/fiber.h"
#include "sim/machine/launch.h"
#include "sim/machine/recorder.h"
#include "sim/machine/unit.h"

namespace kerf::sim {

class SimCore final : public kerf_pto::Core, public Complaints {
 public:
  SimCore(Launch& launch, CoreSpec spec);

  // kerf_pto::Core
  void Execute(const Call& call) override;
  void Flag(const kerf_pto::FlagCall& call) override;
  void Pause(const kerf_pto::Site& site) override;
  void* Scalar(const TileRef& tile, int64_t offset, bool write,
               const kerf_pto::Site& site) override;
  void* Address(Mem mem, uint64_t addr) override;
  uint64_t Offset(Mem mem, uint64_t address) override;
  void Assign(const TileRef& tile, const kerf_pto::Site& site) override;
  void Fail(const char* what, const kerf_pto::Site& site) override;
  uint32_t BlockIndex() override { return spec_.block; }
  uint32_t BlockCount() override;
  uint32_t SubBlock() override;
  uint64_t Clock() override;

  // Complaints
  void Warn(FindingKind kind, const std::string& text) override;
  void Print(const std::string& text) override;
  Unit* UnitOf(uint8_t owner) override;

  [[nodiscard]] std::string Name() const;  // "block 0 aiv1"
  // "x.cpp:12 (TADD)": what it executed last.
  [[nodiscard]] std::string Place() const;

 protected:
  void Stop(FindingKind kind, const std::string& text) override;

 private:
  friend class Launch;
  static constexpr int kFlags = 16;
  static constexpr int kPeers = 3;  // AIC, AIV0, AIV1

  [[nodiscard]] int peer() const {
    return spec_.kind == kerf_log::CoreKind::kAic ? 0 : 1 + spec_.lane;
  }
  [[nodiscard]] SimCore* Neighbour(int peer) const;
  void Enter(Op op, const kerf_pto::Site& site);
  // `frame`: __builtin_frame_address(0) of the function that the kernel called.
  void NoteCalls(const void* frame) {
    if (recorder_ != nullptr && !launch_.config_.code.empty())
      WalkStack(frame, fiber_.stack_end(), launch_.config_.code, recorder_->stack());
  }
  // Lets others run until `ready`. `what` is for the report of a deadlock.
  void Block(const std::function<bool()>& ready, std::string what);
  void CheckFlag(const kerf_pto::FlagCall& call);
  void CrossSet(const kerf_pto::FlagCall& call);
  void CrossWait(const kerf_pto::FlagCall& call);
  void IntraSet(const kerf_pto::FlagCall& call);
  void IntraWait(const kerf_pto::FlagCall& call);
  void Meet(const kerf_pto::FlagCall& call);
  void Give(SimCore* receiver, uint32_t id);
  void TakeFrom(uint8_t peers, const kerf_pto::FlagCall& call);

  Launch& launch_;
  const CoreSpec spec_;
  Unit unit_;
  std::unique_ptr<Recorder> recorder_;  // null: nothing is recorded
  Fiber fiber_;

  // What it is doing.
  Op op_{};
  kerf_pto::Site site_{"", "", 0};
  uint64_t executed_ = 0;
  uint64_t clock_ = 0;
  std::function<bool()> ready_;  // empty: can go on
  std::string waits_for_;
  bool paused_ = false;
  bool stopped_ = false;  // by an error

  // Signals that came, by id and sender.
  std::array<std::array<int, kPeers>, kFlags> signals_{};
  // Rounds of a meeting of all cores of a kind (mode 0), of all (SYNCALL): how often it came.
  std::array<uint64_t, kFlags> met_{};
  std::array<uint64_t, kFlags> met_taken_{};
  std::array<uint8_t, kFlags> last_mode_{};
  std::array<uint64_t, 3> syncalls_{};
};

}  // namespace kerf::sim
