// Races of random programs against an oracle that is obviously right: the graph of causes, closed
// over, and every pair of accesses looked at byte by byte.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "sim/hazard/hazard.h"
#include "sim/log/log_testing.h"
#include "sim/timing/timing_testing.h"

namespace kerf::sim {
namespace {

// Of instruction i there are two moments: 2i it starts, 2i + 1 it is complete. edge[a][b]: a before
// b.
class Oracle {
 public:
  explicit Oracle(const InstructionLog& log, const RunTiming& timing, bool overlaps)
      : program_(log.cores[0].instructions),
        core_(log.cores[0]),
        times_(timing.cores[0].times),
        overlaps_(overlaps),
        size_(program_.size() * 2),
        edge_(size_, std::vector<bool>(size_)) {
    for (size_t i = 0; i < program_.size(); ++i) edge_[2 * i][2 * i + 1] = true;
    for (size_t i = 0; i < program_.size(); ++i) AddEdges(i);
    for (size_t k = 0; k < size_; ++k) {
      for (size_t a = 0; a < size_; ++a) {
        if (!edge_[a][k]) continue;
        for (size_t b = 0; b < size_; ++b) {
          if (edge_[k][b]) edge_[a][b] = true;
        }
      }
    }
  }

  std::set<std::pair<size_t, size_t>> Races() const {
    std::set<std::pair<size_t, size_t>> races;
    for (size_t a = 0; a < program_.size(); ++a) {
      for (size_t b = a + 1; b < program_.size(); ++b) {
        if (Ran(a) && Ran(b) && !Ordered(a, b) && Conflict(a, b)) races.insert({a, b});
      }
    }
    return races;
  }

 private:
  static bool Waits(Op op) { return op == Op::WAIT_FLAG || op == Op::PIPE_BARRIER; }
  bool Ran(size_t i) const { return times_[i].start != kNever; }
  bool InOrder(uint8_t pipe) const {
    return !(overlaps_ && pipe == static_cast<uint8_t>(Pipe::kVector));
  }

  void AddEdges(size_t i) {
    const Instruction& now = program_[i];
    for (size_t k = 0; k < i; ++k) {
      const Instruction& before = program_[k];
      const bool same = before.pipe == now.pipe;
      // In order inside a pipe: starts; completions too where the pipe does not overlap. A wait or
      // a barrier holds what follows; a barrier and a set see everything before complete.
      if (same) edge_[2 * k][2 * i] = true;
      if (same && (InOrder(now.pipe) || Waits(before.op) || now.op == Op::PIPE_BARRIER))
        edge_[2 * k + 1][2 * i] = true;
      if (same && now.op == Op::SET_FLAG) edge_[2 * k + 1][2 * i + 1] = true;
      // The scalar unit issues in order, and only goes on when its own wait is over.
      if (before.pipe == 0 && Waits(before.op)) edge_[2 * k + 1][2 * i] = true;
      // A barrier of all pipes.
      if (now.op == Op::PIPE_BARRIER && now.sync.source == static_cast<uint8_t>(Pipe::kAll))
        edge_[2 * k + 1][2 * i] = true;
    }
    if (now.op == Op::WAIT_FLAG && times_[i].partner != kNobody)
      edge_[2 * times_[i].partner + 1][2 * i + 1] = true;
  }

  bool Ordered(size_t a, size_t b) const {
    if (edge_[2 * a + 1][2 * b] || edge_[2 * b + 1][2 * a]) return true;
    const bool same = program_[a].pipe == program_[b].pipe;
    // A later write does not overtake an earlier read of its own pipe.
    return same && !Writes(a, b);
  }

  // Whether a, the earlier one, writes bytes that b touches.
  bool Writes(size_t a, size_t b) const { return Touch(a, b, true, false); }

  bool Conflict(size_t a, size_t b) const {
    return Touch(a, b, true, false) || Touch(a, b, false, true);
  }

  bool Touch(size_t a, size_t b, bool a_writes, bool b_writes) const {
    for (const Operand& x : core_.OperandsOf(a)) {
      for (const Operand& y : core_.OperandsOf(b)) {
        if (a_writes && (x.access & kerf_log::kWrite) == 0) continue;
        if (b_writes && (y.access & kerf_log::kWrite) == 0) continue;
        if (x.memory == y.memory && x.address < y.address + y.bytes &&
            y.address < x.address + x.bytes)
          return true;
      }
    }
    return false;
  }

  const std::vector<Instruction>& program_;
  const CoreLog& core_;
  const std::vector<InstructionTime>& times_;
  bool overlaps_;
  size_t size_;
  std::vector<std::vector<bool>> edge_;
};

Program Random(uint32_t seed) {
  std::mt19937 random(seed);
  Program program;
  CoreProgram p = program.Aiv();
  const auto below = [&](uint32_t n) { return random() % n; };
  constexpr Pipe kUsed[] = {Pipe::kScalar, Pipe::kMte2, Pipe::kMte3, Pipe::kVector};
  std::vector<std::tuple<Pipe, Pipe, int>> up;
  const uint32_t length = 4 + seed % 37;
  const uint32_t tiles = 2 + seed % 11;
  for (uint32_t i = 0; i < length; ++i) {
    const uint64_t tile = below(tiles) * 256;
    const Pipe from = kUsed[below(4)];
    const Pipe to = kUsed[below(4)];
    int event = 0;
    switch (below(9)) {
      case 0:
      case 1:
        p.Op1(Op::TLOAD, Pipe::kMte2, {CoreProgram::Ub(tile, 1, 64, kerf_log::kWrite)}, 256);
        break;
      case 2:
        p.Op1(Op::TSTORE, Pipe::kMte3, {CoreProgram::Ub(tile, 1, 64, kerf_log::kRead)}, 256);
        break;
      case 3:
      case 4:
        p.Unary(Op::TEXP, below(tiles) * 256, tile, 1, 64);
        break;
      case 5:
        if (from == to) break;
        event = static_cast<int>(below(3));
        p.Set(from, to, event);
        up.emplace_back(from, to, event);
        break;
      case 6:
      case 7:
        if (up.empty()) break;
        p.Wait(std::get<0>(up.back()), std::get<1>(up.back()), std::get<2>(up.back()));
        up.pop_back();
        break;
      default:
        p.Barrier(below(3) == 0 ? Pipe::kAll : Pipe::kVector);
    }
  }
  return program;
}

TEST(OrderOracle, RacesAreThoseOfTheGraphOfCauses) {
  int with = 0;
  int without = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    const char* chip = seed % 2 == 0 ? "ascend910b1" : "ascend950";
    const Program program = Random(seed);
    const CoreModel model = ChipModel(chip);
    const Checked checked = TimeAndCheck(program.log, model);
    const auto races = Oracle(program.log, checked.timing, model.vector_overlaps).Races();
    std::set<std::pair<size_t, size_t>> found;
    for (const Hazard& hazard : checked.hazards) {
      if (hazard.kind != HazardKind::kRace && hazard.kind != HazardKind::kMissingBarrier) continue;
      ASSERT_EQ(hazard.places.size(), 2U);
      found.insert({std::min(hazard.places[0].instruction, hazard.places[1].instruction),
                    std::max(hazard.places[0].instruction, hazard.places[1].instruction)});
    }
    // What is found is a race; and whoever races is found, if not with everybody it races with.
    std::set<size_t> named;
    for (const auto& pair : found) {
      EXPECT_TRUE(races.count(pair) != 0)
          << "seed " << seed << ": " << pair.first << ", " << pair.second << " are ordered";
      named.insert(pair.first);
      named.insert(pair.second);
    }
    for (const auto& [a, b] : races)
      EXPECT_TRUE(named.count(a) != 0 || named.count(b) != 0)
          << "seed " << seed << ": " << a << ", " << b << " was missed";
    EXPECT_EQ(found.empty(), races.empty()) << "seed " << seed;
    ++(races.empty() ? without : with);
  }
  EXPECT_GT(with, 100);
  EXPECT_GT(without, 10);
}

}  // namespace
}  // namespace kerf::sim
