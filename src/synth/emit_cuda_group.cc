// The kernel around a group's passes. What one turn of a pass does is in emit_cuda_writer.cc.
#include "synth/emit_cuda_group.h"

#include <algorithm>

#include "base/check.h"
#include "synth/contraction_text.h"
#include "synth/emit_cuda_writer.h"
#include "synth/stage.h"

namespace kerf::synth {
namespace {

constexpr int kElementThreads = 256;

class CudaGroupEmitter : public CudaWriter {
 public:
  CudaGroupEmitter(const CudaContext& context, int group)
      : CudaWriter(context, group),
        team_(context.teams[static_cast<size_t>(group)]),
        int_(context.index_type),
        turns_(LoopTurns(group_.outer)) {}

  CudaFunction Run(const std::string& function) {
    CudaFunction made;
    made.name = function;
    if (turns_ == 0) return made;
    NameLoops();
    CollectArguments();
    ChoosePack();
    ChooseKept();
    Describe();
    DescribeTeam();
    const int threads = is_thread() ? kElementThreads : team_.threads * team_.per_block;
    code_.Open("__global__ void __launch_bounds__(" + Number(threads) + ") " + function + "(" +
               Parameters() + ")");
    EmitTurn();
    EmitBuffers();
    for (size_t p = 0; p < group_.passes.size(); ++p) EmitPass(p);
    code_.Close();
    made.text = code_.text();
    made.arguments = arguments_;
    made.launch = Launch(function);
    return made;
  }

 private:
  using Kind = CudaTeam::Kind;
  [[nodiscard]] bool is_thread() const { return team_.kind == Kind::kThread; }
  [[nodiscard]] bool StoresAlone() const override { return alone_; }

  // ---- names ----

  void NameLoops() {
    for (size_t k = 0; k < group_.outer.size(); ++k) {
      if (static_cast<int>(k) != group_.lane) order_.push_back(k);
    }
    if (group_.lane >= 0) order_.push_back(static_cast<size_t>(group_.lane));
    size_t number = 0;
    for (const size_t k : order_) {
      const bool lane = static_cast<int>(k) == group_.lane;
      const bool one = order_.size() == (group_.lane >= 0 ? 2U : 1U);
      vars_[group_.outer[k].var] = lane ? "col" : one ? "row" : "i" + std::to_string(number++);
    }
    for (const Pass& pass : group_.passes) {
      for (size_t k = 0; k < pass.loops.size(); ++k) {
        const bool reduced = k >= pass.kept;
        const size_t count = reduced ? pass.loops.size() - pass.kept : pass.kept;
        const std::string letter = reduced ? "k" : "j";
        vars_[pass.loops[k].var] = pass.loops.size() == 1 && group_.lane < 0 ? "col"
                                   : count == 1
                                       ? letter
                                       : letter + std::to_string(reduced ? k - pass.kept : k);
      }
    }
  }

  void DescribeTeam() {
    switch (team_.kind) {
      case Kind::kThread:
        code_.Comment(pack_ > 1 ? "One thread makes " + Number(pack_) +
                                      " neighbouring elements, which it reads and writes at once."
                                : "One thread for each turn; neighbours in memory are neighbours "
                                  "in a warp.");
        break;
      case Kind::kWarp:
        code_.Comment("One warp for each row: its lanes share the row and join by shuffles.");
        break;
      case Kind::kBlock:
        code_.Comment("One block of " + Number(team_.threads) + " threads for each row.");
        break;
      case Kind::kColumn:
        code_.Comment("A block has 32 neighbouring columns, so that reads are coalesced; " +
                      Number(team_.threads) + " threads share each of them.");
        break;
    }
    if (!kept_.empty())
      code_.Comment("Each thread keeps its part of the row in registers: memory is read once.");
  }

  // ---- packs ----

  [[nodiscard]] int PackOf(const std::vector<int>& tensors, int64_t extent) const {
    size_t largest = 1;
    for (const int id : tensors) largest = std::max(largest, DTypeBytes(tensor(id).dtype));
    int pack = static_cast<int>(16 / largest);
    while (pack > 1 && extent % pack != 0) pack /= 2;
    return pack;
  }

  // Steps by one along the variable, and every run of `pack` elements begins at a multiple of it.
  [[nodiscard]] bool Packable(const Index& place, int var, int64_t pack) const {
    if (place.constant() % pack != 0) return false;
    bool along = false;
    for (const IndexTerm& term : place.terms()) {
      if (term.atom->kind == Atom::Kind::kVar && term.atom->var == var) {
        along = term.factor == 1;
        if (!along) return false;
      } else {
        if (term.factor % pack != 0) return false;
        if (term.atom->kind == Atom::Kind::kValue) return false;
        if (term.atom->kind != Atom::Kind::kVar && term.atom->inner.Mentions(var)) return false;
      }
    }
    return along;
  }

  [[nodiscard]] bool LoadPacks(const Expr& load, const Pass& pass, int var, int pack) const {
    const Storage& s = storage(load.tensor);
    if (s.place != Place::kGlobal || IsConstantInput(context_.plan, load.tensor)) return false;
    if (s.group == index_) {
      if (IsScalar(load.tensor)) return false;
      for (const Statement& other : pass.statements) {
        if (other.tensor == load.tensor) return false;
      }
    }
    return InsideShape(tensor(load.tensor).shape, load.indices) &&
           Packable(PlaceOf(context_.plan, load.tensor, load.indices), var, pack);
  }

  // Tensors of the pass that would be read or written in packs.
  [[nodiscard]] std::vector<int> PackedTensors(const Pass& pass, int var, int pack) const {
    std::vector<int> ids;
    for (const Statement& s : pass.statements) {
      VisitLoads(s.value, [&](const Expr& load) {
        if (LoadPacks(load, pass, var, pack)) ids.push_back(load.tensor);
      });
      if (StorePacks(s, var, pack)) ids.push_back(s.tensor);
    }
    return ids;
  }

  [[nodiscard]] bool StorePacks(const Statement& s, int var, int pack) const {
    return !Reduces(s) && storage(s.tensor).place == Place::kGlobal &&
           Packable(PlaceOf(context_.plan, s.tensor, s.at), var, pack);
  }

  // How many elements of a loop over `var` one thread takes at once; 1 when nothing is gained.
  [[nodiscard]] int PackFor(const Pass& pass, int var, int64_t extent) const {
    for (int pack = PackOf(PackedTensors(pass, var, 1), extent); pack > 1; pack /= 2) {
      if (!PackedTensors(pass, var, pack).empty()) return pack;
    }
    return 1;
  }

  void ChoosePack() {
    pack_ = 1;
    if (is_thread() && group_.lane >= 0 && group_.passes.size() == 1 &&
        group_.passes[0].loops.empty() && !Reduces(group_.passes[0].statements[0])) {
      const Loop& lane = group_.outer[static_cast<size_t>(group_.lane)];
      pack_ = PackFor(group_.passes[0], lane.var, lane.extent);
    }
    row_pack_ = 0;
    if (team_.kind != Kind::kWarp && team_.kind != Kind::kBlock) return;
    for (const Pass& pass : group_.passes) {
      if (pass.loops.empty()) continue;
      const int pack =
          pass.loops.size() == 1 ? PackFor(pass, pass.loops[0].var, pass.loops[0].extent) : 1;
      if (pass.loops.size() == 1 && PackedTensors(pass, pass.loops[0].var, 1).empty()) continue;
      row_pack_ = row_pack_ == 0 ? pack : std::min(row_pack_, pack);
    }
    row_pack_ = std::max(row_pack_, 1);
    for (const Pass& pass : group_.passes) {
      if (!pass.loops.empty() && (pass.loops.size() > 1 || pass.loops[0].extent % row_pack_ != 0))
        row_pack_ = 1;
    }
  }

  // Reads of the packs of one loop, before the loop over their elements.
  void LoadAllPacks(const Pass& pass, int var, int pack) {
    context_.helpers.insert("Pack");
    std::set<int> used;
    for (const Statement& s : pass.statements) {
      VisitLoads(s.value, [&](const Expr& load) {
        if (!LoadPacks(load, pass, var, pack)) return;
        const Index place = PlaceOf(context_.plan, load.tensor, load.indices);
        const uint64_t key = MixHash(place.hash(), static_cast<uint64_t>(load.tensor));
        if (packs_.count(key) > 0 || kept_now_.count(key) > 0) return;
        std::string pack_name = name(load.tensor) + "_pack";
        if (!used.insert(load.tensor).second)
          pack_name += Number(static_cast<int64_t>(packs_.size()));
        packs_[key] = pack_name;
        code_.Line("const auto " + pack_name + " = load_pack<" + Number(pack) + ">(" +
                   name(load.tensor) + " + " + writer_.Text(place) + ");");
      });
    }
    for (const Statement& s : pass.statements) {
      if (!StorePacks(s, var, pack)) continue;
      code_.Line("Pack<" + std::string(CudaType(tensor(s.tensor).dtype)) + ", " + Number(pack) +
                 "> " + name(s.tensor) + "_out;");
      stored_packs_.insert(s.tensor);
    }
  }

  // The turns of `pack` neighbouring elements that begin at `base`.
  void EmitPackTurns(const Pass& pass, int var, int pack, const std::string& base) {
    const std::string own = vars_[var];
    vars_[var] = base;
    LoadAllPacks(pass, var, pack);
    vars_[var] = own;
    code_.Line("#pragma unroll");
    code_.Open("for (int v = 0; v < " + Number(pack) + "; ++v)");
    code_.Line("const " + int_ + " " + own + " = " + base + " + v;");
    EmitBody(pass);
    code_.Close();
    vars_[var] = base;
    for (const Statement& s : pass.statements) {
      if (stored_packs_.count(s.tensor) == 0) continue;
      code_.Line("store_pack(" + name(s.tensor) + " + " +
                 writer_.Text(PlaceOf(context_.plan, s.tensor, s.at)) + ", " + name(s.tensor) +
                 "_out);");
    }
    vars_[var] = own;
    packs_.clear();
    stored_packs_.clear();
  }

  static std::string FromStored(DType stored, const std::string& text) {
    if (stored == DType::kFloat16) return "__half2float(" + text + ")";
    if (stored == DType::kBFloat16) return "__bfloat162float(" + text + ")";
    return text;
  }

  std::string LoadText(const Expr& load) override {
    if (in_register_.count(load.tensor) == 0) {
      const Index place = PlaceOf(context_.plan, load.tensor, load.indices);
      const uint64_t key = MixHash(place.hash(), static_cast<uint64_t>(load.tensor));
      const auto kept = kept_now_.find(key);
      if (kept != kept_now_.end()) return kept->second + "[" + kept_at_ + "]";
      const auto pack = packs_.find(key);
      if (pack != packs_.end())
        return FromStored(tensor(load.tensor).dtype, pack->second + ".at[v]");
    }
    return CudaWriter::LoadText(load);
  }

  std::string StoreText(int id, const std::vector<Index>& at, const std::string& value) override {
    if (stored_packs_.count(id) > 0)
      return name(id) + "_out.at[v] = " + CudaStored(tensor(id).dtype, Unwrapped(value)) + ";";
    if (kept_rows_.count(id) > 0)
      return name(id) + "_kept[" + kept_at_ + "] = " + Unwrapped(value) + ";";
    return CudaWriter::StoreText(id, at, value);
  }

  // ---- rows in registers ----

  [[nodiscard]] bool SharesRows(const Pass& pass) const {
    return SharesRow(context_.plan, pass, row_length_);
  }

  [[nodiscard]] bool MentionsLoops(const Index& index, const Pass& pass) const {
    return std::any_of(pass.loops.begin(), pass.loops.end(),
                       [&](const Loop& loop) { return index.Mentions(loop.var); });
  }

  void ChooseKept() {
    if (team_.kind != Kind::kWarp && team_.kind != Kind::kBlock) return;
    row_length_ = RowLength(group_);
    kept_rows_ = RegisterRows(context_.plan, group_, team_);
    const int64_t threads = team_.threads * row_pack_;
    steps_ = (row_length_ + threads - 1) / threads;
    if (row_length_ > MostSteps(team_) * team_.threads) return;
    std::map<uint64_t, int> readers;  // (tensor, place of the row) → passes
    std::map<uint64_t, std::string> names;
    for (size_t p = 0; p < group_.passes.size(); ++p) {
      const Pass& pass = group_.passes[p];
      std::set<uint64_t> seen;
      for (const Statement& s : pass.statements) {
        VisitLoads(s.value, [&](const Expr& load) {
          const Index place = PlaceOf(context_.plan, load.tensor, load.indices);
          const bool same = SharesRows(pass);
          const Index rest = same ? place - FlatTurn(pass) : place;
          if (!same || MentionsLoops(rest, pass) || storage(load.tensor).place != Place::kGlobal ||
              storage(load.tensor).group == index_ || IsConstantInput(context_.plan, load.tensor) ||
              !InsideShape(tensor(load.tensor).shape, load.indices) || !Varies(rest))
            return;
          const uint64_t key = MixHash(rest.hash(), static_cast<uint64_t>(load.tensor));
          if (seen.insert(key).second) ++readers[key];
          names[key] = name(load.tensor) + "_kept";
          kept_type_[key] = CppType(tensor(load.tensor).dtype);
        });
      }
    }
    std::set<std::string> taken;
    for (const auto& [key, count] : readers) {
      if (count < 2 || !taken.insert(names[key]).second) continue;
      if (static_cast<int64_t>(kept_.size() + kept_rows_.size() + 1) * steps_ * row_pack_ >
          2 * MostSteps(team_))
        break;
      kept_[key] = names[key];
    }
  }

  // Something that other rows share anyway is left to the cache.
  [[nodiscard]] bool Varies(const Index& rest) const {
    return group_.outer.empty() ||
           std::any_of(group_.outer.begin(), group_.outer.end(),
                       [&](const Loop& loop) { return rest.Mentions(loop.var); });
  }

  [[nodiscard]] bool Unrolled(const Pass& pass) const {
    return (!kept_.empty() || !kept_rows_.empty()) && SharesRows(pass);
  }

  // Loads of the pass whose values are or will be in registers, by the place they have here.
  void BeginKept(const Pass& pass, const std::string& base, bool packed) {
    kept_at_ = packed ? "step * " + Number(row_pack_) + " + v" : "step";
    for (const Statement& s : pass.statements) {
      VisitLoads(s.value, [&](const Expr& load) {
        const Index place = PlaceOf(context_.plan, load.tensor, load.indices);
        const uint64_t here = MixHash(place.hash(), static_cast<uint64_t>(load.tensor));
        if (kept_rows_.count(load.tensor) > 0) {
          kept_now_[here] = name(load.tensor) + "_kept";
          return;
        }
        if (storage(load.tensor).place != Place::kGlobal) return;
        const Index rest = place - FlatTurn(pass);
        const uint64_t key = MixHash(rest.hash(), static_cast<uint64_t>(load.tensor));
        const auto kept = kept_.find(key);
        if (kept == kept_.end() || kept_now_.count(here) > 0) return;
        if (loaded_.insert(key).second)
          ReadKept(load.tensor, place, kept->second, pass, base, packed);
        kept_now_[here] = kept->second;
      });
    }
  }

  void ReadKept(int id, const Index& place, const std::string& array, const Pass& pass,
                const std::string& base, bool packed) {
    if (!packed) {
      code_.Line(array + "[step] = " + CudaLoad(context_, id, writer_.Text(place)) + ";");
      return;
    }
    context_.helpers.insert("Pack");
    const int var = pass.loops[0].var;
    const std::string own = vars_[var];
    vars_[var] = base;
    const bool wide = Packable(place, var, row_pack_);
    if (wide)
      code_.Line("const auto " + name(id) + "_read = load_pack<" + Number(row_pack_) + ">(" +
                 name(id) + " + " + writer_.Text(place) + ");");
    code_.Line("#pragma unroll");
    vars_[var] = "(" + base + " + v)";
    code_.Line("for (int v = 0; v < " + Number(row_pack_) + "; ++v) " + array + "[" + kept_at_ +
               "] = " +
               (wide ? FromStored(tensor(id).dtype, name(id) + "_read.at[v]")
                     : CudaLoad(context_, id, writer_.Text(place))) +
               ";");
    vars_[var] = own;
  }

  // ---- the kernel ----

  void EmitTurn() {
    if (is_thread()) {
      turn_count_ = turns_ / pack_;
      code_.Line("const " + int_ + " turn = " + Cast("blockIdx.x") + " * " +
                 Number(kElementThreads) + " + threadIdx.x;");
      code_.Line("if (turn >= " + Number(turn_count_) + ") return;");
    } else if (team_.kind == Kind::kWarp) {
      code_.Line("const int rank = threadIdx.x % 32;");
      code_.Line("const int team = threadIdx.x / 32;");
      code_.Line("const " + int_ + " turn = " + Cast("blockIdx.x") + " * " +
                 Number(team_.per_block) + " + team;");
      code_.Line("if (turn >= " + Number(turns_) + ") return;");
    } else if (team_.kind == Kind::kBlock) {
      code_.Line("const int rank = threadIdx.x;");
      if (!order_.empty()) code_.Line("const " + int_ + " turn = blockIdx.x;");
    } else {
      code_.Line("const int rank = threadIdx.y;");
      code_.Comment("Columns beyond the last one repeat it, so that all threads meet at barriers.");
      code_.Line("const " + int_ + " here = " + Cast("blockIdx.x") + " * 32 + threadIdx.x;");
      code_.Line("const " + int_ + " turn = here < " + Number(turns_) +
                 " ? here : " + Number(turns_ - 1) + ";");
    }
    Decode("turn", order_, group_.outer, pack_);
  }

  [[nodiscard]] std::string Cast(const std::string& text) const { return "(" + int_ + ")" + text; }

  // Names of loop variables from the number of a turn; the last one steps by `pack`.
  void Decode(const std::string& from, const std::vector<size_t>& order,
              const std::vector<Loop>& loops, int pack) {
    int64_t below = 1;
    std::vector<std::string> lines;
    for (size_t n = order.size(); n-- > 0;) {
      const Loop& loop = loops[order[n]];
      const bool last = n + 1 == order.size();
      const int64_t extent = last ? loop.extent / pack : loop.extent;
      std::string text = from;
      if (below > 1) text += " / " + Number(below);
      if (n > 0) text = (below > 1 ? "(" + text + ")" : text) + " % " + Number(extent);
      const bool simple = text.find(' ') == std::string::npos;
      if (last && pack > 1) text = (simple ? text : "(" + text + ")") + " * " + Number(pack);
      const std::string& var = vars_[loop.var];
      lines.push_back("const " + int_ + " " + var + (last && pack > 1 ? "0" : "") + " = " + text +
                      ";");
      below *= extent;
    }
    for (size_t n = lines.size(); n-- > 0;) code_.Line(lines[n]);
  }

  void EmitBuffers() {
    for (const int id : group_.rows) {
      const std::string type = CppType(tensor(id).dtype);
      const std::string count = Number(storage(id).row_elements);
      if (kept_rows_.count(id) > 0) {
        code_.Line(type + " " + name(id) + "_kept[" + Number(steps_ * row_pack_) + "];");
        continue;
      }
      switch (team_.kind) {
        case Kind::kThread:
          code_.Line(type + " " + name(id) + "_row[" + count + "];");
          break;
        case Kind::kWarp:
          code_.Line("__shared__ " + type + " " + name(id) + "_rows[" + Number(team_.per_block) +
                     "][" + count + "];");
          code_.Line(type + "* " + name(id) + "_row = " + name(id) + "_rows[team];");
          break;
        case Kind::kBlock:
          code_.Line("__shared__ " + type + " " + name(id) + "_row[" + count + "];");
          break;
        case Kind::kColumn:
          code_.Line("__shared__ " + type + " " + name(id) + "_row[" + count + "][32];");
          row_suffix_ = "[threadIdx.x]";
          break;
      }
    }
    for (const auto& [key, array] : kept_)
      code_.Line(kept_type_[key] + " " + array + "[" + Number(steps_ * row_pack_) + "];");
  }

  void OpenLoop(const Loop& loop) {
    const std::string& var = vars_[loop.var];
    code_.Open("for (" + int_ + " " + var + " = 0; " + var + " < " + Number(loop.extent) + "; ++" +
               var + ")");
  }

  static std::vector<Loop> Slice(const std::vector<Loop>& loops, size_t from, size_t to) {
    return {loops.begin() + static_cast<int64_t>(from), loops.begin() + static_cast<int64_t>(to)};
  }

  // A loop over `loops` that the threads of the team share.
  void OpenShared(const std::vector<Loop>& loops) {
    const int64_t total = LoopTurns(loops);
    if (loops.size() == 1) {
      const std::string& var = vars_[loops[0].var];
      code_.Open("for (" + int_ + " " + var + " = rank; " + var + " < " + Number(total) + "; " +
                 var + " += " + Number(team_.threads) + ")");
      return;
    }
    code_.Open("for (" + int_ + " at = rank; at < " + Number(total) +
               "; at += " + Number(team_.threads) + ")");
    std::vector<size_t> order;
    for (size_t i = 0; i < loops.size(); ++i) order.push_back(i);
    Decode("at", order, loops, 1);
  }

  // All turns of a pass, each by one thread of the team.
  void EmitSharedTurns(const Pass& pass, const std::vector<Loop>& loops) {
    const int64_t total = LoopTurns(loops);
    const bool whole = loops.size() == pass.loops.size();
    const int pack = whole && loops.size() == 1 && row_pack_ > 1 ? row_pack_ : 1;
    const bool unrolled = whole && Unrolled(pass);
    const std::string var = loops.size() == 1 ? vars_[loops[0].var] : "at";
    if (!unrolled && pack == 1) {
      OpenShared(loops);
      EmitBody(pass);
      code_.Close();
      return;
    }
    const std::string base = pack > 1 ? var + "0" : var;
    const int64_t stride = static_cast<int64_t>(team_.threads) * pack;
    const std::string first = pack > 1 ? "rank * " + Number(pack) : "rank";
    if (unrolled) {
      code_.Line("#pragma unroll");
      code_.Open("for (int step = 0; step < " + Number(steps_) + "; ++step)");
      code_.Line("const " + int_ + " " + base + " = " + first + " + step * " + Number(stride) +
                 ";");
      if (total % stride != 0) code_.Line("if (" + base + " >= " + Number(total) + ") break;");
    } else {
      code_.Open("for (" + int_ + " " + base + " = " + first + "; " + base + " < " + Number(total) +
                 "; " + base + " += " + Number(stride) + ")");
    }
    if (loops.size() > 1) {
      std::vector<size_t> order;
      for (size_t i = 0; i < loops.size(); ++i) order.push_back(i);
      Decode("at", order, loops, 1);
    }
    if (unrolled) BeginKept(pass, base, pack > 1);
    if (pack > 1) {
      EmitPackTurns(pass, loops[0].var, pack, base);
    } else {
      EmitBody(pass);
    }
    kept_now_.clear();
    code_.Close();
  }

  void EmitPass(size_t p) {
    const Pass& pass = group_.passes[p];
    std::string what;
    for (const Statement& s : pass.statements) {
      const Tensor& t = tensor(s.tensor);
      if (!t.what.empty()) what += (what.empty() ? "" : ", ") + t.what;
    }
    if (group_.passes.size() > 1 && !what.empty()) code_.Comment(what);
    const bool scans = std::any_of(pass.statements.begin(), pass.statements.end(),
                                   [&](const Statement& s) { return Scans(s); });
    if (scans) {
      EmitScanPass(pass);
    } else if (is_thread()) {
      EmitThreadPass(pass);
    } else {
      EmitTeamPass(pass);
    }
    if (!is_thread() && ReadLater(p))
      code_.Line(team_.kind == Kind::kWarp ? "__syncwarp();" : "__syncthreads();");
  }

  // Whether another thread of the team may read what this pass wrote.
  [[nodiscard]] bool ReadLater(size_t p) const {
    bool found = false;
    for (const Statement& s : group_.passes[p].statements) {
      const Place place = storage(s.tensor).place;
      if (place != Place::kRow && place != Place::kGlobal) continue;
      if (kept_rows_.count(s.tensor) > 0 || IsScalar(s.tensor)) continue;
      for (size_t later = p + 1; later < group_.passes.size(); ++later) {
        for (const Statement& other : group_.passes[later].statements)
          VisitLoads(other.value,
                     [&](const Expr& load) { found = found || load.tensor == s.tensor; });
      }
    }
    return found;
  }

  [[nodiscard]] bool AnyReduces(const Pass& pass) const {
    return std::any_of(pass.statements.begin(), pass.statements.end(),
                       [&](const Statement& s) { return Reduces(s); });
  }

  void EmitThreadPass(const Pass& pass) {
    if (pack_ > 1)
      return EmitPackTurns(pass, group_.outer[static_cast<size_t>(group_.lane)].var, pack_, "col0");
    const size_t before = AnyReduces(pass) ? pass.kept : pass.loops.size();
    for (size_t i = 0; i < before; ++i) OpenLoop(pass.loops[i]);
    DeclareAccumulators(pass);
    for (size_t i = before; i < pass.loops.size(); ++i) OpenLoop(pass.loops[i]);
    EmitBody(pass);
    for (size_t i = before; i < pass.loops.size(); ++i) code_.Close();
    Finish(pass, false);
    for (size_t i = 0; i < before; ++i) code_.Close();
  }

  void EmitTeamPass(const Pass& pass) {
    const bool reduces = AnyReduces(pass);
    if (pass.loops.empty() || (!reduces)) {
      if (pass.loops.empty()) {
        alone_ = true;
        DeclareAccumulators(pass);
        EmitBody(pass);
        Finish(pass, false);
        alone_ = false;
        return;
      }
      return EmitSharedTurns(pass, pass.loops);
    }
    const std::vector<Loop> kept = Slice(pass.loops, 0, pass.kept);
    const std::vector<Loop> reduced = Slice(pass.loops, pass.kept, pass.loops.size());
    if (!kept.empty() && (LoopTurns(reduced) <= 32 || LoopTurns(kept) >= team_.threads)) {
      OpenShared(kept);
      DeclareAccumulators(pass);
      for (const Loop& loop : reduced) OpenLoop(loop);
      EmitBody(pass);
      for (size_t i = 0; i < reduced.size(); ++i) code_.Close();
      Finish(pass, false);
      code_.Close();
      return;
    }
    for (const Loop& loop : kept) OpenLoop(loop);
    DeclareAccumulators(pass);
    EmitSharedTurns(pass, reduced);
    alone_ = true;
    Finish(pass, true);
    alone_ = false;
    for (size_t i = 0; i < kept.size(); ++i) code_.Close();
  }

  // Sums of float32 meet in float64: that costs a few additions for each row, and means are taken
  // from what they are the mean of.
  [[nodiscard]] DType JoinType(const Statement& s) const {
    const DType type = AccumulatorType(s);
    return type == DType::kFloat32 && tensor(s.tensor).combine == Combine::kSum ? DType::kFloat64
                                                                                : type;
  }

  void JoinTeam(const Statement& s) {
    const Tensor& t = tensor(s.tensor);
    const std::string acc = name(s.tensor) + "_acc";
    const std::string place = name(s.tensor) + "_place";
    const DType type = JoinType(s);
    const std::string cpp = CppType(type);
    const std::string parts = name(s.tensor) + "_parts";
    const std::string places = name(s.tensor) + "_places";
    const bool arg = IsArg(t.combine);
    const std::string largest = t.combine == Combine::kArgMax ? "true" : "false";
    const std::string dims = team_.kind == Kind::kBlock ? "[" + Number(team_.threads / 32) + "]"
                                                        : "[" + Number(team_.threads) + "][32]";
    if (team_.kind != Kind::kWarp) {
      code_.Line("__shared__ " + cpp + " " + parts + dims + ";");
      if (arg) code_.Line("__shared__ int64_t " + places + dims + ";");
    }
    const std::string threads = Number(team_.threads);
    if (arg) {
      const std::string word = team_.kind == Kind::kWarp    ? "warp_best"
                               : team_.kind == Kind::kBlock ? "block_best"
                                                            : "column_best";
      context_.helpers.insert(word);
      const std::string count = team_.kind == Kind::kWarp ? "" : ", " + threads;
      const std::string shared = team_.kind == Kind::kWarp ? "" : ", " + parts + ", " + places;
      code_.Line(word + "<" + largest + count + ">(" + acc + ", " + place + shared + ");");
      return;
    }
    const std::string word = team_.kind == Kind::kWarp    ? "warp_join"
                             : team_.kind == Kind::kBlock ? "block_join"
                                                          : "column_join";
    context_.helpers.insert(word);
    const std::string shared = team_.kind == Kind::kWarp ? "" : ", " + parts;
    const bool widened = type != AccumulatorType(s);
    code_.Line((widened ? "const double " + acc + "_all = " : acc + " = ") + word + "<" + threads +
               ">(" + (widened ? "(double)" : "") + acc + shared + ", " +
               JoinFunction(t.combine, type) + ");");
  }

  void Finish(const Pass& pass, bool join) {
    for (const Statement& s : pass.statements) {
      if (!Reduces(s)) continue;
      const Tensor& t = tensor(s.tensor);
      if (join) JoinTeam(s);
      const bool arg = IsArg(t.combine);
      const DType type = arg ? DType::kInt64 : join ? JoinType(s) : AccumulatorType(s);
      std::string result = name(s.tensor) + (arg ? "_place" : "_acc");
      if (!arg && type != AccumulatorType(s)) result += "_all";
      const std::string cpp = CppType(t.dtype);
      if (cpp != CppType(type)) result = "(" + cpp + ")" + result;
      if (IsScalar(s.tensor)) {
        code_.Line("const " + cpp + " " + ScalarName(s.tensor) + " = " + result + ";");
        result = ScalarName(s.tensor);
      }
      if (storage(s.tensor).place != Place::kScalar) Store(s.tensor, s.at, result);
    }
  }

  // ---- running sums ----

  // Statements that take part in the scan's turn: terms are joined along the last loop.
  void EmitScanPass(const Pass& pass) {
    const size_t others = pass.loops.empty() ? 0 : pass.loops.size() - 1;
    for (size_t i = 0; i < others; ++i) OpenLoop(pass.loops[i]);
    for (const Statement& s : pass.statements) {
      if (!Scans(s)) continue;
      const DType type = AccumulatorType(s);
      code_.Line(std::string(CppType(type)) + " " + name(s.tensor) +
                 "_run = " + Literal(*Identity(tensor(s.tensor).combine, type)) + ";");
    }
    const bool alone = is_thread() || pass.loops.empty();
    if (alone) {
      alone_ = !is_thread();
      if (!pass.loops.empty()) OpenLoop(pass.loops.back());
      EmitScanBody(pass, true);
      if (!pass.loops.empty()) code_.Close();
      alone_ = false;
    } else {
      EmitTeamScan(pass, pass.loops.back());
    }
    for (size_t i = 0; i < others; ++i) code_.Close();
  }

  // Chunks of one element for each thread, joined within the team; the run carries over.
  void EmitTeamScan(const Pass& pass, const Loop& loop) {
    const std::string& var = vars_[loop.var];
    const bool exact = loop.extent % team_.threads == 0;
    code_.Comment("In chunks of one element for each thread; what came before is carried on.");
    for (const Statement& s : pass.statements) {
      if (Scans(s) && team_.kind == Kind::kBlock)
        code_.Line("__shared__ " + std::string(CppType(AccumulatorType(s))) + " " + name(s.tensor) +
                   "_parts[" + Number(team_.threads / 32) + "];");
    }
    code_.Open("for (" + int_ + " chunk = 0; chunk < " + Number(loop.extent) +
               "; chunk += " + Number(team_.threads) + ")");
    code_.Line("const " + int_ + " " + var + " = chunk + rank;");
    if (!exact) code_.Line("const bool inside = " + var + " < " + Number(loop.extent) + ";");
    inside_ = exact ? "" : "inside";
    EmitScanBody(pass, false);
    inside_.clear();
    code_.Close();
  }

  void EmitScanBody(const Pass& pass, bool alone) {
    std::vector<ExprPtr> values;
    for (const Statement& s : pass.statements) values.push_back(s.value);
    writer_.Begin(values);
    in_register_.clear();
    for (size_t i = 0; i < pass.statements.size(); ++i) {
      const Statement& s = pass.statements[i];
      const Tensor& t = tensor(s.tensor);
      const std::string type = CppType(t.dtype);
      std::string value;
      if (inside_.empty()) {
        writer_.NameParts(s.value, code_, [this](const Expr& load) {
          return SurelyInside(tensor(load.tensor).shape, load.indices);
        });
        value = writer_.Text(s.value);
      } else {
        // Nothing may be read beyond the end of the row.
        value =
            "(inside ? " + writer_.Text(s.value) + " : " +
            Literal(*(Scans(s) ? Identity(t.combine, s.value->type) : Integer(s.value->type, 0))) +
            ")";
      }
      if (Scans(s)) value = ScanText(s, value, alone);
      const Place place = storage(s.tensor).place;
      if (IsScalar(s.tensor)) {
        code_.Line("const " + type + " " + ScalarName(s.tensor) + " = " + Unwrapped(value) + ";");
        if (place == Place::kGlobal) Store(s.tensor, s.at, ScalarName(s.tensor));
        continue;
      }
      code_.Line("const " + type + " " + name(s.tensor) + "_now = " + Unwrapped(value) + ";");
      in_register_.insert(s.tensor);
      if (place == Place::kGlobal || place == Place::kRow) {
        const std::string text = StoreText(s.tensor, s.at, name(s.tensor) + "_now");
        code_.Line((alone_ ? "if (rank == 0) " : inside_.empty() ? "" : "if (inside) ") + text);
      }
    }
    in_register_.clear();
  }

  std::string ScanText(const Statement& s, const std::string& value, bool alone) {
    const Tensor& t = tensor(s.tensor);
    const DType type = AccumulatorType(s);
    const std::string run = name(s.tensor) + "_run";
    const std::string cast = CppType(type) == std::string(CppType(t.dtype))
                                 ? ""
                                 : "(" + std::string(CppType(t.dtype)) + ")";
    if (alone) {
      code_.Line(run + " = " + JoinText(t.combine, type, run, value) + ";");
      return cast + run;
    }
    context_.helpers.insert("team_scan");
    const std::string cpp = CppType(type);
    const std::string term = name(s.tensor) + "_term";
    const std::string parts =
        team_.kind == Kind::kBlock ? name(s.tensor) + "_parts" : "(" + cpp + "*)nullptr";
    code_.Line("const " + cpp + " " + term + " = " + Unwrapped(value) + ";");
    code_.Line("const " + cpp + " " + name(s.tensor) + "_before = team_scan<" +
               Number(team_.threads) + ">(" + term + ", " + run + ", " + parts + ", " +
               JoinFunction(t.combine, type) + ");");
    return cast + (cast.empty() ? "" : "(") +
           JoinText(t.combine, type, name(s.tensor) + "_before", term) + (cast.empty() ? "" : ")");
  }

  // ---- host ----

  std::vector<std::string> Launch(const std::string& function) {
    std::string arguments;
    for (const int id : arguments_) arguments += (arguments.empty() ? "" : ", ") + name(id);
    std::string grid, block;
    switch (team_.kind) {
      case Kind::kThread:
        grid = Number((turn_count_ + kElementThreads - 1) / kElementThreads);
        block = Number(kElementThreads);
        break;
      case Kind::kColumn:
        grid = Number((turns_ + 31) / 32);
        block = "dim3(32, " + Number(team_.threads) + ")";
        break;
      default:
        grid = Number((turns_ + team_.per_block - 1) / team_.per_block);
        block = Number(team_.threads * team_.per_block);
    }
    return {function + "<<<" + grid + ", " + block + ", 0, stream>>>(" + arguments + ");"};
  }

  CudaTeam team_;
  std::string int_;
  int64_t turns_ = 1;
  int64_t turn_count_ = 1;
  std::vector<size_t> order_;  // outer loops, the one along memory last
  int pack_ = 1;               // elements of a thread
  int row_pack_ = 1;           // elements of a thread's step along a row
  std::map<uint64_t, std::string> packs_;
  std::set<int> stored_packs_;
  bool alone_ = false;
  std::string inside_;
  // rows in registers
  int64_t row_length_ = 0;
  int64_t steps_ = 0;
  std::set<int> kept_rows_;
  std::map<uint64_t, std::string>
      kept_;  // by tensor and what its place has besides the row's index
  std::map<uint64_t, std::string> kept_type_;
  std::map<uint64_t, std::string> kept_now_;  // by tensor and place, in the pass being written
  std::set<uint64_t> loaded_;
  std::string kept_at_;
};

}  // namespace

CudaFunction EmitCudaGroup(const CudaContext& context, int group, const std::string& name) {
  return CudaGroupEmitter(context, group).Run(name);
}

}  // namespace kerf::synth
