// Small programs for tests, as a recorder would have recorded them.
//
//   Program p;
//   p.Aiv().Load(0, 24, 64).Set(Pipe::kMte2, Pipe::kVector, 0).Wait(Pipe::kMte2, Pipe::kVector, 0);
#pragma once

#include <string>

#include "sim/log/instruction_log.h"

namespace kerf::sim {

class CoreProgram {
 public:
  CoreProgram(InstructionLog& log, size_t core) : log_(log), core_(core) {}

  CoreProgram& Add(const Instruction& record, const std::vector<Operand>& operands = {}) {
    CoreLog& core = log_.cores[core_];
    core.first_operand.push_back(static_cast<uint32_t>(core.operands.size()));
    core.instructions.push_back(record);
    core.instructions.back().operands = static_cast<uint8_t>(operands.size());
    if (record.site == 0) core.instructions.back().site = NextSite();
    core.operands.insert(core.operands.end(), operands.begin(), operands.end());
    return *this;
  }
  CoreProgram& Op1(Op op, Pipe pipe, const std::vector<Operand>& operands, uint32_t bytes = 0) {
    Instruction record;
    record.op = op;
    record.pipe = static_cast<uint8_t>(pipe);
    record.bytes = bytes;
    return Add(record, operands);
  }
  CoreProgram& Sync(Op op, Pipe pipe, Pipe source, Pipe destination, int event, int peers = 0) {
    Instruction record;
    record.op = op;
    record.pipe = static_cast<uint8_t>(pipe);
    record.sync = {static_cast<uint8_t>(source), static_cast<uint8_t>(destination),
                   static_cast<uint8_t>(event), static_cast<uint8_t>(peers), 0};
    return Add(record);
  }
  CoreProgram& Set(Pipe source, Pipe destination, int event) {
    return Sync(Op::SET_FLAG, source, source, destination, event);
  }
  CoreProgram& Wait(Pipe source, Pipe destination, int event) {
    return Sync(Op::WAIT_FLAG, destination, source, destination, event);
  }
  CoreProgram& Barrier(Pipe pipe) {
    return Sync(Op::PIPE_BARRIER, pipe == Pipe::kAll ? Pipe::kScalar : pipe, pipe, Pipe::kScalar,
                0);
  }
  CoreProgram& CrossSet(Pipe pipe, int event, int peers) {
    return Sync(Op::CROSS_SET, pipe, pipe, Pipe::kScalar, event, peers);
  }
  CoreProgram& CrossWait(Pipe pipe, int event, int peers) {
    return Sync(Op::CROSS_WAIT, pipe, Pipe::kScalar, pipe, event, peers);
  }

  static Operand Tile(Memory memory, uint64_t address, uint32_t rows, uint32_t columns, Dtype type,
                      uint8_t access) {
    return {.address = address,
            .bytes = rows * columns * kerf_log::DtypeBits(type) / 8,
            .rows = rows,
            .columns = columns,
            .valid_rows = rows,
            .valid_columns = columns,
            .memory = memory,
            .dtype = type,
            .layout = Layout::kNd,
            .access = access};
  }
  static Operand Ub(uint64_t address, uint32_t rows, uint32_t columns, uint8_t access) {
    return Tile(Memory::kUb, address, rows, columns, Dtype::kF32, access);
  }
  static Operand Gm(uint64_t address, uint32_t rows, uint32_t columns, uint8_t access) {
    return Tile(Memory::kGm, address, rows, columns, Dtype::kF32, access);
  }
  // f32, from (to) GM address 2^20 + ub, of the vector core's UB.
  CoreProgram& Load(uint64_t ub, uint32_t rows, uint32_t columns) {
    return Op1(Op::TLOAD, Pipe::kMte2,
               {Ub(ub, rows, columns, kerf_log::kWrite),
                Gm((1 << 20) + ub, rows, columns, kerf_log::kRead)},
               rows * columns * 4);
  }
  CoreProgram& Store(uint64_t ub, uint32_t rows, uint32_t columns) {
    return Op1(Op::TSTORE, Pipe::kMte3,
               {Gm((1 << 24) + ub, rows, columns, kerf_log::kWrite),
                Ub(ub, rows, columns, kerf_log::kRead)},
               rows * columns * 4);
  }
  CoreProgram& Unary(Op op, uint64_t to, uint64_t from, uint32_t rows, uint32_t columns) {
    return Op1(op, Pipe::kVector,
               {Ub(to, rows, columns, kerf_log::kWrite), Ub(from, rows, columns, kerf_log::kRead)});
  }
  CoreProgram& Binary(Op op, uint64_t to, uint64_t a, uint64_t b, uint32_t rows, uint32_t columns) {
    return Op1(op, Pipe::kVector,
               {Ub(to, rows, columns, kerf_log::kWrite), Ub(a, rows, columns, kerf_log::kRead),
                Ub(b, rows, columns, kerf_log::kRead)});
  }

 private:
  // kernel.cpp, one line per instruction of the test.
  uint32_t NextSite() {
    Site site;
    site.file = 1;
    site.line = static_cast<uint32_t>(log_.cores[core_].instructions.size());
    log_.sites.push_back(site);
    return static_cast<uint32_t>(log_.sites.size() - 1);
  }

  InstructionLog& log_;
  size_t core_;
};

class Program {
 public:
  Program() {
    log.strings = {"", "kernel.cpp"};
    log.sites.emplace_back();
  }
  CoreProgram Aiv(uint32_t block = 0, uint8_t lane = 0) {
    return Core(CoreKind::kAiv, block, lane);
  }
  CoreProgram Aic(uint32_t block = 0) { return Core(CoreKind::kAic, block, 0); }

  InstructionLog log;

 private:
  CoreProgram Core(CoreKind kind, uint32_t block, uint8_t lane) {
    for (size_t i = 0; i < log.cores.size(); ++i) {
      const CoreLog& core = log.cores[i];
      if (core.kind == kind && core.block == block && core.lane == lane) return {log, i};
    }
    CoreLog core;
    core.kind = kind;
    core.block = block;
    core.lane = lane;
    log.cores.push_back(std::move(core));
    return {log, log.cores.size() - 1};
  }
};

}  // namespace kerf::sim
