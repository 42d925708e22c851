// `kerf sim` with the built binary: the examples against plain loops, the broken ones against what
// is wrong with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kerf_pto/numbers.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "base/subprocess.h"
#include "loop/verify/native_build.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

const std::string kKernels = std::string(KERF_SOURCE_DIR) + "/examples/kernels/";
const std::string kTestKernels = std::string(KERF_SOURCE_DIR) + "/test/sim/kernels/";

class Sim : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto toolchain = verify::FindToolchain();
    if (!toolchain.ok()) GTEST_SKIP() << toolchain.error().message;
  }

  ProcessOutcome Kerf(std::vector<std::string> words) {
    words.insert(words.begin(), KERF_BINARY);
    const std::vector<std::string> variables = {std::string("PATH=") + std::getenv("PATH"),
                                                "KERF_CACHE_DIR=" + dir_.path() + "/cache"};
    const auto outcome = RunProcess({.argv = words, .cwd = dir_.path(), .environment = variables});
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? *outcome : ProcessOutcome{};
  }
  Json RunJson(std::vector<std::string> words, int exit_code) {
    words.insert(words.begin(), "sim");
    words.emplace_back("--json");
    const ProcessOutcome outcome = Kerf(words);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.stdout_text << outcome.stderr_text;
    const Json json = Json::parse(outcome.stdout_text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << outcome.stdout_text;
    return json;
  }
  // Runs an example with random inputs; returns the values of its outputs, by slot.
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(dir_.path() + "/" + name, std::ios::binary) << bytes;
  }
  std::string Read(const std::string& name) {
    std::ifstream file(dir_.path() + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  TempDir dir_;
};

using Values = std::vector<double>;

size_t Bytes(const std::string& dtype) {
  return dtype == "FLOAT32" || dtype == "INT32" ? 4 : dtype == "INT8" ? 1 : 2;
}

void Encode(const std::string& dtype, double& value, std::string& bytes) {
  const auto put = [&](auto bits) {
    bytes.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  };
  if (dtype == "FLOAT32") {
    const auto exact = static_cast<float>(value);
    value = exact;
    put(exact);
  } else if (dtype == "FLOAT16") {
    const half exact = value;
    value = static_cast<float>(exact);
    put(exact.bits);
  } else if (dtype == "BFLOAT16") {
    const bfloat16_t exact = value;
    value = static_cast<float>(exact);
    put(exact.bits);
  } else {
    value = std::nearbyint(value * 100);
    put(static_cast<int16_t>(value));
  }
}

double Decode(const std::string& dtype, const char* at) {
  const auto get = [&](auto zero) {
    std::memcpy(&zero, at, sizeof zero);
    return zero;
  };
  if (dtype == "FLOAT32") return static_cast<double>(get(0.0F));
  if (dtype == "FLOAT16") return static_cast<double>(kerf_pto::HalfValue(get(uint16_t{0})));
  if (dtype == "BFLOAT16") return static_cast<double>(kerf_pto::Bfloat16Value(get(uint16_t{0})));
  if (dtype == "INT8") return get(int8_t{0});
  return get(int16_t{0});
}

// The example's own arg spec with its constant inputs replaced by random ones.
class Example {
 public:
  Example(const std::string& folder, const std::string& name) : name_(name) {
    std::ifstream file(folder + name + ".json");
    spec_ = Json::parse(file);
  }
  // Fills inputs and writes the spec and its data below `folder`.
  void Prepare(const std::string& folder) {
    std::mt19937 random(11);
    for (Json& arg : spec_["args"]) {
      if (!arg.contains("shape")) continue;
      size_t count = 1;
      for (const Json& extent : arg["shape"]) count *= extent.get<size_t>();
      Values values(count);
      std::string bytes;
      for (double& value : values) {
        value = static_cast<double>(random() % 2001) / 1000 - 1;
        Encode(arg["dtype"], value, bytes);
      }
      const int slot = arg["index"];
      if (arg.value("role", "input") == "input") {
        arg.erase("fill");
        arg["data"] = "in" + std::to_string(slot) + ".bin";
        std::ofstream(folder + "/in" + std::to_string(slot) + ".bin", std::ios::binary) << bytes;
        tensors_[slot] = values;
      }
      types_[slot] = arg["dtype"];
    }
    std::ofstream(folder + "/spec.json") << spec_.dump();
  }
  Values& operator[](int slot) { return tensors_[slot]; }
  const std::string& type(int slot) { return types_[slot]; }

 private:
  const std::string name_;
  Json spec_;
  std::map<int, Values> tensors_;
  std::map<int, std::string> types_;
};

class SimExamples : public Sim {
 protected:
  // `wanted(example)` gives what the output slot should hold.
  void Check(const std::string& name, const std::string& core, int slot, double tolerance,
             const std::function<Values(Example&)>& wanted, const std::string& chip = "a2a3",
             const std::string& folder = kKernels) {
    Example example(folder, name);
    example.Prepare(dir_.path());
    const Json json = RunJson({folder + name + ".cpp", "--core", core, "--arg-spec", "spec.json",
                               "--save-outputs", "out", "--chip", chip},
                              0);
    EXPECT_TRUE(json.value("findings", Json::array()).empty()) << json["findings"];
    EXPECT_TRUE(json["report"]["hazards"].empty()) << json["report"]["hazards"];
    const std::string bytes = Read("out/slot" + std::to_string(slot) + ".bin");
    const std::string type = example.type(slot);
    const Values want = wanted(example);
    ASSERT_EQ(bytes.size(), want.size() * Bytes(type));
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(Decode(type, bytes.data() + i * Bytes(type)), want[i], tolerance)
          << name << " element " << i;
    }
  }
};

Values Product(const Values& a, const Values& b, size_t m, size_t k, size_t n) {
  Values c(m * n);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      for (size_t l = 0; l < k; ++l) c[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  return c;
}

void Softmax(double* row, size_t n) {
  double top = row[0], sum = 0;
  for (size_t i = 0; i < n; ++i) top = std::max(top, row[i]);
  for (size_t i = 0; i < n; ++i) sum += row[i] = std::exp(row[i] - top);
  for (size_t i = 0; i < n; ++i) row[i] /= sum;
}

TEST_F(SimExamples, VectorKernelsComputeWhatTheySay) {
  Check("add", "aiv", 2, 1e-6, [](Example& e) {
    Values z = e[0];
    for (size_t i = 0; i < z.size(); ++i) z[i] += e[1][i];
    return z;
  });
  Check("scale", "aiv", 1, 1e-3, [](Example& e) {
    Values y = e[0];
    for (double& value : y) value *= 0.5;
    return y;
  });
  Check("softmax_rows", "aiv", 1, 1e-6, [](Example& e) {
    Values y = e[0];
    for (size_t r = 0; r < 32; ++r) {
      Softmax(&y[r * 64], 50);
      std::fill_n(y.begin() + static_cast<long>(r * 64 + 50), 14, 0.0);
    }
    return y;
  });
  Check("layer_norm", "aiv", 3, 1e-5, [](Example& e) {
    Values y = e[0];
    for (size_t r = 0; r < 16; ++r) {
      double* row = &y[r * 256];
      double mean = 0, variance = 0;
      for (size_t i = 0; i < 256; ++i) mean += row[i] / 256;
      for (size_t i = 0; i < 256; ++i) variance += (row[i] - mean) * (row[i] - mean) / 256;
      for (size_t i = 0; i < 256; ++i)
        row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) * e[1][i] + e[2][i];
    }
    return y;
  });
  Check("transpose", "aiv", 1, 0, [](Example& e) {
    Values y(e[0].size());
    for (size_t r = 0; r < 32; ++r)
      for (size_t c = 0; c < 64; ++c) y[c * 32 + r] = e[0][r * 64 + c];
    return y;
  });
  Check("quantize", "aiv", 2, 1e-7, [](Example& e) {
    Values scale(16);
    for (size_t i = 0; i < e[0].size(); ++i)
      scale[i / 128] = std::max(scale[i / 128], std::fabs(e[0][i]) / 127);
    return scale;
  });
  // One step at most: the way leads over half.
  Check("quantize", "aiv", 1, 1, [](Example& e) {
    Values scale(16), q;
    for (size_t i = 0; i < e[0].size(); ++i)
      scale[i / 128] = std::max(scale[i / 128], std::fabs(e[0][i]) / 127);
    for (size_t i = 0; i < e[0].size(); ++i) q.push_back(std::nearbyint(e[0][i] / scale[i / 128]));
    return q;
  });
}

TEST_F(SimExamples, CubeKernelsMultiply) {
  Check("matmul", "aic", 2, 1e-5, [](Example& e) { return Product(e[0], e[1], 64, 64, 128); });
  Check("matmul_k", "aic", 2, 1e-4, [](Example& e) { return Product(e[0], e[1], 64, 1024, 64); });
  Check("matmul_double_buffer", "aic", 2, 1e-4,
        [](Example& e) { return Product(e[0], e[1], 64, 1024, 64); });
}

TEST_F(SimExamples, MixedKernelsWorkTogether) {
  Check("mix_pipeline", "mix", 3, 1e-5, [](Example& e) {
    Values y = Product(e[0], e[1], 256, 64, 64);
    for (size_t i = 0; i < y.size(); ++i) y[i] = std::max(0.0, y[i] + e[2][i % 64]);
    return y;
  });
  // The weights are rounded to bfloat16 on their way.
  Check("attention_step", "mix", 3, 5e-3, [](Example& e) {
    Values k(64 * 64);
    for (size_t r = 0; r < 64; ++r)
      for (size_t c = 0; c < 64; ++c) k[c * 64 + r] = e[1][r * 64 + c];
    Values s = Product(e[0], k, 32, 64, 64);
    for (double& value : s) value *= 0.125;
    for (size_t r = 0; r < 32; ++r) Softmax(&s[r * 64], 64);
    return Product(s, e[2], 32, 64, 64);
  });
}

// a5: queues on the chip, both ways.
TEST_F(SimExamples, QueuesOnTheChipGoThereAndBack) {
  Check(
      "round_trip_a5", "mix", 3, 2e-2,
      [](Example& e) {
        Values middle = Product(e[0], e[1], 128, 64, 64);
        for (double& value : middle) value = std::max(value, 0.0);
        return Product(middle, e[2], 128, 64, 64);
      },
      "a5");
}

TEST_F(SimExamples, SlotsOfAQueueAreGlobalTensors) {
  for (const char* chip : {"a2a3", "a5"}) {
    Check(
        "global_slots", "mix", 2, 1e-4, [](Example& e) { return Product(e[0], e[1], 192, 32, 32); },
        chip, kTestKernels);
  }
}

TEST_F(SimExamples, TheFixpipeCastsWhatIsPushed) {
  for (const char* chip : {"a2a3", "a5"}) {
    Check(
        "push_cast", "mix", 2, 2e-2,
        [](Example& e) {
          Values y = Product(e[0], e[1], 32, 32, 32);
          for (double& value : y) value = std::max(value, 0.0);
          return y;
        },
        chip, kTestKernels);
  }
}

TEST_F(SimExamples, ASlotOfARingMayBeReadUntilItIsFreed) {
  Check(
      "ring_a5", "mix", 2, 1e-4,
      [](Example& e) {
        Values y = Product(e[0], e[1], 160, 32, 32);
        for (double& value : y) value += 1;
        return y;
      },
      "a5", kTestKernels);
  std::ifstream file(kTestKernels + "ring_a5.cpp");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string read = "    TADDS(result, part, 1.0f);\n";
  const std::string free = "    TFREE<Ring, TileSplitAxis::TILE_LEFT_RIGHT>(ring);\n";
  ASSERT_NE(text.find(read + free), std::string::npos);
  text.replace(text.find(read + free), read.size() + free.size(), free + read);
  Write("broken.cpp", text);
  const Json json =
      RunJson({"broken.cpp", "--core", "mix", "--chip", "a5", "--arg-spec", "spec.json"}, 1);
  EXPECT_THAT(json["report"]["hazards"].dump(), HasSubstr("one reads what the other writes"));
}

struct Broken {
  const char* name;
  const char* core;
  const char* spec;
  int exit_code;
  const char* found;  // in the findings or the hazards
};

class SimBroken : public Sim, public ::testing::WithParamInterface<Broken> {};

TEST_P(SimBroken, IsFoundWithItsLine) {
  const Broken& broken = GetParam();
  const Json json = RunJson({kKernels + "broken/" + broken.name + ".cpp", "--core", broken.core,
                             "--arg-spec", kKernels + broken.spec + ".json"},
                            broken.exit_code);
  const std::string said =
      json["findings"].dump() + (json["report"].is_null() ? "" : json["report"]["hazards"].dump());
  EXPECT_THAT(said, HasSubstr(broken.found));
  EXPECT_THAT(said, HasSubstr(std::string(broken.name) + ".cpp"));
}

INSTANTIATE_TEST_SUITE_P(
    Twins, SimBroken,
    ::testing::Values(Broken{"wait_without_set", "aiv", "add", 1, "waits for ever"},
                      Broken{"set_never_waited", "aiv", "add", 1, "never waited for"},
                      Broken{"race_read_write", "aiv", "add", 1, "one reads what the other writes"},
                      Broken{"race_write_write", "aiv", "add", 1, "both write"},
                      Broken{"missing_barrier", "aiv", "add", 1, "no pipe_barrier"},
                      Broken{"double_set", "aiv", "add", 1, "may still be up"},
                      Broken{"flag_left_up", "aiv", "add", 1, "MTE3 to MTE2, event 3"},
                      Broken{"deadlock_flags", "aiv", "add", 1, "waits for"},
                      Broken{"wrong_event", "aiv", "add", 1, "waits for ever"},
                      Broken{"deadlock_cores", "mix", "attention_step", 1, "deadlock"},
                      Broken{"lost_credit", "mix", "mix_pipeline", 1, "deadlock"},
                      Broken{"tile_out_of_range", "aiv", "add", 1, "out_of_range"},
                      Broken{"tile_misaligned", "aiv", "add", 1, "misaligned"},
                      Broken{"tile_unbound", "aiv", "add", 1, "unbound_tile"},
                      Broken{"unwritten_read", "aiv", "add", 0, "unwritten_read"},
                      Broken{"global_out_of_range", "aiv", "add", 1, "global_out_of_range"}),
    [](const auto& twin) { return twin.param.name; });

TEST_F(Sim, NamesAnInstructionThatIsNotThere) {
  Write("kernel.cpp", R"(#include <pto/pto-inst.hpp>
using namespace pto;
extern "C" void kernel_entry(__gm__ int64_t *args) {
  Tile<TileType::Vec, float, 8, 8> t;
  TRANDOM(t, t, t);
  args[0] = 0;
})");
  Write("spec.json", R"([{"index": 0, "name": "x", "dtype": "UINT64", "value": 1}])");
  const Json json = RunJson({"kernel.cpp", "--core", "aiv", "--arg-spec", "spec.json"}, 1);
  EXPECT_FALSE(json["compiled"].get<bool>());
  EXPECT_THAT(json["compiler_log"].get<std::string>(),
              HasSubstr("the instruction TRANDOM is not simulated yet"));
}

TEST_F(Sim, TellsWhereAKernelCrashed) {
  Write("kernel.cpp", R"(#include <pto/pto-inst.hpp>
using namespace pto;
extern "C" void kernel_entry(__gm__ int64_t *args) {
  Tile<TileType::Vec, float, 8, 8> t;
  TASSIGN(t, 0);
  TEXPANDS(t, 1.0f);
  *reinterpret_cast<volatile int *>(args[0]) = 1;
})");
  Write("spec.json", R"([{"index": 0, "name": "x", "dtype": "UINT64", "value": 8}])");
  const Json json = RunJson({"kernel.cpp", "--core", "aiv", "--arg-spec", "spec.json"}, 1);
  ASSERT_EQ(json["findings"].size(), 1U);
  EXPECT_EQ(json["findings"][0]["kind"], "fault");
  EXPECT_THAT(json["findings"][0]["text"].get<std::string>(), HasSubstr("kernel.cpp:6 (TEXPANDS)"));
}

// Every core has its own copy of a kernel's static variables.
TEST_F(Sim, CoresDoNotShareVariables) {
  Write("kernel.cpp", R"(#include <pto/pto-inst.hpp>
#include "intrinsic.h"
#include "tensor.h"
static int count = 5;
extern "C" void kernel_entry(__gm__ int64_t *args) {
  auto *out = reinterpret_cast<float *>(reinterpret_cast<ChipTensor *>(args[0])->buffer.addr);
  count += get_block_idx(args) * 2 + get_sub_block_id(args);
  pto::SYNCALL<pto::SyncAllMode::Soft, pto::SyncCoreType::AIVOnly>();
  out[get_block_idx(args) * 2 + get_sub_block_id(args)] = count;
})");
  Write("spec.json",
        R"([{"index": 0, "name": "y", "dtype": "FLOAT32", "shape": [6], "role": "output"}])");
  Write("wanted.bin", [] {
    std::string bytes;
    for (int i = 0; i < 6; ++i) {
      const auto value = static_cast<float>(5 + i);
      bytes.append(reinterpret_cast<const char*>(&value), 4);
    }
    return bytes;
  }());
  const Json json = RunJson({"kernel.cpp", "--core", "aiv", "--arg-spec", "spec.json", "--blocks",
                             "3", "--expect", "0=wanted.bin"},
                            0);
  EXPECT_EQ(json["cores"], 6);
}

// The lane's register under the runtimes: 0 on a2a3 for kernels that ask the arguments, the lane on
// a5 unless a kernel moves its tiles by itself.
TEST_F(Sim, TheLaneRegisterIsWhatTheRuntimeLeaves) {
  const std::string kernel = R"(#include <pto/pto-inst.hpp>
#include "intrinsic.h"
#include "tensor.h"
extern "C" void kernel_entry(__gm__ int64_t *args) {
  auto *out = reinterpret_cast<int32_t *>(reinterpret_cast<ChipTensor *>(args[0])->buffer.addr);
  out[get_sub_block_id(args)] = 10 + get_subblockid();
})";
  Write("kernel.cpp", kernel);
  Write("moving.cpp", kernel + "// setEntryOffset\n");
  Write("spec.json",
        R"([{"index": 0, "name": "y", "dtype": "INT32", "shape": [2], "role": "output"}])");
  const auto lanes = [&](const char* source, const char* chip) {
    RunJson({source, "--core", "aiv", "--arg-spec", "spec.json", "--chip", chip, "--save-outputs",
             "out"},
            0);
    const std::string bytes = Read("out/slot0.bin");
    return std::vector<int>{bytes.at(0), bytes.at(4)};
  };
  EXPECT_EQ(lanes("kernel.cpp", "a2a3"), (std::vector<int>{10, 10}));
  EXPECT_EQ(lanes("kernel.cpp", "a5"), (std::vector<int>{10, 11}));
  EXPECT_EQ(lanes("moving.cpp", "a5"), (std::vector<int>{10, 10}));
}

TEST_F(Sim, WritesADirectoryThatIsSound) {
  const ProcessOutcome outcome =
      Kerf({"sim", kKernels + "mix_pipeline.cpp", "--core", "mix", "--arg-spec",
            kKernels + "mix_pipeline.json", "--out", "out", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  const std::string directory = Json::parse(outcome.stdout_text)["report"]["directory"];
  EXPECT_EQ(Kerf({"timeline", "check", directory}).exit_code, 0);
}

// A function that the compiler may inline, a recursion it may not, and a call from a header.
TEST_F(Sim, RecordsWhereAnInstructionWasCalledFrom) {
  // The compiler in the sandbox is another user where the caller is root.
  std::filesystem::permissions(dir_.path(), std::filesystem::perms{0755});
  Write("half.h", R"(template <typename T>
void Halve(T &t) {
  pto::TMULS(t, t, 0.5f);
})");
  Write("kernel.cpp", R"(#include <pto/pto-inst.hpp>
#include "half.h"
using namespace pto;
using Row = Tile<TileType::Vec, float, 1, 8>;
static inline void Double(Row &t) {
  TADD(t, t, t);
}
static __attribute__((noinline)) void Deep(Row &t, int n) {
  if (n == 0) return Halve(t);
  pipe_barrier(PIPE_V);
  Deep(t, n - 1);
}
extern "C" void kernel_entry(__gm__ int64_t *args) {
  Row t;
  TASSIGN(t, args[0]);
  TEXPANDS(t, 1.0f);
  pipe_barrier(PIPE_V);
  Double(t);
  Deep(t, 2);
})");
  Write("spec.json", R"([{"index": 0, "name": "x", "dtype": "UINT64", "value": 64}])");
  const Json json =
      RunJson({"kernel.cpp", "--core", "aiv", "--arg-spec", "spec.json", "--out", "out"}, 0);
  const std::string trace =
      Read(std::string(json["report"]["directory"]).substr(dir_.path().size() + 1) +
           "/core0.veccore0/trace.json");
  const std::string at = dir_.path() + "/kernel.cpp:";
  const auto stack = [&](const std::vector<std::string>& places) {
    std::string text;
    for (const std::string& place : places) text += (text.empty() ? "" : "\\n") + place;
    return "\"code\":\"" + text + "\"";
  };
  EXPECT_THAT(trace, HasSubstr(stack({at + "16"})));
  EXPECT_THAT(trace, HasSubstr(stack({at + "6", at + "18"})));
  EXPECT_THAT(
      trace,
      HasSubstr(stack({dir_.path() + "/half.h:3", at + "9", at + "11", at + "11", at + "19"})));
}

TEST_F(Sim, ComparesWithWhatADumpHolds) {
  std::string bytes;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 64 * 128; ++j) {
      const float value = i == 2 ? 3.0F : static_cast<float>(i + 1);
      bytes.append(reinterpret_cast<const char*>(&value), 4);
    }
  }
  std::filesystem::create_directory(dir_.path() + "/dump");
  Write("dump/args.bin", bytes);
  const auto record = [](int slot, const char* role, const char* stage) {
    return Json{{"task_id", "0x0000000100000007"},
                {"func_id", {4}},
                {"arg_index", slot},
                {"role", role},
                {"stage", stage},
                {"kind", "tensor"},
                {"dtype", "FLOAT32"},
                {"is_contiguous", true},
                {"shape", {64, 128}},
                {"strides", {128, 1}},
                {"start_offset", 0},
                {"numel", 8192},
                {"bin_offset", slot * 32768},
                {"bin_size", 32768},
                {"truncated", false},
                {"overwritten", false}};
  };
  Json dump = {{"run_dir", "dump"},
               {"bin_format", {{"type", "logical_contiguous"}, {"byte_order", "little_endian"}}},
               {"dump_args_level", 2},
               {"total_args", 3},
               {"bin_file", "args.bin"},
               {"args",
                {record(0, "input", "before_dispatch"), record(1, "input", "before_dispatch"),
                 record(2, "output", "after_completion")}}};
  Write("dump/args_dump.json", dump.dump());
  const std::vector<std::string> words = {
      kKernels + "add.cpp", "--core", "aiv",           "--dump-dir", "dump",
      "--func-id",          "4",      "--check-output"};
  const Json right = RunJson(words, 0);
  EXPECT_EQ(right["outputs"][0]["right"], true) << right["outputs"];
  bytes[bytes.size() - 1] = '\x42';
  Write("dump/args.bin", bytes);
  EXPECT_EQ(RunJson(words, 1)["outputs"][0]["right"], false);
}

TEST_F(Sim, RefusesWhatMakesNoSense) {
  EXPECT_EQ(Kerf({"sim", kKernels + "add.cpp", "--core", "aiv"}).exit_code, 2);
  EXPECT_EQ(Kerf({"sim", kKernels + "add.cpp", "--core", "aiv", "--arg-spec", kKernels + "add.json",
                  "--chip", "h200"})
                .exit_code,
            2);
  EXPECT_EQ(Kerf({"sim", kKernels + "add.cpp", "--core", "aiv", "--arg-spec", kKernels + "add.json",
                  "--check-output"})
                .exit_code,
            2);
}

}  // namespace
}  // namespace kerf::e2e
