#include "dataset/case_files.h"

#include <algorithm>
#include <memory>

#include "dataset/case_json.h"
#include "dataset/performance.h"
#include "dataset/reproduce.h"
#include "dataset/text.h"
#include "trace/text_diff.h"

namespace kerf::dataset {
namespace {

// Beyond this a diff is of no use to anybody, and would take long.
constexpr size_t kMostDiffed = size_t{4} << 20;

class CaseMaker {
 public:
  CaseMaker(const CaseEntry& entry, const CaseSources& sources, const CaseOptions& options)
      : entry_(entry),
        sources_(sources),
        options_(options),
        jsonl_(ReadJsonlOf(entry, sources.jsonl)),
        mem_(sources.mem == nullptr ? MemRecord{} : ReadMemOf(entry, *sources.mem)) {}

  CaseFolder Make(const std::string& folder) {
    out_.folder = folder;
    AddText("0_instruction.txt", jsonl_.instruction, "instruction");
    AddText("1_label_source.py", jsonl_.label, "label");
    AddCode("2_initial_predict", jsonl_.predict, "predict");
    AddText("3_test_code.py", jsonl_.test_code, "test_code");
    AddCode("candidate_call_fix", mem_.call_candidate, "call_candidate");
    AddCode("candidate_exe_fix", mem_.exe_candidate, "exe_candidate");
    for (size_t i = 0; i < mem_.candidates.size(); ++i) {
      const std::string n = std::to_string(i + 1);
      AddCode("candidate_perf_fix_" + n, mem_.candidates[i].code, "perf candidate " + n);
    }
    AddErrors();
    AddStrategy();
    NameCodeFiles();
    AddDiffs();
    NoteInconsistencies();
    Finish();
    return std::move(out_);
  }

 private:
  void Note(std::string what) { out_.notes.push_back(std::move(what)); }

  // Whether something was decoded into `content`.
  bool Decode(const RawValue& value, const std::string& field, bool none, std::string& content) {
    if (value.missing()) return false;
    if (!value.text()) {
      Note(field + " is no text; left out");
      return false;
    }
    if (!(none ? HasContentOrNone(value.raw) : HasContent(value.raw))) return false;
    const TextNotes odd = DecodeText(value.raw, content);
    if (odd.lone_surrogates > 0) {
      Note(field + ": " + std::to_string(odd.lone_surrogates) + " lone surrogates became U+FFFD");
    }
    if (odd.bad_bytes > 0) {
      Note(field + ": " + std::to_string(odd.bad_bytes) + " bytes are no UTF-8; kept");
    }
    if (odd.unknown_escapes > 0) {
      Note(field + ": " + std::to_string(odd.unknown_escapes) + " unknown escapes; kept");
    }
    return true;
  }

  void AddText(const char* path, const RawValue& value, const std::string& field) {
    CaseFile file{path, "", false, Language::kUnknown};
    if (Decode(value, field, false, file.content)) out_.files.push_back(std::move(file));
  }

  // The extension is put when all languages are known.
  void AddCode(const std::string& stem, const RawValue& value, const std::string& field) {
    CaseFile file{stem, "", true, Language::kUnknown};
    if (!Decode(value, field, true, file.content)) return;
    file.language = DetectLanguage(file.content);
    out_.files.push_back(std::move(file));
  }

  void AddErrors() {
    CaseFile file{"error_log.txt", "", false, Language::kUnknown};
    Decode(mem_.call_err_msg, "call_err_msg", true, file.content);
    std::string second;
    if (Decode(mem_.exe_err_msg, "exe_err_msg", true, second) ||
        Decode(mem_.err_msg, "err_msg", true, second)) {
      if (!file.content.empty() && !file.content.ends_with('\n')) file.content += '\n';
      file.content += second;
    }
    if (!file.content.empty()) out_.files.push_back(std::move(file));
  }

  void AddStrategy() {
    CaseFile file{"reflection_strategy.md", "", false, Language::kUnknown};
    if (Decode(mem_.temp_strategy, "temp_strategy", true, file.content) ||
        Decode(mem_.reflection, "reflection", true, file.content)) {
      out_.files.push_back(std::move(file));
    }
  }

  void NameCodeFiles() {
    int python = 0;
    int cpp = 0;
    for (const CaseFile& file : out_.files) {
      if (!file.code) continue;
      python += IsPython(file.language) ? 1 : 0;
      cpp += IsCpp(file.language) ? 1 : 0;
    }
    for (CaseFile& file : out_.files) {
      if (!file.code) continue;
      const bool is_python =
          IsPython(file.language) || (file.language == Language::kUnknown && python > cpp);
      file.path += !options_.extension.empty() ? options_.extension
                                               : std::string(is_python ? ".py" : ".hip.cpp");
    }
  }

  void AddDiffs() {
    const size_t count = out_.files.size();
    size_t initial = count;
    for (size_t i = 0; i < count; ++i) {
      if (out_.files[i].code && out_.files[i].path.starts_with("2_initial")) initial = i;
    }
    if (initial == count) return;
    std::unique_ptr<trace::LineDiffer> differ;
    for (size_t i = 0; i < count; ++i) {
      if (out_.files[i].code && i != initial) AddDiff(initial, i, differ);
    }
  }

  // `differ`, of the file all others are held against, is made when it is needed.
  void AddDiff(size_t from, size_t to, std::unique_ptr<trace::LineDiffer>& differ) {
    const std::string& a = out_.files[from].content;
    const std::string& b = out_.files[to].content;
    const std::string stem = out_.files[to].path.substr(0, out_.files[to].path.find('.'));
    if (a == b) {
      if (predict_is_.empty()) predict_is_ = stem;
      return;
    }
    if (a.size() > kMostDiffed || b.size() > kMostDiffed) {
      Note("no diff of " + out_.files[to].path + ": larger than 4 MiB");
      return;
    }
    if (differ == nullptr) differ = std::make_unique<trace::LineDiffer>(a);
    const trace::TextDiff diff = differ->Diff(b);
    CaseDiff kept{from, to, {}};
    for (const trace::Change& change : diff.changes) {
      kept.spans.push_back({change.a_begin, change.a_end, change.b_begin, change.b_end});
    }
    out_.diffs.push_back(std::move(kept));
    // "candidate_call_fix" → "diffs/initial_to_call_fix.diff"
    CaseFile file{"diffs/initial_to_" + stem.substr(stem.find('_') + 1) + ".diff", "", false,
                  Language::kUnknown};
    file.content = "--- " + out_.files[from].path + "\n+++ " + out_.files[to].path + "\n";
    trace::AppendUnified(diff, 3, file.content);
    diff_files_.push_back(std::move(file));
  }

  void NoteInconsistencies() {
    const bool exe = mem_.exe_candidate.text() && HasContentOrNone(mem_.exe_candidate.raw);
    if (!mem_.candidates.empty() && !exe) Note("a perf candidate without exe_candidate");
    if (entry_.flags[1] == Flag::kTrue && entry_.flags[0] == Flag::kFalse) {
      Note("pass_exe is true and pass_call is false");
    }
    if (entry_.flags[1] == Flag::kTrue && entry_.has_mem() && !exe) {
      Note("pass_exe is true without exe_candidate");
    }
    if (entry_.flags[2] == Flag::kTrue && entry_.best != BestStatus::kMeasured) {
      Note("pass_perf is true without a measurement");
    }
    if (entry_.flags[2] == Flag::kFalse && entry_.best == BestStatus::kMeasured) {
      Note("the last round failed, an earlier one was measured");
    }
  }

  Diagnosis FullDiagnosis() {
    Diagnosis diagnosis = entry_.diagnosis;
    if (!diagnosis.symbols.empty() || !options_.symbols || entry_.last != LastStatus::kCall) {
      return diagnosis;
    }
    // Names that do not meet are worth knowing beside any other cause.
    const CaseFile* test = out_.Find("3_test_code.py");
    const auto code = std::find_if(out_.files.begin(), out_.files.end(), [](const CaseFile& file) {
      return file.code && IsCpp(file.language);
    });
    if (test == nullptr || code == out_.files.end()) return diagnosis;
    diagnosis.symbols = options_.symbols(code->content, test->content).value_or("");
    return diagnosis;
  }

  void Finish() {
    Diagnosis diagnosis = FullDiagnosis();
    const JsonlRecord* line = entry_.has_jsonl() ? &jsonl_ : nullptr;
    const Reproduction how = ChooseReproduction(out_, entry_.last);
    for (CaseFile& file : diff_files_) out_.files.push_back(std::move(file));
    if (!how.impl.empty()) {
      const std::string recorded = std::string(DiagnosisName(diagnosis.kind)) +
                                   (diagnosis.line.empty() ? "" : ": " + diagnosis.line);
      out_.files.push_back(
          {"reproduce.sh", ReproduceScript(how, recorded), false, Language::kUnknown});
    }
    const CaseFacts facts{entry_,
                          sources_,
                          jsonl_,
                          mem_,
                          entry_.has_mem() ? MemSchema(mem_, line) : Schema{"absent", ""},
                          std::move(diagnosis),
                          JudgePerformance(mem_, line),
                          how,
                          predict_is_};
    CaseFile file{"case.json", CaseJson(facts, out_), false, Language::kUnknown};
    out_.files.push_back(std::move(file));
  }

  const CaseEntry& entry_;
  const CaseSources& sources_;
  const CaseOptions& options_;
  const JsonlRecord jsonl_;
  const MemRecord mem_;
  CaseFolder out_;
  std::vector<CaseFile> diff_files_;
  std::string predict_is_;
};

}  // namespace

const CaseFile* CaseFolder::Find(std::string_view path) const {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const CaseFile& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

CaseFolder MakeCase(const CaseEntry& entry, const std::string& folder, const CaseSources& sources,
                    const CaseOptions& options) {
  CaseMaker maker(entry, sources, options);
  return maker.Make(folder);
}

}  // namespace kerf::dataset
