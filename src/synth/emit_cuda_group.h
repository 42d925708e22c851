// One group of a plan as a CUDA kernel.
//
// A turn of the group's outer loops belongs to a team of threads, which share the passes' loops:
//
//   kThread   one thread          elements, windows, columns that are short
//   kWarp     32 lanes            short rows
//   kBlock    a block             long rows
//   kColumn   a column of a block the neighbours in memory are other turns: reductions over columns
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "synth/emit_expr.h"
#include "synth/lower.h"
#include "synth/plan.h"

namespace kerf::synth {

struct CudaTeam {
  enum class Kind { kThread, kWarp, kBlock, kColumn };
  Kind kind = Kind::kThread;
  int threads = 1;    // of a team
  int per_block = 1;  // teams
};

struct CudaFunction {
  std::string text;                 // device code
  std::string name;                 // of the kernel
  std::vector<int> arguments;       // tensors, in the order of the parameters
  std::vector<std::string> launch;  // lines of the host part
  std::optional<Refusal> refusal;
};

// Everything about the whole kernel that an emitter of one group needs.
struct CudaContext {
  const Plan& plan;
  const std::vector<std::string>& names;  // by tensor
  std::set<std::string>& helpers;
  std::vector<CudaTeam> teams;  // by group
  const char* index_type = "int";
};

const char* CudaType(DType stored);  // of an element in memory: "__half"
std::string CudaLoad(const CudaContext& context, int tensor, const std::string& place);
std::string CudaStored(DType stored, const std::string& value);
bool IsConstantInput(const Plan& plan, int tensor);
Refusal CudaRefusal(const Tensor& tensor, const std::string& reason);

// Decides the team of each group, and puts rows that do not fit on the chip into memory.
std::vector<CudaTeam> ChooseCudaTeams(Plan& plan);

// Rows that every pass reads and writes in the same order: each thread keeps its own part of them
// in registers.
std::set<int> RegisterRows(const Plan& plan, const Group& group, const CudaTeam& team);
// Whether the threads of a team share all turns of the pass, one after the other.
bool SharesRow(const Plan& plan, const Pass& pass, int64_t row_length);
int64_t RowLength(const Group& group);
// Elements of a row that a thread keeps in registers, at most.
int64_t MostSteps(const CudaTeam& team);
// The place of a turn among those of its pass.
Index FlatTurn(const Pass& pass);

CudaFunction EmitCudaGroup(const CudaContext& context, int group, const std::string& name);
// Nothing when the group is no sum of products that tiles can do.
std::optional<CudaFunction> EmitCudaProduct(const CudaContext& context, int group,
                                            const std::string& name);
CudaFunction EmitCudaSpecial(const CudaContext& context, int tensor, const std::string& name);

}  // namespace kerf::synth
