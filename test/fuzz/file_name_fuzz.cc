// Names of files and folders as a directory from elsewhere may have them. Input: operator, task and
// file name on three lines; the first byte of the input picks the folder.
#include <cstdint>
#include <string>
#include <string_view>

#include "expect.h"
#include "trace/names.h"

namespace {

using kerf::ActionType;
using kerf::Expect;
using kerf::RecordKind;
using kerf::trace::Names;

std::string_view TakeLine(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return line;
}

// A name that is understood says everything it was made from.
void CheckFormatsBack(std::string_view op, std::string_view folder, std::string_view name) {
  const auto parsed = kerf::trace::ParseFileName(op, folder, name);
  if (!parsed.has_value()) return;
  Expect(!parsed->task.empty() && !parsed->word.empty(), "a parsed name has a task and a word");
  Expect(parsed->step >= 0 && parsed->attempt >= 1, "numbers are in range");
  std::string word = parsed->word;
  if (parsed->attempt > 1) word += "_" + std::to_string(parsed->attempt);
  std::string again = kerf::trace::FilePrefix(parsed->names, op, parsed->task, parsed->step, word);
  again += parsed->parameter + (parsed->parameter == "profile" ? ".json" : ".txt");
  if (again == name) return;
  // Only leading zeros of the step may get lost.
  Expect(again.size() < name.size() && name.find("_S") != std::string_view::npos,
         "formatting a parsed name gives it back");
  const auto reparsed = kerf::trace::ParseFileName(op, folder, again);
  Expect(reparsed.has_value() && reparsed->task == parsed->task && reparsed->step == parsed->step &&
             reparsed->word == parsed->word && reparsed->attempt == parsed->attempt,
         "the shorter form says the same");
}

void CheckOwnNamesAreRead(const std::string& op, const std::string& task) {
  for (const Names names : {Names::kDoc, Names::kValue, Names::kAgent, Names::kIteration}) {
    for (const ActionType action :
         {ActionType::kDoDesigner, ActionType::kFixDesigner, ActionType::kDoCoder,
          ActionType::kFixCoder, ActionType::kDoCoderDirect, ActionType::kVerify}) {
      for (const bool conductor : {false, true}) {
        const RecordKind kind = conductor                       ? RecordKind::kConductor
                                : action == ActionType::kVerify ? RecordKind::kVerifier
                                                                : RecordKind::kDesignerOrCoder;
        const std::string word = kerf::trace::ActionWord(names, kind, action);
        const std::string name = kerf::trace::FilePrefix(names, op, task, 100, word) +
                                 (kind == RecordKind::kVerifier ? "error_log.txt" : "result.txt");
        Expect(name.size() <= 255, "accepted names are not too long");
        const auto parsed = kerf::trace::ParseFileName(op, conductor ? "conductor" : "", name);
        Expect(parsed.has_value(), "kerf's own names are read");
        Expect(parsed->task == task && parsed->step == 100 && parsed->word == word &&
                   parsed->kind == kind && parsed->attempt == 1,
               "kerf's own names are read right");
      }
    }
    const auto folder = kerf::trace::ParseVerifyFolder(kerf::trace::VerifyFolder(names, task, 7));
    Expect(folder.has_value() && folder->task == task && folder->step == 7,
           "verify folders are read right");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr const char* kFolders[] = {"", "conductor", "recorder"};
  const char* folder = kFolders[data[0] % 3];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string op(TakeLine(rest));
  const std::string task(TakeLine(rest));
  CheckFormatsBack(op, folder, rest);
  (void)kerf::trace::ParseVerifyFolder(rest);
  if (kerf::trace::CheckNames("logs", op, task).ok()) CheckOwnNamesAreRead(op, task);
  return 0;
}
