// AUL has no grammar; this keeps to its inventory: sub-kernels with tiles, moves and vector
// operations, and a host function that starts them.
#include "synth/aul.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "synth/stage.h"

namespace kerf::synth {
namespace {

std::string Word(const std::string& text) {
  std::string word;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain || (!word.empty() && word.back() != '_')) word += plain ? c : '_';
  }
  while (!word.empty() && word.back() == '_') word.pop_back();
  return word.empty() ? "t" : word;
}

std::string List(const std::vector<int64_t>& values) {
  std::string text = "(";
  for (const int64_t value : values) text += std::to_string(value) + ", ";
  if (values.size() > 1) text.resize(text.size() - 2);
  return values.empty()       ? "()"
         : values.size() == 1 ? text.substr(0, text.size() - 1) + ")"
                              : text + ")";
}

const char* CombineName(Combine combine) {
  switch (combine) {
    case Combine::kSum:
      return "sum";
    case Combine::kProd:
      return "prod";
    case Combine::kMax:
      return "max";
    case Combine::kMin:
      return "min";
    case Combine::kAny:
      return "any";
    case Combine::kAll:
      return "all";
    case Combine::kArgMax:
      return "argmax";
    case Combine::kArgMin:
      return "argmin";
    case Combine::kLogSumExp:
      return "logsumexp";
  }
  return "";
}

class AulWriter {
 public:
  explicit AulWriter(const Plan& plan) : plan_(plan) {
    std::set<std::string> taken;
    for (const Tensor& t : plan.program.tensors) {
      const std::string base = Word(!t.name.empty() ? t.name : !t.what.empty() ? t.what : t.op);
      std::string unique = base;
      for (int n = 1; !taken.insert(unique).second; ++n) unique = base + "_" + std::to_string(n);
      names_.push_back(unique);
    }
  }

  std::string Run() {
    text_ = "import aul as U\n";
    for (size_t g = 0; g < plan_.groups.size(); ++g) WriteGroup(g);
    WriteHost();
    return text_;
  }

 private:
  const Tensor& tensor(int id) const { return plan_.program.tensors[static_cast<size_t>(id)]; }
  const std::string& name(int id) const { return names_[static_cast<size_t>(id)]; }
  Place place(int id) const { return plan_.storage[static_cast<size_t>(id)].place; }

  void Line(int depth, const std::string& line) {
    text_ += std::string(static_cast<size_t>(depth) * 4, ' ') + line + "\n";
  }

  std::vector<int> Arguments(const Group& group) const {
    std::vector<int> ids;
    const auto add = [&](int id) {
      if (place(id) == Place::kGlobal && std::find(ids.begin(), ids.end(), id) == ids.end())
        ids.push_back(id);
    };
    if (group.special >= 0) {
      for (const int id : tensor(group.special).special.operands) add(id);
      add(group.special);
    }
    for (const Pass& pass : group.passes) {
      for (const Statement& s : pass.statements)
        VisitLoads(s.value, [&](const Expr& load) { add(load.tensor); });
    }
    for (const Pass& pass : group.passes) {
      for (const Statement& s : pass.statements) add(s.tensor);
    }
    return ids;
  }

  std::string KernelName(size_t g) const { return "step" + std::to_string(g + 1) + "_kernel"; }

  void WriteGroup(size_t g) {
    const Group& group = plan_.groups[g];
    std::string parameters;
    for (const int id : Arguments(group))
      parameters += (parameters.empty() ? "" : ", ") + name(id) + ": U.TensorPtr";
    text_ += "\n\n@sub_kernel\ndef " + KernelName(g) + "(" + parameters + "):\n";
    if (group.special >= 0) {
      Line(1, "# " + tensor(group.special).what + ": row by row, see the rationale");
      Line(1, "core = U.get_core_idx()");
      return;
    }
    std::vector<int64_t> outer;
    for (const Loop& loop : group.outer) outer.push_back(loop.extent);
    Line(1, "# outer loops " + List(outer) +
                (group.parallel ? ", shared by the cores" : ", on one core"));
    Line(1, "core = U.get_core_idx()");
    Line(1, "for turn in U.Pipelined(iterations=" + std::to_string(Iterations(group)) + "):");
    for (const int id : group.rows) {
      Line(2, name(id) + "_row = U.Tile(shape=(" +
                  std::to_string(plan_.storage[static_cast<size_t>(id)].row_elements) +
                  ",), dtype=U." + DTypeName(RegisterType(tensor(id).dtype)) + ", pos=U.VecBuf)");
    }
    for (const Pass& pass : group.passes) WritePass(group, pass);
  }

  static int64_t Iterations(const Group& group) {
    int64_t turns = 1;
    for (size_t k = 0; k < group.outer.size(); ++k) {
      const int64_t extent = group.outer[k].extent;
      const bool lane = static_cast<int>(k) == group.lane && group.lane_tile > 0;
      turns *= lane ? (extent + group.lane_tile - 1) / group.lane_tile : extent;
    }
    return turns;
  }

  void WritePass(const Group& group, const Pass& pass) {
    std::vector<int64_t> loops;
    for (const Loop& loop : pass.loops) loops.push_back(loop.extent);
    if (!loops.empty()) Line(2, "# pass over " + List(loops));
    for (const Statement& s : pass.statements) {
      std::set<int> read;
      VisitLoads(s.value, [&](const Expr& load) { read.insert(load.tensor); });
      for (const int id : read) {
        if (place(id) == Place::kGlobal && plan_.storage[static_cast<size_t>(id)].group !=
                                               plan_.storage[static_cast<size_t>(s.tensor)].group)
          Line(2, "U.data_copy(dst=" + name(id) + "_tile, src=" + name(id) +
                      ", src_pos=U.GlobalMem, dst_pos=U.VecBuf)");
      }
      const Tensor& t = tensor(s.tensor);
      std::string sources;
      for (const int id : read) sources += (sources.empty() ? "" : ", ") + name(id);
      const std::string what = t.what.empty() ? t.op : t.what;
      if (t.contraction) {
        Line(2, "U.matmul_op(dst=" + name(s.tensor) + ", src=[" + sources + "])  # " + what);
      } else if (t.kind == TensorKind::kReduce) {
        Line(2, "U.vreduce_op(op=\"" + std::string(CombineName(t.combine)) +
                    "\", dst=" + name(s.tensor) + ", src=[" + sources + "], axis=-1)  # " + what);
      } else if (t.kind == TensorKind::kScan) {
        Line(2, "U.vunary_op(op=\"cum" + std::string(CombineName(t.combine)) +
                    "\", dst=" + name(s.tensor) + ", src=[" + sources + "])  # " + what);
      } else {
        Line(2, "U.vunary_op(op=\"" + Word(what) + "\", dst=" + name(s.tensor) + ", src=[" +
                    sources + "])  # " + what);
      }
      if (place(s.tensor) == Place::kGlobal)
        Line(2, "U.data_copy(dst=" + name(s.tensor) + ", src=" + name(s.tensor) +
                    "_tile, src_pos=U.VecBuf, dst_pos=U.GlobalMem)");
    }
    (void)group;
  }

  void WriteHost() {
    std::string parameters;
    for (const int id : plan_.program.inputs) parameters += name(id) + ", ";
    std::string outputs;
    for (const int id : plan_.program.outputs) outputs += (outputs.empty() ? "" : ", ") + name(id);
    text_ += "\n\ndef run(" + parameters + outputs + "):\n";
    Line(1, "core_num = " + std::to_string(plan_.options.threads));
    const std::set<int> given(plan_.program.outputs.begin(), plan_.program.outputs.end());
    for (size_t i = 0; i < plan_.storage.size(); ++i) {
      const Tensor& t = plan_.program.tensors[i];
      const int id = static_cast<int>(i);
      if (place(id) == Place::kGlobal && t.kind != TensorKind::kInput && given.count(id) == 0)
        Line(1, name(id) + " = U.SetGlobalTensorPtr(" + std::to_string(t.numel()) + ", U." +
                    DTypeName(t.dtype) + ")");
    }
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      std::string arguments;
      for (const int id : Arguments(plan_.groups[g]))
        arguments += (arguments.empty() ? "" : ", ") + name(id);
      Line(1, KernelName(g) + "[" + (plan_.groups[g].parallel ? "core_num" : "1") + "](" +
                  arguments + ")");
    }
  }

  const Plan& plan_;
  std::vector<std::string> names_;
  std::string text_;
};

}  // namespace

std::string WriteAul(const Plan& plan, const Graph&) { return AulWriter(plan).Run(); }

std::string WriteRationale(const Plan& plan, const Graph& graph) {
  std::string text = std::to_string(graph.nodes.size()) + " operations in " +
                     std::to_string(plan.groups.size()) +
                     (plan.groups.size() == 1 ? " step.\n" : " steps.\n");
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    text += "Step " + std::to_string(g + 1) + ": ";
    if (group.special >= 0) {
      const Tensor& tensor = plan.program.tensors[static_cast<size_t>(group.special)];
      text += tensor.what +
              (tensor.special.attention != nullptr
                   ? ": a tile of queries meets the keys block by block, and keeps its largest "
                     "score and its sums; the matrix of scores is never in memory.\n"
                   : ", an algorithm of its own, row by row.\n");
      continue;
    }
    std::set<std::string> said;
    std::string what;
    for (const Pass& pass : group.passes) {
      for (const Statement& s : pass.statements) {
        const Tensor& t = plan.program.tensors[static_cast<size_t>(s.tensor)];
        const std::string word = t.what.empty() ? t.op : t.what;
        if (said.insert(word).second) what += (what.empty() ? "" : ", ") + word;
      }
    }
    text += what + ". ";
    const Tensor& first =
        plan.program.tensors[static_cast<size_t>(group.passes[0].statements[0].tensor)];
    if (first.contraction) {
      text +=
          "The sums are tiled for registers and cache; what follows is done while they are in "
          "registers. ";
    } else if (group.passes.size() > 1) {
      text += std::to_string(group.passes.size()) +
              " passes share the outer loops, so that a row is read from memory once. ";
    }
    if (group.lane >= 0 && !first.contraction) {
      text += "Vectors are filled along an outer axis, which is contiguous in memory, " +
              std::to_string(group.lane_tile) + " elements at a time. ";
    } else if (!first.contraction) {
      text += "Vectors are filled along the innermost axis. ";
    }
    text += group.parallel ? "The threads share the outer loops.\n"
                           : "One thread: too little work for more.\n";
  }
  return text;
}

}  // namespace kerf::synth
