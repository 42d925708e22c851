#include "cli/debug_input.h"

#include "dataset/data_file.h"
#include "loop/verify/pybind_symbols.h"

namespace kerf::cli {
namespace {

// The mem file's path; empty when there is none and that is allowed.
Result<std::string> FindMem(FileSystem& fs, const std::string& jsonl_path, bool optional) {
  const std::string path = dataset::MemPathOf(jsonl_path);
  if (!path.empty()) {
    KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
    if (info.has_value()) return path;
  }
  if (optional) return std::string();
  return NotFound(path.empty()
                      ? "the name of " + jsonl_path +
                            " tells no mem file (ROOT_N.jsonl pairs with ROOT_mem_N.json); name "
                            "it, or say --all to do without flags"
                      : "no mem file " + path + "; name it, or say --all to do without flags");
}

}  // namespace

Result<DebugInput> ReadDebugInput(FileSystem& fs, const std::string& jsonl_path,
                                  const std::string& mem_path, bool mem_optional) {
  DebugInput input;
  KERF_ASSIGN_OR_RETURN(input.jsonl, dataset::MappedFile::Open(jsonl_path));
  std::string path = mem_path;
  if (path.empty()) {
    KERF_ASSIGN_OR_RETURN(path, FindMem(fs, jsonl_path, mem_optional));
  }
  if (!path.empty()) {
    KERF_ASSIGN_OR_RETURN(dataset::MappedFile mem, dataset::MappedFile::Open(path));
    input.mem.emplace(std::move(mem));
  }
  KERF_ASSIGN_OR_RETURN(input.catalog,
                        dataset::Catalog::Read(input.jsonl, input.mem_file(), MakeSymbolCheck()));
  if (input.catalog.cases().empty()) {
    const auto& problems = input.catalog.problems().kept();
    return Corrupt("no case in " + jsonl_path +
                   (problems.empty() ? ": it is empty" : ": " + ProblemText(problems.front())));
  }
  return input;
}

dataset::SymbolCheck MakeSymbolCheck() {
  return [](std::string_view code, std::string_view test) -> std::optional<std::string> {
    const verify::BoundSymbols bound = verify::FindBoundSymbols(code);
    const verify::SymbolDiagnosis found =
        verify::DiagnoseSymbols(bound, verify::FindUsedSymbols(test, bound));
    if (!found.mismatch() || !found.certain) return std::nullopt;
    return found.text;
  };
}

}  // namespace kerf::cli
