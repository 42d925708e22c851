#include "sim/output/text.h"

#include "base/json_writer.h"

namespace kerf::sim {

void TimeText::Append(std::string& out, uint64_t fixed) {
  AppendNumber(out, fixed / 1'000'000);
  auto rest = static_cast<uint32_t>(fixed % 1'000'000);
  char digits[7] = {'.'};
  for (int i = 6; i > 0; --i) {
    digits[i] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  }
  out.append(digits, sizeof digits);
}

std::string JsonText(std::string_view text) {
  std::string quoted;
  JsonWriter(quoted).String(text);
  return quoted.substr(1, quoted.size() - 2);
}

TextFile::TextFile(FileSystem& fs, std::string path, std::unique_ptr<File> file)
    : fs_(&fs), path_(std::move(path)), file_(std::move(file)) {
  text_.reserve(kPiece + kPiece / 8);
}

Result<TextFile> TextFile::Create(FileSystem& fs, const std::string& path) {
  KERF_ASSIGN_OR_RETURN(std::unique_ptr<File> file, fs.OpenNew(path));
  return TextFile(fs, path, std::move(file));
}

Status TextFile::Write() {
  KERF_RETURN_IF_ERROR(file_->Write(text_));
  written_ += text_.size();
  text_.clear();
  return {};
}

Status TextFile::Finish() {
  KERF_RETURN_IF_ERROR(Write());
  file_.reset();
  // Insight refuses files that others may write.
  return fs_->SetMode(path_, 0640);
}

}  // namespace kerf::sim
