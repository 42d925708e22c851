// One core: pid is a number per pipe, tid a number per row, everything is an X slice, flows come
// last (their pid and tid are the numbers as strings, as msprof writes them).
#include <algorithm>

#include "sim/output/event_list.h"
#include "sim/output/rows.h"
#include "sim/output/trace_writer.h"

namespace kerf::sim {
namespace {

struct Number {
  Pipe pipe;
  uint32_t pid;
};
// By pid.
constexpr Number kNumbers[] = {{Pipe::kScalar, 10}, {Pipe::kVector, 30}, {Pipe::kCube, 40},
                               {Pipe::kMte1, 50},   {Pipe::kMte2, 60},   {Pipe::kMte3, 70},
                               {Pipe::kFix, 80}};

uint32_t PidOf(uint8_t pipe) {
  for (const Number& number : kNumbers) {
    if (static_cast<uint8_t>(number.pipe) == pipe) return number.pid;
  }
  return 0;
}

class CoreWriter {
 public:
  CoreWriter(const TraceInput& input, uint32_t core, TextFile& file)
      : in_(input),
        log_(input.log.cores[core]),
        times_(input.timing.cores[core].times),
        items_(input.catalog.item_of[core]),
        file_(file),
        out_(file.text()) {}

  Status Run() {
    out_ += R"({"displayTimeUnit":"ns","profilingType":"op","schemaVersion":1,"traceEvents":[)";
    rows_.resize(times_.size());
    heads_.resize(in_.catalog.items.size());
    for (const Number& number : kNumbers) KERF_RETURN_IF_ERROR(WritePipe(number));
    KERF_RETURN_IF_ERROR(WriteFlows());
    if (events_.empty())
      events_.Meta("process_name", 10, 0, R"("name":"SCALAR")");  // never an empty list
    out_ += "]}";
    return {};
  }

 private:
  Status WritePipe(const Number& number) {
    Rows rows;
    bool begun = false;
    for (uint32_t i = 0; i < times_.size(); ++i) {
      const Instruction& record = log_.instructions[i];
      if (record.pipe != static_cast<uint8_t>(number.pipe) || times_[i].start == kNever) continue;
      if (!begun) {
        events_.Meta("process_name", number.pid, 0,
                     std::string(R"("name":")") + PipeName(number.pipe) + "\"");
        events_.Meta("process_sort_index", number.pid, 0,
                     R"("sort_index":)" + std::to_string(number.pid));
        begun = true;
      }
      const uint64_t end = times_[i].end;
      const uint64_t start = record.op == Op::SET_FLAG ? end - 1 : times_[i].start;
      bool fresh = false;
      const size_t row = 1 + rows.Place(start, std::max(end, start + 1), fresh);
      if (fresh) NewRow(number, row);
      rows_[i] = static_cast<uint8_t>(std::min<size_t>(row, 255));
      Slice(number.pid, row, i, start, end);
      KERF_RETURN_IF_ERROR(file_.Spill());
    }
    return {};
  }

  void NewRow(const Number& number, size_t row) {
    events_.Meta(
        "thread_name", number.pid, row,
        std::string(R"("name":")") + PipeName(number.pipe) + "_" + std::to_string(row) + "\"");
    events_.Meta("thread_sort_index", number.pid, row, R"("sort_index":)" + std::to_string(row));
  }

  const std::string& HeadOf(uint32_t item) {
    std::string& head = heads_[item];
    if (head.empty())
      head = R"({"args":{"code":")" + in_.code[in_.catalog.items[item].site] + R"(","detail":")";
    return head;
  }

  void Slice(uint32_t pid, size_t tid, uint32_t index, uint64_t start, uint64_t end) {
    const Instruction& record = log_.instructions[index];
    events_.Begin();
    out_ += HeadOf(items_[index]);
    AppendDetail(log_, index, out_);
    out_.append(R"(","pc_addr":"0x)");
    AppendHex(out_, in_.catalog.items[items_[index]].address);
    const char* colour = record.op == Op::SET_FLAG    ? "black"
                         : record.op == Op::WAIT_FLAG ? "yellow"
                                                      : ColourOf(static_cast<Pipe>(record.pipe));
    out_.append(R"("},"cname":")").append(colour).append(R"(","dur":)");
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

  Status WriteFlows() {
    uint64_t id = 0;
    for (uint32_t i = 0; i < times_.size(); ++i) {
      const Instruction& record = log_.instructions[i];
      if (record.op != Op::WAIT_FLAG || times_[i].start == kNever) continue;
      const uint32_t set = times_[i].partner;
      FlowEnd(record.sync, id, 's', set,
              (in_.time.Fixed(times_[set].end - 1) + in_.time.Fixed(times_[set].end)) / 2);
      FlowEnd(record.sync, id, 't', i, in_.time.Fixed(times_[i].end));
      ++id;
      KERF_RETURN_IF_ERROR(file_.Spill());
    }
    return {};
  }

  void FlowEnd(const kerf_log::Sync& sync, uint64_t id, char phase, uint32_t index,
               uint64_t fixed) {
    events_.Begin();
    out_.append(R"({"cat":")").append(PipeName(static_cast<Pipe>(sync.source))).append("To");
    out_.append(PipeName(static_cast<Pipe>(sync.destination))).append(R"(","id":")");
    AppendNumber(out_, id);
    out_.append(R"(","name":"flow","ph":")");
    out_ += phase;
    out_.append(R"(","pid":")");
    AppendNumber(out_, PidOf(log_.instructions[index].pipe));
    out_.append(R"(","tid":")");
    AppendNumber(out_, rows_[index]);
    out_.append(R"(","ts":)");
    TimeText::Append(out_, fixed);
    out_ += '}';
  }

  const TraceInput& in_;
  const CoreLog& log_;
  const std::vector<InstructionTime>& times_;
  const std::vector<uint32_t>& items_;
  TextFile& file_;
  std::string& out_;
  EventList events_{out_};
  std::vector<uint8_t> rows_;
  std::vector<std::string> heads_;
};

}  // namespace

Status WriteCoreTrace(FileSystem& fs, const TraceInput& input, uint32_t core,
                      const std::string& path) {
  KERF_ASSIGN_OR_RETURN(TextFile file, TextFile::Create(fs, path));
  KERF_RETURN_IF_ERROR(CoreWriter(input, core, file).Run());
  return file.Finish();
}

}  // namespace kerf::sim
