// Prompts as files: prompts/LANGUAGE/NAME.txt, in the binary, or in a folder of the user's that
// goes first. They are Mustache templates; {{> aul}} includes another file, and for every value
// `x` there is `has_x`.
//
//   KERF_ASSIGN_OR_RETURN(auto prompts, PromptLibrary::Open(fs, {.language = "en"}));
//   KERF_ASSIGN_OR_RETURN(const Prompt prompt, prompts.Render("coder", {{"op_name", "relu"}}));
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

namespace kerf::llm {

struct Prompt {
  std::string name;    // "en/coder"
  std::string sha256;  // of the template and all it includes
  std::string text;
};

using PromptValues = std::vector<std::pair<std::string, std::string>>;

class PromptLibrary {
 public:
  struct Options {
    std::string language = "en";  // "en", "zh"
    std::string folder;           // the user's own; empty: none
  };
  static Result<PromptLibrary> Open(FileSystem& fs, const Options& options);

  // kInternal when there is no such prompt; kInvalidInput, with the file, when a template is
  // malformed or uses a name that is not in `values`: a misspelt one would silently vanish.
  [[nodiscard]] Result<Prompt> Render(const std::string& name, const PromptValues& values) const;

 private:
  struct File {
    std::string origin;  // for messages
    std::string text;
  };

  std::string language_;
  std::map<std::string, File> files_;  // by name without suffix
};

}  // namespace kerf::llm
