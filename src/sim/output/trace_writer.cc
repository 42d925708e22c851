// The summary: pid and tid are names, B/E for SET_FLAG and WAIT_FLAG, X for everything else, flows
// from set to wait. Keys are alphabetical, so that args stands before ph: Insight's splitter counts
// braces from the last "ph" on.
//
// Texts that are the same for every execution of a static instruction are made once per core.
#include "sim/output/trace_writer.h"

#include <algorithm>
#include <array>

namespace kerf::sim {
namespace {

struct Lane {
  const char* name;
  const char* colour;
};
// In the order of their sort index, from 1.
constexpr Lane kLanesOfTool[] = {
    {"SCALAR", "startup"},
    {"FLOWCTRL", "cq_build_passed"},
    {"MTE1", "thread_state_running"},
    {"CUBE", "background_memory_dump"},
    {"FIXP", "thread_state_unknown"},
    {"MTE2", "thread_state_iowait"},
    {"VECTOR", "cq_build_failed"},
    {"MTE3", "rail_response"},
    {"CACHEMISS", "thread_state_runnable"},
    {"SCALARLDST", "startup"},
    {"ALL", "good"},
    {"USERMARK", "rail_load"},
    {"EVENT", "rail_animation"},
    {"SET_FLAG", "black"},
    {"WAIT_FLAG", "yellow"},
    {"set_event", "black"},
    {"wait_event", "yellow"},
    {"RVECEX", "thread_state_running"},
    {"RVECLP", "thread_state_iowait"},
    {"RVECST", "thread_state_runnable"},
    {"RVECLD", "startup"},
    {"PUSHQ", "thread_state_unknown"},
    {"RVECSU", "yellow"},
};

bool IsFlag(Op op) { return op == Op::SET_FLAG || op == Op::WAIT_FLAG; }

// The fixed parts of an event: head, detail, middle, duration, foot, time, "}".
struct Parts {
  std::string head, middle, foot;
};

class SummaryWriter {
 public:
  SummaryWriter(const TraceInput& input, TextFile& file)
      : in_(input), file_(file), out_(file.text()) {}

  Status Run() {
    out_ += R"({"displayTimeUnit":"ns","profilingType":"op","schemaVersion":2,"traceEvents":[)";
    for (const uint32_t core : in_.catalog.core_order) ProcessOrder(core);
    for (const uint32_t core : in_.catalog.core_order) KERF_RETURN_IF_ERROR(WriteCore(core));
    // The comma behind the last event.
    if (out_.back() == ',') out_.pop_back();
    out_ += "]}";
    return {};
  }

 private:
  void ProcessOrder(uint32_t core) {
    const CoreLog& log = in_.log.cores[core];
    const uint32_t index =
        log.kind == CoreKind::kAic ? 3 * log.block + 1 : 3 * log.block + 2 + log.lane;
    Order("process_sort_index", index, log.Name(), "NA");
  }

  void Order(const char* what, uint32_t index, const std::string& pid, const char* tid) {
    out_.append(R"({"args":{"sort_index":)");
    AppendNumber(out_, index);
    out_.append(R"(},"name":")").append(what).append(R"(","ph":"M","pid":")").append(pid);
    out_.append(R"(","tid":")").append(tid).append("\"},");
  }

  // Text that stands at the end of the file must stay there until the next event: the last comma is
  // taken back in Run().
  Status Spill() {
    if (out_.size() < (size_t{1} << 20)) return {};
    const std::string last(1, out_.back());
    out_.pop_back();
    KERF_RETURN_IF_ERROR(file_.Spill());
    out_ += last;
    return {};
  }

  Status WriteCore(uint32_t core) {
    name_ = in_.log.cores[core].Name();
    for (uint32_t i = 0; i < std::size(kLanesOfTool); ++i)
      Order("thread_sort_index", i + 1, name_, kLanesOfTool[i].name);
    parts_.assign(in_.catalog.items.size(), {});
    const auto& program = in_.log.cores[core].instructions;
    const auto& times = in_.timing.cores[core].times;
    for (uint32_t i = 0; i < program.size(); ++i) {
      if (times[i].start == kNever) continue;
      if (IsFlag(program[i].op)) {
        Flag(core, i);
      } else {
        Slice(core, i);
        if (program[i].op == Op::CROSS_WAIT && times[i].partner != kNobody) Crossed(core, i);
      }
      KERF_RETURN_IF_ERROR(Spill());
    }
    for (const BlockedAgent& blocked : in_.timing.blocked) {
      if (blocked.core == core) Hanging(blocked);
    }
    return {};
  }

  // What never came to an end, until nothing went on any more.
  void Hanging(const BlockedAgent& blocked) {
    const Parts& parts = PartsOf(in_.catalog.item_of[blocked.core][blocked.instruction]);
    out_ += parts.head;
    AppendDetail(in_.log.cores[blocked.core], blocked.instruction, out_);
    out_.append("HANGS,REASON:").append(StallReasonName(blocked.reason)).append(",");
    out_.append(parts.middle).append("\"").append(parts.foot).append(R"("dur":)");
    const uint64_t start = in_.time.Fixed(blocked.since);
    TimeText::Append(out_, in_.time.Fixed(std::max(in_.timing.cycles, blocked.since + 1)) - start);
    out_ += ',';
    const Op op = in_.log.cores[blocked.core].instructions[blocked.instruction].op;
    Tail(kerf_log::OpName(op), 'X', name_, static_cast<uint8_t>(blocked.pipe), start);
  }

  const Parts& PartsOf(uint32_t item_number) {
    Parts& parts = parts_[item_number];
    if (!parts.head.empty()) return parts;
    const StaticInstruction& item = in_.catalog.items[item_number];
    const auto pipe = static_cast<Pipe>(item.pipe);
    const char* colour = item.op == Op::SET_FLAG    ? "black"
                         : item.op == Op::WAIT_FLAG ? "yellow"
                                                    : ColourOf(pipe);
    parts.head = R"({"args":{"code":")" + in_.code[item.site] + R"(","detail":")";
    parts.middle = R"(","pc_addr":"0x)";
    AppendHex(parts.middle, item.address);
    parts.foot = std::string(R"(},"cname":")") + colour + "\",";
    return parts;
  }

  void AppendArgs(uint32_t core, uint32_t index, const Parts& parts) {
    const CoreLog& log = in_.log.cores[core];
    const InstructionTime& time = in_.timing.cores[core].times[index];
    out_ += parts.head;
    AppendDetail(log, index, out_);
    if (time.stall != 0) {
      out_.append("STALL:");
      AppendNumber(out_, time.stall);
      out_.append(",REASON:").append(StallReasonName(time.reason)).append(",");
    }
    out_ += parts.middle;
    out_ += '"';
    if (log.instructions[index].bytes != 0) {
      out_.append(R"(,"process_bytes":")");
      AppendNumber(out_, log.instructions[index].bytes);
      out_ += '"';
    }
    out_ += parts.foot;
  }

  // "name":…,"ph":…,"pid":…,"tid":…,"ts":…}
  void Tail(const char* name, char phase, const std::string& pid, uint8_t pipe, uint64_t fixed) {
    out_.append(R"("name":")").append(name).append(R"(","ph":")");
    out_ += phase;
    out_.append(R"(","pid":")")
        .append(pid)
        .append(R"(","tid":")")
        .append(PipeName(static_cast<Pipe>(pipe)))
        .append(R"(","ts":)");
    TimeText::Append(out_, fixed);
    out_ += "},";
  }

  void Slice(uint32_t core, uint32_t index) {
    const Instruction& record = in_.log.cores[core].instructions[index];
    const InstructionTime& time = in_.timing.cores[core].times[index];
    AppendArgs(core, index, PartsOf(in_.catalog.item_of[core][index]));
    const uint64_t start = in_.time.Fixed(time.start);
    out_ += R"("dur":)";
    TimeText::Append(out_, in_.time.Fixed(time.end) - start);
    out_ += ',';
    Tail(kerf_log::OpName(record.op), 'X', name_, record.pipe, start);
  }

  void Id(const std::string& prefix, uint64_t number) {
    out_.append(R"("id":")").append(prefix);
    out_ += '_';
    AppendNumber(out_, number);
    out_ += "\",";
  }

  // A set's number is its id; a wait has its set's. So both ends know it without a table.
  void Flag(uint32_t core, uint32_t index) {
    const Instruction& record = in_.log.cores[core].instructions[index];
    const auto& times = in_.timing.cores[core].times;
    const InstructionTime& time = times[index];
    const bool set = record.op == Op::SET_FLAG;
    const uint64_t id = set ? index : time.partner;
    const char* name = set ? "SET_FLAG" : "WAIT_FLAG";
    const char* colour = set ? "black" : "yellow";
    const uint64_t end = in_.time.Fixed(time.end);
    const uint64_t begin = set ? in_.time.Fixed(time.end - 1) : in_.time.Fixed(time.start);
    AppendArgs(core, index, PartsOf(in_.catalog.item_of[core][index]));
    Id(name_, id);
    Tail(name, 'B', name_, record.pipe, begin);
    out_.append(R"({"args":{},"cname":")").append(colour).append("\",");
    Id(name_, id);
    Tail(name, 'E', name_, record.pipe, end);
    if (set) return;
    FlowEnd(record.sync, name_, id, 's', record.sync.source, in_.time.Fixed(times[id].end));
    FlowEnd(record.sync, name_, id, 't', record.sync.destination, end);
  }

  void FlowEnd(const kerf_log::Sync& sync, const std::string& pid, uint64_t id, char phase,
               uint8_t pipe, uint64_t fixed) {
    out_.append(R"({"cat":")").append(PipeName(static_cast<Pipe>(sync.source))).append("To");
    out_.append(PipeName(static_cast<Pipe>(sync.destination))).append("\",");
    Id(pid, id);
    Tail("flow", phase, pid, pipe, fixed);
  }

  // From another core: no B/E, which Insight draws for flags only.
  void Crossed(uint32_t core, uint32_t index) {
    const Instruction& wait = in_.log.cores[core].instructions[index];
    const InstructionTime& time = in_.timing.cores[core].times[index];
    const Instruction& set = in_.log.cores[time.partner_core].instructions[time.partner];
    const std::string from = in_.log.cores[time.partner_core].Name();
    const uint64_t id = crossed_++;
    const auto end = [&](const std::string& pid, char phase, uint8_t pipe, uint64_t fixed) {
      out_.append(R"({"cat":")")
          .append(PipeName(static_cast<Pipe>(set.pipe)))
          .append("To")
          .append(PipeName(static_cast<Pipe>(wait.pipe)))
          .append("\",");
      Id("intra", id);
      Tail("flow", phase, pid, pipe, fixed);
    };
    end(from, 's', set.pipe,
        in_.time.Fixed(in_.timing.cores[time.partner_core].times[time.partner].end));
    end(name_, 't', wait.pipe, in_.time.Fixed(time.end));
  }

  const TraceInput& in_;
  TextFile& file_;
  std::string& out_;
  std::string name_;
  std::vector<Parts> parts_;
  uint64_t crossed_ = 0;
};

}  // namespace

const char* ColourOf(Pipe pipe) {
  constexpr uint8_t kLane[] = {0, 2, 5, 7, 3, 6, 4, 10};  // by Pipe
  return kLanesOfTool[kLane[static_cast<uint8_t>(pipe)]].colour;
}

TraceInput MakeTraceInput(const InstructionLog& log, const RunTiming& timing,
                          const Catalog& catalog, const TimeText& time) {
  TraceInput input{log, timing, catalog, time, {}};
  input.code.resize(log.sites.size());
  std::vector<bool> used(log.sites.size());
  for (const StaticInstruction& item : catalog.items) used[item.site] = true;
  for (uint32_t site = 0; site < log.sites.size(); ++site) {
    if (used[site]) input.code[site] = JsonText(log.StackOf(site));
  }
  return input;
}

Result<uint64_t> WriteSummaryTrace(FileSystem& fs, const TraceInput& input,
                                   const std::string& path) {
  KERF_ASSIGN_OR_RETURN(TextFile file, TextFile::Create(fs, path));
  KERF_RETURN_IF_ERROR(SummaryWriter(input, file).Run());
  const uint64_t size = file.size();
  KERF_RETURN_IF_ERROR(file.Finish());
  return size;
}

}  // namespace kerf::sim
