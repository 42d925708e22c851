// JsonReader against nlohmann::json: both must accept the same texts and read the same values,
// except where the reader is meant to differ: it keeps bytes that are no UTF-8 and lone surrogates,
// and it bounds the depth.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "base/utf8.h"
#include "expect.h"

namespace {

using kerf::Expect;
using kerf::JsonReader;
using kerf::JsonType;
using Json = nlohmann::json;

class Walk {
 public:
  explicit Walk(std::string_view text) : reader_(text) {}

  // The document, or a discarded one when the text is not accepted.
  Json Run() {
    Json document = Value();
    return reader_.Finish() ? document : Json(Json::value_t::discarded);
  }
  [[nodiscard]] bool all_utf8() const { return all_utf8_; }
  [[nodiscard]] const std::string& error() const { return reader_.error(); }

 private:
  Json Value() {
    switch (reader_.Peek()) {
      case JsonType::kObject:
        return Object();
      case JsonType::kArray: {
        Json array = Json::array();
        for (reader_.BeginArray(); reader_.NextElement();) array.push_back(Value());
        return array;
      }
      case JsonType::kString: {
        std::string text;
        reader_.ReadString(text);
        return Text(std::move(text));
      }
      case JsonType::kNumber:
        return Number();
      case JsonType::kBool: {
        bool value = false;
        reader_.ReadBool(value);
        return value;
      }
      case JsonType::kNull:
        reader_.ReadNull();
        return nullptr;
      case JsonType::kEnd:
        reader_.Skip();  // makes it an error
        return nullptr;
    }
    return nullptr;
  }

  Json Object() {
    Json object = Json::object();
    std::string key;
    for (reader_.BeginObject(); reader_.NextKey(key);) {
      const std::string name = Text(key);
      object[name] = Value();
    }
    return object;
  }

  std::string Text(std::string text) {
    if (kerf::DetectEncoding(text) != kerf::TextEncoding::kUtf8) all_utf8_ = false;
    return text;
  }

  Json Number() {
    JsonReader probe = reader_;
    int64_t whole = 0;
    if (probe.ReadInt(whole)) {
      reader_ = probe;
      return whole;
    }
    double value = 0;
    reader_.ReadDouble(value);
    return value;
  }

  JsonReader reader_;
  bool all_utf8_ = true;
};

void CheckQuoting(std::string_view text) {
  std::string quoted;
  kerf::AppendJsonString(quoted, text);
  JsonReader reader(std::string_view{quoted});
  std::string back;
  Expect(reader.ReadString(back) && reader.Finish(), "what is quoted can be read");
  Expect(quoted.find('\n') == std::string::npos, "what is quoted stays on one line");
  if (kerf::DetectEncoding(text) != kerf::TextEncoding::kBytes) {
    Expect(back == text, "text comes back from its quotes");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckQuoting(text);
  // The other one skips a byte order mark and ends at a NUL.
  if (text.starts_with("\xEF\xBB\xBF") || text.find('\0') != std::string_view::npos) return 0;
  Walk walk(text);
  const Json mine = walk.Run();
  if (walk.error().starts_with("nested too deeply")) return 0;
  const Json theirs = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool exact = walk.all_utf8() && kerf::DetectEncoding(text) == kerf::TextEncoding::kUtf8;
  if (!theirs.is_discarded()) {
    Expect(!mine.is_discarded(), "the reader accepts what is valid JSON");
    Expect(mine == theirs, "values are the same");
  } else {
    Expect(mine.is_discarded() || !exact, "the reader accepts valid JSON only");
  }
  JsonReader skipping(text);
  const bool skipped = skipping.Skip() && skipping.Finish();
  Expect(skipped || mine.is_discarded(), "skipping accepts what reading accepts");
  return 0;
}
