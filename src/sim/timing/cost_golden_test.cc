// Costs per chip and family of instructions, as text: test/golden/sim_timing/<chip>.txt. Refreshed
// by KERF_UPDATE_GOLDENS=1, then read with git diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "sim/log/log_testing.h"
#include "sim/timing/cost.h"
#include "sim/timing/timing_testing.h"

namespace kerf::sim {
namespace {

class Table {
 public:
  explicit Table(const CoreModel& model) : costs_(model) {
    out_ << "# instruction  operands: head + busy + tail  (source)\n";
  }

  void Row(Op op, Pipe pipe, const std::vector<Operand>& operands, uint32_t bytes = 0) {
    Instruction record;
    record.op = op;
    record.pipe = static_cast<uint8_t>(pipe);
    record.bytes = bytes;
    const Cost cost = costs_.Of(record, operands, {});
    out_ << kerf_log::OpName(op);
    for (const Operand& operand : operands) {
      out_ << ' ' << MemoryName(operand.memory) << ':' << operand.valid_rows << 'x'
           << operand.valid_columns << DtypeName(operand.dtype);
      if (operand.valid_columns != operand.columns) out_ << '/' << operand.columns;
    }
    constexpr const char* kSources[] = {"table", "formula", "default"};
    out_ << ": " << cost.head << " + " << cost.busy << " + " << cost.tail << "  ("
         << kSources[static_cast<uint8_t>(cost.source)] << ")\n";
  }

  void Vector(Op op, uint32_t rows, uint32_t columns, Dtype type = Dtype::kF32,
              uint32_t capacity = 0) {
    Operand to = CoreProgram::Tile(Memory::kUb, 0, rows, columns, type, kerf_log::kWrite);
    if (capacity != 0) to.columns = capacity;
    Operand from = to;
    from.access = kerf_log::kRead;
    Row(op, Pipe::kVector, {to, from});
  }

  void Transfer(Op op, Pipe pipe, Memory to, Memory from, uint32_t bytes) {
    Row(op, pipe,
        {CoreProgram::Tile(to, 0, 1, bytes, Dtype::kI8, kerf_log::kWrite),
         CoreProgram::Tile(from, 0, 1, bytes, Dtype::kI8, kerf_log::kRead)},
        bytes);
  }

  void Cube(uint32_t m, uint32_t k, uint32_t n, Dtype type) {
    Row(Op::TMATMUL, Pipe::kCube,
        {CoreProgram::Tile(Memory::kL0c, 0, m, n, Dtype::kF32, kerf_log::kWrite),
         CoreProgram::Tile(Memory::kL0a, 0, m, k, type, kerf_log::kRead),
         CoreProgram::Tile(Memory::kL0b, 0, k, n, type, kerf_log::kRead)});
  }

  // With scales, one for 32 steps of k.
  void ScaledCube(uint32_t m, uint32_t k, uint32_t n, Dtype type) {
    const auto read = [](Memory memory, uint32_t rows, uint32_t cols, Dtype dtype) {
      return CoreProgram::Tile(memory, 0, rows, cols, dtype, kerf_log::kRead);
    };
    Row(Op::TMATMUL_MX, Pipe::kCube,
        {CoreProgram::Tile(Memory::kL0c, 0, m, n, Dtype::kF32, kerf_log::kWrite),
         read(Memory::kL0a, m, k, type), read(Memory::kScaleA, m, k / 32, Dtype::kF8E8M0),
         read(Memory::kL0b, k, n, type), read(Memory::kScaleB, k / 32, n, Dtype::kF8E8M0)});
  }

  std::string Text() const { return out_.str(); }

 private:
  CostModel costs_;
  std::ostringstream out_;
};

std::string Render(const CoreModel& model) {
  Table table(model);
  for (const uint32_t bytes : {32U, 6144U, 65536U}) {
    table.Transfer(Op::TLOAD, Pipe::kMte2, Memory::kUb, Memory::kGm, bytes);
    table.Transfer(Op::TLOAD, Pipe::kMte2, Memory::kL1, Memory::kGm, bytes);
    table.Transfer(Op::TSTORE, Pipe::kMte3, Memory::kGm, Memory::kUb, bytes);
    table.Transfer(Op::TSTORE, Pipe::kFix, Memory::kGm, Memory::kL0c, bytes);
  }
  table.Transfer(Op::TMOV, Pipe::kMte1, Memory::kL0a, Memory::kL1, 32768);
  table.Transfer(Op::TMOV, Pipe::kMte1, Memory::kL0b, Memory::kL1, 32768);
  table.Transfer(Op::TMOV, Pipe::kMte1, Memory::kBias, Memory::kL1, 1024);
  table.Transfer(Op::TMOV, Pipe::kFix, Memory::kL1, Memory::kL0c, 32768);
  table.Transfer(Op::TMOV, Pipe::kVector, Memory::kUb, Memory::kUb, 32768);
  table.Cube(64, 128, 64, Dtype::kBf16);
  table.Cube(64, 128, 64, Dtype::kF32);
  table.Cube(1, 128, 16, Dtype::kF16);
  table.Cube(128, 256, 128, Dtype::kI8);
  table.ScaledCube(128, 256, 128, Dtype::kF8E4M3);
  table.ScaledCube(128, 256, 128, Dtype::kF4E2M1);
  for (const Op op : {Op::TADD, Op::TSUB, Op::TMUL, Op::TDIV, Op::TMAX, Op::TADDS, Op::TMULS,
                      Op::TEXP, Op::TLOG, Op::TSQRT, Op::TRSQRT, Op::TRECIP, Op::TCVT, Op::TSEL,
                      Op::TCMP, Op::TEXPANDS, Op::TFILLPAD})
    table.Vector(op, 24, 64);
  table.Vector(Op::TADD, 24, 64, Dtype::kF16);
  table.Vector(Op::TADD, 64, 256);
  table.Vector(Op::TADD, 16, 20, Dtype::kF32, 64);
  table.Vector(Op::TADD, 16, 100, Dtype::kF32, 128);
  for (const Op op :
       {Op::TROWSUM, Op::TROWMAX, Op::TROWEXPAND, Op::TROWEXPANDMUL, Op::TROWEXPANDEXPDIF,
        Op::TCOLSUM, Op::TCOLMAX, Op::TCOLEXPAND, Op::TCOLEXPANDMUL}) {
    table.Vector(op, 16, 64);
    table.Vector(op, 16, 256);
  }
  for (const Op op : {Op::TTRANS, Op::TGATHER, Op::TSORT32, Op::TMRGSORT}) table.Vector(op, 16, 64);
  // Every vector instruction once.
  for (uint16_t number = 140; number < kerf_log::kOpEnd; ++number) {
    if (kerf_log::OpName(static_cast<Op>(number)) != nullptr)
      table.Vector(static_cast<Op>(number), 20, 80);
  }
  table.Row(Op::SET_FLAG, Pipe::kMte2, {});
  table.Row(Op::PIPE_BARRIER, Pipe::kVector, {});
  table.Row(Op::GET_VALUE, Pipe::kScalar, {CoreProgram::Ub(0, 1, 1, kerf_log::kRead)});
  table.Row(Op::GM_READ, Pipe::kScalar, {CoreProgram::Gm(0, 1, 1, kerf_log::kRead)});
  return table.Text();
}

class CostGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(CostGolden, IsAsRecorded) {
  const std::string path = std::string(KERF_GOLDEN_DIR) + "/" + GetParam() + ".txt";
  const std::string text = Render(ChipModel(GetParam()));
  if (std::getenv("KERF_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  const std::string golden((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  EXPECT_EQ(text, golden) << "if the change is meant, run with KERF_UPDATE_GOLDENS=1";
}

INSTANTIATE_TEST_SUITE_P(Chips, CostGolden, ::testing::Values("ascend910b1", "ascend950"));

}  // namespace
}  // namespace kerf::sim
