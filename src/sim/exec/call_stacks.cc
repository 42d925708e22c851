#include "sim/exec/call_stacks.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/subprocess.h"
#include "sim/machine/call_stack.h"

namespace kerf::sim {
namespace {

constexpr uint64_t kOffsetMask = (uint64_t{1} << kLabelShift) - 1;
constexpr size_t kMostFrames = 64;
constexpr const char* kInside = "/kerf/kernel.so";

std::string_view NextLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// "kernel.cpp:12 (discriminator 3)"; false for what nobody knows ("??:0").
bool ParsePlace(std::string_view text, CodeFrame& frame) {
  const size_t note = text.find(" (");
  if (note != std::string_view::npos) text = text.substr(0, note);
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.substr(0, colon) == "??") return false;
  const std::string_view number = text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), frame.line);
  if (error != std::errc() || end != number.data() + number.size()) return false;
  frame.file = text.substr(0, colon);
  return frame.line != 0;
}

bool IsOwnHeader(const std::string& file) {
  return file.find("/kerf_pto/") != std::string::npos || file.rfind("/kerf/pto/", 0) == 0;
}

std::string_view NameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Sites and texts of a log that is rebuilt.
class SiteTable {
 public:
  explicit SiteTable(InstructionLog& log) : log_(log), sites_(1) {
    for (uint32_t i = 0; i < log.strings.size(); ++i) texts_.emplace(log.strings[i], i);
  }

  uint32_t Text(const std::string& text) {
    const auto [found, fresh] =
        texts_.try_emplace(text, static_cast<uint32_t>(log_.strings.size()));
    if (fresh) log_.strings.push_back(text);
    return found->second;
  }
  uint32_t Add(Site site) {
    const auto key = std::tuple(site.file, site.function, site.line, site.column, site.caller);
    const auto [found, fresh] = ids_.try_emplace(key, static_cast<uint32_t>(sites_.size()));
    if (fresh) sites_.push_back(site);
    return found->second;
  }
  std::vector<Site> Take() { return std::move(sites_); }

 private:
  InstructionLog& log_;
  std::vector<Site> sites_;
  std::unordered_map<std::string, uint32_t> texts_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>, uint32_t> ids_;
};

// What calls a site, innermost first, without the site's own line, which is the first of them.
std::vector<const CodeFrame*> CallersOf(const InstructionLog& log, const Site& site,
                                        const CodeFrames& frames) {
  std::vector<const CodeFrame*> callers;
  const Site* caller = &log.sites[site.caller];
  for (int depth = 0; caller->pc != 0 && depth < 64; ++depth, caller = &log.sites[caller->caller]) {
    const auto found = frames.find(caller->pc);
    if (found == frames.end()) continue;
    for (const CodeFrame& frame : found->second) {
      if (callers.size() == kMostFrames) return callers;
      if (!IsOwnHeader(frame.file)) callers.push_back(&frame);
    }
  }
  if (!callers.empty() && callers[0]->line == site.line &&
      NameOf(callers[0]->file) == NameOf(log.strings[site.file]))
    callers.erase(callers.begin());
  return callers;
}

// "addr2line" beside the other programs of the system.
std::string FindAddr2Line() {
  for (const char* path : {"/usr/bin/addr2line", "/usr/local/bin/addr2line"}) {
    if (std::FILE* file = std::fopen(path, "rb")) {
      std::fclose(file);
      return path;
    }
  }
  return "";
}

Result<CodeFrames> AskFor(const std::set<uint64_t>& addresses, const std::string& library,
                          const std::string& program, sandbox::Mode mode) {
  const sandbox::SandboxLevel& available = sandbox::Probe();
  const auto level = sandbox::ChooseLevel(mode, available);
  const bool inside = level.ok() && level->has_namespaces();
  sandbox::Policy policy = sandbox::Policy::ForSystemPrograms();
  policy.Read(library, kInside);
  sandbox::Limits limits;
  limits.wall_time = limits.cpu_time = std::chrono::seconds(20);
  limits.memory_bytes = uint64_t{2} << 30;
  limits.output_bytes = uint64_t{32} << 20;
  std::string input;
  char line[32];
  // A return address stands behind the call.
  for (const uint64_t address : addresses) {
    std::snprintf(line, sizeof line, "0x%llx\n",
                  static_cast<unsigned long long>((address & kOffsetMask) - 1));
    input += line;
  }
  const sandbox::Sandbox box(policy, limits, mode, available);
  KERF_ASSIGN_OR_RETURN(
      const sandbox::Outcome outcome,
      box.Run({program, "-a", "-f", "-i", "-C", "-e", inside ? kInside : library}, input));
  if (!outcome.succeeded()) return Unavailable("addr2line: " + sandbox::Describe(outcome));
  return ParseFrames(outcome.stdout_text);
}

}  // namespace

CodeFrames ParseFrames(std::string_view text) {
  CodeFrames frames;
  std::vector<CodeFrame>* current = nullptr;
  while (!text.empty()) {
    const std::string_view line = NextLine(text);
    uint64_t address = 0;
    if (line.rfind("0x", 0) == 0 &&
        std::from_chars(line.data() + 2, line.data() + line.size(), address, 16).ec ==
            std::errc()) {
      current = &frames[address];
      continue;
    }
    CodeFrame frame;
    frame.function = line;
    const std::string_view place = NextLine(text);
    if (current != nullptr && ParsePlace(place, frame)) current->push_back(std::move(frame));
  }
  return frames;
}

void NameCallers(InstructionLog& log, const CodeFrames& frames) {
  SiteTable table(log);
  std::vector<uint32_t> now(log.sites.size());
  for (uint32_t id = 1; id < log.sites.size(); ++id) {
    Site site = log.sites[id];
    if (site.pc != 0) continue;
    const std::vector<const CodeFrame*> callers = CallersOf(log, site, frames);
    uint32_t caller = 0;
    for (auto frame = callers.rbegin(); frame != callers.rend(); ++frame) {
      Site above;
      above.file = table.Text((*frame)->file);
      above.function = table.Text((*frame)->function);
      above.line = (*frame)->line;
      above.caller = caller;
      caller = table.Add(above);
    }
    site.caller = caller;
    now[id] = table.Add(site);
  }
  log.sites = table.Take();
  log.lines.resize(log.sites.size());
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> first;
  for (uint32_t id = 0; id < log.sites.size(); ++id)
    log.lines[id] = first.try_emplace({log.sites[id].file, log.sites[id].line}, id).first->second;
  for (CoreLog& core : log.cores) {
    for (Instruction& record : core.instructions) record.site = now[record.site];
  }
}

std::string ResolveStacks(InstructionLog& log, const std::vector<std::string>& libraries,
                          sandbox::Mode mode) {
  std::vector<std::set<uint64_t>> addresses(libraries.size());
  bool any = false;
  for (const Site& site : log.sites) {
    const uint64_t number = (site.pc >> kLabelShift) - 1;
    if (site.pc == 0 || number >= libraries.size()) continue;
    addresses[number].insert(site.pc);
    any = true;
  }
  if (!any) return "";
  const std::string program = FindAddr2Line();
  CodeFrames frames;
  std::string note = program.empty() ? "call stacks have one line: no addr2line (binutils)" : "";
  for (size_t i = 0; !program.empty() && i < libraries.size(); ++i) {
    if (addresses[i].empty()) continue;
    Result<CodeFrames> found = AskFor(addresses[i], libraries[i], program, mode);
    if (!found.ok()) {
      note = "call stacks have one line: " + found.error().message;
      continue;
    }
    for (auto& [offset, list] : *found) frames[CodeLabel(i) + offset + 1] = std::move(list);
  }
  NameCallers(log, frames);
  return note;
}

}  // namespace kerf::sim
