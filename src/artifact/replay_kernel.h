// The kernel of a replay: which sources run on which cores, and what their code says about the
// arguments.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kerf {

enum class Platform { kA2A3, kA5 };
const char* PlatformName(Platform platform);  // "a2a3", "a5"
std::optional<Platform> ParsePlatform(std::string_view name);

enum class CoreType { kAic, kAiv };
const char* CoreTypeName(CoreType core);  // "aic", "aiv"
std::optional<CoreType> ParseCoreType(std::string_view name);

// aic: cube core only; aiv: vector core only; mix: both, on one cluster.
enum class KernelShape { kAic, kAiv, kMix };
const char* KernelShapeName(KernelShape shape);  // "aic", "aiv", "mix"

// What the code of one source says, comments and strings left out.
struct KernelFacts {
  bool has_entry = false;       // kernel_entry with one pointer to int64_t
  std::set<int> slots;          // literal args[N]
  bool computed_slots = false;  // args[i] with an i that cannot be seen
  bool needs_context = false;   // reads slot 48 or 49, directly or by get_block_idx(args) …
  bool tests_cube = false;      // names __DAV_CUBE__
  bool tests_vec = false;       // names __DAV_VEC__
};

// One source on one kind of core.
struct KernelMember {
  CoreType core = CoreType::kAiv;
  std::optional<int64_t> func_id;
  std::string name;
  std::string source;  // absolute
  std::string sha256;  // of its text
  std::vector<std::string> include_dirs;
  KernelFacts facts;
};

struct ReplayKernel {
  std::string name;
  KernelShape shape = KernelShape::kAiv;
  std::vector<KernelMember> members;  // AIC first; at most one AIC and two AIV

  [[nodiscard]] std::set<int> slots_read() const;
  [[nodiscard]] bool computed_slots() const;
  [[nodiscard]] bool needs_context() const;
  [[nodiscard]] std::set<int64_t> func_ids() const;
};

}  // namespace kerf
