// For ui.perfetto.dev: a process per core, rows that do not overlap, lanes in the order of the
// data's way. Scalar work and flags are left out, except the waits that really waited and what they
// waited for.
#include "sim/output/event_list.h"
#include "sim/output/rows.h"
#include "sim/output/trace_writer.h"

namespace kerf::sim {
namespace {

constexpr Pipe kOrder[] = {Pipe::kMte2,   Pipe::kMte1, Pipe::kCube,  Pipe::kFix,
                           Pipe::kVector, Pipe::kMte3, Pipe::kScalar};
constexpr uint32_t kRowsOfALane = 1000;

class PerfettoWriter {
 public:
  PerfettoWriter(const TraceInput& input, TextFile& file)
      : in_(input), file_(file), out_(file.text()) {}

  Status Run() {
    out_ += R"({"displayTimeUnit":"ns","traceEvents":[)";
    uint32_t pid = 0;
    for (const uint32_t core : in_.catalog.core_order) KERF_RETURN_IF_ERROR(WriteCore(core, ++pid));
    out_ += "]}\n";
    return {};
  }

 private:
  // Sets that a wait stood still for.
  void MarkSets(uint32_t core) {
    const auto& times = in_.timing.cores[core].times;
    const auto& program = in_.log.cores[core].instructions;
    waited_.assign(times.size(), false);
    for (uint32_t i = 0; i < times.size(); ++i) {
      if (program[i].op == Op::WAIT_FLAG && times[i].stall != 0 && times[i].partner != kNobody)
        waited_[times[i].partner] = true;
    }
  }

  [[nodiscard]] bool Shown(const Instruction& record, const InstructionTime& time,
                           uint32_t index) const {
    if (time.start == kNever) return false;
    if (static_cast<uint16_t>(record.op) >= 40) return true;
    if (record.op == Op::SET_FLAG) return waited_[index];
    return time.stall != 0 && !IsIdle(time.reason);
  }

  Status WriteCore(uint32_t core, uint32_t pid) {
    MarkSets(core);
    rows_.assign(waited_.size(), 0);
    events_.Meta("process_name", pid, 0, R"("name":")" + in_.log.cores[core].Name() + "\"");
    events_.Meta("process_sort_index", pid, 0, R"("sort_index":)" + std::to_string(pid));
    for (uint32_t lane = 0; lane < std::size(kOrder); ++lane)
      KERF_RETURN_IF_ERROR(WriteLane(core, pid, lane));
    return WriteFlows(core, pid);
  }

  Status WriteLane(uint32_t core, uint32_t pid, uint32_t lane) {
    Rows rows;
    const CoreLog& log = in_.log.cores[core];
    const auto& times = in_.timing.cores[core].times;
    for (uint32_t i = 0; i < times.size(); ++i) {
      const Instruction& record = log.instructions[i];
      if (record.pipe != static_cast<uint8_t>(kOrder[lane]) || !Shown(record, times[i], i))
        continue;
      const uint64_t end = times[i].end;
      const uint64_t start = record.op == Op::SET_FLAG ? end - 1 : times[i].start;
      bool fresh = false;
      const size_t row = rows.Place(start, std::max(end, start + 1), fresh);
      const uint64_t tid = uint64_t{lane + 1} * kRowsOfALane + row;
      if (fresh) {
        const std::string name = PipeName(kOrder[lane]);
        events_.Meta(
            "thread_name", pid, tid,
            R"("name":")" + (row == 0 ? name : name + " (" + std::to_string(row + 1) + ")") + "\"");
        events_.Meta("thread_sort_index", pid, tid, R"("sort_index":)" + std::to_string(tid));
      }
      rows_[i] = static_cast<uint32_t>(tid);
      Slice(core, i, pid, tid, start, end);
      KERF_RETURN_IF_ERROR(file_.Spill());
    }
    return {};
  }

  void Slice(uint32_t core, uint32_t index, uint32_t pid, uint64_t tid, uint64_t start,
             uint64_t end) {
    const CoreLog& log = in_.log.cores[core];
    const InstructionTime& time = in_.timing.cores[core].times[index];
    const Instruction& record = log.instructions[index];
    events_.Begin();
    out_.append(R"({"args":{"code":")").append(in_.code[record.site]).append(R"(","detail":")");
    AppendDetail(log, index, out_);
    out_ += '"';
    if (time.stall != 0) {
      out_.append(R"(,"stall":)");
      AppendNumber(out_, time.stall);
      out_.append(R"(,"reason":")").append(StallReasonName(time.reason)).append("\"");
    }
    out_.append(R"(},"dur":)");
    const uint64_t from = in_.time.Fixed(start);
    TimeText::Append(out_, in_.time.Fixed(end) - from);
    out_.append(R"(,"name":")").append(kerf_log::OpName(record.op)).append(R"(","ph":"X","pid":)");
    AppendNumber(out_, pid);
    out_.append(R"(,"tid":)");
    AppendNumber(out_, tid);
    out_.append(R"(,"ts":)");
    TimeText::Append(out_, from);
    out_ += '}';
  }

  Status WriteFlows(uint32_t core, uint32_t pid) {
    const auto& times = in_.timing.cores[core].times;
    for (uint32_t i = 0; i < times.size(); ++i) {
      const Instruction& record = in_.log.cores[core].instructions[i];
      if (record.op != Op::WAIT_FLAG || rows_[i] == 0 || times[i].partner == kNobody) continue;
      const uint32_t set = times[i].partner;
      FlowEnd("s", pid, rows_[set], in_.time.Fixed(times[set].end - 1));
      FlowEnd(R"(f","bp":"e)", pid, rows_[i], in_.time.Fixed(times[i].end) - 1);
      ++flows_;
      KERF_RETURN_IF_ERROR(file_.Spill());
    }
    return {};
  }

  void FlowEnd(const char* phase, uint32_t pid, uint64_t tid, uint64_t fixed) {
    events_.Begin();
    out_.append(R"({"cat":"flag","id":)");
    AppendNumber(out_, flows_);
    out_.append(R"(,"name":"flag","ph":")").append(phase).append(R"(","pid":)");
    AppendNumber(out_, pid);
    out_.append(R"(,"tid":)");
    AppendNumber(out_, tid);
    out_.append(R"(,"ts":)");
    TimeText::Append(out_, fixed);
    out_ += '}';
  }

  const TraceInput& in_;
  TextFile& file_;
  std::string& out_;
  EventList events_{out_};
  uint64_t flows_ = 1;
  std::vector<bool> waited_;
  std::vector<uint32_t> rows_;
};

}  // namespace

Status WritePerfetto(FileSystem& fs, const TraceInput& input, const std::string& path) {
  KERF_ASSIGN_OR_RETURN(TextFile file, TextFile::Create(fs, path));
  KERF_RETURN_IF_ERROR(PerfettoWriter(input, file).Run());
  return file.Finish();
}

}  // namespace kerf::sim
