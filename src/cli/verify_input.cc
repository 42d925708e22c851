#include "cli/verify_input.h"

#include "base/json_reader.h"

namespace kerf::cli {
namespace {

constexpr uint64_t kMostSource = uint64_t{16} << 20;

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Result<Impl> ChooseImpl(const std::string& impl, const std::string& path) {
  if (!impl.empty()) {
    const auto parsed = ParseImpl(impl);
    if (parsed.has_value()) return *parsed;
    return InvalidInput("unknown impl '" + impl +
                        "'; known: cpp, cuda_c, hip, torch_ext, triton, swft");
  }
  const auto guessed = ImplOfFile(path);
  if (guessed.has_value()) return *guessed;
  return InvalidInput("cannot tell from the name '" + path +
                      "' what kind of candidate it is; say --impl");
}

}  // namespace

std::optional<Impl> ImplOfFile(const std::string& path) {
  for (const char* end : {".cc", ".cpp", ".cxx", ".c++"}) {
    if (EndsWith(path, std::string(".hip") + end)) return Impl::kHip;
    if (EndsWith(path, end)) return Impl::kCpp;
  }
  if (EndsWith(path, ".cu")) return Impl::kCudaC;
  if (EndsWith(path, ".hip")) return Impl::kHip;
  if (EndsWith(path, "_swft.py")) return Impl::kSwft;
  if (EndsWith(path, ".py")) return Impl::kTriton;
  return std::nullopt;
}

Result<Candidate> ReadCandidate(FileSystem& fs, const std::string& path, const std::string& impl,
                                const std::string& op_name) {
  Candidate candidate;
  candidate.op_name = op_name;
  candidate.name = BaseName(path);
  KERF_ASSIGN_OR_RETURN(candidate.impl, ChooseImpl(impl, path));
  KERF_ASSIGN_OR_RETURN(candidate.source, fs.ReadRange(path, 0, kMostSource + 1));
  if (candidate.source.size() > kMostSource) return InvalidInput(path + " is larger than 16 MiB");
  return candidate;
}

StreamedCandidate ParseStreamedCandidate(FileSystem& fs, const std::string& line,
                                         const std::string& impl, const std::string& op_name) {
  StreamedCandidate streamed;
  Candidate candidate;
  candidate.op_name = op_name;
  std::string id = "null";
  std::string key;
  std::string path;
  std::string own_impl = impl;
  bool has_source = false;
  JsonReader reader(line);
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "id") {
      std::string_view raw;
      if (reader.ReadRaw(raw)) id = std::string(raw);
    } else if (key == "source") {
      has_source = reader.ReadString(candidate.source);
    } else if (key == "path") {
      reader.ReadString(path);
    } else if (key == "impl") {
      reader.ReadString(own_impl);
    } else if (key == "name") {
      reader.ReadString(candidate.name);
    } else {
      reader.Skip();
    }
  }
  streamed.id = id;
  if (!reader.Finish()) {
    streamed.candidate = InvalidInput("not a JSON object: " + reader.error());
    return streamed;
  }
  if (!has_source && path.empty()) {
    streamed.candidate = InvalidInput("a candidate needs 'source' or 'path'");
  } else if (!has_source) {
    streamed.candidate = ReadCandidate(fs, path, own_impl, op_name);
  } else if (const Result<Impl> chosen = ChooseImpl(own_impl, candidate.name); !chosen.ok()) {
    streamed.candidate = chosen.error();
  } else {
    candidate.impl = *chosen;
    streamed.candidate = std::move(candidate);
  }
  return streamed;
}

}  // namespace kerf::cli
