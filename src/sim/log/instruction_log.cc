// Reads docs/formats/instruction_log.md. Every index in a record is checked here once, so that
// timing and hazards need no checks in their loops.
#include "sim/log/instruction_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kerf::sim {
namespace {

using kerf_log::ChunkHeader;
using kerf_log::ChunkType;
using kerf_log::FileHeader;

constexpr size_t kUnit = 32;

class Parser {
 public:
  explicit Parser(std::string_view bytes) : bytes_(bytes) {
    log_.strings.emplace_back();
    log_.sites.emplace_back();
  }

  Result<InstructionLog> Run() {
    FileHeader header;
    if (!Take(&header, sizeof header)) return Corrupt("instruction log: shorter than its header");
    if (std::memcmp(header.magic, FileHeader().magic, sizeof header.magic) != 0)
      return Corrupt("instruction log: does not begin with KERFILOG");
    if (header.version != 1)
      return Corrupt("instruction log: version " + std::to_string(header.version) +
                     " is not known to this kerf");
    log_.complete = false;
    Reserve();
    while (at_ < bytes_.size() && !log_.complete) {
      ChunkHeader chunk;
      chunk_at_ = at_;
      if (!Take(&chunk, sizeof chunk) || chunk.bytes > bytes_.size() - at_) return Finish();
      if (chunk.bytes % kUnit != 0) return At(chunk_at_, "its size is no multiple of 32");
      KERF_RETURN_IF_ERROR(ReadChunk(chunk, bytes_.substr(at_, chunk.bytes)));
      at_ += chunk.bytes;
    }
    if (at_ != bytes_.size()) return At(at_, "something follows the end of the log");
    return Finish();
  }

 private:
  Result<InstructionLog> Finish() {
    for (CoreLog& core : log_.cores) {
      for (const Instruction& instruction : core.instructions) {
        if (instruction.site >= log_.sites.size())
          return Corrupt("instruction log: site " + std::to_string(instruction.site) +
                         " is used and not there");
      }
    }
    return std::move(log_);
  }

  // Growing would copy everything twice and hold it so. Sizes are what the chunks' headers claim
  // and the bytes can hold; a claim that is wrong costs nothing but time.
  void Reserve() {
    ChunkHeader chunk;
    for (size_t at = at_; bytes_.size() - at >= sizeof chunk;) {
      std::memcpy(&chunk, bytes_.data() + at, sizeof chunk);
      at += sizeof chunk;
      if (chunk.bytes > bytes_.size() - at) return;
      at += chunk.bytes;
      if (chunk.type != ChunkType::kRecords || chunk.core >= kerf_log::kMostCores) continue;
      if (chunk.core >= expected_.size()) expected_.resize(chunk.core + 1);
      const uint64_t units = chunk.bytes / kUnit;
      const uint64_t instructions = std::min<uint64_t>(chunk.count, units);
      expected_[chunk.core].first += instructions;
      expected_[chunk.core].second += units - instructions;
    }
  }

  static Error At(size_t at, const std::string& what) {
    return Corrupt("instruction log: chunk at byte " + std::to_string(at) + ": " + what);
  }

  bool Take(void* out, size_t size) {
    if (bytes_.size() - at_ < size) return false;
    std::memcpy(out, bytes_.data() + at_, size);
    at_ += size;
    return true;
  }

  Status ReadChunk(const ChunkHeader& chunk, std::string_view content) {
    switch (chunk.type) {
      case ChunkType::kCore:
        return ReadCore(chunk, content);
      case ChunkType::kStrings:
        return ReadStrings(chunk.count, content);
      case ChunkType::kSites:
        return ReadSites(content);
      case ChunkType::kRecords:
        return ReadRecords(chunk, content);
      case ChunkType::kEnd:
        if (!content.empty()) return At(chunk_at_, "an end has content");
        log_.complete = true;
        log_.dropped = chunk.dropped;
        return {};
    }
    return At(chunk_at_,
              "type " + std::to_string(static_cast<uint32_t>(chunk.type)) + " is not known");
  }

  Status ReadCore(const ChunkHeader& chunk, std::string_view content) {
    const bool known = chunk.kind == CoreKind::kAic || chunk.kind == CoreKind::kAiv;
    if (!content.empty() || !known || chunk.lane > 1 || chunk.core != log_.cores.size() ||
        chunk.core >= kerf_log::kMostCores || chunk.block >= kerf_log::kMostCores)
      return At(chunk_at_, "is no core");
    CoreLog core;
    core.kind = chunk.kind;
    core.lane = chunk.kind == CoreKind::kAic ? 0 : chunk.lane;
    core.block = chunk.block;
    for (const CoreLog& other : log_.cores) {
      if (other.kind == core.kind && other.lane == core.lane && other.block == core.block)
        return At(chunk_at_, core.Name() + " is declared twice");
    }
    if (chunk.core < expected_.size()) {
      core.instructions.reserve(expected_[chunk.core].first);
      core.first_operand.reserve(expected_[chunk.core].first);
      core.operands.reserve(expected_[chunk.core].second);
    }
    log_.cores.push_back(std::move(core));
    return {};
  }

  Status ReadStrings(uint32_t count, std::string_view content) {
    for (uint32_t i = 0; i < count; ++i) {
      const size_t end = content.find('\0');
      if (end == std::string_view::npos) return At(chunk_at_, "a text does not end");
      log_.strings.emplace_back(content.substr(0, end));
      content.remove_prefix(end + 1);
    }
    return {};
  }

  Status ReadSites(std::string_view content) {
    for (; !content.empty(); content.remove_prefix(sizeof(Site))) {
      Site site;
      std::memcpy(&site, content.data(), sizeof site);
      if (site.file >= log_.strings.size() || site.function >= log_.strings.size())
        return At(chunk_at_, "a site names a text that is not there");
      if (site.caller >= log_.sites.size())
        return At(chunk_at_, "a site is called from one that is not before it");
      log_.sites.push_back(site);
    }
    return {};
  }

  Status ReadRecords(const ChunkHeader& chunk, std::string_view content) {
    if (chunk.core >= log_.cores.size()) return At(chunk_at_, "belongs to no core");
    CoreLog& core = log_.cores[chunk.core];
    uint32_t count = 0;
    while (!content.empty()) {
      Instruction record;
      std::memcpy(&record, content.data(), sizeof record);
      content.remove_prefix(sizeof record);
      if (const char* wrong = WrongInstruction(record)) return At(chunk_at_, wrong);
      if (content.size() < record.operands * sizeof(Operand))
        return At(chunk_at_, "an instruction's operands are cut off");
      if (core.instructions.size() >= kMostInstructions ||
          core.operands.size() >= kMostInstructions)
        return At(chunk_at_, "a core has more than 2^31 instructions or operands");
      core.first_operand.push_back(static_cast<uint32_t>(core.operands.size()));
      core.instructions.push_back(record);
      for (uint8_t i = 0; i < record.operands; ++i) {
        Operand operand;
        std::memcpy(&operand, content.data(), sizeof operand);
        content.remove_prefix(sizeof operand);
        if (const char* wrong = WrongOperand(operand)) return At(chunk_at_, wrong);
        core.operands.push_back(operand);
      }
      ++count;
    }
    if (count != chunk.count) return At(chunk_at_, "its number of instructions is wrong");
    return {};
  }

  static const char* WrongInstruction(const Instruction& record) {
    if (kerf_log::OpName(record.op) == nullptr) return "an instruction is not known to this kerf";
    if (record.pipe >= kerf_log::kPipes) return "an instruction runs on no pipe";
    if (record.operands > kerf_log::kMostOperands) return "an instruction has too many operands";
    return WrongSync(record);
  }

  // Pipes of flags, so that they can be used as indexes; and that a flag stands in the right queue.
  static const char* WrongSync(const Instruction& record) {
    const kerf_log::Sync& sync = record.sync;
    switch (record.op) {
      case Op::SET_FLAG:
      case Op::WAIT_FLAG: {
        if (sync.source >= kerf_log::kPipes || sync.destination >= kerf_log::kPipes)
          return "a flag names no pipe";
        const bool set = record.op == Op::SET_FLAG;
        if (record.pipe != (set ? sync.source : sync.destination))
          return "a flag stands in the wrong pipe";
        return sync.event < 16 ? nullptr : "a flag's event id is above 15";
      }
      case Op::PIPE_BARRIER: {
        const bool all = sync.source == static_cast<uint8_t>(Pipe::kAll);
        if (sync.source > kerf_log::kPipes) return "a barrier names no pipe";
        return record.pipe == (all ? 0 : sync.source) ? nullptr
                                                      : "a barrier stands in the wrong pipe";
      }
      case Op::CROSS_SET:
      case Op::CROSS_WAIT:
      case Op::SYNCALL:
        if (sync.event >= 32) return "a cross-core flag's id is above 31";
        if (sync.source >= kerf_log::kPipes || sync.destination >= kerf_log::kPipes)
          return "a cross-core flag names no pipe";
        if (record.op == Op::CROSS_SET && record.pipe != sync.source)
          return "a cross-core flag stands in the wrong pipe";
        if (record.op == Op::CROSS_WAIT && record.pipe != sync.destination)
          return "a cross-core wait stands in the wrong pipe";
        if (record.op == Op::SYNCALL && record.pipe != 0) return "SYNCALL is the scalar unit's";
        return sync.peers < 16 ? nullptr : "a cross-core flag reaches nobody that is known";
      default:
        return nullptr;
    }
  }

  static const char* WrongOperand(const Operand& operand) {
    if (static_cast<uint8_t>(operand.memory) >= kerf_log::kMemories)
      return "an operand is in no memory";
    if (static_cast<uint8_t>(operand.dtype) >= kerf_log::kDtypes) return "an operand has no type";
    if (static_cast<uint8_t>(operand.layout) >= kerf_log::kLayouts)
      return "an operand has no layout";
    if ((operand.access >> kerf_log::kOwnerShift) > 3) return "an operand belongs to no core";
    if (operand.address > UINT64_MAX - operand.bytes) return "an operand goes beyond the memory";
    return nullptr;
  }

  static constexpr size_t kMostInstructions = size_t{1} << 31;

  std::string_view bytes_;
  size_t at_ = 0;
  size_t chunk_at_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> expected_;  // by core: instructions, operands
  InstructionLog log_;
};

}  // namespace

Result<InstructionLog> ParseInstructionLog(std::string_view bytes) { return Parser(bytes).Run(); }

}  // namespace kerf::sim
