// Which threads make a turn of a group's outer loops, and where its rows are kept.
#include <algorithm>

#include "synth/emit_cuda_group.h"
#include "synth/stage.h"

namespace kerf::synth {
namespace {

constexpr int64_t kManyTurns = 1 << 17;     // threads that fill a large GPU
constexpr int64_t kSharedBytes = 40 << 10;  // of the 48 KB that need no asking
constexpr int64_t kLocalElements = 64;      // of a thread's own arrays

int PowerOfTwo(int64_t value, int least, int most) {
  int power = least;
  while (power < most && power < value) power *= 2;
  return power;
}

bool HasScan(const Plan& plan, const Group& group) {
  for (const Pass& pass : group.passes) {
    for (const Statement& s : pass.statements) {
      if (plan.program.tensors[static_cast<size_t>(s.tensor)].kind == TensorKind::kScan)
        return true;
    }
  }
  return false;
}

CudaTeam ColumnTeam(int64_t turns, int64_t longest, bool scans) {
  if (scans || longest <= 16 || turns >= kManyTurns * 2) return {};
  const int64_t wanted = kManyTurns / std::max<int64_t>(1, turns);
  const int rows = PowerOfTwo(std::min(wanted, longest / 4), 1, 32);
  if (rows == 1) return {};
  return {CudaTeam::Kind::kColumn, rows, 32};
}

CudaTeam RowTeam(int64_t turns, int64_t longest) {
  if (longest <= 8 && turns >= kManyTurns) return {};
  if (longest <= 1024 && turns >= 1024) return {CudaTeam::Kind::kWarp, 32, 4};
  const int most = turns <= 512 || longest > 16384 ? 1024 : longest > 8192 ? 512 : 256;
  return {CudaTeam::Kind::kBlock, PowerOfTwo(longest / 4, 64, most), 1};
}

CudaTeam ChooseTeam(const Plan& plan, const Group& group) {
  const int64_t turns = LoopTurns(group.outer);
  int64_t longest = 0;
  for (const Pass& pass : group.passes) {
    if (!pass.loops.empty()) longest = std::max(longest, LoopTurns(pass.loops));
  }
  if (longest <= 1) return {};
  return group.lane >= 0 ? ColumnTeam(turns, longest, HasScan(plan, group))
                         : RowTeam(turns, longest);
}

// Bytes of on-chip memory that the rows of one block take.
bool RowsFit(const Plan& plan, const Group& group, const CudaTeam& team) {
  int64_t bytes = 0;
  int64_t elements = 0;
  const std::set<int> in_registers = RegisterRows(plan, group, team);
  for (const int id : group.rows) {
    if (in_registers.count(id) > 0) continue;
    const Tensor& t = plan.program.tensors[static_cast<size_t>(id)];
    const int64_t row = plan.storage[static_cast<size_t>(id)].row_elements;
    elements += row;
    bytes += row * team.per_block * static_cast<int64_t>(DTypeBytes(RegisterType(t.dtype)));
  }
  return team.kind == CudaTeam::Kind::kThread ? elements <= kLocalElements : bytes <= kSharedBytes;
}

}  // namespace

// A block of 1024 threads has 64 registers for each of them.
int64_t MostSteps(const CudaTeam& team) { return team.threads >= 1024 ? 16 : 32; }

int64_t RowLength(const Group& group) {
  int64_t length = 0;
  for (const Pass& pass : group.passes)
    length = std::max(length, pass.loops.empty() ? 0 : LoopTurns(pass.loops));
  return length;
}

Index FlatTurn(const Pass& pass) {
  Index flat(0);
  for (const Loop& loop : pass.loops) flat = flat * loop.extent + Index::Var(loop.var, loop.extent);
  return flat;
}

bool SharesRow(const Plan& plan, const Pass& pass, int64_t row_length) {
  for (const Statement& s : pass.statements) {
    if (plan.program.tensors[static_cast<size_t>(s.tensor)].kind == TensorKind::kScan) return false;
  }
  return !pass.loops.empty() && LoopTurns(pass.loops) == row_length &&
         (pass.kept == 0 || pass.kept == pass.loops.size());
}

std::set<int> RegisterRows(const Plan& plan, const Group& group, const CudaTeam& team) {
  if (team.kind != CudaTeam::Kind::kWarp && team.kind != CudaTeam::Kind::kBlock) return {};
  const int64_t length = RowLength(group);
  if (length > MostSteps(team) * team.threads) return {};
  std::set<int> rows(group.rows.begin(), group.rows.end());
  for (const Pass& pass : group.passes) {
    const bool shares = SharesRow(plan, pass, length);
    const Index flat = FlatTurn(pass);
    const auto check = [&](int id, const std::vector<Index>& at) {
      if (rows.count(id) > 0 && (!shares || !(PlaceOf(plan, id, at) == flat))) rows.erase(id);
    };
    for (const Statement& s : pass.statements) {
      if (plan.program.tensors[static_cast<size_t>(s.tensor)].kind == TensorKind::kReduce)
        rows.erase(s.tensor);
      check(s.tensor, s.at);
      VisitLoads(s.value, [&](const Expr& load) { check(load.tensor, load.indices); });
    }
  }
  return rows;
}

std::vector<CudaTeam> ChooseCudaTeams(Plan& plan) {
  std::vector<CudaTeam> teams;
  for (Group& group : plan.groups) {
    teams.push_back(group.special >= 0 ? CudaTeam{} : ChooseTeam(plan, group));
    if (RowsFit(plan, group, teams.back())) continue;
    // The largest first: what is left may fit.
    std::sort(group.rows.begin(), group.rows.end(), [&](int a, int b) {
      return plan.storage[static_cast<size_t>(a)].row_elements <
             plan.storage[static_cast<size_t>(b)].row_elements;
    });
    while (!RowsFit(plan, group, teams.back())) {
      plan.storage[static_cast<size_t>(group.rows.back())].place = Place::kGlobal;
      group.rows.pop_back();
    }
  }
  return teams;
}

}  // namespace kerf::synth
