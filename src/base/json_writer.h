// Writes JSON into a string and puts the commas. The result is always valid: a number that JSON
// cannot hold becomes null, and text of any bytes becomes valid UTF-8.
//
//   std::string line;
//   JsonWriter json(line);
//   json.BeginObject().Key("step").Int(3).Key("names").BeginArray().String("a").EndArray().EndObject();
//
// The caller may take away what stands in the string at any time between two calls: that is how
// long documents are streamed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kerf {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  JsonWriter& Key(std::string_view name);

  // Bytes that are no UTF-8, and lone surrogates, become U+FFFD: strict readers refuse them.
  JsonWriter& String(std::string_view text);
  JsonWriter& Int(int64_t value);
  JsonWriter& Double(double value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // A value that is valid already.
  JsonWriter& Raw(std::string_view json);
  // A document somebody else wrote, value by value, so that what comes out is valid; as a string
  // when it is no JSON.
  JsonWriter& Copy(std::string_view json);
  // After a whole document: a line feed, and the next one begins (JSON Lines).
  JsonWriter& EndLine();

 private:
  void BeginValue();

  std::string& out_;
  bool comma_ = false;  // the next value of the same list needs one
};

}  // namespace kerf
