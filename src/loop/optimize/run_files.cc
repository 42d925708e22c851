#include "loop/optimize/run_files.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "trace/names.h"

namespace kerf::optimize {
namespace {

using Json = nlohmann::ordered_json;

std::string SettingsText(const Settings& settings) {
  const Rules& rules = settings.rules;
  const Json document = {{"format", "kerf-optimize"},
                         {"version", 1},
                         {"data_sha256", settings.data_sha256},
                         {"descendants", rules.descendants},
                         {"population", rules.population},
                         {"debug_limit", rules.debug_limit},
                         {"reflect_limit", rules.reflect_limit},
                         {"use_predict", rules.use_predict},
                         {"synth", rules.synth},
                         {"impl", settings.impl},
                         {"backend", settings.backend},
                         {"arch", settings.arch},
                         {"measure", settings.measure},
                         {"reflect", settings.reflect},
                         {"language", settings.language}};
  return document.dump(1) + "\n";
}

Result<Settings> ParseSettings(const std::string& path, const std::string& text) {
  // The library throws; nothing of that leaves this function.
  try {
    const Json document = Json::parse(text);
    if (document.at("format") != "kerf-optimize" || document.at("version") != 1) {
      return Corrupt(path + " is of another version of kerf");
    }
    Settings settings;
    Rules& rules = settings.rules;
    document.at("data_sha256").get_to(settings.data_sha256);
    document.at("descendants").get_to(rules.descendants);
    document.at("population").get_to(rules.population);
    document.at("debug_limit").get_to(rules.debug_limit);
    document.at("reflect_limit").get_to(rules.reflect_limit);
    document.at("use_predict").get_to(rules.use_predict);
    document.at("synth").get_to(rules.synth);
    document.at("impl").get_to(settings.impl);
    document.at("backend").get_to(settings.backend);
    document.at("arch").get_to(settings.arch);
    document.at("measure").get_to(settings.measure);
    document.at("reflect").get_to(settings.reflect);
    document.at("language").get_to(settings.language);
    if (rules.descendants < 1 || rules.population < 1) return Corrupt(path + ": no line is left");
    return settings;
  } catch (const Json::exception& error) {
    return Corrupt(path + ": " + error.what());
  }
}

Result<bool> HasFile(FileSystem& fs, const std::string& path) {
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
  return info.has_value();
}

}  // namespace

std::string JsonlPath(const std::string& root, int64_t iteration) {
  return root + "_" + std::to_string(iteration) + ".jsonl";
}

std::string MemPath(const std::string& root, int64_t iteration) {
  return root + "_mem_" + std::to_string(iteration) + ".json";
}

std::string TracePath(const std::string& root) { return root + "_trace"; }

std::string RunFiles::Private(const char* name) const {
  return JoinPath(JoinPath(TracePath(root_), trace::kPrivateFolder), name);
}

Status RunFiles::Lock() {
  KERF_RETURN_IF_ERROR(fs_->CreateDirs(ParentPath(Private("optimize.lock"))));
  Result<std::unique_ptr<FileLock>> lock = fs_->TryLock(Private("optimize.lock"), "kerf optimize");
  if (!lock.ok()) {
    return Unavailable("another kerf optimize works on " + root_ + " (" + lock.error().message +
                       ")");
  }
  lock_ = *std::move(lock);
  return {};
}

Result<RunFiles> RunFiles::Begin(FileSystem& fs, const std::string& root,
                                 const Settings& settings) {
  RunFiles files(fs, root);
  for (const std::string& path :
       {files.Private("optimize.json"), JsonlPath(root, 0), MemPath(root, 0)}) {
    KERF_ASSIGN_OR_RETURN(const bool there, HasFile(fs, path));
    if (there) {
      return InvalidInput(path +
                          " is there already; --resume goes on with it, another --out begins "
                          "anew");
    }
  }
  KERF_RETURN_IF_ERROR(files.Lock());
  files.settings_ = settings;
  KERF_RETURN_IF_ERROR(WriteFileAtomic(fs, files.Private("optimize.json"), SettingsText(settings)));
  return files;
}

Result<RunFiles> RunFiles::Resume(FileSystem& fs, const std::string& root) {
  RunFiles files(fs, root);
  const std::string path = files.Private("optimize.json");
  const Result<std::string> text = fs.ReadFile(path);
  if (!text.ok() && text.error().code == ErrorCode::kNotFound) {
    return NotFound("no run to resume: " + path + " is not there");
  }
  if (!text.ok()) return text.error();
  KERF_RETURN_IF_ERROR(files.Lock());
  KERF_ASSIGN_OR_RETURN(files.settings_, ParseSettings(path, *text));
  KERF_RETURN_IF_ERROR(files.ReadIterations());
  KERF_RETURN_IF_ERROR(files.CheckPairs());
  return files;
}

Status RunFiles::ReadIterations() {
  const Result<std::string> text = fs_->ReadFile(Private("iterations.jsonl"));
  if (!text.ok()) {
    return text.error().code == ErrorCode::kNotFound ? Status() : Status(text.error());
  }
  for (size_t begin = 0; begin < text->size();) {
    const size_t end = std::min(text->find('\n', begin), text->size());
    const std::string line = text->substr(begin, end - begin);
    JsonReader json(line);
    std::string key;
    int64_t iteration = -1;
    Written written;
    for (json.BeginObject(); json.NextKey(key);) {
      if (key == "iteration") {
        json.ReadInt(iteration);
      } else if (key == "complete") {
        json.ReadBool(written.complete);
      } else if (key == "jsonl_sha256") {
        json.ReadString(written.jsonl_sha256);
      } else if (key == "mem_sha256") {
        json.ReadString(written.mem_sha256);
      } else {
        json.Skip();
      }
    }
    if (!json.Finish() || iteration != static_cast<int64_t>(written_.size())) {
      return Corrupt(Private("iterations.jsonl") + ": a line of it is damaged");
    }
    written_[iteration] = std::move(written);
    begin = end + 1;
  }
  return {};
}

Status RunFiles::CheckPairs() const {
  for (const auto& [iteration, written] : written_) {
    if (!written.complete) continue;
    for (const auto& [path, sha256] : {std::pair{JsonlPath(root_, iteration), written.jsonl_sha256},
                                       std::pair{MemPath(root_, iteration), written.mem_sha256}}) {
      KERF_ASSIGN_OR_RETURN(const std::string text, fs_->ReadFile(path));
      if (Sha256Hex(text) != sha256) {
        return Corrupt(path +
                       " is not as kerf wrote it; put it back, or begin anew with another "
                       "--out");
      }
    }
  }
  return {};
}

int64_t RunFiles::last_complete() const {
  int64_t last = -1;
  for (const auto& [iteration, written] : written_) {
    if (written.complete) last = iteration;
  }
  return last;
}

Status RunFiles::Write(int64_t iteration, const PairTexts& texts, bool complete) {
  const std::string folder = ParentPath(JsonlPath(root_, iteration));
  KERF_RETURN_IF_ERROR(fs_->CreateDirs(folder));
  // A pair that was not complete goes first: at no time may a jsonl stand beside another one's mem.
  if (written_.count(iteration) != 0) {
    KERF_RETURN_IF_ERROR(fs_->Remove(JsonlPath(root_, iteration)));
    KERF_RETURN_IF_ERROR(fs_->SyncDir(folder));
  }
  KERF_RETURN_IF_ERROR(WriteFileAtomic(*fs_, MemPath(root_, iteration), texts.mem));
  KERF_RETURN_IF_ERROR(WriteFileAtomic(*fs_, JsonlPath(root_, iteration), texts.jsonl));
  written_[iteration] = {complete, Sha256Hex(texts.jsonl), Sha256Hex(texts.mem)};
  std::string lines;
  JsonWriter json(lines);
  for (const auto& [number, written] : written_) {
    json.BeginObject().Key("iteration").Int(number).Key("complete").Bool(written.complete);
    json.Key("jsonl_sha256").String(written.jsonl_sha256);
    json.Key("mem_sha256").String(written.mem_sha256).EndObject().EndLine();
  }
  return WriteFileAtomic(*fs_, Private("iterations.jsonl"), lines);
}

}  // namespace kerf::optimize
